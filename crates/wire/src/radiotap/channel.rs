//! The channel field. [radiotap.org, Channel]

use crate::cursor::Cursor;
use crate::error::Error;

/// The channel of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Channel {
    /// Centre frequency in MHz.
    pub mhz: u16,
    /// Band and modulation: the constants of this type, combined.
    pub flags: u16,
}

impl Channel {
    /// CCK.
    pub const CCK: u16 = 0x0020;
    /// OFDM.
    pub const OFDM: u16 = 0x0040;
    /// In the 2.4 GHz band.
    pub const GHZ_2: u16 = 0x0080;
    /// In the 5 GHz band.
    pub const GHZ_5: u16 = 0x0100;
    /// CCK and OFDM.
    pub const CCK_AND_OFDM: u16 = 0x0400;
    /// 10 MHz wide.
    pub const HALF: u16 = 0x4000;
    /// 5 MHz wide.
    pub const QUARTER: u16 = 0x8000;

    pub(super) fn read(value: &mut Cursor<'_>) -> Result<Channel, Error> {
        Ok(Channel { mhz: value.u16_le("channel")?, flags: value.u16_le("channel")? })
    }

    pub(super) fn bytes(self) -> [u8; 4] {
        let ([a, b], [c, d]) = (self.mhz.to_le_bytes(), self.flags.to_le_bytes());
        [a, b, c, d]
    }
}
