//! The nodes and flows of a capture, in the order of results.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::IpAddr;

use lasthop_observe::{FlowId, Layout, LinkId, NodeId, Transport};
use lasthop_wire::{ConnectionId, MacAddress};

use crate::dialogue::{Connection, Dialogue, Point, Role, WaySeen};
use crate::dialogue::{Exchange, Sides, exchanges, is_first_the_station, is_first_way, station_and_server};
use crate::input::NameBook;
use crate::packet::End;
use crate::subflows::Multipath;
use crate::survey::{NodeSeen, Survey};

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
    /// the flow of most data of its connections, if that is the other direction
    pub answers: Option<u32>,
    /// bytes of its data that were captured
    pub bytes: u64,
    /// those whose arrival no packet could show, as one direction of their connections was captured
    pub bytes_one_way: u64,
}

/// One in this many bytes may be of connections that were captured one way: others show the goodput.
const MOST_ONE_WAY: u64 = 20;

impl Flow {
    /// Whether its goodput can be known.
    pub(crate) fn has_goodput(&self) -> bool {
        self.bytes_one_way * MOST_ONE_WAY <= self.bytes
    }

    /// Whether the goodput of all of `flows` can be known.
    pub(crate) fn have_goodput<'a>(flows: impl Iterator<Item = &'a Flow>) -> bool {
        let (bytes, unknown) = flows.fold((0, 0), |(all, unknown), flow| {
            (all + flow.bytes, unknown + if flow.has_goodput() { 0 } else { flow.bytes })
        });
        unknown * MOST_ONE_WAY <= bytes
    }
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
    pub dialogues: BTreeMap<Connection, Dialogue>,
    /// MPTCP connections
    pub multipaths: Vec<Multipath>,
    /// by connection of QUIC: destinations of its Initial packets, in hexadecimal
    pub initial_ids: BTreeMap<Connection, Vec<String>>,
    /// the file with the MAC's frames
    pub air: Option<usize>,
    /// whether packets of a wire were captured
    pub has_wire: bool,
    /// addresses that are no nodes, and those of them that were seen once
    pub left_out: (usize, usize),
    /// connections of which neither end is known as the station
    pub guessed: usize,
    /// exchanges of a station with a port of a server that are no flows
    pub flows_left_out: usize,
}

impl Site {
    pub(crate) fn of(survey: &Survey, names: &NameBook) -> Site {
        let heard = survey.heard.iter().enumerate().filter(|(_, heard)| **heard > 0);
        let air = heard.max_by_key(|(place, heard)| (**heard, Reverse(*place))).map(|(place, _)| place);
        let has_wire = survey.wired.contains(&true);
        let mut site = Site { channels: survey.channels.clone(), air, has_wire, ..Site::default() };
        site.add_nodes(survey, names);
        site.add_flows(survey, names);
        site.multipaths = survey.subflows.connections();
        let hex = |id: &ConnectionId| id.as_slice().iter().map(|byte| format!("{byte:02x}")).collect();
        site.initial_ids =
            survey.initial_ids.iter().map(|(connection, ids)| (*connection, ids.iter().map(hex).collect())).collect();
        site
    }

    fn add_nodes(&mut self, survey: &Survey, names: &NameBook) {
        let least = least_frames(survey);
        let nodes = || survey.nodes.iter().filter(|(mac, node)| node_rank(mac, node) >= least);
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
        for (first, second) in &survey.pairs {
            let (Some(&first), Some(&second)) = (self.node_of.get(first), self.node_of.get(second)) else { continue };
            for ends in [(first, second), (second, first)] {
                let next = self.link_ends.len() as u32;
                if *self.links.entry(ends).or_insert(next) == next {
                    self.link_ends.push(ends);
                }
            }
        }
        self.aps = nodes().filter(|(_, node)| node.is_ap).count();
        let strangers = survey.nodes.iter().filter(|(mac, node)| node_rank(mac, node) < least);
        let managers = survey.managers.iter().filter(|(mac, _)| !survey.nodes.contains_key(mac));
        for frames in strangers.map(|(_, node)| node.frames).chain(managers.map(|(_, frames)| *frames)) {
            self.left_out = (self.left_out.0 + 1, self.left_out.1 + usize::from(frames == 1));
        }
    }

    /// The link from one node to another.
    pub(crate) fn link(&self, from: u32, to: u32) -> Option<LinkId> {
        self.links.get(&(from, to)).map(|&link| LinkId(link))
    }

    fn add_flows(&mut self, survey: &Survey, names: &NameBook) {
        let sides = Sides { stations: &survey.stations, server: survey.server };
        let exchanges = exchanges(sides, &survey.connections);
        let least = least_flow(exchanges.values());
        let is_left_out = |exchange: &&Exchange| exchange.has_data() && exchange.rank() < least;
        self.flows_left_out = exchanges.values().filter(is_left_out).count();
        let mut all: Vec<_> = survey.connections.iter().collect();
        all.sort_by_key(|(connection, (number, _))| {
            let ends = [connection.0, connection.1];
            let node = ends.iter().find_map(|end| self.node_of.get(survey.stations.get(&end.0)?));
            // The lower port is most likely that of the service.
            (node.copied().unwrap_or(u32::MAX), connection.0.1.min(connection.1.1), *number)
        });
        let mut are_flows = Vec::with_capacity(all.len());
        let air = self.air;
        let is_read = move |point: Point| !point.is_air || air == Some(point.file);
        for (number, (connection, (_, ways))) in all.iter().enumerate() {
            let is_first_the_station = is_first_the_station(sides, connection, ways);
            self.guessed += usize::from(!sides.are_known(connection));
            let (station, server) = station_and_server(connection, is_first_the_station);
            let is_short = ways.iter().all(|way| way.bytes < SHORT);
            let exchange = exchanges.get(&(station.0, server, connection.2)).copied().unwrap_or_default();
            let echo = survey.echo(connection);
            let is_up = match echo.map(|echo| echo.requests) {
                Some(way) => (way == 0) == is_first_the_station,
                None if is_short && exchange.up != exchange.down => exchange.up > exchange.down,
                None => is_first_way(ways) == is_first_the_station,
            };
            let main = usize::from(is_first_the_station != is_up);
            let counted_at = [&ways[0], &ways[1]].map(|way| way.near_sender(is_read));
            let is_seen_both_ways = ways.iter().all(WaySeen::is_seen);
            let (roles, has_data) = ([None, None], ways.iter().any(|way| way.bytes > 0));
            let dialogue =
                Dialogue { number, is_first_the_station, roles, main, counted_at, is_seen_both_ways, has_data, echo };
            self.dialogues.insert(**connection, dialogue);
            are_flows.push(exchange.rank() >= least);
        }
        let mut flows = FlowKeys::default();
        // The flows of most data come first, so that their ids do not depend on those of the other direction.
        for is_main in [true, false] {
            for ((connection, (_, ways)), _) in all.iter().zip(&are_flows).filter(|(_, is_flow)| **is_flow) {
                let has_role = match is_main {
                    true => ways.iter().any(|way| way.bytes > 0),
                    false => self.has_data_beside_main(connection, ways),
                };
                if has_role {
                    self.add_role((connection, ways), is_main, &mut flows, survey, names, is_read);
                }
            }
        }
    }

    /// Whether the way with less data has some of its own.
    fn has_data_beside_main(&self, connection: &Connection, ways: &[WaySeen; 2]) -> bool {
        let dialogue = self.dialogues.get(connection).filter(|dialogue| dialogue.echo.is_none());
        dialogue.is_some_and(|dialogue| ways[1 - dialogue.main].bytes > 0)
    }

    /// Adds the flow of one way of a connection, the one of most data or the other.
    fn add_role(
        &mut self,
        (connection, ways): (&Connection, &[WaySeen; 2]),
        is_main: bool,
        keys: &mut FlowKeys,
        survey: &Survey,
        names: &NameBook,
        is_read: impl Fn(Point) -> bool,
    ) {
        let Some(dialogue) = self.dialogues.get(connection).cloned() else { return };
        let way = if is_main { dialogue.main } else { 1 - dialogue.main };
        let (up, data) = (dialogue.is_up(way), &ways[way]);
        let (near_sender, near_receiver) = (dialogue.counted_at[way], data.near_receiver(&is_read));
        let (station, server) = station_and_server(connection, dialogue.is_first_the_station);
        let flow = keys.number((station.0, server, up, connection.2, dialogue.echo.is_some()));
        if flow as usize == self.flows.len() {
            let node = survey.stations.get(&station.0).and_then(|mac| self.node_of.get(mac)).copied();
            let named = || names.of_ip.get(&station.0).cloned().unwrap_or_else(|| station.0.to_string());
            let station = node.map_or_else(named, |node| self.nodes[node as usize].name.clone());
            self.flows.push(Flow {
                id: unused_id(&mut keys.ids, format!("{station}.{}", if up { "up" } else { "down" })),
                station,
                node,
                up,
                is_tcp: connection.2,
                is_echo: dialogue.echo.is_some(),
                // The air is the last hop of downward data; upward data is counted when it has passed the air, if there
                // is no wire capture.
                receiver_is_seen: self.air.is_some() && (up || near_receiver.is_air),
                sender_is_seen: !near_sender.is_air && (!up || self.air.is_none()),
                answers: dialogue.roles[dialogue.main].filter(|_| !is_main).map(|role| role.flow.0),
                bytes: 0,
                bytes_one_way: 0,
            });
        }
        let of_flow = &mut self.flows[flow as usize];
        of_flow.bytes += data.bytes;
        if connection.2 && !dialogue.is_seen_both_ways && !of_flow.receiver_is_seen {
            of_flow.bytes_one_way += data.bytes;
        }
        let role = Role { flow: FlowId(flow), way, near_sender, near_receiver, place: keys.place(flow) };
        if let Some(dialogue) = self.dialogues.get_mut(connection) {
            dialogue.roles[way] = Some(role);
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
            several_users: Vec::new(),
            interferers: false,
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

/// The least rank of an exchange that has flows.
fn least_flow<'a>(exchanges: impl Iterator<Item = &'a Exchange>) -> (u64, Reverse<usize>) {
    let mut all: Vec<_> = exchanges.filter(|exchange| exchange.has_data()).map(Exchange::rank).collect();
    all.sort_unstable_by(|one, other| other.cmp(one));
    let is_full = all.len() > MOST_FLOWS;
    all.truncate(MOST_FLOWS);
    all.last().copied().filter(|_| is_full).unwrap_or((0, Reverse(usize::MAX)))
}

/// The rank of an address: whether it was answered, its frames, and a rank among equals.
type NodeRank = (bool, u32, Reverse<MacAddress>);

fn node_rank(address: &MacAddress, node: &NodeSeen) -> NodeRank {
    (node.is_answered, node.frames, Reverse(*address))
}

/// The least rank of a node. Captures hold many addresses that their owners use once, and some without owners; a table for
/// each would fill the memory.
fn least_frames(survey: &Survey) -> NodeRank {
    const LAST: Reverse<MacAddress> = Reverse(MacAddress::BROADCAST);
    let mut all: Vec<NodeRank> = survey.nodes.iter().map(|(address, node)| node_rank(address, node)).collect();
    all.sort_unstable_by(|one, other| other.cmp(one));
    let answered = all.iter().take_while(|node| node.0).count();
    let most = answered.clamp(MOST_UNANSWERED, MOST_NODES);
    match all.get(most) {
        None => (false, 0, LAST),
        // Addresses without an answer and with as many frames as the first that is left out are left out, too.
        Some((false, frames, _)) => (false, frames.saturating_add(1), LAST),
        Some(_) => all[most - 1],
    }
}

/// The numbers of flows by station, port of a server, direction, transport, and whether they are echoes.
#[derive(Debug, Default)]
struct FlowKeys {
    numbers: BTreeMap<(IpAddr, End, bool, bool, bool), u32>,
    /// by flow: its connections
    connections: Vec<u32>,
    /// ids in use, and the numbers behind them
    ids: BTreeMap<String, u32>,
}

impl FlowKeys {
    /// The number of a flow.
    fn number(&mut self, key: (IpAddr, End, bool, bool, bool)) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(key).or_insert(next)
    }

    /// The place of a further connection among those of its flow.
    fn place(&mut self, flow: u32) -> u32 {
        let needed = self.connections.len().max(flow as usize + 1);
        self.connections.resize(needed, 0);
        let place = &mut self.connections[flow as usize];
        *place += 1;
        *place - 1
    }
}

/// A node as observers know it.
pub(crate) fn id(node: u32) -> NodeId {
    NodeId(node)
}
