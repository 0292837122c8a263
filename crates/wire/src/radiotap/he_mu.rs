//! The HE-MU field: the HE-SIG-B of a PPDU for several users. [radiotap.org, HE-MU]

use super::bits::{KnownBits, part, placed};
use crate::cursor::Cursor;
use crate::error::Error;

/// Known properties of the HE-SIG-B of a PPDU for several users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeMu {
    /// MCS of HE-SIG-B, 0 to 5.
    pub sig_b_mcs: Option<u8>,
    /// Bandwidth as in HE-SIG-A: 0 to 3 for 20, 40, 80 and 160 MHz.
    pub bandwidth: Option<u8>,
    /// RU allocations of the odd blocks of 20 MHz, the lowest first. [802.11ax-2021 Table 27-26]
    pub channel_1: Option<[u8; 4]>,
    /// RU allocations of the even blocks.
    pub channel_2: Option<[u8; 4]>,
}

const SIG_B_MCS: KnownBits = KnownBits { known: (0, 0x0010), value: (0, 0x000f) };
const BANDWIDTH: KnownBits = KnownBits { known: (1, 0x0004), value: (1, 0x0003) };
const CHANNEL_1: u16 = 0x0100;
const CHANNEL_2: u16 = 0x0200;

impl HeMu {
    pub(super) fn read(value: &mut Cursor<'_>) -> Result<HeMu, Error> {
        const PART: &str = "HE-MU";
        let words = [value.u16_le(PART)?, value.u16_le(PART)?];
        let channels: [[u8; 4]; 2] = [value.array(PART)?, value.array(PART)?];
        Ok(HeMu {
            sig_b_mcs: SIG_B_MCS.get(&words),
            bandwidth: BANDWIDTH.get(&words),
            channel_1: (part(words[0], CHANNEL_1) == 1).then_some(channels[0]),
            channel_2: (part(words[0], CHANNEL_2) == 1).then_some(channels[1]),
        })
    }

    pub(super) fn bytes(self) -> [u8; 12] {
        let mut words = [0; 2];
        SIG_B_MCS.put(&mut words, self.sig_b_mcs);
        BANDWIDTH.put(&mut words, self.bandwidth);
        words[0] |= placed(self.channel_1.is_some().into(), CHANNEL_1);
        words[0] |= placed(self.channel_2.is_some().into(), CHANNEL_2);
        let mut bytes = [0; 12];
        bytes[..2].copy_from_slice(&words[0].to_le_bytes());
        bytes[2..4].copy_from_slice(&words[1].to_le_bytes());
        bytes[4..8].copy_from_slice(&self.channel_1.unwrap_or_default());
        bytes[8..].copy_from_slice(&self.channel_2.unwrap_or_default());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_are_those_of_the_definition() {
        let mu = HeMu { sig_b_mcs: Some(5), bandwidth: Some(2), channel_1: Some([192, 200, 0, 0]), channel_2: None };
        let bytes = mu.bytes();
        assert_eq!(bytes, [0x15, 0x01, 0x06, 0, 192, 200, 0, 0, 0, 0, 0, 0]);
        assert_eq!(HeMu::read(&mut Cursor::new(&bytes)), Ok(mu));
    }
}
