//! Bytes read from front to back, each length checked.

use crate::error::Error;

/// A position in some bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// A position at the front of `bytes`.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, at: 0 }
    }

    /// Bytes read so far.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The bytes that have not been read.
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// The next `count` bytes, which belong to `part`.
    pub(crate) fn take(&mut self, count: usize, part: &'static str) -> Result<&'a [u8], Error> {
        let rest = self.rest();
        let taken = rest.get(..count).ok_or_else(|| Error::short(self.at, part, count, rest.len()))?;
        self.at += count;
        Ok(taken)
    }

    /// The next `N` bytes, which belong to `part`.
    pub(crate) fn array<const N: usize>(&mut self, part: &'static str) -> Result<[u8; N], Error> {
        let rest = self.rest();
        let taken = rest.first_chunk().ok_or_else(|| Error::short(self.at, part, N, rest.len()))?;
        self.at += N;
        Ok(*taken)
    }

    /// Skips bytes until the position is a multiple of `alignment`.
    pub(crate) fn align(&mut self, alignment: usize, part: &'static str) -> Result<(), Error> {
        self.take(self.at.next_multiple_of(alignment) - self.at, part).map(drop)
    }

    /// The next byte.
    pub(crate) fn u8(&mut self, part: &'static str) -> Result<u8, Error> {
        self.array::<1>(part).map(|[byte]| byte)
    }

    /// Two bytes, the lower one first.
    pub(crate) fn u16_le(&mut self, part: &'static str) -> Result<u16, Error> {
        self.array(part).map(u16::from_le_bytes)
    }

    /// Four bytes, the lowest first.
    pub(crate) fn u32_le(&mut self, part: &'static str) -> Result<u32, Error> {
        self.array(part).map(u32::from_le_bytes)
    }

    /// Eight bytes, the lowest first.
    pub(crate) fn u64_le(&mut self, part: &'static str) -> Result<u64, Error> {
        self.array(part).map(u64::from_le_bytes)
    }

    /// Two bytes, the higher one first.
    pub(crate) fn u16_be(&mut self, part: &'static str) -> Result<u16, Error> {
        self.array(part).map(u16::from_be_bytes)
    }

    /// Four bytes, the highest first.
    pub(crate) fn u32_be(&mut self, part: &'static str) -> Result<u32, Error> {
        self.array(part).map(u32::from_be_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_in_order_and_never_past_the_end() {
        let mut cursor = Cursor::new(&[1, 2, 3, 4, 5, 6, 7]);
        assert_eq!((cursor.u8("a"), cursor.u16_le("b"), cursor.u16_be("c")), (Ok(1), Ok(0x0302), Ok(0x0405)));
        assert_eq!(cursor.u32_le("d"), Err(Error::short(5, "d", 4, 2)));
        assert_eq!((cursor.align(3, "e"), cursor.at(), cursor.rest()), (Ok(()), 6, &[7][..]));
        assert_eq!(cursor.align(8, "f"), Err(Error::short(6, "f", 2, 1)));
    }
}
