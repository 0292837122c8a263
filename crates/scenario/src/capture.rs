//! The captures of a run: where they are written, and their description of the scenario.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lasthop_capture::{BssSite, Capture, FlowSite, Format, NodeSite, Site};
pub use lasthop_capture::{LEAST_SNAP, SNAP};
use lasthop_units::Time;
use lasthop_wifi::Security;
use lasthop_wifi::phy::{ModulationClass, Phy, Preamble};

use crate::ResolvedScenario;
use crate::description::Bss;
use crate::resolved::{BssSpec, FlowSpec, NodeSpec};
use crate::traffic::TrafficKind;

/// Captures of each run.
#[derive(Clone, Debug)]
pub struct Captures {
    /// its folder, with a subfolder for each seed such as `seed-1`
    pub directory: PathBuf,
    /// bytes of each frame that are kept, without radiotap; 0 for all
    pub snap: u32,
}

impl Captures {
    /// Begins the captures of the run of `seed`.
    pub(crate) fn begin(&self, scenario: &ResolvedScenario, seed: u64) -> Result<Capture, String> {
        let folder = self.directory.join(format!("seed-{seed}"));
        Capture::new(scenario.site(seed), &folder, self.snap)
    }
}

impl ResolvedScenario {
    /// The description of the scenario in its captures.
    pub(crate) fn site(&self, seed: u64) -> Site {
        let description = &self.description;
        let node = |node: &NodeSpec| NodeSite {
            name: node.name.clone(),
            bss: node.config.bss,
            legacy: node.config.legacy.is_some(),
        };
        let flow = |flow: &FlowSpec| FlowSite {
            station: flow.station,
            dscp: flow.section.dscp.code_point(),
            echoes: matches!(flow.section.traffic, TrafficKind::Ping(_)),
        };
        Site {
            scenario: if description.name.is_empty() { "a scenario".into() } else { description.name.to_string() },
            seed,
            measured: (Time::ZERO + description.warmup, Time::ZERO + description.duration),
            nodes: self.nodes.iter().map(node).collect(),
            bss: description.bss.0.iter().zip(&self.bss).map(|(bss, spec)| bss_site(bss, spec)).collect(),
            flows: self.flows.iter().map(flow).collect(),
            tuned: BTreeMap::new(),
        }
    }
}

fn bss_site(bss: &Bss, spec: &BssSpec) -> BssSite {
    let phy = &*spec.config.phy;
    let channel = phy.channel();
    BssSite {
        ssid: bss.ssid().into(),
        channel,
        mhz: centre_mhz(phy, channel),
        format: format_of(phy),
        short_preamble: bss.preamble == Some(Preamble::Short),
        rates: rates_of(phy),
        beacons: spec.config.beacons,
        qos: phy.is_qos(),
        block_ack_window: phy.block_ack_window(),
        width_mhz: phy.channel_width().map_or(20, |width| u16::from(width.mhz())),
        several_users: spec.config.multi_user.is_some(),
        long_guard_interval: phy.guard_interval().is_some_and(|guard| guard.duration().as_nanos() == 3200),
        medium: spec.config.channel,
        protected: spec.config.security != Security::Open,
    }
}

/// The centre in MHz of a channel of 20 MHz in the band of a PHY.
pub(crate) fn centre_mhz(phy: &Phy, channel: u8) -> u16 {
    match (phy.frequency_hz() > 3e9, channel) {
        (true, _) => 5000 + 5 * u16::from(channel),
        (false, 14) => 2484,
        (false, _) => 2407 + 5 * u16::from(channel),
    }
}

/// The format of PPDUs with an MCS.
fn format_of(phy: &Phy) -> Option<Format> {
    phy.modes().iter().find(|mode| mode.mcs.is_some()).and_then(|mode| match mode.class {
        ModulationClass::Ht => Some(Format::Ht),
        ModulationClass::Vht => Some(Format::Vht),
        ModulationClass::He => Some(Format::He),
        ModulationClass::Dsss | ModulationClass::ErpOfdm | ModulationClass::Ofdm => None,
    })
}

/// Rates without an MCS in units of 500 kbit/s, and which of them are basic.
fn rates_of(phy: &Phy) -> Vec<(u8, bool)> {
    let basic = |rate| phy.basic_modes().iter().any(|&id| phy.mode(id).rate == rate);
    let without_mcs = phy.modes().iter().filter(|mode| mode.mcs.is_none());
    without_mcs.map(|mode| ((mode.rate.as_bps() / 500_000) as u8, basic(mode.rate))).collect()
}
