//! The constants of a run: nodes, BSSs and flows, with their addresses and ports.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;

use lasthop_observe::{FlowId, NodeId};
use lasthop_units::{Duration, Time};
use lasthop_wire::MacAddress;
use lasthop_wire::ip::Ipv4;

/// The format of PPDUs that have an MCS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// 802.11n
    Ht,
    /// 802.11ac
    Vht,
    /// 802.11ax
    He,
}

/// A node of the wireless side.
#[derive(Clone, Debug)]
pub struct NodeSite {
    /// its name
    pub name: String,
    /// the BSS it belongs to
    pub bss: u32,
    /// whether it is a station without QoS in a BSS that has it
    pub legacy: bool,
}

/// A BSS; its AP is the node with its number.
#[derive(Clone, Debug)]
pub struct BssSite {
    /// its name in beacons
    pub ssid: String,
    /// number of the primary channel
    pub channel: u8,
    /// centre of the primary channel in MHz
    pub mhz: u16,
    /// the format of PPDUs with an MCS
    pub format: Option<Format>,
    /// whether DSSS frames have the short preamble
    pub short_preamble: bool,
    /// rates without an MCS in units of 500 kbit/s, each with true if it is basic
    pub rates: Vec<(u8, bool)>,
    /// interval between beacons, if there are any
    pub beacons: Option<Duration>,
    /// whether its frames have the QoS Control field
    pub qos: bool,
    /// MPDUs covered by a BlockAck
    pub block_ack_window: u16,
    /// width of the channel in MHz
    pub width_mhz: u16,
    /// whether its AP has PPDUs of several users
    pub several_users: bool,
    /// whether PPDUs that triggers ask for have a guard interval of 3.2 us; else it is 1.6 us
    pub long_guard_interval: bool,
    /// its channel among those of the scenario, counted from 0
    pub medium: u32,
    /// whether CCMP protects its data frames
    pub protected: bool,
}

/// A flow.
#[derive(Clone, Debug)]
pub struct FlowSite {
    /// its wireless end
    pub station: NodeId,
    /// code point of its packets
    pub dscp: u8,
    /// whether its datagrams are echo requests
    pub echoes: bool,
}

/// All nodes, BSSs and flows of a run.
#[derive(Clone, Debug)]
pub struct Site {
    /// name of the scenario
    pub scenario: String,
    /// seed of the run
    pub seed: u64,
    /// start and end of the measured time
    pub measured: (Time, Time),
    /// the APs first, in the order of their BSSs
    pub nodes: Vec<NodeSite>,
    /// BSSs
    pub bss: Vec<BssSite>,
    /// flows
    pub flows: Vec<FlowSite>,
    /// primary channels of BSSs on the channels to which they have moved: number, and centre in MHz
    pub tuned: BTreeMap<(u32, u32), (u8, u16)>,
}

/// Ports from 50000 on, and from 60100 on, which belong to no protocol that Wireshark would dissect.
const SERVER_PORTS: (u16, u32) = (50_000, 4_000);
const STATION_PORTS: (u16, u32) = (60_100, 5_400);

impl Site {
    /// The MAC address of the server.
    pub const SERVER_MAC: MacAddress = MacAddress::local(0);
    /// The address of the server.
    pub const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

    /// Ports of stations, one for each connection of a flow, from the first on.
    pub const STATION_PORTS: RangeInclusive<u16> = STATION_PORTS.0..=STATION_PORTS.0 + (STATION_PORTS.1 - 1) as u16;

    /// The MAC address of a node.
    pub fn mac(node: NodeId) -> MacAddress {
        MacAddress::local(node.0 + 1)
    }

    /// The BSSID of a node: the address of its AP. APs come first, in the order of their BSSs.
    pub(crate) fn bssid_of(&self, node: NodeId) -> MacAddress {
        Site::mac(NodeId(self.nodes[node.index()].bss))
    }

    /// The IPv4 address of a node: from 10.1.0.1 on.
    pub fn address(node: NodeId) -> Ipv4Addr {
        let [_, a, b, c] = (0x0001_0001 + node.0).to_be_bytes();
        Ipv4Addr::new(10, a, b, c)
    }

    /// The BSS of a node.
    pub(crate) fn bss_of(&self, node: NodeId) -> &BssSite {
        &self.bss[self.nodes[node.index()].bss as usize]
    }

    /// On a channel an access point has this primary channel from now on: its number and its centre in MHz.
    pub(crate) fn tune(&mut self, ap: NodeId, channel: u32, primary: (u8, u16)) {
        self.tuned.insert((self.nodes[ap.index()].bss, channel), primary);
    }

    /// The primary channel of the BSS of a node on a channel: its number and its centre in MHz.
    pub(crate) fn primary(&self, node: NodeId, channel: u32) -> (u8, u16) {
        let bss = self.bss_of(node);
        let tuned = self.tuned.get(&(self.nodes[node.index()].bss, channel));
        tuned.copied().unwrap_or((bss.channel, bss.mhz))
    }

    /// Returns whether data frames between two nodes of a BSS have the QoS Control field.
    pub(crate) fn has_qos(&self, sender: NodeId, receiver: NodeId) -> bool {
        let legacy = |node: NodeId| self.nodes[node.index()].legacy;
        self.bss_of(sender).qos && !legacy(sender) && !legacy(receiver)
    }

    /// Returns whether a node is an AP.
    pub(crate) fn is_ap(&self, node: NodeId) -> bool {
        node.index() < self.bss.len()
    }

    /// The association ID of a station: its number in its BSS, from 1.
    pub(crate) fn aid(&self, station: NodeId) -> u16 {
        let bss = self.nodes[station.index()].bss;
        let before = self.nodes[self.bss.len()..station.index()].iter().filter(|node| node.bss == bss);
        1 + before.count() as u16
    }

    /// The IPv4 header of a packet of a flow, without the fields that differ between packets.
    pub(crate) fn ip(&self, flow: FlowId, up: bool) -> Ipv4<'static> {
        let of = &self.flows[flow.index()];
        let station = Site::address(of.station);
        let (source, destination) = if up { (station, Site::SERVER) } else { (Site::SERVER, station) };
        Ipv4 { dscp: of.dscp, source, destination, ..Ipv4::default() }
    }

    /// Source and destination port of a packet of a connection.
    pub fn ports(flow: FlowId, connection: u32, up: bool) -> (u16, u16) {
        let place = |(first, count): (u16, u32), number: u32| first + (number % count) as u16;
        let (server, station) = (place(SERVER_PORTS, flow.0), place(STATION_PORTS, connection));
        if up { (station, server) } else { (server, station) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_have_addresses_of_their_own_and_none_has_that_of_the_server() {
        assert_eq!((Site::address(NodeId(0)), Site::address(NodeId(1))), ([10, 1, 0, 1].into(), [10, 1, 0, 2].into()));
        assert_eq!(Site::address(NodeId(20_000)), Ipv4Addr::new(10, 1, 78, 33));
        assert_eq!(Site::mac(NodeId(255)).to_string(), "02:00:00:00:01:00");
        assert_ne!(Site::mac(NodeId(0)), Site::SERVER_MAC);
    }

    #[test]
    fn the_two_ends_of_a_connection_have_the_same_ports_in_both_directions() {
        let (source, destination) = Site::ports(FlowId(3), 2, true);
        assert_eq!((source, destination), (60_102, 50_003));
        assert_eq!(Site::ports(FlowId(3), 2, false), (destination, source));
        assert_eq!(Site::ports(FlowId(4_003), 5_402, true), (60_102, 50_003));
    }
}
