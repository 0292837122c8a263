//! The nodes of the medium that stand for the stations of a kernel's Wi-Fi stack: one at each access point that a station may join.

use std::collections::BTreeMap;

use lasthop_observe::NodeId;
use lasthop_units::Time;

use crate::ResolvedScenario;
use crate::resolved::Signals;

/// The nodes of each station, and the signals between nodes.
pub(super) struct Whereabouts {
    /// by station and access point: the station's node there
    nodes: BTreeMap<(NodeId, NodeId), NodeId>,
    /// the station of each node, or the access point itself
    hosts: Vec<NodeId>,
    /// the access point of each node
    homes: Vec<NodeId>,
    /// the centre of each access point's channel in MHz
    mhz: Vec<u32>,
    signals: Signals,
}

impl Whereabouts {
    pub(super) fn new(scenario: &ResolvedScenario, seed: u64) -> Whereabouts {
        let own = scenario.nodes.len() - scenario.elsewhere.len();
        let hosts: Vec<NodeId> = (0..own as u32).map(NodeId).chain(scenario.elsewhere.iter().copied()).collect();
        let homes: Vec<NodeId> = scenario.nodes.iter().map(|node| NodeId(node.config.bss)).collect();
        let stations = (0..).map(NodeId).zip(hosts.iter().zip(&homes)).skip(scenario.access_points());
        Whereabouts {
            nodes: stations.map(|(node, (host, home))| ((*host, *home), node)).collect(),
            mhz: scenario.site(seed).bss.iter().map(|bss| u32::from(bss.mhz)).collect(),
            signals: scenario.signals(seed),
            hosts,
            homes,
        }
    }

    /// The node of a station at an access point.
    pub(super) fn at(&self, station: NodeId, ap: NodeId) -> Option<NodeId> {
        self.nodes.get(&(station, ap)).copied()
    }

    /// The station of a node, or the access point itself.
    pub(super) fn host_of(&self, node: NodeId) -> NodeId {
        self.hosts[node.index()]
    }

    /// The node by which a host sends to all on a channel: its first there, or its own.
    pub(super) fn on_channel(&self, host: NodeId, mhz: Option<u32>) -> NodeId {
        let is_there = |ap: NodeId| mhz.is_none_or(|mhz| self.mhz[ap.index()] == mhz);
        if is_there(self.homes[host.index()]) {
            return host;
        }
        let of_host = self.nodes.range((host, NodeId(0))..).take_while(|((of, _), _)| *of == host);
        of_host.into_iter().find(|((_, ap), _)| is_there(*ap)).map_or(host, |(_, node)| *node)
    }

    pub(super) fn signal(&self, at: Time, from: NodeId, to: NodeId) -> Option<i8> {
        self.signals.dbm(at, from, to)
    }

    /// The signal between a station and an access point in dBm.
    pub(super) fn signal_between(&self, at: Time, from: NodeId, to: NodeId) -> Option<i8> {
        let node = |host: NodeId, peer: NodeId| self.at(host, peer).unwrap_or(host);
        self.signal(at, node(from, to), node(to, from))
    }

    /// The hosts that hear a group frame of a node, of those nodes that decoded it: a station hears an access point by its node
    /// there.
    pub(super) fn hearers(&self, at: Time, from: NodeId, decoded: &[NodeId]) -> Vec<(NodeId, i8)> {
        let is_ap = |node: NodeId| self.homes[node.index()] == node;
        let hears = |node: &NodeId| is_ap(*node) || (is_ap(from) && self.homes[node.index()] == from);
        let heard = decoded.iter().filter(|node| hears(node));
        heard.filter_map(|node| Some((self.host_of(*node), self.signal(at, from, *node)?))).collect()
    }
}
