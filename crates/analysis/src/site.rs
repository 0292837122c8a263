//! The nodes and flows of a capture, in the order of results.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::net::IpAddr;

use lasthop_observe::{FlowId, Layout, LinkId, NodeId, Transport};
use lasthop_wire::MacAddress;

use crate::input::NameBook;
use crate::packet::End;
use crate::survey::{Connection, Survey, WaySeen};

/// One in this many echoed datagrams may be lost.
const MOST_LOST: u64 = 20;

/// A connection with fewer bytes than this either way is a request with its answer, whichever is longer: it belongs to
/// the other exchanges of the station with that port. Ten segments: an initial window. [RFC 6928 §2]
const SHORT: u64 = 14_600;

/// More addresses than these are nodes only if they were answered.
const MOST_UNANSWERED: usize = 1_000;
/// No more nodes have tables of their own.
const MOST_NODES: usize = 2_000;
/// No more flows have tables of their own.
const MOST_FLOWS: usize = 2_000;

/// A node of the wireless side.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub name: String,
    /// its AP; an AP's own number
    pub ap: u32,
}

/// The exchange of one station with one port of one server.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub id: String,
    pub station: String,
    pub node: Option<u32>,
    pub up: bool,
    pub is_tcp: bool,
    /// echoed datagrams, as those of a ping: the same number of bytes both ways
    pub is_echo: bool,
    /// some capture is on the wire at the sender of the data
    pub sender_is_seen: bool,
    /// some capture is at its receiver
    pub receiver_is_seen: bool,
}

/// The interpretation of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Role {
    pub flow: FlowId,
    /// whether data flow from its first end to its second
    pub is_first_way: bool,
    /// the files nearest to the sender of the data, and to its receiver
    pub near_sender: usize,
    pub near_receiver: usize,
    /// its number, from 0 on
    pub number: usize,
    /// its place among the connections of its flow, from 0 on
    pub place: u32,
}

/// All nodes and flows.
#[derive(Debug, Default)]
pub(crate) struct Site {
    pub nodes: Vec<Node>,
    pub aps: usize,
    pub node_of: BTreeMap<MacAddress, u32>,
    /// those without an AP have no link
    links: BTreeMap<(u32, u32), u32>,
    pub link_ends: Vec<(u32, u32)>,
    pub channels: Vec<u16>,
    pub flows: Vec<Flow>,
    pub roles: BTreeMap<Connection, Role>,
    /// the file with the MAC's frames
    pub air: Option<usize>,
    /// addresses that are no nodes, and those of them that were seen once
    pub left_out: (usize, usize),
    /// exchanges of a station with a port of a server that are no flows
    pub flows_left_out: usize,
}

impl Site {
    pub(crate) fn of(survey: &Survey, names: &NameBook) -> Site {
        let heard = survey.heard.iter().enumerate().filter(|(_, heard)| **heard > 0);
        let air = heard.max_by_key(|(place, heard)| (**heard, std::cmp::Reverse(*place))).map(|(place, _)| place);
        let mut site = Site { channels: survey.channels.clone(), air, ..Site::default() };
        site.add_nodes(survey, names);
        site.add_flows(survey, names);
        site
    }

    fn add_nodes(&mut self, survey: &Survey, names: &NameBook) {
        let least = least_frames(survey);
        let nodes = || survey.nodes.iter().filter(|(_, node)| (node.is_answered, node.frames) >= least);
        let aps = nodes().filter(|(_, node)| node.is_ap);
        let stations = || nodes().filter(|(_, node)| !node.is_ap);
        for (mac, _) in aps.chain(stations()) {
            let number = self.nodes.len() as u32;
            let name = names.of_mac.get(mac).cloned().unwrap_or_else(|| mac.to_string());
            self.nodes.push(Node { name, ap: number });
            self.node_of.insert(*mac, number);
        }
        for (mac, node) in stations() {
            let (Some(&station), Some(&ap)) =
                (self.node_of.get(mac), node.bssid.and_then(|bssid| self.node_of.get(&bssid)))
            else {
                continue;
            };
            self.nodes[station as usize].ap = ap;
            for ends in [(station, ap), (ap, station)] {
                self.links.insert(ends, self.link_ends.len() as u32);
                self.link_ends.push(ends);
            }
        }
        self.aps = nodes().filter(|(_, node)| node.is_ap).count();
        let strangers = survey.nodes.values().filter(|node| (node.is_answered, node.frames) < least);
        let managers = survey.managers.iter().filter(|(mac, _)| !survey.nodes.contains_key(mac));
        for frames in strangers.map(|node| node.frames).chain(managers.map(|(_, frames)| *frames)) {
            self.left_out = (self.left_out.0 + 1, self.left_out.1 + usize::from(frames == 1));
        }
    }

    /// The link from one node to another.
    pub(crate) fn link(&self, from: u32, to: u32) -> Option<LinkId> {
        self.links.get(&(from, to)).map(|&link| LinkId(link))
    }

    fn add_flows(&mut self, survey: &Survey, names: &NameBook) {
        let mut flow_of: BTreeMap<(End, End, bool, bool), u32> = BTreeMap::new();
        let directions = directions(survey);
        let least = least_bytes(&directions);
        self.flows_left_out = directions.values().filter(|whole| whole.0 + whole.1 < least).count();
        let mut ids = BTreeMap::new();
        let mut places: BTreeMap<u32, u32> = BTreeMap::new();
        let mut all: Vec<_> = survey.connections.iter().collect();
        all.sort_by_key(|(connection, (number, _))| {
            let ends = [connection.0, connection.1];
            let node = ends.iter().find_map(|end| self.node_of.get(survey.stations.get(&end.0)?));
            // The lower port is most likely that of the service.
            (node.copied().unwrap_or(u32::MAX), connection.0.1.min(connection.1.1), *number)
        });
        for (connection, (_, ways)) in all {
            if ways.iter().all(|way| way.bytes == 0) {
                continue;
            }
            let is_first_the_station = is_first_the_station(survey, connection, ways);
            let (first, second) = (connection.0, connection.1);
            let (station, server) = if is_first_the_station { (first, second) } else { (second, first) };
            let is_short = ways.iter().all(|way| way.bytes < SHORT);
            let whole = directions.get(&(station.0, server, connection.2)).copied().unwrap_or_default();
            if whole.0 + whole.1 < least {
                continue;
            }
            let up = if is_short && whole.0 != whole.1 {
                whole.0 > whole.1
            } else {
                is_first_way(ways) == is_first_the_station
            };
            let is_first_way = is_first_the_station == up;
            let key = ((station.0, 0), server, up, connection.2);
            let data = &ways[usize::from(!is_first_way)];
            let is_read = |file: usize| survey.heard[file] == 0 || self.air == Some(file);
            let (near_sender, near_receiver) = (nearest(data, true, is_read), nearest(data, false, is_read));
            // The air is the last hop of downward data; upward data is counted when it has passed the air, if there is
            // no wire capture.
            let receiver_is_seen = self.air.is_some() && (up || survey.heard[near_receiver] > 0);
            let sender_is_seen = survey.heard[near_sender] == 0 && (!up || self.air.is_none());
            let next = flow_of.len() as u32;
            let flow = *flow_of.entry(key).or_insert(next);
            if flow == next {
                let node = survey.stations.get(&station.0).and_then(|mac| self.node_of.get(mac)).copied();
                let named = || names.of_ip.get(&station.0).cloned().unwrap_or_else(|| station.0.to_string());
                let station = node.map_or_else(named, |node| self.nodes[node as usize].name.clone());
                let id = unused_id(&mut ids, format!("{station}.{}", if up { "up" } else { "down" }));
                let is_tcp = connection.2;
                let is_echo = !is_tcp && is_echo(ways);
                let flow = Flow { id, station, node, up, is_tcp, is_echo, sender_is_seen, receiver_is_seen };
                self.flows.push(flow);
            }
            let place = places.entry(flow).or_insert(0_u32);
            let (flow, number) = (FlowId(flow), 0);
            let role = Role { flow, is_first_way, near_sender, near_receiver, number, place: *place };
            *place += 1;
            self.roles.insert(*connection, role);
        }
        // Numbers are places in the list of existing connections.
        for (place, role) in self.roles.values_mut().enumerate() {
            role.number = place;
        }
    }

    /// The layout for the metrics.
    pub(crate) fn layout(&self) -> Layout {
        let transport = |flow: &Flow| match (flow.is_tcp, flow.is_echo) {
            (true, _) => Transport::Tcp,
            (false, true) => Transport::Echo,
            (false, false) => Transport::Udp,
        };
        Layout {
            flows: self.flows.iter().map(|flow| (transport(flow), flow.up)).collect(),
            nodes: self.nodes.len(),
            aps: self.aps,
            links: self.link_ends.len(),
            channels: self.channels.len().max(1),
        }
    }
}

/// The wanted id, or with the next number behind it; `ids` has those in use and the numbers behind them.
fn unused_id(ids: &mut BTreeMap<String, u32>, wanted: String) -> String {
    let mut id = wanted.clone();
    while ids.contains_key(&id) {
        let number = ids.entry(wanted.clone()).or_insert(1);
        *number += 1;
        id = format!("{wanted}.{number}");
    }
    ids.insert(id.clone(), 1);
    id
}

/// The least bytes of an exchange that is a flow.
fn least_bytes(directions: &BTreeMap<(IpAddr, End, bool), (u64, u64)>) -> u64 {
    let mut all: Vec<u64> = directions.values().map(|whole| whole.0 + whole.1).collect();
    if all.len() <= MOST_FLOWS {
        return 0;
    }
    all.sort_unstable_by(|one, other| other.cmp(one));
    all[MOST_FLOWS].saturating_add(1)
}

/// The least of a node: whether it was answered, and its frames. Captures hold many addresses that their owners use once, and
/// some without owners; a table for each would fill the memory.
fn least_frames(survey: &Survey) -> (bool, u32) {
    let mut all: Vec<(bool, u32)> = survey.nodes.values().map(|node| (node.is_answered, node.frames)).collect();
    if all.len() <= MOST_UNANSWERED {
        return (false, 0);
    }
    all.sort_unstable_by(|one, other| other.cmp(one));
    let answered = all.iter().take_while(|node| node.0).count();
    let most = answered.clamp(MOST_UNANSWERED, MOST_NODES);
    // Nodes with as many frames as the first that is left out are left out, too.
    all.get(most).map_or((false, 0), |(is_answered, frames)| (*is_answered, frames.saturating_add(1)))
}

/// Whether the first end of a connection is the station: a known station, else the end that opened it, else the one
/// with the higher port.
fn is_first_the_station(survey: &Survey, connection: &Connection, ways: &[WaySeen; 2]) -> bool {
    let (first, second, _) = connection;
    let known = [first, second].map(|end| survey.stations.contains_key(&end.0));
    match known {
        [true, false] => true,
        [false, true] => false,
        _ if ways[0].opens != ways[1].opens => ways[0].opens,
        _ => first.1 >= second.1,
    }
}

/// The direction of most of the data of a connection.
fn is_first_way(ways: &[WaySeen; 2]) -> bool {
    match ways[0].bytes.cmp(&ways[1].bytes) {
        Ordering::Equal => begins(&ways[0]) <= begins(&ways[1]),
        order => order == Ordering::Greater,
    }
}

/// Whether datagrams are echoed: with the same length, and nearly all of them.
fn is_echo([one, other]: &[WaySeen; 2]) -> bool {
    let (fewer, more) = (one.packets.min(other.packets), one.packets.max(other.packets));
    fewer > 0 && one.bytes * other.packets == other.bytes * one.packets && more - fewer <= 1 + more / MOST_LOST
}

/// Bytes up and down of all connections of a station's address with a port of a server.
fn directions(survey: &Survey) -> BTreeMap<(IpAddr, End, bool), (u64, u64)> {
    let mut all: BTreeMap<_, (u64, u64)> = BTreeMap::new();
    for (connection, (_, ways)) in &survey.connections {
        let is_first = is_first_the_station(survey, connection, ways);
        let (station, server) = if is_first { (connection.0, connection.1) } else { (connection.1, connection.0) };
        let (up, down) = if is_first { (&ways[0], &ways[1]) } else { (&ways[1], &ways[0]) };
        let whole = all.entry((station.0, server, connection.2)).or_default();
        *whole = (whole.0 + up.bytes, whole.1 + down.bytes);
    }
    all
}

/// The time at which the first data were seen anywhere.
fn begins(way: &WaySeen) -> i64 {
    way.first_data_ns.values().copied().min().unwrap_or(i64::MAX)
}

/// The file that data pass first, or last, among those that `is_read` chooses.
fn nearest(way: &WaySeen, sender: bool, is_read: impl Fn(usize) -> bool) -> usize {
    let order = |entry: &(&usize, &i64)| (*entry.1, *entry.0);
    let files = way.first_data_ns.iter().filter(|(file, _)| is_read(**file));
    let found = if sender { files.min_by_key(order) } else { files.max_by_key(order) };
    found.map_or(0, |(file, _)| *file)
}

/// A node as observers know it.
pub(crate) fn id(node: u32) -> NodeId {
    NodeId(node)
}
