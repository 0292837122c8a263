//! Stations of a kernel's Wi-Fi stack that roam: the medium has a node of each at every access point of its SSID, in one place, on that
//! access point's channel. The signals between nodes, as a radio reports them.

use lasthop_observe::NodeId;
use lasthop_units::{Dbm, Time};
use lasthop_wifi::NodeConfig;

use super::ResolvedScenario;
use super::defaults::chosen;
use super::kept::Kept;
use super::nodes::{NodeSpec, links_of};
use super::space::Space;

/// Signals at nodes, without fading.
pub(crate) struct Signals {
    /// none where powers have no distance
    space: Option<Space>,
    least: Dbm,
}

/// The signal in dBm that radios report where nodes have no distance.
const WITHOUT_DISTANCE: i8 = -50;

impl Signals {
    /// The signal of `from` at `to` in dBm; none if it is too weak for a preamble, or on another channel.
    pub(crate) fn dbm(&self, at: Time, from: NodeId, to: NodeId) -> Option<i8> {
        let Some(space) = &self.space else { return Some(WITHOUT_DISTANCE) };
        let power = space.mean_power(at, from.index(), to.index());
        (power >= self.least).then(|| libm::round(power.0).clamp(-128.0, 0.0) as i8)
    }
}

impl ResolvedScenario {
    /// The other access points with the SSID of one.
    fn others_of_ssid(&self, bss: usize) -> impl Iterator<Item = usize> {
        let all = &self.description.bss.0;
        (0..all.len()).filter(move |other| *other != bss && all[*other].ssid() == all[bss].ssid())
    }

    /// The scenario with a node for each station at every other access point of its SSID, after all nodes; each is called
    /// STATION@BSS.
    pub(crate) fn roaming(&self) -> ResolvedScenario {
        let mut scenario = self.clone();
        for (station, spec) in self.nodes.iter().enumerate().skip(self.bss.len()) {
            for bss in self.others_of_ssid(spec.config.bss as usize) {
                let of = &self.bss[bss];
                let place = self.description.bss.0[bss].name.as_deref().unwrap_or_default();
                let name = format!("{}@{place}", spec.name);
                let config = NodeConfig {
                    name: name.clone(),
                    bss: bss as u32,
                    access: of.stations,
                    mid_packet_detection: of.mid_packet_detection,
                    ..spec.config.clone()
                };
                let node = scenario.nodes.len();
                let hidden = self.hidden.iter().filter(|(a, b)| *a == station || *b == station);
                scenario.hidden.extend(hidden.map(|(a, b)| (if *a == station { *b } else { *a }, node)));
                scenario.nodes.push(NodeSpec { name, config, ..spec.clone() });
                scenario.elsewhere.push(NodeId(station as u32));
            }
        }
        scenario.links = links_of(&scenario.description, &scenario.nodes);
        scenario.parts = Kept::default();
        scenario
    }

    /// The signals between nodes under a seed.
    pub(crate) fn signals(&self, seed: u64) -> Signals {
        let channel = &self.description.channel;
        let has_distance = chosen(&channel.path_loss).weakens();
        Signals { space: has_distance.then(|| self.space_of_run(seed)), least: channel.cca_preamble }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve;

    const TEXT: &str = "channel.path_loss = \"log_distance\"\n[[bss]]\nname = \"a\"\nssid = \"hall\"\nstandard = \"802.11n\"\n\
        [[bss]]\nname = \"b\"\nssid = \"hall\"\nstandard = \"802.11n\"\nchannel = 44\nap.position = [\"40 m\", \"0 m\"]\n\
        [[bss]]\nname = \"c\"\nstandard = \"802.11n\"\n[[station]]\nname = \"x\"\nbss = \"b\"\ndistance = \"10 m\"\n\
        [[station]]\nname = \"y\"\nbss = \"c\"\n";

    #[test]
    fn a_station_has_a_node_at_each_access_point_of_its_ssid() {
        let scenario = resolve(TEXT, "f.toml", &[]).unwrap().roaming();
        let names: Vec<&str> = scenario.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["a.ap", "b.ap", "c.ap", "x", "y", "x@a"]);
        assert_eq!((scenario.elsewhere.clone(), scenario.links()), (vec![NodeId(3)], 6));
        assert_eq!(scenario.link_ends(4), ("x@a", "a.ap"));
    }

    #[test]
    fn signals_are_those_of_the_path_on_the_channel() {
        let scenario = resolve(TEXT, "f.toml", &[]).unwrap().roaming();
        let signals = scenario.signals(1);
        let dbm = |from, to| signals.dbm(Time::ZERO, NodeId(from), NodeId(to));
        // 16 dBm less 20 log10(4 pi d f / c) at 1 m, 46.73 dB at 5.18 GHz and 46.80 dB at 5.22 GHz, and 30 log10(d) beyond, of
        // 10 m and 50 m.
        assert_eq!((dbm(1, 3), dbm(0, 5)), (Some(-61), Some(-82)));
        // The node at the other access point is on that one's channel.
        assert_eq!(dbm(1, 5), None);
    }
}
