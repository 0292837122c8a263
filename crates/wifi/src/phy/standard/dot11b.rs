//! 802.11b: HR/DSSS in the 2.4 GHz band. [802.11-2020 §15, §16]
//!
//! Left out: PBCC, which was never built, and the frequency-agile option.

use lasthop_units::Duration;

use super::band::Band;
use super::modes::dsss_modes;
use super::table::{SlotTime, Table};
use crate::phy::mode::Mode;

/// The spread signal fills 22 MHz. [802.11-2020 §16.3]
const MODES: [Mode; 4] = dsss_modes(22e6);

/// aSlotTime, aCWmin and aCWmax as in [802.11-2020 Table 16-4].
pub(super) const TABLE: Table = Table {
    name: "802.11b",
    summary: "2.4 GHz, DSSS and CCK, 1 to 11 Mbit/s.",
    source: "802.11-2020 §15, §16",
    status: "air times against closed forms",
    channels: &[(Band::Ghz2, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14])],
    default_channel: 1,
    slot: SlotTime::Fixed(Duration::from_micros(20)),
    cw_min: 31,
    cw_min_dsss: 31,
    cw_max: 1023,
    modes: &MODES,
    family: None,
    default_basic_100kbps: &[10, 20, 55, 110],
};
