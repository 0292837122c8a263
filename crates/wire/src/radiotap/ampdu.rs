//! The A-MPDU status field. [radiotap.org, A-MPDU status]

use crate::cursor::Cursor;
use crate::error::Error;

/// The A-MPDU of a frame, and the frame's place in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AmpduStatus {
    /// Number of the A-MPDU, the same in all of its subframes, on one channel.
    pub reference: u32,
    /// True if this is the last subframe.
    pub is_last: Option<bool>,
    /// True if the check of the delimiter failed.
    pub delimiter_crc_failed: bool,
    /// The check in the delimiter.
    pub delimiter_crc: Option<u8>,
    /// The EOF bit of the delimiter.
    pub end_of_frame: Option<bool>,
    /// True if this is a delimiter of length 0, where such are reported.
    pub zero_length: Option<bool>,
}

const ZERO_LENGTH_TOLD: u16 = 0x0001;
const ZERO_LENGTH: u16 = 0x0002;
const LAST_KNOWN: u16 = 0x0004;
const LAST: u16 = 0x0008;
const CRC_FAILED: u16 = 0x0010;
const CRC_KNOWN: u16 = 0x0020;
const EOF: u16 = 0x0040;
const EOF_KNOWN: u16 = 0x0080;

impl AmpduStatus {
    pub(super) fn read(value: &mut Cursor<'_>) -> Result<AmpduStatus, Error> {
        const PART: &str = "A-MPDU status";
        let (reference, flags, crc) = (value.u32_le(PART)?, value.u16_le(PART)?, value.u8(PART)?);
        let told = |known, set| (flags & known != 0).then_some(flags & set != 0);
        Ok(AmpduStatus {
            reference,
            is_last: told(LAST_KNOWN, LAST),
            delimiter_crc_failed: flags & CRC_FAILED != 0,
            delimiter_crc: (flags & CRC_KNOWN != 0).then_some(crc),
            end_of_frame: told(EOF_KNOWN, EOF),
            zero_length: told(ZERO_LENGTH_TOLD, ZERO_LENGTH),
        })
    }

    pub(super) fn bytes(self) -> [u8; 8] {
        let told = |known, set, value| match value {
            None => 0,
            Some(false) => known,
            Some(true) => known | set,
        };
        let flags = told(LAST_KNOWN, LAST, self.is_last)
            | told(EOF_KNOWN, EOF, self.end_of_frame)
            | told(ZERO_LENGTH_TOLD, ZERO_LENGTH, self.zero_length)
            | if self.delimiter_crc_failed { CRC_FAILED } else { 0 }
            | if self.delimiter_crc.is_some() { CRC_KNOWN } else { 0 };
        let ([a, b, c, d], [e, f]) = (self.reference.to_le_bytes(), flags.to_le_bytes());
        [a, b, c, d, e, f, self.delimiter_crc.unwrap_or(0), 0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_are_those_of_the_definition() {
        let status = AmpduStatus {
            reference: 0x0102_0304,
            is_last: Some(true),
            delimiter_crc: Some(0xab),
            ..AmpduStatus::default()
        };
        assert_eq!(status.bytes(), [4, 3, 2, 1, 0x2c, 0, 0xab, 0]);
    }
}
