//! What every queue discipline promises, tested on each that is registered, alone and above the queue of a driver.

use std::collections::BTreeMap;

use lasthop_engine::Stream;
use lasthop_link::{AckFacts, AirtimeUse, Packet, PacketMeta, QueueDiscipline, QueueDisciplineKind, Wanted};
use lasthop_observe::{DropReason, FlowId, NodeId};
use lasthop_units::{DataRate, Duration, Ecn, Time};

/// Flows, each to a station and with a TID of its own.
const FLOWS: u32 = 8;
const STATIONS: u32 = 4;

fn station_of(flow: u32) -> NodeId {
    NodeId(1 + flow % STATIONS)
}

fn packet(number: u64, now: Time, random: &mut Stream) -> Packet<u64> {
    let (flow, pure_ack) = (random.up_to(FLOWS - 1), random.chance(0.3));
    let ack = AckFacts { number: number as u32, is_plain: random.chance(0.9), ..AckFacts::default() };
    let meta = PacketMeta {
        bytes: if pure_ack { 40 } else { 40 + random.up_to(1460) },
        flow: FlowId(flow),
        station: station_of(flow),
        up: false,
        tid: if flow < FLOWS / 2 { 0 } else { 6 },
        pure_ack,
        ack: if pure_ack { ack } else { AckFacts::default() },
        ecn: if random.chance(0.5) && !pure_ack { Ecn::Ect0 } else { Ecn::NotEct },
        enqueued_at: now,
    };
    Packet { meta, body: number }
}

/// What a MAC may ask for: anything, or what fills an aggregate.
fn wanted(random: &mut Stream) -> Wanted {
    let tid = random.chance(0.5).then(|| if random.chance(0.5) { 0 } else { 6 });
    match random.up_to(2) {
        0 => Wanted::ANY,
        1 => Wanted { station: Some(station_of(random.up_to(STATIONS - 1))), tid },
        _ => Wanted { station: None, tid },
    }
}

/// What became of one packet.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fate {
    number: u64,
    flow: FlowId,
    pure_ack: bool,
    dropped: Option<DropReason>,
    marked: bool,
}

/// A discipline under test, and what it must hold.
struct Bench {
    name: String,
    queue: Box<dyn QueueDiscipline<u64>>,
    held: BTreeMap<u64, PacketMeta>,
    /// Taken out, and not yet done.
    with_mac: Vec<PacketMeta>,
    fates: Vec<Fate>,
    dropped: Vec<(Packet<u64>, DropReason)>,
    now: Time,
}

impl Bench {
    fn new(kind: &QueueDisciplineKind, driver_packets: u32, seed: u64) -> Bench {
        let queue = kind.build_above(driver_packets, Stream::new(seed, "queue", 0));
        let name = format!("{} above {driver_packets}", kind.name());
        let (held, now) = (BTreeMap::new(), Time::ZERO);
        Bench { name, queue, held, with_mac: Vec::new(), fates: Vec::new(), dropped: Vec::new(), now }
    }

    fn enqueue(&mut self, packet: Packet<u64>) {
        let had_room = self.queue.has_room(packet.meta.bytes);
        let pure_ack = packet.meta.pure_ack;
        self.held.insert(packet.body, packet.meta);
        self.queue.enqueue(self.now, packet, &mut self.dropped);
        let is_full = self.dropped.iter().any(|(_, reason)| *reason == DropReason::QueueFull);
        assert!(pure_ack || !(had_room && is_full), "{}: it was full although it had room", self.name);
        self.settle();
    }

    fn dequeue(&mut self, wanted: Wanted) -> bool {
        let packet = self.queue.dequeue(self.now, wanted, &mut self.dropped);
        if let Some(packet) = &packet {
            assert!(wanted.includes(&packet.meta), "{}: {wanted:?} was asked for", self.name);
            self.with_mac.push(packet.meta);
            self.gone(packet, None);
        }
        self.settle();
        packet.is_some()
    }

    /// Each packet was sent by itself, and the station has answered.
    fn done(&mut self) {
        for meta in self.with_mac.drain(..) {
            for up in [false, true] {
                let (airtime, rate) = (Duration::from_micros(300), DataRate::from_bps(65_000_000));
                self.queue.on_airtime(self.now, &AirtimeUse { station: meta.station, up, airtime, rate });
            }
            self.queue.on_done(self.now, &meta);
        }
    }

    fn gone(&mut self, packet: &Packet<u64>, dropped: Option<DropReason>) {
        let offered = self.held.remove(&packet.body).expect("a packet leaves once");
        let PacketMeta { flow, pure_ack, ecn, .. } = packet.meta;
        let marked = ecn != offered.ecn;
        assert!(!marked || offered.ecn.is_capable() && ecn == Ecn::Ce, "{}: only who may be is marked", self.name);
        self.fates.push(Fate { number: packet.body, flow, pure_ack, dropped, marked });
    }

    /// Books the drops and checks the counts.
    fn settle(&mut self) {
        for (packet, reason) in std::mem::take(&mut self.dropped) {
            self.gone(&packet, Some(reason));
        }
        assert_eq!(self.queue.packets() as usize, self.held.len(), "{}: packets are conserved", self.name);
        let acks = self.held.values().filter(|meta| meta.pure_ack).count();
        assert_eq!(self.queue.tcp_acks() as usize, acks, "{}: it knows its ACKs", self.name);
    }
}

/// Random arrivals and departures, then all that is left; checks the counts at every step and returns every packet's
/// fate, in order.
fn exercise(kind: &QueueDisciplineKind, driver_packets: u32, seed: u64) -> Vec<Fate> {
    let mut random = Stream::named(seed, "conformance", kind.name());
    let mut bench = Bench::new(kind, driver_packets, seed);
    for step in 0..20_000 {
        bench.now += Duration::from_micros(u64::from(random.up_to(2_000)));
        // Arrivals outweigh departures at first, so that the queue fills, and then the other way round.
        if random.chance(if step < 12_000 { 0.6 } else { 0.3 }) {
            let packet = packet(step, bench.now, &mut random);
            bench.enqueue(packet);
        } else {
            bench.dequeue(wanted(&mut random));
        }
        if random.chance(0.5) {
            bench.done();
        }
    }
    bench.done();
    while bench.dequeue(Wanted::ANY) {
        bench.done();
    }
    assert!(bench.held.is_empty(), "{}: what waits is given to who asks", bench.name);
    let marked = bench.fates.iter().filter(|fate| fate.marked).count() as u64;
    assert_eq!(bench.queue.marks(), marked, "{}: it counts its marks", bench.name);
    bench.fates
}

/// Every kind, alone and above a driver.
fn each(mut test: impl FnMut(&QueueDisciplineKind, u32)) {
    for kind in QueueDisciplineKind::all() {
        for driver_packets in [0, 16] {
            test(&kind, driver_packets);
        }
    }
}

#[test]
fn packets_are_conserved_and_counted() {
    each(|kind, driver| {
        let fates = exercise(kind, driver, 1);
        assert!(fates.iter().any(|fate| fate.dropped.is_some()), "{}: the test fills it", kind.name());
    });
}

#[test]
fn packets_of_a_flow_leave_in_the_order_in_which_they_came() {
    each(|kind, driver| {
        let fates = exercise(kind, driver, 2);
        // Data and ACKs of one flow are two, where they have buffers of their own.
        let apart = matches!(kind, QueueDisciplineKind::SplitAck(_));
        for (flow, pure_ack) in (0..FLOWS).flat_map(|flow| [(flow, false), (flow, true)]) {
            let of_flow = |fate: &&Fate| fate.flow == FlowId(flow) && (!apart || fate.pure_ack == pure_ack);
            let sent = fates.iter().filter(of_flow).filter(|fate| fate.dropped.is_none());
            assert!(sent.map(|fate| fate.number).is_sorted(), "{} above {driver}", kind.name());
        }
    });
}

#[test]
fn the_same_packets_have_the_same_fate() {
    each(|kind, driver| assert_eq!(exercise(kind, driver, 3), exercise(kind, driver, 3), "{}", kind.name()));
}

#[test]
fn an_empty_queue_gives_nothing() {
    each(|kind, driver| {
        let mut bench = Bench::new(kind, driver, 1);
        assert!(!bench.dequeue(Wanted::ANY) && bench.fates.is_empty());
    });
}

#[test]
fn whoever_is_asked_for_is_found() {
    for kind in QueueDisciplineKind::all() {
        let mut random = Stream::named(4, "conformance", kind.name());
        let mut bench = Bench::new(&kind, 0, 4);
        for number in 0..5_000 {
            bench.now += Duration::from_micros(u64::from(random.up_to(500)));
            if random.chance(0.5) {
                let packet = packet(number, bench.now, &mut random);
                bench.enqueue(packet);
            }
            let wanted = wanted(&mut random);
            if random.chance(0.5) && !bench.dequeue(wanted) {
                assert!(!bench.held.values().any(|meta| wanted.includes(meta)), "{}: {wanted:?}", bench.name);
            }
            bench.done();
        }
    }
}

#[test]
fn whoever_has_the_turn_has_something_to_send() {
    each(|kind, driver| {
        let mut random = Stream::named(6, "conformance", kind.name());
        let mut bench = Bench::new(kind, driver, 6);
        for number in 0..5_000 {
            bench.now += Duration::from_micros(u64::from(random.up_to(500)));
            if random.chance(0.4) {
                let packet = packet(number, bench.now, &mut random);
                bench.enqueue(packet);
            }
            // The MAC is done with all but what it wants to send again.
            let retrying: Vec<NodeId> = bench.with_mac.iter().take(2).map(|meta| meta.station).collect();
            let turn = bench.queue.next_station(bench.now, &retrying);
            let has = |node: NodeId| retrying.contains(&node) || bench.held.values().any(|meta| meta.station == node);
            assert!(turn.is_none_or(has), "{} above {driver}: {turn:?}", kind.name());
            assert!(retrying.is_empty() || turn.is_some(), "{}: a MAC with packets stands still", kind.name());
            bench.dequeue(Wanted { station: turn, tid: None });
            if random.chance(0.5) {
                bench.done();
            }
        }
    });
}

#[test]
fn only_pure_acks_are_filtered() {
    each(|kind, driver| {
        let filtered = |fate: &&Fate| fate.dropped == Some(DropReason::AckFiltered);
        let fates = exercise(kind, driver, 5);
        assert!(fates.iter().filter(filtered).all(|fate| fate.pure_ack), "{}", kind.name());
    });
}
