//! The L-SIG field, with which PPDUs of HT and later begin. [radiotap.org, L-SIG]

use super::bits::KnownBits;
use crate::cursor::Cursor;
use crate::error::Error;

/// Known parts of an L-SIG.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LSig {
    /// RATE, 4 bits; 11 in a PPDU of HT or later.
    pub rate: Option<u8>,
    /// LENGTH, 12 bits: octets that would last as long at 6 Mbit/s.
    pub length: Option<u16>,
}

/// Words: the known parts, the parts.
const RATE: KnownBits = KnownBits { known: (0, 0x0001), value: (1, 0x000f) };
const LENGTH: KnownBits = KnownBits { known: (0, 0x0002), value: (1, 0xfff0) };

impl LSig {
    /// The time of a PPDU of HT or later in µs, without signal extension: 20 µs of legacy preamble and a symbol of 4 µs for
    /// each three octets. [802.11-2020 §9.23.4; 802.11ax-2021 §27.3.21]
    pub fn duration_us(self) -> Option<u32> {
        let length = u32::from(self.length.filter(|length| *length > 0)?);
        Some((length + 3).div_ceil(3) * 4 + 20)
    }

    /// That of an HE PPDU which lasts `nanos` without signal extension, for several users or triggered:
    /// LENGTH = 3 ceil((T - 20 us) / 4 us) - 3 - m, with m = 1 for the former and 2 for the latter. [802.11ax-2021 §27.3.11.5]
    pub fn of_he(nanos: u64, several_users: bool) -> LSig {
        let symbols = nanos.saturating_sub(20_000).div_ceil(4_000);
        let length = (3 * symbols).saturating_sub(if several_users { 4 } else { 5 });
        LSig { rate: Some(11), length: u16::try_from(length).ok().filter(|length| *length < 4096) }
    }

    pub(super) fn read(value: &mut Cursor<'_>) -> Result<LSig, Error> {
        let words = [value.u16_le("L-SIG")?, value.u16_le("L-SIG")?];
        Ok(LSig { rate: RATE.get(&words), length: LENGTH.get(&words) })
    }

    pub(super) fn bytes(self) -> [u8; 4] {
        let mut words = [0; 2];
        RATE.put(&mut words, self.rate);
        LENGTH.put(&mut words, self.length);
        let ([a, b], [c, d]) = (words[0].to_le_bytes(), words[1].to_le_bytes());
        [a, b, c, d]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_are_those_of_the_definition() {
        // LENGTH 1000 and RATE 11: 0x3e8b.
        assert_eq!(LSig { rate: Some(11), length: Some(1000) }.bytes(), [3, 0, 0x8b, 0x3e]);
        assert_eq!(LSig { rate: None, length: Some(1) }.bytes(), [2, 0, 0x10, 0]);
    }

    #[test]
    fn length_gives_duration() {
        // HT and VHT: LENGTH = 3 ceil((T - 20) / 4) - 3; HE is one or two octets shorter. T = 220: 147, 146, 145.
        for length in [147, 146, 145] {
            assert_eq!(LSig { rate: None, length: Some(length) }.duration_us(), Some(220));
        }
        assert_eq!(LSig::default().duration_us(), None);
        // 1493.6 us end within symbol 369.
        for several_users in [true, false] {
            let l_sig = LSig::of_he(1_493_600, several_users);
            assert_eq!(
                (l_sig.length, l_sig.duration_us()),
                (Some(if several_users { 1103 } else { 1102 }), Some(1496))
            );
        }
    }
}
