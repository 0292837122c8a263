//! Connections with both of their ways: their sightings, and the flows of their data.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::net::IpAddr;

use lasthop_observe::FlowId;
use lasthop_wire::MacAddress;

use crate::echo::Echo;
use crate::packet::{End, Packet, Transport};

/// A point of capture: the air or a wire, in a file. The interfaces of one file may be of both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Point {
    pub file: usize,
    pub is_air: bool,
}

impl Point {
    pub(crate) fn wire(file: usize) -> Point {
        Point { file, is_air: false }
    }

    pub(crate) fn air(file: usize) -> Point {
        Point { file, is_air: true }
    }
}

/// A connection: its ends in order, and whether it is of TCP.
pub(crate) type Connection = (End, End, bool);

/// The connection of a packet, and whether the packet goes from its first end to its second.
pub(crate) fn connection_of(packet: &Packet) -> (Connection, bool) {
    connection_between(packet.from, packet.to, matches!(packet.transport, Transport::Tcp(_)))
}

pub(crate) fn connection_between(from: End, to: End, is_tcp: bool) -> (Connection, bool) {
    match from <= to {
        true => ((from, to, is_tcp), true),
        false => ((to, from, is_tcp), false),
    }
}

/// One way of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct WaySeen {
    pub bytes: u64,
    /// whether it opened the connection
    pub opens: bool,
    /// by point, in the order of appearance
    sightings: Vec<Sighting>,
}

/// The first packets of a way at a point.
#[derive(Clone, Copy, Debug)]
struct Sighting {
    point: Point,
    first_ns: i64,
    first_data_ns: Option<i64>,
}

impl WaySeen {
    /// A packet with `bytes` of payload passes.
    pub(crate) fn add(&mut self, point: Point, at: i64, bytes: u32) {
        let place = self.sightings.iter().position(|sighting| sighting.point == point);
        let place = place.unwrap_or_else(|| {
            self.sightings.reserve_exact(1);
            self.sightings.push(Sighting { point, first_ns: at, first_data_ns: None });
            self.sightings.len() - 1
        });
        if bytes > 0 {
            self.bytes += u64::from(bytes);
            self.sightings[place].first_data_ns.get_or_insert(at);
        }
    }

    /// Whether any packet of it was seen.
    pub(crate) fn is_seen(&self) -> bool {
        !self.sightings.is_empty()
    }

    /// The files with data of it.
    pub(crate) fn files_with_data(&self) -> impl Iterator<Item = usize> {
        self.sightings.iter().filter(|sighting| sighting.first_data_ns.is_some()).map(|sighting| sighting.point.file)
    }

    /// The time at which the first data were seen anywhere.
    fn begins(&self) -> i64 {
        self.sightings.iter().filter_map(|sighting| sighting.first_data_ns).min().unwrap_or(i64::MAX)
    }

    /// The point that its data pass first, or last, among those that `is_read` chooses; without data, its packets.
    fn nearest(&self, to_sender: bool, is_read: impl Fn(Point) -> bool) -> Point {
        let has_data = self.bytes > 0;
        let times = self.sightings.iter().filter(|sighting| is_read(sighting.point)).filter_map(|sighting| {
            let first_ns = if has_data { sighting.first_data_ns } else { Some(sighting.first_ns) };
            Some((first_ns?, sighting.point))
        });
        let found = if to_sender { times.min() } else { times.max() };
        found.map_or(Point::default(), |(_, point)| point)
    }

    pub(crate) fn near_sender(&self, is_read: impl Fn(Point) -> bool) -> Point {
        self.nearest(true, is_read)
    }

    pub(crate) fn near_receiver(&self, is_read: impl Fn(Point) -> bool) -> Point {
        self.nearest(false, is_read)
    }
}

/// Stations by the addresses of their packets.
pub(crate) type Stations = BTreeMap<IpAddr, MacAddress>;
/// By connection: a number in the order of appearance, and both ways.
pub(crate) type Connections = BTreeMap<Connection, (usize, [WaySeen; 2])>;

/// The data of one way of a connection: their flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Role {
    pub flow: FlowId,
    /// 0 from the first end of the connection to its second, 1 back
    pub way: usize,
    /// the points nearest to the sender of the data, and to its receiver
    pub near_sender: Point,
    pub near_receiver: Point,
    /// its place among the connections of its flow, from 0 on
    pub place: u32,
}

/// The interpretation of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Dialogue {
    /// its number, from 0 on
    pub number: usize,
    /// whether its first end is the station
    pub is_first_the_station: bool,
    /// by way: the flow of its data
    pub roles: [Option<Role>; 2],
    /// the way of the flow to which recordings count its segments
    pub main: usize,
    /// by way: the point at which its packets are counted
    pub counted_at: [Point; 2],
    pub is_seen_both_ways: bool,
    pub has_data: bool,
    pub echo: Option<Echo>,
}

impl Dialogue {
    /// Whether packets of this way come from the station.
    pub(crate) fn is_up(&self, way: usize) -> bool {
        (way == 0) == self.is_first_the_station
    }
}

/// The hosts whose side is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sides<'a> {
    pub stations: &'a Stations,
    /// the only server
    pub server: Option<IpAddr>,
}

impl Sides<'_> {
    /// Whether either end of a connection is known as a station.
    pub(crate) fn are_known(&self, (first, second, _): &Connection) -> bool {
        self.server.is_some() || [first, second].iter().any(|end| self.stations.contains_key(&end.0))
    }
}

/// Whether the first end of a connection is the station: a known station, else the one that is not the only server,
/// else the end that opened it, else the one with the higher port.
pub(crate) fn is_first_the_station(sides: Sides<'_>, connection: &Connection, ways: &[WaySeen; 2]) -> bool {
    let (first, second, _) = connection;
    let known = [first, second].map(|end| sides.stations.contains_key(&end.0));
    match known {
        [false, false] if sides.server.is_some() => sides.server == Some(second.0),
        [true, false] => true,
        [false, true] => false,
        _ if ways[0].opens != ways[1].opens => ways[0].opens,
        _ => first.1 >= second.1,
    }
}

/// The ends of the station and of the server.
pub(crate) fn station_and_server((first, second, _): &Connection, is_first_the_station: bool) -> (End, End) {
    if is_first_the_station { (*first, *second) } else { (*second, *first) }
}

/// The direction of most of the data of a connection.
pub(crate) fn is_first_way(ways: &[WaySeen; 2]) -> bool {
    match ways[0].bytes.cmp(&ways[1].bytes) {
        Ordering::Equal => ways[0].begins() <= ways[1].begins(),
        order => order == Ordering::Greater,
    }
}

/// All connections of a station's address with a port of a server.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Exchange {
    /// bytes of data from the station, and to it
    pub up: u64,
    pub down: u64,
    /// number of the first of them
    first: usize,
}

impl Exchange {
    pub(crate) fn has_data(&self) -> bool {
        self.up + self.down > 0
    }

    /// Its rank among all: by its bytes, then by its time.
    pub(crate) fn rank(&self) -> (u64, Reverse<usize>) {
        (self.up + self.down, Reverse(self.first))
    }
}

/// Exchanges by the station's address, the server's port, and whether they are of TCP.
pub(crate) fn exchanges(sides: Sides<'_>, connections: &Connections) -> BTreeMap<(IpAddr, End, bool), Exchange> {
    let mut all = BTreeMap::new();
    for (connection, (number, ways)) in connections {
        let is_first = is_first_the_station(sides, connection, ways);
        let (station, server) = station_and_server(connection, is_first);
        let (up, down) = if is_first { (&ways[0], &ways[1]) } else { (&ways[1], &ways[0]) };
        let new = Exchange { first: *number, ..Exchange::default() };
        let exchange = all.entry((station.0, server, connection.2)).or_insert(new);
        exchange.up += up.bytes;
        exchange.down += down.bytes;
        exchange.first = exchange.first.min(*number);
    }
    all
}
