//! A first look at all captures: their nodes and flows. Measuring needs both beforehand.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use lasthop_wire::capture::LinkType;
use lasthop_wire::ieee80211::{Data, Frame, FrameFlags};
use lasthop_wire::tcp::TcpFlags;
use lasthop_wire::{ConnectionId, LeftOut, MacAddress};

use crate::bounds::{Bounds, Kept};
use crate::dialogue::{Connection, Connections, Point, Stations, WaySeen, connection_between};
use crate::durations::Sending;
use crate::echo::{Content, Echo, EchoLearner, Numbered};
use crate::fcs::Fcs;
use crate::frame::{Heard, Seen, msdus_of, read};
use crate::glance::{Between, Brief, Glance, Glancer};
use crate::hops::Hops;
use crate::input::Captured;
use crate::packet::{Packet, Segment, Transport};
use crate::sniffer::Sniffer;
use crate::subflows::Subflows;

/// Connection IDs that are kept of a connection.
const MOST_IDS: usize = 4;

/// Captures with a longer gap between them are of clocks that differ, or do not belong together.
const APART_NS: i64 = 10_000_000_000;

/// Connections of addresses that were not answered are no more than these.
const MOST_OF_STRANGERS: usize = 50_000;

/// A sender of frames.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NodeSeen {
    pub is_ap: bool,
    /// the BSSID of a station's latest data frame
    pub bssid: Option<MacAddress>,
    /// data frames and beacons from it, and data frames to it
    pub frames: u32,
    /// it was answered, or has answered
    pub is_answered: bool,
}

impl NodeSeen {
    fn is_station(&self) -> bool {
        !self.is_ap && self.bssid.is_some()
    }
}

/// Everything seen.
#[derive(Default)]
pub(crate) struct Survey {
    glancer: Glancer,
    /// by file
    pub sniffers: Vec<Sniffer>,
    /// transmitter and receiver of the latest data frame
    latest: Option<(MacAddress, MacAddress)>,
    /// frames of the air in each file
    pub heard: Vec<u64>,
    /// by file: an unsupported link type in it
    pub foreign: BTreeMap<usize, LinkType>,
    pub nodes: BTreeMap<MacAddress, NodeSeen>,
    /// stations that send to one another, without an AP
    pub pairs: BTreeSet<(MacAddress, MacAddress)>,
    /// transmitters of management frames other than beacons, with counts
    pub managers: BTreeMap<MacAddress, u32>,
    /// centre frequencies in MHz
    pub channels: Vec<u16>,
    /// changes from one to another
    pub hops: Hops,
    pub stations: Stations,
    /// by address of a packet on Ethernet: the address of its frame
    bridged: Stations,
    /// the host of the wire that takes part in all connections
    pub server: Option<IpAddr>,
    pub connections: Connections,
    /// of each file, when its first and its last packet passed
    pub spans_ns: Vec<Option<(i64, i64)>>,
    /// whether each file has packets of a wire
    pub wired: Vec<bool>,
    /// subflows of MPTCP
    pub subflows: Subflows,
    /// by connection: destinations of Initial packets of QUIC
    pub initial_ids: BTreeMap<Connection, Vec<ConnectionId>>,
    /// by connection of UDP
    echoes: BTreeMap<Connection, EchoLearner>,
    pub bounds: Bounds,
    /// by file: contents that are neither TCP nor UDP
    pub left_out: BTreeMap<usize, BTreeMap<LeftOut, u64>>,
    /// bytes kept of the packet that was cut off the least
    cut_off: Option<usize>,
}

impl Survey {
    pub(crate) fn new(files: usize, bounds: Bounds) -> Survey {
        let sniffers = (0..files).map(|_| Sniffer::default()).collect();
        Survey {
            sniffers,
            bounds,
            heard: vec![0; files],
            spans_ns: vec![None; files],
            wired: vec![false; files],
            ..Survey::default()
        }
    }

    /// When the first and the last packet of all files passed.
    pub(crate) fn span_ns(&self) -> Option<(i64, i64)> {
        self.spans_ns.iter().flatten().copied().reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    /// The reason why captures without nodes and flows are of no use.
    pub(crate) fn why_nothing(&self) -> String {
        match self.cut_off {
            _ if self.span_ns().is_none() => "holds no packets".into(),
            Some(kept) => format!(
                "its packets are cut off after {kept} bytes and fewer, before their headers end: capture at least 96 bytes of \
                 each on a wire, 160 of the air (`tcpdump --snapshot-length`)"
            ),
            None if self.left_out.values().all(BTreeMap::is_empty) => {
                "holds neither frames of 802.11 nor packets of TCP or UDP".into()
            }
            None if self.left_out.values().any(|all| all.contains_key(&LeftOut::Tzsp)) => {
                "its packets are TZSP (UDP port 37008), which is not read: let the access point write radiotap to a file, or \
                 convert its stream (`tzsp2pcap`)"
                    .into()
            }
            None => format!("holds neither frames of 802.11 nor packets of TCP or UDP, but {}", self.left_out_names()),
        }
    }

    /// The contents that are left out, with their counts, the most frequent first.
    fn left_out_names(&self) -> String {
        let mut all: BTreeMap<LeftOut, u64> = BTreeMap::new();
        for (what, count) in self.left_out.values().flatten() {
            *all.entry(*what).or_default() += count;
        }
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        all.iter().map(|(what, count)| format!("{count} of {what}")).collect::<Vec<_>>().join(", ")
    }

    /// Files without packets, if others have some.
    pub(crate) fn empty(&self) -> impl Iterator<Item = usize> {
        (0..).zip(&self.spans_ns).filter(|(_, span)| span.is_none()).map(|(file, _)| file)
    }

    /// Files whose connections are in no other, if others have connections too.
    pub(crate) fn alone(&self) -> impl Iterator<Item = usize> {
        let places =
            |ways: &[WaySeen; 2]| -> BTreeSet<usize> { ways.iter().flat_map(WaySeen::files_with_data).collect() };
        let sets: Vec<_> = self.connections.values().map(|(_, ways)| places(ways)).collect();
        let with_any: BTreeSet<usize> = sets.iter().flatten().copied().collect();
        let shared: BTreeSet<usize> = sets.iter().filter(|files| files.len() > 1).flatten().copied().collect();
        let is_one = with_any.len() < 2;
        with_any.into_iter().filter(move |file| !is_one && !shared.contains(file))
    }

    /// A file far from the times of all before it, the latest of these, and the gap between them. Parts of one capture follow
    /// one another at once.
    pub(crate) fn apart_ns(&self) -> Option<(usize, usize, i64)> {
        let mut spans: Vec<_> = (0..).zip(&self.spans_ns).filter_map(|(file, span)| Some(((*span)?, file))).collect();
        spans.sort_unstable();
        let (mut end, mut before) = spans.first().map(|((_, end), file)| (*end, *file))?;
        for ((start, last), file) in spans {
            if start > end + APART_NS {
                return Some((before, file, start - end));
            }
            (end, before) = (end, before).max((last, file));
        }
        None
    }

    pub(crate) fn look(&mut self, file: usize, captured: &Captured) {
        let at = captured.time_ns;
        let (first, last) = self.spans_ns[file].unwrap_or((at, at));
        self.spans_ns[file] = Some((first.min(at), last.max(at)));
        if captured.bytes.len() < captured.original_length {
            self.cut_off = self.cut_off.max(Some(captured.bytes.len()));
        }
        self.sniffers[file].look(captured);
        match self.glancer.glance(captured, &self.sniffers[file].fcs) {
            Glance::Frame { mhz, is_answer, receiver } => {
                self.heard[file] += 1;
                self.add_channel(file, at, mhz);
                if is_answer {
                    self.add_answer(receiver);
                }
            }
            Glance::Data { mhz, between } => {
                self.heard[file] += 1;
                self.add_channel(file, at, mhz);
                self.add_between(&between);
            }
            Glance::Packet { mhz, between, packet } => {
                self.heard[file] += 1;
                self.add_channel(file, at, mhz);
                let station = self.add_between(&between);
                if between.receiver.is_group() {
                    return;
                }
                self.add_air(file, at, (&between, station), &packet);
            }
            Glance::Wired(packet) => self.add_wired(file, captured, &packet),
            Glance::Read => self.read(file, captured),
        }
    }

    fn read(&mut self, file: usize, captured: &Captured) {
        match read(captured, &self.sniffers[file].fcs) {
            Ok(Seen::Air(heard)) => {
                self.heard[file] += 1;
                if heard.is_good {
                    self.add_channel(file, captured.time_ns, heard.radiotap.channel.map(|channel| channel.mhz));
                    self.look_at_frame(file, captured.time_ns, &heard);
                }
            }
            Ok(Seen::Wired(packet)) => self.add_wired(file, captured, &brief(&packet)),
            Ok(Seen::Foreign) => {
                self.foreign.entry(file).or_insert(captured.link_type);
            }
            Ok(Seen::Other(Some(what))) => self.leave_out(file, what),
            Ok(Seen::Other(None)) | Err(_) => {}
        }
    }

    fn add_wired(&mut self, file: usize, captured: &Captured, packet: &Brief) {
        self.wired[file] = true;
        let connections = self.connections.len();
        self.add_packet(Point::wire(file), captured.time_ns, packet, None);
        let is_new = self.connections.len() > connections;
        if let Some(ends) = captured.bytes.first_chunk::<12>()
            && is_new
            && captured.link_type == LinkType::ETHERNET
        {
            // The destination is the first. [802.3 §3.1.1]
            let address = |from: usize| MacAddress(std::array::from_fn(|place| ends[from + place]));
            self.bridged.extend([(packet.to.0, address(0)), (packet.from.0, address(6))]);
        }
    }

    /// Stations of packets that the air does not show, as of encrypted frames: an access point is a bridge, so that the
    /// address of a station is on the wire too.
    pub(crate) fn add_bridged(&mut self) {
        for (own, station) in std::mem::take(&mut self.bridged) {
            if self.nodes.get(&station).is_some_and(NodeSeen::is_station) {
                self.stations.entry(own).or_insert(station);
            }
        }
        self.server = self.only_server();
    }

    /// The host that takes part in all connections, of as many others as the air has stations or fewer. One station of
    /// many servers takes part in all, too.
    fn only_server(&self) -> Option<IpAddr> {
        let stations = self.nodes.values().filter(|node| node.is_station()).count();
        let mut all = self.connections.keys().map(|(first, second, _)| [first.0, second.0]);
        let either = all.next()?;
        let is_in_all = |host: &IpAddr| all.clone().all(|ends| ends.contains(host));
        let mut servers = either.into_iter().filter(is_in_all);
        let server = servers.next().filter(|_| servers.next().is_none())?;
        let hosts: BTreeSet<IpAddr> =
            self.connections.keys().flat_map(|(first, second, _)| [first.0, second.0]).collect();
        (hosts.len() - 1 <= stations).then_some(server)
    }

    fn leave_out(&mut self, file: usize, what: LeftOut) {
        *self.left_out.entry(file).or_default().entry(what).or_default() += 1;
    }

    fn add_channel(&mut self, file: usize, at: i64, mhz: Option<u16>) {
        if let Some(mhz) = mhz {
            self.hops.hear(file, at, mhz);
        }
        if let Some(mhz) = mhz.filter(|mhz| !self.channels.contains(mhz))
            && self.bounds.admits(Kept::Channels, self.channels.len())
        {
            self.channels.push(mhz);
        }
    }

    /// An answer: its receiver, and the receiver of the frame before, exist.
    fn add_answer(&mut self, receiver: MacAddress) {
        self.answered(receiver);
        if let Some((_, answers)) = self.latest.take().filter(|(transmitter, _)| *transmitter == receiver) {
            self.answered(answers);
        }
    }

    fn answered(&mut self, address: MacAddress) {
        if let Some(node) = self.nodes.get_mut(&address) {
            node.is_answered = true;
        }
    }

    /// The node with this address, which may be new.
    fn node(&mut self, address: MacAddress) -> Option<&mut NodeSeen> {
        let kept = self.nodes.len() + self.managers.len();
        match self.nodes.entry(address) {
            Entry::Occupied(node) => Some(node.into_mut()),
            Entry::Vacant(place) => {
                self.bounds.admits(Kept::Addresses, kept).then(|| place.insert(NodeSeen::default()))
            }
        }
    }

    /// A frame of an AP, or to it.
    fn add_ap(&mut self, address: MacAddress) {
        if let Some(ap) = self.node(address) {
            (ap.is_ap, ap.frames) = (true, ap.frames.saturating_add(1));
        }
    }

    /// A management frame that is no beacon.
    fn add_manager(&mut self, address: MacAddress) {
        let kept = self.nodes.len() + self.managers.len();
        match self.managers.entry(address) {
            Entry::Occupied(mut frames) => *frames.get_mut() = frames.get().saturating_add(1),
            Entry::Vacant(place) if self.bounds.admits(Kept::Addresses, kept) => drop(place.insert(1)),
            Entry::Vacant(_) => {}
        }
    }

    /// A data frame: its station, if it has one.
    fn add_between(&mut self, between: &Between) -> Option<MacAddress> {
        let Between { transmitter, receiver, bssid, .. } = *between;
        self.latest = Some((transmitter, receiver));
        self.add_ap(bssid);
        let station = if transmitter == bssid { receiver } else { transmitter };
        let is_station = station != bssid && !station.is_group();
        if is_station && let Some(node) = self.node(station) {
            (node.bssid, node.frames) = (Some(bssid), node.frames.saturating_add(1));
        }
        is_station.then_some(station)
    }

    /// A packet in a data frame of the air.
    fn add_air(&mut self, file: usize, at: i64, (between, station): (&Between, Option<MacAddress>), packet: &Brief) {
        let node = || station.and_then(|station| self.nodes.get(&station));
        if self.connections.len() >= MOST_OF_STRANGERS && !node().is_some_and(|node| node.is_answered) {
            let (connection, _) = connection_between(packet.from, packet.to, packet.is_tcp);
            if !self.connections.contains_key(&connection) {
                return;
            }
        }
        if !self.add_packet(Point::air(file), at, packet, Some(between.frame)) {
            return;
        }
        if let Some(station) = station {
            let own = if between.transmitter == between.bssid { packet.to.0 } else { packet.from.0 };
            self.stations.insert(own, station);
        }
    }

    /// Adds a packet to its connection, unless there are too many connections.
    fn add_packet(&mut self, point: Point, at: i64, packet: &Brief, frame: Option<Numbered>) -> bool {
        let number = self.connections.len();
        let (connection, is_first_way) = connection_between(packet.from, packet.to, packet.is_tcp);
        let (_, ways) = match self.connections.entry(connection) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) if self.bounds.admits(Kept::Connections, number) => {
                place.insert((number, Default::default()))
            }
            Entry::Vacant(_) => return false,
        };
        let way = &mut ways[usize::from(!is_first_way)];
        way.opens |= packet.opens;
        way.add(point, at, packet.bytes);
        if let Some((option, is_answer)) = packet.subflow {
            self.subflows.add(connection, option, is_answer, &mut self.bounds);
        }
        if packet.content != Content::default() {
            let learner = self.echoes.entry(connection).or_default();
            learner.pass((point.file, point.is_air), at, usize::from(!is_first_way), packet.content, frame);
        }
        if let Some(id) = packet.initial_id {
            let ids = self.initial_ids.entry(connection).or_default();
            if ids.len() < MOST_IDS && !ids.contains(&id) {
                ids.push(id);
            }
        }
        true
    }

    /// A connection's echo, if its datagrams come back.
    pub(crate) fn echo(&self, connection: &Connection) -> Option<Echo> {
        self.echoes.get(connection)?.echo()
    }

    fn look_at_frame(&mut self, file: usize, at: i64, heard: &Heard<'_>) {
        match &heard.frame {
            Frame::Data(data) => self.look_at_data(file, at, data),
            Frame::Beacon(beacon) => self.add_ap(beacon.transmitter),
            Frame::Management(frame) => self.add_manager(frame.transmitter),
            Frame::BlockAck(answer) => {
                self.add_answer(answer.receiver);
                self.answered(answer.transmitter);
            }
            Frame::Ack(answer) => self.add_answer(answer.receiver),
            Frame::Cts(answer) => self.add_answer(answer.receiver),
            _ => {}
        }
    }

    /// A data frame between two stations: of an IBSS, or over a direct link.
    fn look_at_direct(&mut self, file: usize, at: i64, data: &Data<'_>) {
        let (transmitter, receiver) = (data.address_2, data.address_1);
        self.latest = Some((transmitter, receiver));
        if receiver.is_group() {
            return;
        }
        for address in [transmitter, receiver] {
            if let Some(node) = self.node(address) {
                node.frames = node.frames.saturating_add(1);
                node.bssid.get_or_insert(data.address_3);
            }
        }
        let ends = (transmitter.min(receiver), transmitter.max(receiver));
        let is_known = self.nodes.contains_key(&transmitter) && self.nodes.contains_key(&receiver);
        if is_known && self.bounds.admits(Kept::Addresses, self.pairs.len()) {
            self.pairs.insert(ends);
        }
        let frame = Numbered { number: data.sequence.number, is_retry: data.flags.contains(FrameFlags::RETRY) };
        msdus_of(data, |msdu| match msdu {
            Ok(packet) => {
                self.add_packet(Point::air(file), at, &brief(&packet), Some(frame));
            }
            Err(what) => self.leave_out(file, what),
        });
    }

    fn look_at_data(&mut self, file: usize, at: i64, data: &Data<'_>) {
        let Some(bssid) = data.bssid() else { return };
        if !data.flags.contains(FrameFlags::TO_DS) && !data.flags.contains(FrameFlags::FROM_DS) {
            return self.look_at_direct(file, at, data);
        }
        let frame = Numbered { number: data.sequence.number, is_retry: data.flags.contains(FrameFlags::RETRY) };
        let between = Between { transmitter: data.address_2, receiver: data.address_1, bssid, frame };
        let station = self.add_between(&between);
        if between.receiver.is_group() {
            return;
        }
        msdus_of(data, |msdu| match msdu {
            Ok(packet) => {
                self.add_air(file, at, (&between, station), &brief(&packet));
            }
            Err(what) => self.leave_out(file, what),
        });
    }
}

/// The fields that distinguish flows, from a packet that was read.
fn brief(packet: &Packet) -> Brief {
    let (from, to) = (packet.from, packet.to);
    match packet.transport {
        Transport::Udp { content, quic } => {
            let initial_id = quic.and_then(|quic| quic.initial_id);
            let bytes = content.bytes();
            Brief { from, to, is_tcp: false, bytes, content, opens: false, subflow: None, initial_id }
        }
        Transport::Tcp(Segment { flags, payload, mptcp, .. }) => {
            let is_answer = flags.contains(TcpFlags::ACK);
            let opens = flags.contains(TcpFlags::SYN) && !is_answer;
            let subflow = mptcp.map(|option| (option, is_answer));
            let content = Content::default();
            Brief { from, to, is_tcp: true, bytes: payload, content, opens, subflow, initial_id: None }
        }
    }
}

/// The mode of a captured frame, and its bytes.
pub(crate) fn frame_of(captured: &Captured, fcs: &Fcs) -> Option<(Sending, u32)> {
    let Ok(Seen::Air(heard)) = read(captured, fcs) else { return None };
    Sending::of(&heard.radiotap).map(|sending| (sending, heard.length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_wire::capture::LinkType;

    /// The result of a survey, without counts of files.
    fn told(survey: &Survey) -> String {
        format!("{:?} {:?} {:?} {:?}", survey.nodes, survey.channels, survey.stations, survey.connections)
    }

    #[test]
    fn glance_equals_full_reading() {
        // Radiotap with flags, rate and channel; a QoS data frame to the AP with an IPv4 SYN.
        let mut frame = vec![0, 0, 14, 0, 0b1110, 0, 0, 0, 0, 108, 0x3c, 0x14, 0x40, 1];
        frame.extend([0x88, 1, 0, 0]);
        [1, 2, 3].into_iter().for_each(|last| frame.extend([2, 0, 0, 0, 0, last]));
        frame.extend([0, 0, 0, 0, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0]);
        frame.extend([0x45, 0, 0, 60, 0, 0, 0, 0, 64, 6, 0, 0, 10, 1, 0, 2, 10, 0, 0, 1]);
        frame.extend([0xea, 0xc4, 0xc3, 0x50, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 2, 1, 0, 0, 0, 0, 0]);
        frame.resize(frame.len() + 24, 0);
        let mut draw = 1_u64;
        let mut next = |below: usize| {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (draw >> 33) as usize % below
        };
        let mut glanced = 0;
        for round in 0..20_000 {
            let mut bytes = frame.clone();
            if round > 0 {
                let place = next(bytes.len());
                bytes[place] = next(256) as u8;
            }
            let length = bytes.len();
            let captured = Captured { time_ns: 5, link_type: LinkType::RADIOTAP, original_length: length, bytes };
            let [mut at_a_glance, mut by_reading] = [(); 2].map(|()| Survey::new(1, Bounds::default()));
            at_a_glance.look(0, &captured);
            by_reading.read(0, &captured);
            glanced += usize::from(Glancer::default().glance(&captured, &Fcs::default()) != Glance::Read);
            assert_eq!(told(&at_a_glance), told(&by_reading), "{:?}", captured.bytes);
        }
        assert!(glanced > 10_000);
    }
}
