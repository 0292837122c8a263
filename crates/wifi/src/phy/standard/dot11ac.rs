//! 802.11ac: VHT in the 5 GHz band. [802.11-2020 §21]
//!
//! PPDUs for one user, MCS 0 to 9, convolutional code. The eight OFDM modes remain for control
//! responses, group frames and beacons.
//! Left out: PPDUs for several users, 80+80 MHz, STBC, beamforming, LDPC, and narrower PPDUs on a wide channel.

use lasthop_units::Duration;

use super::band::{self, Band};
use super::mcs::{ChannelWidth, Family, GuardInterval, Limits};
use super::modes::ofdm_modes;
use super::table::{SlotTime, Table};
use crate::phy::mode::{Mode, ModulationClass};

const MODES: [Mode; 8] = ofdm_modes(ModulationClass::Ofdm);

const VHT: Family = Family {
    class: ModulationClass::Vht,
    widths: &[ChannelWidth::Mhz20, ChannelWidth::Mhz40, ChannelWidth::Mhz80, ChannelWidth::Mhz160],
    max_streams: 8,
    highest_mcs: 9,
    // T_DFT. [802.11-2020 Table 21-5]
    symbol: Duration::from_nanos(3200),
    guard_intervals: &[GuardInterval::Long, GuardInterval::Short],
    default_guard_interval: GuardInterval::Long,
    data_subcarriers: &[52, 108, 234, 468],
    segment_subcarriers: &[],
    // N_ES grows above 540 Mbit/s. [802.11-2020 Tables 21-30 to 21-61]
    encoder_mbps: 540,
    // Combinations in which encoders would not share the bits of a symbol evenly. [802.11-2020 Tables 21-30 to 21-61]
    excluded: &[
        (ChannelWidth::Mhz20, 1, 9),
        (ChannelWidth::Mhz20, 2, 9),
        (ChannelWidth::Mhz20, 4, 9),
        (ChannelWidth::Mhz20, 5, 9),
        (ChannelWidth::Mhz20, 7, 9),
        (ChannelWidth::Mhz20, 8, 9),
        (ChannelWidth::Mhz80, 3, 6),
        (ChannelWidth::Mhz80, 6, 9),
        (ChannelWidth::Mhz80, 7, 6),
        (ChannelWidth::Mhz160, 3, 9),
    ],
    // Exponent 7: 2^(13+7) - 1. [802.11-2020 §9.4.2.157.2]
    limits: |_| Limits { ampdu: 1_048_575, amsdu: 11_398, mpdu: 11_454, block_ack_window: 64 },
};

/// aSlotTime, aCWmin and aCWmax as in [802.11-2020 Table 21-29].
pub(super) const TABLE: Table = Table {
    name: "802.11ac",
    summary: "5 GHz, VHT: 20 to 160 MHz, up to 8 streams, up to 6.9 Gbit/s.",
    source: "802.11-2020 §21",
    status: "air times against arithmetic by hand and ns-3",
    channels: &[(Band::Ghz5, band::GHZ5)],
    default_channel: 36,
    slot: SlotTime::Fixed(Duration::from_micros(9)),
    cw_min: 15,
    cw_min_dsss: 15,
    cw_max: 1023,
    modes: &MODES,
    family: Some(&VHT),
    default_basic_100kbps: &[60, 120, 240],
};
