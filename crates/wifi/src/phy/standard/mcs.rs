//! Modes with a modulation and coding scheme: the common part of HT, VHT and HE tables.
//!
//! A [`Family`] spans widths, streams, guard intervals and MCSs; [`Family::modes`] lists the modes of a BSS. Equal
//! modulation on all streams; no STBC, no beamforming, no transmission to several users.

use lasthop_registry::words;
use lasthop_units::{DataRate, Dbm, Duration};

use super::band::Band;
use crate::phy::code_rate::CodeRate;
use crate::phy::ldpc::LdpcCode;
use crate::phy::mode::{Coding, Mode, Modulation, ModulationClass};

words! {
    /// Width of a channel.
    pub enum ChannelWidth {
        /// one channel of 20 MHz
        Mhz20 = "20 MHz",
        /// two
        Mhz40 = "40 MHz",
        /// four
        Mhz80 = "80 MHz",
        /// eight, side by side
        Mhz160 = "160 MHz",
    }
}

impl ChannelWidth {
    /// The width in MHz.
    pub const fn mhz(self) -> u8 {
        [20, 40, 80, 160][self as usize]
    }
    /// The width in Hz.
    pub fn hz(self) -> f64 {
        f64::from(self.mhz()) * 1e6
    }
}

words! {
    /// Guard interval between symbols, the shortest that data frames have.
    pub enum GuardInterval {
        /// 0.8 us in 802.11n and 802.11ac
        Long = "long",
        /// 0.4 us in 802.11n and 802.11ac; 0.8 us remains allowed
        Short = "short",
        /// 0.8 us in 802.11ax
        Us0_8 = "0.8 us",
        /// 1.6 us in 802.11ax
        Us1_6 = "1.6 us",
        /// 3.2 us in 802.11ax
        Us3_2 = "3.2 us",
    }
}

impl GuardInterval {
    /// Its duration.
    pub const fn duration(self) -> Duration {
        Duration::from_nanos(match self {
            GuardInterval::Short => 400,
            GuardInterval::Long | GuardInterval::Us0_8 => 800,
            GuardInterval::Us1_6 => 1600,
            GuardInterval::Us3_2 => 3200,
        })
    }
}

/// The range of modes of HT, VHT or HE.
#[derive(Debug)]
pub(in crate::phy) struct Family {
    pub class: ModulationClass,
    pub widths: &'static [ChannelWidth],
    pub max_streams: u8,
    pub highest_mcs: u8,
    /// The symbol without its guard interval.
    pub symbol: Duration,
    pub guard_intervals: &'static [GuardInterval],
    pub default_guard_interval: GuardInterval,
    /// N_SD: data subcarriers at each of `widths`.
    pub data_subcarriers: &'static [u32],
    /// N_SD,short: data subcarriers in a segment of the last symbol; none outside HE.
    pub segment_subcarriers: &'static [u32],
    /// The rate with the long guard interval up to which one convolutional encoder serves, in Mbit/s.
    pub encoder_mbps: u64,
    /// (width, streams, MCS) that do not exist.
    pub excluded: &'static [(ChannelWidth, u8, u8)],
    pub limits: fn(Band) -> Limits,
}

/// Length limits of frames. [802.11-2020 §9.4.2.55, §9.4.2.157]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::phy) struct Limits {
    /// A-MPDU, in bytes.
    pub ampdu: u64,
    /// A-MSDU, in bytes.
    pub amsdu: u64,
    /// MPDU in an A-MPDU, in bytes.
    pub mpdu: u64,
    /// Frames that a Block Ack acknowledges.
    pub block_ack_window: u16,
}

/// The choice of a BSS among a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::phy) struct Choice {
    pub width: ChannelWidth,
    pub streams: u8,
    pub guard_interval: GuardInterval,
}

/// Modulation, code rate, coded bits per subcarrier, sensitivity on 20 MHz in dBm, by MCS.
/// [802.11-2020 Tables 19-23, 21-25; 802.11ax-2021 Table 27-51]
const SCHEMES: [(Modulation, CodeRate, u32, f64); 12] = {
    use CodeRate::{FiveSixths, Half, ThreeQuarters, TwoThirds};
    use Modulation::{Bpsk, Qam16, Qam64, Qam256, Qam1024, Qpsk};
    [
        (Bpsk, Half, 1, -82.0),
        (Qpsk, Half, 2, -79.0),
        (Qpsk, ThreeQuarters, 2, -77.0),
        (Qam16, Half, 4, -74.0),
        (Qam16, ThreeQuarters, 4, -70.0),
        (Qam64, TwoThirds, 6, -66.0),
        (Qam64, ThreeQuarters, 6, -65.0),
        (Qam64, FiveSixths, 6, -64.0),
        (Qam256, ThreeQuarters, 8, -59.0),
        (Qam256, FiveSixths, 8, -57.0),
        (Qam1024, ThreeQuarters, 10, -54.0),
        (Qam1024, FiveSixths, 10, -52.0),
    ]
};

impl Family {
    /// The modes at the chosen width, with up to the chosen number of streams, in no order.
    ///
    /// A short guard interval of 802.11n and 802.11ac leaves the long one allowed, as rate controls of the field
    /// expect. A guard interval of 802.11ax is the only one, since a longer one gains nothing if no echo is modelled.
    pub fn modes(&self, choice: Choice) -> Vec<Mode> {
        let guard_intervals = match choice.guard_interval {
            GuardInterval::Short => &[GuardInterval::Long, GuardInterval::Short][..],
            ref other => core::slice::from_ref(other),
        };
        let mut modes = Vec::new();
        for streams in 1..=choice.streams {
            for &guard_interval in guard_intervals {
                let possible = (0..=self.highest_mcs).filter(|&mcs| self.has(choice.width, streams, mcs));
                modes.extend(
                    possible.map(|mcs| self.mode(Choice { streams, guard_interval, ..choice }, mcs, choice.streams)),
                );
            }
        }
        modes
    }

    /// Returns whether the standard has this combination.
    fn has(&self, width: ChannelWidth, streams: u8, mcs: u8) -> bool {
        !self.excluded.contains(&(width, streams, mcs))
    }

    /// The mode, at a receiver of `antennas`.
    fn mode(&self, choice: Choice, mcs: u8, antennas: u8) -> Mode {
        let (modulation, code_rate, bits, sensitivity_dbm) = SCHEMES[usize::from(mcs)];
        let place = self.widths.iter().position(|w| *w == choice.width).expect("a width of the family");
        let streams = u32::from(choice.streams);
        let coded_bits = self.data_subcarriers[place] * bits * streams;
        let data_bits = code_rate.of(coded_bits);
        let symbol_ns = |guard: Duration| (self.symbol + guard).as_nanos();
        let coding = match self.segment_subcarriers.get(place) {
            None => {
                let long_bps = u64::from(data_bits) * 1_000_000_000 / symbol_ns(GuardInterval::Long.duration());
                Coding::Convolutional {
                    encoders: encoders(coded_bits, code_rate, long_bps.div_ceil(self.encoder_mbps * 1_000_000) as u32),
                }
            }
            Some(subcarriers) => Coding::Ldpc(LdpcCode::new(code_rate, coded_bits, subcarriers * bits * streams)),
        };
        let guard_interval = choice.guard_interval.duration();
        let symbol = symbol_ns(guard_interval);
        Mode {
            rate: DataRate::from_bps((u64::from(data_bits) * 1_000_000_000 + symbol / 2) / symbol),
            class: self.class,
            modulation,
            code_rate,
            bits_per_symbol: data_bits,
            coding,
            mcs: Some(mcs),
            streams: choice.streams,
            antennas_per_stream: f64::from(antennas) / f64::from(choice.streams),
            guard_interval,
            bandwidth_hz: choice.width.hz(),
            // Twice the noise needs twice the signal.
            sensitivity: Dbm(sensitivity_dbm + 3.0 * f64::from(choice.width as u8)),
            mandatory: false,
        }
    }
}

/// N_ES: the fewest convolutional encoders, from `needed` on, that share the bits of a symbol evenly,
/// each with whole periods of the puncturing. [802.11-2020 §21.3.10.5.3, Tables 21-30 to 21-61]
fn encoders(coded_bits: u32, code_rate: CodeRate, needed: u32) -> u32 {
    let (_, denominator) = code_rate.fraction();
    let even = |n: &u32| coded_bits.is_multiple_of(*n) && (coded_bits / n).is_multiple_of(denominator);
    (needed..=coded_bits).find(even).expect("one encoder for each bit serves")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{Phy, PhyOptions, Standard};

    fn phy(name: &str, width: ChannelWidth, streams: u8, guard_interval: GuardInterval) -> Phy {
        let options = PhyOptions {
            channel_width: Some(width),
            spatial_streams: Some(streams),
            guard_interval: Some(guard_interval),
            ..PhyOptions::new(Standard::named(name).unwrap())
        };
        options.resolve("bss").unwrap()
    }
    /// The rate of an MCS, in units of 100 kbit/s as the standard prints it.
    fn rate(phy: &Phy, mcs: u8) -> u64 {
        (phy.mode(phy.mode_of_mcs(mcs).unwrap()).rate.as_bps() + 50_000) / 100_000
    }

    #[test]
    fn rates_are_those_of_the_standards_tables() {
        use ChannelWidth::{Mhz20, Mhz40, Mhz80, Mhz160};
        use GuardInterval::{Long, Short, Us0_8, Us1_6, Us3_2};
        for (name, width, streams, gi, mcs, expected) in [
            ("802.11n", Mhz20, 1, Long, 0, 65),
            ("802.11n", Mhz20, 1, Short, 7, 722),
            ("802.11n", Mhz20, 2, Long, 15, 1300),
            ("802.11n", Mhz40, 1, Short, 7, 1500),
            ("802.11n", Mhz40, 2, Short, 15, 3000),
            ("802.11n", Mhz40, 4, Short, 31, 6000),
            ("802.11ac", Mhz20, 1, Short, 8, 867),
            ("802.11ac", Mhz20, 3, Short, 9, 2889),
            ("802.11ac", Mhz40, 2, Short, 9, 4000),
            ("802.11ac", Mhz80, 1, Short, 9, 4333),
            ("802.11ac", Mhz80, 4, Long, 9, 15_600),
            ("802.11ac", Mhz160, 8, Short, 9, 69_333),
            ("802.11ax", Mhz20, 1, Us0_8, 0, 86),
            ("802.11ax", Mhz20, 2, Us0_8, 11, 2868),
            ("802.11ax", Mhz40, 1, Us1_6, 9, 2167),
            ("802.11ax", Mhz80, 2, Us0_8, 11, 12_010),
            ("802.11ax", Mhz80, 1, Us3_2, 11, 5104),
            ("802.11ax", Mhz160, 8, Us0_8, 11, 96_078),
        ] {
            assert_eq!(rate(&phy(name, width, streams, gi), mcs), expected, "{name} {width:?} {streams} {gi:?} {mcs}");
        }
    }

    #[test]
    fn combinations_without_a_whole_symbol_are_excluded() {
        let modes = |width, streams| phy("802.11ac", width, streams, GuardInterval::Long).allowed_modes().len();
        // Ten MCSs for each number of streams, except those left out up to there.
        assert_eq!([1, 2, 3, 6, 8].map(|n| modes(ChannelWidth::Mhz20, n)), [9, 18, 28, 56, 74]);
        assert_eq!([1, 3, 6, 7, 8].map(|n| modes(ChannelWidth::Mhz80, n)), [10, 29, 58, 67, 77]);
        assert_eq!([2, 3, 8].map(|n| modes(ChannelWidth::Mhz160, n)), [20, 29, 79]);
        assert_eq!(modes(ChannelWidth::Mhz40, 8), 80);
    }

    #[test]
    fn every_mode_carries_whole_bits_at_each_encoder() {
        for name in ["802.11n", "802.11ac"] {
            for width in [ChannelWidth::Mhz20, ChannelWidth::Mhz40, ChannelWidth::Mhz80, ChannelWidth::Mhz160] {
                if name == "802.11n" && width > ChannelWidth::Mhz40 {
                    continue;
                }
                let streams = if name == "802.11n" { 4 } else { 8 };
                let phy = phy(name, width, streams, GuardInterval::Short);
                for mode in phy.modes() {
                    let Coding::Convolutional { encoders } = mode.coding else { panic!("{mode:?}") };
                    assert!(mode.bits_per_symbol.is_multiple_of(encoders), "{mode:?}");
                }
            }
        }
    }

    #[test]
    fn encoders_are_as_many_as_in_the_tables() {
        let of = |name, width, streams, mcs| {
            let phy = phy(name, width, streams, GuardInterval::Long);
            phy.mode(phy.mode_of_mcs(mcs).unwrap()).coding
        };
        let ht = |streams, mcs| of("802.11n", ChannelWidth::Mhz40, streams, mcs);
        // 270, 243, 324 and 540 Mbit/s.
        assert_eq!(
            [(2, 15), (3, 20), (3, 21), (4, 31)].map(|(s, m)| ht(s, m)),
            [1, 1, 2, 2].map(|encoders| Coding::Convolutional { encoders })
        );
        // Numbers of encoders that exceed one for each 540 Mbit/s begun.
        for (width, streams, mcs, encoders) in [
            (ChannelWidth::Mhz80, 7, 2, 3),
            (ChannelWidth::Mhz80, 7, 7, 6),
            (ChannelWidth::Mhz80, 7, 8, 6),
            (ChannelWidth::Mhz80, 8, 7, 6),
            (ChannelWidth::Mhz160, 4, 7, 6),
            (ChannelWidth::Mhz160, 5, 8, 8),
            (ChannelWidth::Mhz160, 6, 7, 8),
            (ChannelWidth::Mhz160, 7, 3, 4),
            (ChannelWidth::Mhz160, 7, 4, 6),
            (ChannelWidth::Mhz160, 7, 5, 7),
            (ChannelWidth::Mhz160, 7, 7, 9),
            (ChannelWidth::Mhz160, 7, 8, 12),
            (ChannelWidth::Mhz160, 7, 9, 12),
        ] {
            assert_eq!(
                of("802.11ac", width, streams, mcs),
                Coding::Convolutional { encoders },
                "{width:?} {streams} {mcs}"
            );
        }
    }

    #[test]
    fn twice_the_width_asks_for_3_db_more_and_streams_for_nothing() {
        let of = |width, streams, mcs| {
            let phy = phy("802.11ax", width, streams, GuardInterval::Us0_8);
            phy.mode(phy.mode_of_mcs(mcs).unwrap()).sensitivity
        };
        // [802.11ax-2021 Table 27-51]
        assert_eq!(of(ChannelWidth::Mhz20, 1, 11), Dbm(-52.0));
        assert_eq!(of(ChannelWidth::Mhz80, 1, 0), Dbm(-76.0));
        assert_eq!(of(ChannelWidth::Mhz160, 8, 11), Dbm(-43.0));
    }

    #[test]
    fn a_short_guard_interval_leaves_the_long_one_of_11n_but_not_of_11ax() {
        let count = |name, gi| phy(name, ChannelWidth::Mhz40, 2, gi).allowed_modes().len();
        assert_eq!((count("802.11n", GuardInterval::Long), count("802.11n", GuardInterval::Short)), (16, 32));
        assert_eq!((count("802.11ax", GuardInterval::Us0_8), count("802.11ax", GuardInterval::Us3_2)), (24, 24));
    }
}
