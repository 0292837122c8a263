//! The MCS field: an HT PPDU. [radiotap.org, MCS]

use super::bits::{KnownBits, placed};
use crate::cursor::Cursor;
use crate::error::Error;

/// Known properties of an HT PPDU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mcs {
    /// Bandwidth: 0 for 20 MHz, 1 for 40 MHz, 2 and 3 for the lower and the upper 20 MHz of 40.
    pub bandwidth: Option<u8>,
    /// MCS index, 0 to 76.
    pub index: Option<u8>,
    /// Guard interval of 400 ns.
    pub short_guard_interval: Option<bool>,
    /// HT-greenfield format instead of mixed.
    pub greenfield: Option<bool>,
    /// LDPC instead of BCC.
    pub ldpc: Option<bool>,
    /// Streams of space-time block coding, 0 to 3.
    pub stbc_streams: Option<u8>,
    /// Extension spatial streams, 0 to 3.
    pub extension_streams: Option<u8>,
}

/// Words: the known fields, the flags.
const BANDWIDTH: KnownBits = KnownBits { known: (0, 0x01), value: (1, 0x03) };
const GUARD_INTERVAL: KnownBits = KnownBits { known: (0, 0x04), value: (1, 0x04) };
const FORMAT: KnownBits = KnownBits { known: (0, 0x08), value: (1, 0x08) };
const FEC: KnownBits = KnownBits { known: (0, 0x10), value: (1, 0x10) };
const STBC: KnownBits = KnownBits { known: (0, 0x20), value: (1, 0x60) };
const INDEX_KNOWN: u16 = 0x02;
const NESS_KNOWN: u16 = 0x40;
/// The higher bit of Ness is in the word of known fields, the lower one in the flags.
const NESS_HIGH: u16 = 0x80;
const NESS_LOW: u16 = 0x80;

impl Mcs {
    /// All properties of a usual PPDU: mixed format, BCC, neither STBC nor extension streams.
    ///
    /// `bandwidth_mhz` is 20 or 40; any other leaves the bandwidth unknown.
    pub fn mixed(index: u8, bandwidth_mhz: u16, short_guard_interval: bool) -> Mcs {
        Mcs {
            bandwidth: [20, 40].iter().position(|&mhz| mhz == bandwidth_mhz).map(|code| code as u8),
            index: Some(index),
            short_guard_interval: Some(short_guard_interval),
            greenfield: Some(false),
            ldpc: Some(false),
            stbc_streams: Some(0),
            extension_streams: Some(0),
        }
    }

    pub(super) fn read(value: &mut Cursor<'_>) -> Result<Mcs, Error> {
        let [known, flags, index] = value.array("MCS")?;
        let words = [u16::from(known), u16::from(flags)];
        let ness = u8::from(words[0] & NESS_HIGH != 0) << 1 | u8::from(words[1] & NESS_LOW != 0);
        Ok(Mcs {
            bandwidth: BANDWIDTH.get(&words),
            index: (words[0] & INDEX_KNOWN != 0).then_some(index),
            short_guard_interval: GUARD_INTERVAL.get(&words),
            greenfield: FORMAT.get(&words),
            ldpc: FEC.get(&words),
            stbc_streams: STBC.get(&words),
            extension_streams: (words[0] & NESS_KNOWN != 0).then_some(ness),
        })
    }

    pub(super) fn bytes(self) -> [u8; 3] {
        let mut words = [0; 2];
        BANDWIDTH.put(&mut words, self.bandwidth);
        GUARD_INTERVAL.put(&mut words, self.short_guard_interval);
        FORMAT.put(&mut words, self.greenfield);
        FEC.put(&mut words, self.ldpc);
        STBC.put(&mut words, self.stbc_streams);
        if self.index.is_some() {
            words[0] |= INDEX_KNOWN;
        }
        if let Some(ness) = self.extension_streams {
            words[0] |= NESS_KNOWN | placed(u16::from(ness) >> 1, NESS_HIGH);
            words[1] |= placed(u16::from(ness) & 1, NESS_LOW);
        }
        [words[0] as u8, words[1] as u8, self.index.unwrap_or(0)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_are_those_of_the_definition() {
        // All known except the higher bit of Ness: 7f; 40 MHz and short guard interval: 05.
        assert_eq!(Mcs::mixed(7, 40, true).bytes(), [0x7f, 0x05, 7]);
        assert_eq!(Mcs { extension_streams: Some(2), ..Mcs::default() }.bytes(), [0xc0, 0, 0]);
        assert_eq!(Mcs { extension_streams: Some(1), ldpc: Some(true), ..Mcs::default() }.bytes(), [0x50, 0x90, 0]);
    }
}
