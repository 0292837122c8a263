//! Stations of an older standard than their BSS: 802.11b and g in the 2.4 GHz band, 802.11a in the 5 GHz band.
//!
//! Such a station has the modes of its own standard, no QoS and no Block Ack. A station of 802.11b also changes its BSS:
//! basic rates of DSSS, slots of 20 us, and protection of OFDM frames. Left out: stations of 802.11n or ac in a BSS of a
//! later standard.

use lasthop_registry::ParamError;
use lasthop_wifi::Protection;
use lasthop_wifi::phy::{Dsss, ModeId, Phy, Rates, Standard};

use super::place::error;
use crate::description::{Bss, Description, StationGroup};

/// The names of the standards without MCSs that such stations may have.
const OLDER: [&str; 3] = ["802.11b", "802.11g", "802.11a"];

/// The groups of stations of a BSS.
pub(super) fn stations_of(description: &Description, bss: usize) -> impl Iterator<Item = &StationGroup> {
    let name = &description.bss.0[bss].name;
    let only = description.bss.0.len() == 1;
    description.station.0.iter().filter(move |group| only || (group.bss.is_some() && group.bss == *name))
}

/// The standard of the stations of a group, if it is not their BSS's.
pub(super) fn standard_of(group: &StationGroup, bss: &Bss) -> Option<Standard> {
    group.standard.filter(|own| Some(*own) != bss.standard)
}

/// The DSSS rates that the stations of a BSS need in addition to its own rates.
pub(super) fn dsss_of<'a>(bss: &Bss, groups: impl Iterator<Item = &'a StationGroup>) -> Dsss {
    let of_bss = bss.standard.map(Standard::name);
    let of = |group: &StationGroup| match (of_bss, standard_of(group, bss).map(Standard::name)) {
        // It cannot have them: `modes_of` refuses such stations.
        (Some("802.11a"), _) => Dsss::Absent,
        (_, Some("802.11b")) => Dsss::Served,
        (_, Some("802.11g")) => Dsss::Known,
        _ => Dsss::Absent,
    };
    groups.map(of).max().unwrap_or_default()
}

/// The default of `protection`: with stations of 802.11b a CTS at a DSSS rate before frames that they cannot decode, as
/// an AP asks for with the Use_Protection bit. [802.11-2020 §10.27.2]
pub(super) fn protection_of<'a>(bss: &Bss, groups: impl Iterator<Item = &'a StationGroup>) -> Protection {
    let has_ofdm = bss.standard.is_some_and(Standard::has_mcs) || bss.rates == Rates::All;
    match dsss_of(bss, groups) {
        Dsss::Served if has_ofdm => Protection::CtsToSelf,
        _ => Protection::None,
    }
}

/// The modes of a station of an older standard; `None` if its BSS has the same standard.
pub(super) fn modes_of(
    group: &StationGroup,
    bss: &Bss,
    phy: &Phy,
    path: &str,
) -> Result<Option<Vec<ModeId>>, ParamError> {
    let Some(own) = standard_of(group, bss) else { return Ok(None) };
    let path = format!("{path}.standard");
    let (name, of_bss) = (own.name(), phy.standard().name());
    if !OLDER.contains(&name) || !(phy.standard().has_mcs() || (name, of_bss) == ("802.11b", "802.11g")) {
        let message = format!("a station of {name} in a BSS of {of_bss} is not modelled");
        return error(path, (message, "802.11b, g or a in a BSS of 802.11n or later, 802.11b in one of 802.11g"));
    }
    let is_5_ghz = phy.frequency_hz() > 3e9;
    if is_5_ghz != (name == "802.11a") {
        let (band, other) = if is_5_ghz { ("5", "2.4") } else { ("2.4", "5") };
        let message = format!("{name} has no rates in the {band} GHz band, in which its BSS of {of_bss} is");
        let remedy =
            format!("choose a channel of the {other} GHz band for the BSS, if {of_bss} has one, or remove this key");
        return error(path, (message, remedy));
    }
    Ok(Some(phy.modes_of_older(own)))
}
