//! 802.11g: the extended rate PHY in the 2.4 GHz band, OFDM beside the rates of 802.11b. [802.11-2020 §18]
//!
//! By default the BSS has no 802.11b stations: basic rates of 6, 12 and 24 Mbit/s, short slots and aCWmin 15. DSSS
//! rates among the basic ones mean that 802.11b stations are admitted: long slots unless `short_slot = true`, and
//! aCWmin 31, a bound that all stations then share. The standard lets ERP stations keep 15 if their AP supports OFDM
//! rates at all.
//!
//! Left out: DSSS-OFDM and ERP-PBCC, which later editions removed.

use lasthop_units::Duration;

use super::band::{self, Band};
use super::modes::{dsss_modes, ofdm_modes};
use super::table::{SlotTime, Table};
use crate::phy::mode::{Mode, ModulationClass};

const MODES: [Mode; 12] = {
    // All modes share one receive filter, as wide as OFDM needs.
    let [m1, m2, m5, m11] = dsss_modes(20e6);
    let [m6, m9, m12, m18, m24, m36, m48, m54] = ofdm_modes(ModulationClass::ErpOfdm);
    [m1, m2, m5, m6, m9, m11, m12, m18, m24, m36, m48, m54]
};

/// aSlotTime, aCWmin and aCWmax as in [802.11-2020 Table 18-5].
pub(super) const TABLE: Table = Table {
    name: "802.11g",
    summary: "2.4 GHz, OFDM beside DSSS and CCK, 1 to 54 Mbit/s.",
    source: "802.11-2020 §18",
    status: "air times against closed forms",
    channels: &[(Band::Ghz2, band::GHZ2)],
    default_channel: 1,
    slot: SlotTime::Choice { long: Duration::from_micros(20), short: Duration::from_micros(9) },
    cw_min: 15,
    cw_min_dsss: 31,
    cw_max: 1023,
    modes: &MODES,
    family: None,
    default_basic_100kbps: &[60, 120, 240],
};
