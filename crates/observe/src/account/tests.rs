//! The account against its twin, on random traffic: for any input, their books are equal.

use lasthop_units::{DataRate, Duration, Time};

use super::twin::Twin;
use super::*;
use crate::{DropReason, Hold, LinkId, Outcome, Payload, Start};

/// A generator of numbers, good enough to draw cases from [Steele et al. 2014, SplitMix64].
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }
    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// The place of a packet.
#[derive(Clone, Copy, PartialEq)]
enum At {
    Host,
    Queue(usize),
    Mac(usize),
    Wire(bool),
}

struct Packet {
    flow: usize,
    at: At,
}

/// A PPDU of an exchange, on the air or about to start.
struct Sent {
    node: NodeId,
    initiator: NodeId,
    begins: Time,
    mpdus: u32,
}

/// Cells with random events, and the two accounts.
struct Cells {
    chance: Chance,
    ends: Vec<FlowEnds>,
    nodes: Vec<NodeFacts>,
    aps: usize,
    /// Whether all nodes of a channel notice the same.
    alike: bool,
    packets: Vec<Packet>,
    sent: Vec<Sent>,
    now: Time,
    books: Account,
    twin: Twin,
}

impl Cells {
    fn new(seed: u64) -> Cells {
        let mut chance = Chance(seed);
        let (channels, stations) = (1 + chance.below(2), 1 + chance.below(if seed.is_multiple_of(5) { 70 } else { 5 }));
        let alike = chance.one_in(2);
        let aggregating = chance.below(3);
        let mut nodes = Vec::new();
        for node in 0..channels + stations {
            let aggregates = aggregating == 1 || aggregating == 2 && chance.one_in(2);
            nodes.push(NodeFacts { channel: (node % channels) as u32, aggregates });
        }
        let mut ends = Vec::new();
        for station in channels..nodes.len() {
            for _ in 0..1 + chance.below(2) {
                let function = chance.below(2) as u32;
                let (station, ap) = (NodeId(station as u32), NodeId((station % channels) as u32));
                ends.push(FlowEnds { station, ap, function });
            }
        }
        let (books, twin) = (Account::new(&ends, &nodes, channels), Twin::new(&ends, &nodes, channels));
        let aps = channels;
        Cells { chance, ends, nodes, aps, alike, packets: Vec::new(), sent: Vec::new(), now: Time::ZERO, books, twin }
    }

    fn tell(&mut self, record: Record) {
        self.tell_at(self.now, record);
    }

    fn tell_at(&mut self, at: Time, record: Record) {
        self.books.observe(at, record);
        self.twin.observe(at, record);
    }

    fn step(&mut self, step: Step) {
        self.tell(Record::Step(step));
    }

    fn node(&self, flow: usize, side: usize) -> NodeId {
        [self.ends[flow].station, self.ends[flow].ap][side]
    }

    /// Moves a packet, or adds a new one.
    fn packet_moves(&mut self) {
        if self.packets.is_empty() || self.chance.one_in(4) {
            let flow = self.chance.below(self.ends.len());
            self.packets.push(Packet { flow, at: At::Host });
            return self.step(Step::Emitted { flow: FlowId(flow as u32) });
        }
        let place = self.chance.below(self.packets.len());
        let (index, at) = (self.packets[place].flow, self.packets[place].at);
        let (flow, tcp_ack) = (FlowId(index as u32), self.chance.one_in(3));
        let is_lost = at != At::Host && self.chance.one_in(8);
        let is_there = at == At::Host && self.chance.one_in(3);
        let next = match at {
            At::Host => [At::Queue(self.chance.below(2)), At::Wire(self.chance.one_in(2))][self.chance.below(2)],
            At::Queue(side) => At::Mac(side),
            At::Mac(_) | At::Wire(_) => At::Host,
        };
        self.packets[place].at = next;
        if is_lost || is_there {
            self.packets.swap_remove(place);
        }
        match (at, next) {
            _ if is_there => self.step(Step::Arrived { flow }),
            (At::Mac(side), _) => {
                if is_lost {
                    self.drop(index, side, QueueLayer::Mac, tcp_ack);
                }
                self.step(Step::Leaves { node: self.node(index, side), flow });
            }
            (At::Queue(side), _) if is_lost => self.drop(index, side, QueueLayer::Interface, tcp_ack),
            (At::Wire(false), _) if is_lost => self.drop(index, 1, QueueLayer::WiredDown, tcp_ack),
            (At::Wire(true), _) if is_lost => self.drop(index, 1, QueueLayer::WiredUp, tcp_ack),
            (At::Queue(side), _) => self.step(Step::Taken { node: self.node(index, side), flow }),
            (At::Wire(up), _) => self.step(Step::WireTaken { flow, up }),
            (At::Host, At::Wire(up)) => self.step(Step::WireEnters { flow, up }),
            (At::Host, At::Queue(side)) => self.step(Step::Enters { node: self.node(index, side), flow, tcp_ack }),
            (At::Host, At::Host | At::Mac(_)) => unreachable!("a host sends to a queue or a wire"),
        }
    }

    fn drop(&mut self, flow: usize, side: usize, layer: QueueLayer, tcp_ack: bool) {
        let (node, reason, flow) = (self.node(flow, side), DropReason::QueueFull, FlowId(flow as u32));
        self.tell(Record::Dropped { node, flow, layer, reason, tcp_ack, arrived: false, up: false, packet: 0 });
    }

    fn ends_wait(&mut self) {
        let holds =
            [Hold::Application, Hold::Opening, Hold::CongestionWindow, Hold::ReceiveWindow, Hold::Pacing, Hold::Device];
        let (flow, hold) = (FlowId(self.chance.below(self.ends.len()) as u32), holds[self.chance.below(6)]);
        let (awaits_answer, withholds_ack) = (self.chance.one_in(2), self.chance.one_in(4));
        self.step(Step::Waits { flow, hold, awaits_answer, withholds_ack });
    }

    /// A silent node begins to send, now or a little later, in an exchange of its own or in one in progress.
    fn ppdu_starts(&mut self) {
        let node = NodeId(self.chance.below(self.nodes.len()) as u32);
        let channel = self.nodes[node.index()].channel;
        if self.sent.iter().any(|ppdu| ppdu.node == node) {
            return;
        }
        let others = self.sent.iter().filter(|s| s.initiator != node && self.nodes[s.node.index()].channel == channel);
        let other = others.map(|s| s.initiator).next().filter(|_| self.chance.one_in(3));
        let initiator = other.unwrap_or(node);
        let payloads = [Payload::Packets, Payload::Control, Payload::Acknowledgement];
        let is_beacon = self.chance.one_in(12);
        let payload = if is_beacon { Payload::Beacon } else { payloads[self.chance.below(3)] };
        let link = (!is_beacon).then(|| LinkId(2 * initiator.0 + self.chance.below(2) as u32));
        let late = Duration::from_nanos([0, 10, 16][self.chance.below(3)]);
        let begins = self.now + late;
        let airtime = Duration::from_nanos(1 + self.chance.below(300) as u64);
        let at_best = Duration::from_nanos(self.chance.below(400) as u64);
        let padding = Duration::from_nanos(if self.chance.one_in(4) { self.chance.below(400) as u64 } else { 0 });
        let (to_all, overlaps_missed) = (self.alike, self.chance.one_in(9));
        let of_several = self.chance.one_in(6);
        let start = Start {
            node,
            initiator,
            link,
            payload,
            channel,
            to_all,
            airtime,
            at_best,
            of_several,
            padding,
            overlaps_missed,
        };
        self.tell_at(begins, Record::Step(Step::Start(start)));
        self.tell_contents(begins, initiator, channel);
        self.sent.push(Sent { node, initiator, begins, mpdus: 1 + self.chance.below(4) as u32 });
    }

    fn tell_contents(&mut self, at: Time, initiator: NodeId, channel: u32) {
        let of_it = |ends: &FlowEnds| ends.station == initiator || ends.ap == initiator;
        for flow in (0..self.ends.len()).filter(|flow| of_it(&self.ends[*flow])).collect::<Vec<_>>() {
            if self.chance.one_in(3) {
                let (data_bytes, ack_bytes) = (self.chance.below(3000) as u32, 40 * self.chance.below(3) as u32);
                let flow = FlowId(flow as u32);
                self.tell_at(at, Record::Step(Step::Carries { initiator, flow, data_bytes, ack_bytes }));
            }
        }
        if self.alike {
            return;
        }
        let mut first = 0;
        while first < self.nodes.len() {
            let bits = self.nodes.iter().skip(first).take(64).enumerate().filter(|(_, node)| node.channel == channel);
            let nodes = bits.fold(0, |nodes, (bit, _)| nodes | u64::from(!self.chance.one_in(4)) << bit);
            self.tell_at(at, Record::Step(Step::Noticed { initiator, first: NodeId(first as u32), nodes }));
            first += [5, 64][self.chance.below(2)];
        }
    }

    fn ppdu_ends(&mut self) {
        let begun: Vec<usize> = (0..self.sent.len()).filter(|place| self.sent[*place].begins <= self.now).collect();
        if begun.is_empty() {
            return;
        }
        let place = begun[self.chance.below(begun.len())];
        let Sent { node, initiator, mpdus, .. } = self.sent.swap_remove(place);
        let outcomes = [Outcome::Success, Outcome::Collision, Outcome::Noise, Outcome::Interference];
        if self.chance.one_in(2) {
            let (link, rate, acknowledged) = (LinkId(2 * initiator.0), DataRate::from_bps(1_000_000), 1);
            let outcome = outcomes[self.chance.below(4)];
            self.tell(Record::Attempt { link, node: initiator, rate, mpdus, acknowledged, retry: false, outcome });
        }
        let decoded = mpdus - self.chance.below(mpdus as usize + 1) as u32;
        let lost_to = (decoded < mpdus).then(|| outcomes[1 + self.chance.below(3)]);
        let goes_on = self.chance.one_in(2);
        self.step(Step::End(End { node, initiator, mpdus, decoded, lost_to, goes_on }));
    }

    fn is_recognised(&mut self) {
        if self.alike || self.sent.is_empty() {
            return;
        }
        let ppdu = &self.sent[self.chance.below(self.sent.len())];
        let (initiator, channel) = (ppdu.initiator, self.nodes[ppdu.node.index()].channel);
        let by = self.chance.below(self.nodes.len());
        if self.nodes[by].channel == channel {
            self.step(Step::Recognised { initiator, by: NodeId(by as u32) });
        }
    }

    fn is_held(&mut self) {
        let node = NodeId(self.chance.below(self.nodes.len()) as u32);
        let (function, held) = (self.chance.below(2) as u32, self.chance.one_in(2));
        self.step(Step::Held { node, function, held });
    }

    /// An access point and its stations move to another channel, none of them being on the air.
    fn moves(&mut self) {
        let (aps, node_count) = (self.aps, self.nodes.len());
        let ap = self.chance.below(aps);
        let is_own = |node: usize| node == ap || node >= aps && node % aps == ap;
        if self.alike || self.sent.iter().any(|ppdu| is_own(ppdu.node.index()) || is_own(ppdu.initiator.index())) {
            return;
        }
        let channel = self.chance.below(4) as u32;
        if channel == self.nodes[ap].channel {
            return;
        }
        for node in (0..node_count).filter(|node| is_own(*node)) {
            self.nodes[node].channel = channel;
            self.step(Step::Moved { node: NodeId(node as u32), channel });
        }
    }

    fn happens(&mut self) {
        match self.chance.below(16) {
            0..6 => self.packet_moves(),
            6..8 => self.ends_wait(),
            8..11 => self.ppdu_starts(),
            11..14 => self.ppdu_ends(),
            14 if self.chance.one_in(2) => self.is_recognised(),
            14 if self.chance.one_in(2) => self.is_held(),
            14 => self.moves(),
            _ => self.now += Duration::from_nanos(self.chance.below(120) as u64),
        }
    }
}

fn assert_equal(seed: u64, books: &Balance, twin: &Balance) {
    assert_eq!(books.covered, twin.covered, "seed {seed}");
    for (index, (flow, other)) in books.flows.iter().zip(&twin.flows).enumerate() {
        assert_eq!(flow.terms, other.terms, "seed {seed}, flow {index}");
        assert_eq!(flow.waits, other.waits, "seed {seed}, flow {index}");
        assert_eq!(flow.queues, other.queues, "seed {seed}, flow {index}");
        assert_eq!(flow.traffic, other.traffic, "seed {seed}, flow {index}");
    }
    let channels = |balance: &Balance| format!("{:?}", balance.channels);
    assert_eq!(channels(books), channels(twin), "seed {seed}");
}

fn compare(seed: u64, steps: usize) {
    let mut cells = Cells::new(seed);
    let start = cells.chance.below(steps);
    for step in 0..steps {
        if step == start {
            cells.books.start(cells.now);
            cells.twin.start(cells.now);
        }
        cells.happens();
    }
    let end = cells.now + Duration::from_nanos(50);
    assert_equal(seed, &cells.books.close(end), &cells.twin.close(end));
}

#[test]
fn random_steps_give_the_twins_books() {
    (0..400).for_each(|seed| compare(seed, 1000));
}

#[test]
fn logs_are_read_before_they_grow_long_and_assumptions_change() {
    (0..12).for_each(|seed| compare(seed, 60_000));
}

/// Stations that always have a packet at the head send in turns: their state is assumed, and only their own exchanges
/// are looked up.
#[test]
fn flow_that_always_waits_is_assumed_to_wait() {
    const STATIONS: u32 = 20;
    let mut cells = Cells::new(1);
    cells.nodes = vec![NodeFacts { channel: 0, aggregates: false }; 1 + STATIONS as usize];
    cells.ends =
        (1..=STATIONS).map(|station| FlowEnds { station: NodeId(station), ap: NodeId(0), function: 0 }).collect();
    (cells.books, cells.twin) = (Account::new(&cells.ends, &cells.nodes, 1), Twin::new(&cells.ends, &cells.nodes, 1));
    for flow in (0..STATIONS).map(FlowId) {
        let node = NodeId(flow.0 + 1);
        let steps = [Step::Emitted { flow }, Step::Enters { node, flow, tcp_ack: false }, Step::Taken { node, flow }];
        steps.into_iter().for_each(|step| cells.step(step));
    }
    let (airtime, payload) = (Duration::from_nanos(100), Payload::Packets);
    for turn in 0..40 * STATIONS {
        let (flow, node) = (FlowId(turn % STATIONS), NodeId(turn % STATIONS + 1));
        cells.now += Duration::from_nanos(30);
        let (link, at_best) = (Some(LinkId(2 * flow.0)), airtime);
        let whose = Start {
            node,
            initiator: node,
            link,
            payload,
            channel: 0,
            to_all: true,
            airtime,
            at_best,
            of_several: false,
            padding: Duration::ZERO,
            overlaps_missed: false,
        };
        cells.step(Step::Start(whose));
        cells.step(Step::Carries { initiator: node, flow, data_bytes: 1500, ack_bytes: 0 });
        cells.now += airtime;
        cells.step(Step::End(End { node, initiator: node, mpdus: 1, decoded: 1, lost_to: None, goes_on: false }));
    }
    assert!(cells.books.flows.iter().all(|flow| flow.assumed == Some(super::row::Row::HEAD)));
    assert_equal(1, &cells.books.close(cells.now), &cells.twin.close(cells.now));
}
