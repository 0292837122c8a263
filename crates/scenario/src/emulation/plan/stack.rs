//! The Wi-Fi stack of a kernel: its radios, access points and security.

use lasthop_capture::{BssSite, Format};
use lasthop_observe::NodeId;
use lasthop_units::Duration;

use crate::description::{EmulationSection, StackSecurity, WifiStack};
use crate::{Diagnostic, Origin, ResolvedScenario};

/// The interval between beacons if the scenario has none: 100 TU.
const BEACONS: Duration = Duration::from_micros(102_400);
/// A time unit.
const TU: Duration = Duration::from_micros(1024);

/// The kernel's Wi-Fi stack of an emulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackPlan {
    /// Security of all BSSs.
    pub security: StackSecurity,
    /// Whether stations reassociate by 802.11r.
    pub fast_transition: bool,
    /// A file with further lines for hostapd.
    pub hostapd: Option<String>,
    /// A file in place of the configuration that is written for wpa_supplicant.
    pub wpa_supplicant: Option<String>,
    /// A cell for each BSS, in their order; its AP is the node of that number.
    pub cells: Vec<Cell>,
}

/// A BSS as hostapd and wpa_supplicant describe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Its name.
    pub ssid: String,
    /// Number of its primary channel.
    pub channel: u8,
    /// Centre of its primary channel in MHz.
    pub mhz: u16,
    /// Width in MHz.
    pub width_mhz: u16,
    /// Whether it has the HT PHY, of 802.11n.
    pub ht: bool,
    /// Whether it has the VHT PHY, of 802.11ac.
    pub vht: bool,
    /// Whether frames have priorities (WMM).
    pub qos: bool,
    /// Whether DSSS rates are all that it has.
    pub only_dsss: bool,
    /// Spatial streams.
    pub streams: u8,
    /// Whether the short guard interval may be used.
    pub short_guard_interval: bool,
    /// Its rates without an MCS in units of 100 kbit/s, each with whether it is basic.
    pub rates: Vec<(u16, bool)>,
    /// The interval between beacons in TU, 1024 us.
    pub beacon_tu: u32,
}

impl StackPlan {
    /// The access points with the SSID of one, itself among them.
    pub fn of_ssid(&self, ap: NodeId) -> impl Iterator<Item = NodeId> {
        let ssid = &self.cells[ap.index()].ssid;
        (0..).map(NodeId).zip(&self.cells).filter(move |(_, cell)| cell.ssid == *ssid).map(|(ap, _)| ap)
    }

    /// Whether the stations of an access point may roam.
    pub fn roams(&self, ap: NodeId) -> bool {
        self.of_ssid(ap).nth(1).is_some()
    }

    /// Whether the stations of an access point reassociate by 802.11r.
    pub fn is_fast(&self, ap: NodeId) -> bool {
        self.fast_transition && self.roams(ap)
    }
}

impl ResolvedScenario {
    /// The kernel's Wi-Fi stack that `[emulation]` asks for, if it does.
    ///
    /// # Errors
    /// A flow would be simulated.
    pub(super) fn stack_plan(
        &self,
        section: &EmulationSection,
        is_carried: impl Fn(usize) -> bool,
    ) -> Result<Option<StackPlan>, Diagnostic> {
        if section.wifi_stack != Some(WifiStack::Kernel) {
            return Ok(None);
        }
        if let Some(names) = self.flows_beside_the_stack(is_carried) {
            let fault = (
                format!(
                    "{names} would be simulated, and packets of a simulation cannot go through a kernel's Wi-Fi stack"
                ),
                "bulk data over TCP, an application, or wifi_stack = \"model\"",
            );
            return Err(Diagnostic::new(Origin::Nowhere, "flow", fault));
        }
        let site = self.site(0);
        let cells = site.bss.iter().zip(&self.bss).map(|(bss, spec)| {
            let phy = &spec.config.phy;
            let short = phy.guard_interval().is_some_and(|guard| guard.duration() < Duration::from_nanos(800));
            cell_of(bss, phy.spatial_streams(), short)
        });
        Ok(Some(StackPlan {
            security: section.security.unwrap_or(StackSecurity::Open),
            fast_transition: section.fast_transition.unwrap_or(false),
            hostapd: section.hostapd.as_ref().map(ToString::to_string),
            wpa_supplicant: section.wpa_supplicant.as_ref().map(ToString::to_string),
            cells: cells.collect(),
        }))
    }
}

fn cell_of(bss: &BssSite, streams: u8, short_guard_interval: bool) -> Cell {
    // In units of 500 kbit/s there, in units of 100 kbit/s here.
    let rates: Vec<(u16, bool)> = bss.rates.iter().map(|(rate, basic)| (u16::from(*rate) * 5, *basic)).collect();
    const DSSS: [u16; 4] = [10, 20, 55, 110];
    Cell {
        ssid: bss.ssid.clone(),
        channel: bss.channel,
        mhz: bss.mhz,
        width_mhz: bss.width_mhz,
        ht: matches!(bss.format, Some(Format::Ht | Format::Vht)),
        vht: bss.format == Some(Format::Vht),
        qos: bss.qos,
        only_dsss: rates.iter().all(|(rate, _)| DSSS.contains(rate)),
        streams,
        short_guard_interval,
        rates,
        beacon_tu: (bss.beacons.unwrap_or(BEACONS).as_nanos() / TU.as_nanos()).clamp(15, 65_535) as u32,
    }
}
