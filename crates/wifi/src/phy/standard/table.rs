//! The table of a standard.

use lasthop_registry::Entry;
use lasthop_units::Duration;

use super::band::Band;
use super::mcs::Family;
use crate::phy::mode::Mode;

/// The constants of a standard.
#[derive(Debug)]
pub(in crate::phy) struct Table {
    pub name: &'static str,
    pub summary: &'static str,
    pub source: &'static str,
    pub status: &'static str,
    /// The channels of each band.
    pub channels: &'static [(Band, &'static [u8])],
    pub default_channel: u8,
    pub slot: SlotTime,
    /// aCWmin if all basic rates of the BSS are OFDM rates.
    pub cw_min: u32,
    /// aCWmin if DSSS rates are among the basic ones.
    pub cw_min_dsss: u32,
    pub cw_max: u32,
    /// The modes without an MCS, sorted by rate.
    pub modes: &'static [Mode],
    /// The modes with an MCS.
    pub family: Option<&'static Family>,
    /// The default basic rates, in units of 100 kbit/s.
    pub default_basic_100kbps: &'static [u64],
}

impl Table {
    pub const fn entry(&self) -> Entry {
        Entry { name: self.name, summary: self.summary, source: self.source, status: self.status, fields: Vec::new }
    }
    /// The band of a channel; `None` if the standard lacks the channel.
    pub fn band_of(&self, channel: u8) -> Option<Band> {
        self.channels.iter().find(|(_, numbers)| numbers.contains(&channel)).map(|(band, _)| *band)
    }
}

/// aSlotTime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::phy) enum SlotTime {
    /// One value.
    Fixed(Duration),
    /// Short if every station of the BSS can keep it. [802.11-2020 §18.4]
    Choice { long: Duration, short: Duration },
}
