//! 802.11n: HT in the 2.4 and 5 GHz bands. [802.11-2020 §19]
//!
//! HT-mixed preambles, MCS 0 to 31, convolutional code. The eight OFDM modes remain for control
//! responses, group frames and beacons.
//! Left out: greenfield preambles, MCS 32 (the duplicate mode), unequal modulation (MCS 33 to 76), STBC, beamforming,
//! LDPC, RIFS, and 40 MHz intolerance. DSSS rates in the 2.4 GHz band are there for stations of older standards only.

use lasthop_units::Duration;

use super::band::{self, Band};
use super::mcs::{ChannelWidth, Family, GuardInterval, Limits};
use super::modes::ofdm_modes;
use super::table::{SlotTime, Table};
use crate::phy::mode::{Mode, ModulationClass};

const MODES: [Mode; 8] = ofdm_modes(ModulationClass::Ofdm);

const HT: Family = Family {
    class: ModulationClass::Ht,
    widths: &[ChannelWidth::Mhz20, ChannelWidth::Mhz40],
    max_streams: 4,
    highest_mcs: 7,
    // T_DFT. [802.11-2020 Table 19-6]
    symbol: Duration::from_nanos(3200),
    guard_intervals: &[GuardInterval::Long, GuardInterval::Short],
    default_guard_interval: GuardInterval::Long,
    data_subcarriers: &[52, 108],
    segment_subcarriers: &[],
    // N_ES grows between 270 and 324 Mbit/s. [802.11-2020 Tables 19-27 to 19-38]
    encoder_mbps: 300,
    excluded: &[],
    // Exponent 3: 2^(13+3) - 1. An MPDU in an A-MPDU has a length field of 12 bits. [802.11-2020 §9.4.2.55.3, §9.7.1]
    limits: |_| Limits { ampdu: 65_535, amsdu: 7935, mpdu: 4095, block_ack_window: 64 },
};

/// aSlotTime, aCWmin and aCWmax as in [802.11-2020 Table 19-25].
pub(super) const TABLE: Table = Table {
    name: "802.11n",
    summary: "2.4 and 5 GHz, HT: 20 and 40 MHz, up to 4 streams, up to 600 Mbit/s.",
    source: "802.11-2020 §19",
    status: "air times against arithmetic by hand and ns-3",
    channels: &[(Band::Ghz5, band::GHZ5), (Band::Ghz2, band::GHZ2)],
    default_channel: 36,
    slot: SlotTime::Fixed(Duration::from_micros(9)),
    cw_min: 15,
    cw_min_dsss: 15,
    cw_max: 1023,
    modes: &MODES,
    family: Some(&HT),
    default_basic_100kbps: &[60, 120, 240],
};
