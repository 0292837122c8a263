//! The timestamp field. [radiotap.org, timestamp]

use crate::cursor::Cursor;
use crate::error::Error;

/// A time, with its unit and its position in the frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamp {
    /// The time, in the unit.
    pub time: u64,
    /// Possible error, in the unit.
    pub accuracy: Option<u16>,
    /// 0 for ms, 1 for µs, 2 for ns.
    pub unit: u8,
    /// 0 for the beginning of the MPDU, 1 for that of the PPDU, 2 for the end of the PPDU, 3 for that of the MPDU, 15
    /// for unknown.
    pub position: u8,
    /// True if the counter has 32 bits.
    pub is_32_bit: bool,
}

const IS_32_BIT: u8 = 0x01;
const ACCURACY_KNOWN: u8 = 0x02;

impl Timestamp {
    /// The beginning of a PPDU, in ns.
    pub fn ppdu_start_ns(time: u64) -> Timestamp {
        Timestamp { time, accuracy: Some(0), unit: 2, position: 1, is_32_bit: false }
    }

    pub(super) fn read(value: &mut Cursor<'_>) -> Result<Timestamp, Error> {
        const PART: &str = "timestamp";
        let (time, accuracy) = (value.u64_le(PART)?, value.u16_le(PART)?);
        let [unit_and_position, flags] = value.array(PART)?;
        Ok(Timestamp {
            time,
            accuracy: (flags & ACCURACY_KNOWN != 0).then_some(accuracy),
            unit: unit_and_position & 0x0f,
            position: unit_and_position >> 4,
            is_32_bit: flags & IS_32_BIT != 0,
        })
    }

    pub(super) fn bytes(self) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&self.time.to_le_bytes());
        bytes[8..10].copy_from_slice(&self.accuracy.unwrap_or(0).to_le_bytes());
        bytes[10] = self.unit & 0x0f | self.position << 4;
        bytes[11] =
            if self.is_32_bit { IS_32_BIT } else { 0 } | if self.accuracy.is_some() { ACCURACY_KNOWN } else { 0 };
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_are_those_of_the_definition() {
        assert_eq!(Timestamp::ppdu_start_ns(0x0102).bytes(), [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x02]);
    }
}
