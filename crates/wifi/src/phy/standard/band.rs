//! Frequencies of channels, and the channels that a wider channel bonds.

use lasthop_units::{Duration, Hertz};

/// A band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::phy) enum Band {
    /// 2.4 GHz
    Ghz2,
    /// 5 GHz
    Ghz5,
}

/// Channels of the 2.4 GHz band that all regions but one share.
pub(super) const GHZ2: &[u8] = &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];
/// Channels of the 5 GHz band. [802.11-2020 Annex E]
pub(super) const GHZ5: &[u8] = &[
    36, 40, 44, 48, 52, 56, 60, 64, 100, 104, 108, 112, 116, 120, 124, 128, 132, 136, 140, 144, 149, 153, 157, 161,
    165, 169, 173, 177,
];
/// The first and the last of each run of neighbouring channels of 20 MHz in the 5 GHz band.
const RUNS: [(u8, u8); 3] = [(36, 64), (100, 144), (149, 177)];

impl Band {
    /// aSIFSTime. [802.11-2020 Tables 16-4, 17-21, 18-5, 19-25]
    pub const fn sifs(self) -> Duration {
        match self {
            Band::Ghz2 => Duration::from_micros(10),
            Band::Ghz5 => Duration::from_micros(16),
        }
    }

    /// Centre of a channel of 20 MHz, in Hz. [802.11-2020 §15.4, §17.3.8.4]
    pub fn frequency_hz(self, channel: u8) -> f64 {
        let mhz = match (self, channel) {
            (Band::Ghz2, 14) => 2484,
            (Band::Ghz2, n) => 2407 + 5 * u32::from(n),
            (Band::Ghz5, n) => 5000 + 5 * u32::from(n),
        };
        f64::from(mhz) * 1e6
    }

    /// Number of the channel of `width_mhz` with `primary` as its primary channel, which is the number of its centre;
    /// `None` if there is no room for it. [802.11-2020 §19.3.15, §21.3.14, Annex E]
    ///
    /// In the 2.4 GHz band the secondary channel lies above the primary one up to channel 7, below it from 8 on.
    pub fn bonded(self, primary: u8, width_mhz: u8) -> Option<u8> {
        let channels = width_mhz / 20;
        match (self, channels) {
            (_, 1) => Some(primary),
            (Band::Ghz2, 2) => Some(if primary <= 7 { primary + 2 } else { primary - 2 }),
            (Band::Ghz2, _) => None,
            (Band::Ghz5, _) => {
                let (first, last) = RUNS.into_iter().find(|(first, last)| (*first..=*last).contains(&primary))?;
                let span = 4 * channels;
                let lowest = first + (primary - first) / span * span;
                (lowest + span - 4 <= last).then_some(lowest + span / 2 - 2)
            }
        }
    }
}

/// Lowest and highest frequency in Hz of a signal of this width on a channel of 20 MHz: around the channel's centre, or, from
/// 40 MHz on, those of the bonded channel of that width if there is one. `None`: there is no such channel.
pub fn signal_band(channel: u32, width: Hertz) -> Option<(f64, f64)> {
    let number = u8::try_from(channel).ok()?;
    let band = match number {
        1..=14 => Band::Ghz2,
        number if GHZ5.contains(&number) => Band::Ghz5,
        _ => return None,
    };
    let bonds = [40, 80, 160].into_iter().find(|mhz| width.0 == f64::from(*mhz) * 1e6 && number != 14);
    let centre = bonds.and_then(|mhz| band.bonded(number, mhz)).unwrap_or(number);
    let frequency_hz = band.frequency_hz(centre);
    Some((frequency_hz - width.0 / 2.0, frequency_hz + width.0 / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_lies_around_its_channel_or_fills_a_bonded_one() {
        let mhz = |channel, width: f64| signal_band(channel, Hertz(width * 1e6)).map(|(a, b)| (a / 1e6, b / 1e6));
        assert_eq!(mhz(1, 1.0), Some((2411.5, 2412.5)));
        assert_eq!(mhz(7, 80.0), Some((2402.0, 2482.0)));
        assert_eq!((mhz(36, 80.0), mhz(44, 160.0)), (Some((5170.0, 5250.0)), Some((5170.0, 5330.0))));
        assert_eq!((mhz(37, 20.0), mhz(0, 20.0), mhz(300, 20.0)), (None, None, None));
    }

    #[test]
    fn channels_lie_where_the_standard_puts_them() {
        assert_eq!(Band::Ghz2.frequency_hz(1), 2.412e9);
        assert_eq!(Band::Ghz2.frequency_hz(14), 2.484e9);
        assert_eq!(Band::Ghz5.frequency_hz(36), 5.18e9);
    }

    #[test]
    fn bonded_channels_have_the_numbers_of_annex_e() {
        let centres = |width| GHZ5.iter().map(|&c| Band::Ghz5.bonded(c, width)).collect::<Vec<_>>();
        let each = |numbers: &[u8], times: usize| -> Vec<Option<u8>> {
            numbers.iter().flat_map(|&n| vec![Some(n); times]).collect()
        };
        assert_eq!(centres(40), each(&[38, 46, 54, 62, 102, 110, 118, 126, 134, 142, 151, 159, 167, 175], 2));
        assert_eq!(centres(80), each(&[42, 58, 106, 122, 138, 155, 171], 4));
        let mut wide = each(&[50, 114], 8);
        wide.extend([None; 4]);
        wide.extend(each(&[163], 8));
        assert_eq!(centres(160), wide);
    }

    #[test]
    fn forty_megahertz_fit_round_every_channel_of_the_lower_band() {
        assert!(GHZ2.iter().all(|&c| Band::Ghz2.bonded(c, 40).is_some_and(|n| (3..=11).contains(&n))));
        assert_eq!(Band::Ghz2.bonded(1, 80), None);
    }
}
