//! 802.11a: OFDM on 20 MHz in the 5 GHz band. [802.11-2020 §17]
//!
//! Left out: channels of 5 and 10 MHz, and the 4.9 GHz band.

use lasthop_units::Duration;

use super::band::{self, Band};
use super::modes::ofdm_modes;
use super::table::{SlotTime, Table};
use crate::phy::mode::{Mode, ModulationClass};

const MODES: [Mode; 8] = ofdm_modes(ModulationClass::Ofdm);

/// aSlotTime, aCWmin and aCWmax as in [802.11-2020 Table 17-21].
pub(super) const TABLE: Table = Table {
    name: "802.11a",
    summary: "5 GHz, OFDM, 6 to 54 Mbit/s.",
    source: "802.11-2020 §17",
    status: "air times against closed forms",
    channels: &[(Band::Ghz5, band::GHZ5)],
    default_channel: 36,
    slot: SlotTime::Fixed(Duration::from_micros(9)),
    cw_min: 15,
    cw_min_dsss: 15,
    cw_max: 1023,
    modes: &MODES,
    family: None,
    default_basic_100kbps: &[60, 120, 240],
};
