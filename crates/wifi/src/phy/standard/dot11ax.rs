//! 802.11ax: HE in the 2.4 and 5 GHz bands. PPDUs of several users: `phy/ru.rs`. [802.11ax-2021 §27]
//!
//! MCS 0 to 11, LDPC, the mandatory pairs of HE-LTF and guard interval: 2x and 0.8 us, 2x and 1.6 us, 4x and 3.2 us.
//! The eight OFDM modes remain for control responses, group frames and beacons.
//! Left out: several users in one unit (MU-MIMO), the 6 GHz band, extended range and dual carrier modulation, 1x
//! HE-LTF and 4x with 0.8 us, packet extension (receivers require none), spatial reuse, target wake time, STBC,
//! beamforming, 80+80 MHz and punctured channels.

use lasthop_units::Duration;

use super::band::{self, Band};
use super::mcs::{ChannelWidth, Family, GuardInterval, Limits};
use super::modes::ofdm_modes;
use super::table::{SlotTime, Table};
use crate::phy::mode::{Mode, ModulationClass};

const MODES: [Mode; 8] = ofdm_modes(ModulationClass::Ofdm);

const HE: Family = Family {
    class: ModulationClass::He,
    widths: &[ChannelWidth::Mhz20, ChannelWidth::Mhz40, ChannelWidth::Mhz80, ChannelWidth::Mhz160],
    max_streams: 8,
    highest_mcs: 11,
    // T_DFT,HE. [802.11ax-2021 Table 27-12]
    symbol: Duration::from_nanos(12_800),
    guard_intervals: &[GuardInterval::Us0_8, GuardInterval::Us1_6, GuardInterval::Us3_2],
    default_guard_interval: GuardInterval::Us0_8,
    data_subcarriers: &[234, 468, 980, 1960],
    // [802.11ax-2021 Table 27-33]
    segment_subcarriers: &[60, 120, 240, 492],
    encoder_mbps: 0,
    excluded: &[],
    limits: he_limits,
};

/// Exponent 7 of VHT and extension 3, at most the longest PSDU; without VHT, in the 2.4 GHz band,
/// exponent 3 of HT and extension 3: 2^(16+3) - 1. [802.11ax-2021 §9.4.2.248.2, §26.6.1, Table 27-54]
fn he_limits(band: Band) -> Limits {
    match band {
        Band::Ghz5 => Limits { ampdu: 6_500_631, amsdu: 11_398, mpdu: 11_454, block_ack_window: 256 },
        Band::Ghz2 => Limits { ampdu: 524_287, amsdu: 7935, mpdu: 7991, block_ack_window: 256 },
    }
}

/// aSlotTime, aCWmin and aCWmax as in [802.11ax-2021 Table 27-54].
pub(super) const TABLE: Table = Table {
    name: "802.11ax",
    summary: "2.4 and 5 GHz, HE, with OFDMA where asked for: 20 to 160 MHz, up to 8 streams, up to 9.6 Gbit/s.",
    source: "802.11ax-2021 §27",
    status: "air times against arithmetic by hand and ns-3",
    channels: &[(Band::Ghz5, band::GHZ5), (Band::Ghz2, band::GHZ2)],
    default_channel: 36,
    slot: SlotTime::Fixed(Duration::from_micros(9)),
    cw_min: 15,
    cw_min_dsss: 15,
    cw_max: 1023,
    modes: &MODES,
    family: Some(&HE),
    default_basic_100kbps: &[60, 120, 240],
};
