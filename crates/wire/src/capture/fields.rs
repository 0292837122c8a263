//! Fields of a block, in the byte order of its section.

use crate::cursor::Cursor;
use crate::error::Error;

/// The byte order of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Lowest byte first.
    Little,
    /// Highest byte first.
    Big,
}

impl Order {
    /// A number of four bytes.
    pub(super) fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Order::Little => u32::from_le_bytes(bytes),
            Order::Big => u32::from_be_bytes(bytes),
        }
    }
}

/// A position in the fields of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    pub(super) at: Cursor<'a>,
    pub(super) order: Order,
}

/// Codes that options of every block share. [draft-ietf-opsawg-pcapng §3.5]
pub(super) const END_OF_OPTIONS: u16 = 0;
pub(super) const COMMENT: u16 = 1;

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8], order: Order) -> Self {
        Fields { at: Cursor::new(bytes), order }
    }

    pub(super) fn u16(&mut self, part: &'static str) -> Result<u16, Error> {
        match self.order {
            Order::Little => self.at.u16_le(part),
            Order::Big => self.at.u16_be(part),
        }
    }

    pub(super) fn u32(&mut self, part: &'static str) -> Result<u32, Error> {
        self.at.array(part).map(|bytes| self.order.u32(bytes))
    }

    /// A single number of 64 bits.
    pub(super) fn u64(&mut self, part: &'static str) -> Result<u64, Error> {
        let (first, second) = (self.u32(part)?, self.u32(part)?);
        Ok(match self.order {
            Order::Little => u64::from(second) << 32 | u64::from(first),
            Order::Big => u64::from(first) << 32 | u64::from(second),
        })
    }

    /// A time stamp, whose upper half comes first in either order.
    pub(super) fn ticks(&mut self, part: &'static str) -> Result<u64, Error> {
        Ok(u64::from(self.u32(part)?) << 32 | u64::from(self.u32(part)?))
    }

    /// `length` bytes, without the padding behind them, which is skipped.
    pub(super) fn padded(&mut self, length: usize, part: &'static str) -> Result<&'a [u8], Error> {
        let bytes = self.at.take(length, part)?;
        self.at.align(4, part)?;
        Ok(bytes)
    }

    /// Passes code and value of each option to `take`, up to the end of options or of the block.
    pub(super) fn options(&mut self, mut take: impl FnMut(u16, &'a [u8], Order)) -> Result<(), Error> {
        while !self.at.rest().is_empty() {
            let (code, length) = (self.u16("option code")?, self.u16("option length")?);
            if code == END_OF_OPTIONS {
                break;
            }
            take(code, self.padded(length.into(), "option")?, self.order);
        }
        Ok(())
    }
}

/// The value as text, if it is valid.
pub(super) fn text(value: &[u8]) -> Option<&str> {
    core::str::from_utf8(value).ok()
}

/// The value of an option as a number, if it has the length of one.
pub(super) fn number_32(value: &[u8], order: Order) -> Option<u32> {
    value.try_into().ok().map(|bytes| order.u32(bytes))
}

/// Does the same as [`number_32`] for 64 bits.
pub(super) fn number_64(value: &[u8], order: Order) -> Option<u64> {
    (value.len() == 8).then(|| Fields::new(value, order).u64("option").ok()).flatten()
}
