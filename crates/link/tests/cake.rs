//! `cake` against a twin in plain lists, and the behaviour that its manual page promises.

use lasthop_engine::Stream;
use lasthop_link::{Packet, PacketMeta, QueueDiscipline, QueueDisciplineKind, Wanted};
use lasthop_observe::{DropReason, FlowId, NodeId};
use lasthop_registry::{Parameter, Value};
use lasthop_units::{Duration, Ecn, Time};

/// The discipline by its entries in a scenario file.
fn cake(entries: &[(&str, &str)], seed: u64) -> Box<dyn QueueDiscipline<u64>> {
    let kind = [("kind", "cake")];
    let table = kind.iter().chain(entries).map(|(name, value)| (name.to_string(), Value::text(*value))).collect();
    let kind = QueueDisciplineKind::parse(&Value::Table(table), "queue").unwrap_or_else(|e| panic!("{e}"));
    kind.build(Stream::new(seed, "queue", 0))
}

fn ns(ns: u64) -> Time {
    Time::from_nanos(ns)
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

/// A packet of the twin.
#[derive(Clone, Debug)]
struct Pkt {
    number: u64,
    frame: u64,
    ecn: Ecn,
    came: u64,
}

/// A queue of a flow, with COBALT: `count`, the time of the next signal, and whether the queue is above its target.
struct Flow {
    flow: u32,
    hosts: [u32; 2],
    pkts: Vec<Pkt>,
    deficit: i64,
    count: u32,
    drop_next: u64,
    dropping: bool,
    used: bool,
}

/// A tin: flows in the order of their turns, new ones first.
struct Tin {
    parts: u64,
    quantum: i64,
    target: u64,
    interval: u64,
    next: u64,
    flows: Vec<Flow>,
    new: Vec<usize>,
    old: Vec<usize>,
    bulk: Vec<usize>,
    rounds: Stream,
}

/// Time in ns that a frame takes at a part of the rate.
fn takes(rate: u64, bytes: u64) -> u64 {
    (bytes * 8 * 1_000_000_000).div_ceil(rate)
}

fn control(from: u64, interval: u64, count: u32) -> u64 {
    from + (interval as f64 / f64::from(count).sqrt()) as u64
}

impl Flow {
    fn forget(&mut self, interval: u64) {
        (self.used, self.count) = (true, self.count - 1);
        self.drop_next = control(self.drop_next, interval, self.count.max(1));
    }
}

impl Tin {
    fn new(rate: u64, parts: u64, rounds: Stream) -> Tin {
        let rtt = 100_000_000;
        let target = (rtt / 20).max(takes(rate / parts, 1514) * 3 / 2);
        let interval = (rtt + target - rtt / 20).max(2 * target);
        let quantum = (rate / parts / 8 / 4096).clamp(300, 1514) as i64;
        let (flows, new, old, bulk) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Tin { parts, quantum, target, interval, next: 0, flows, new, old, bulk, rounds }
    }

    fn is_empty(&self) -> bool {
        self.flows.iter().all(|flow| flow.pkts.is_empty())
    }

    /// Whether no flow has a turn, with packets or without.
    fn has_no_turns(&self) -> bool {
        self.new.is_empty() && self.old.is_empty()
    }

    /// The quantum of a flow in 1/65536 B: the tin's, times 1/65535 of the whole parts that a host with so many bulk flows has; of
    /// its two hosts the one that has more of them.
    fn share(&self, flow: usize, side: Option<usize>) -> i64 {
        let of = |side: usize| {
            let host = self.flows[flow].hosts[side];
            self.bulk.iter().filter(|other| self.flows[**other].hosts[side] == host).count() as i64
        };
        let load = side.map_or_else(|| of(0).max(of(1)), of).max(1);
        self.quantum * (65_535 / load)
    }

    /// The same in bytes, rounded at random.
    fn turn(&mut self, flow: usize, side: Option<usize>) -> i64 {
        (self.share(flow, side) + i64::from(self.rounds.up_to(65_535))) / 65_536
    }

    /// Lets the signals of a flow whose queue was empty pass by as they do below the target.
    fn refill(&mut self, flow: usize, now: u64) {
        let f = &mut self.flows[flow];
        while f.count > 0 && now >= f.drop_next {
            f.forget(self.interval);
        }
    }

    fn leaves_bulk(&mut self, flow: usize) {
        self.bulk.retain(|other| *other != flow);
    }

    fn joins_bulk(&mut self, flow: usize) {
        if !self.bulk.contains(&flow) {
            self.bulk.push(flow);
        }
    }

    /// Whether COBALT signals to a packet of this flow that leaves now.
    fn signals(&mut self, flow: usize, now: u64, came: u64, four: u64) -> bool {
        let (target, interval) = (self.target, self.interval);
        let f = &mut self.flows[flow];
        let due = f.count > 0 && now >= f.drop_next;
        let sojourn = now - came;
        if sojourn > target && sojourn > four {
            if !f.dropping {
                f.drop_next = if f.used { control(now, interval, f.count.max(1)) } else { now };
            }
            (f.dropping, f.count) = (true, f.count.max(1));
        } else {
            f.dropping = false;
        }
        if due && f.dropping {
            (f.used, f.count) = (true, f.count + 1);
            f.drop_next = control(f.drop_next, interval, f.count);
            return true;
        }
        while due && f.count > 0 && now >= f.drop_next {
            f.forget(interval);
        }
        false
    }
}

/// A CAKE of the manual page, in plain lists. Without overflow, so without BLUE.
struct Twin {
    rate: u64,
    next: u64,
    /// best effort, bulk, video, voice
    tins: Vec<Tin>,
    /// which host divides the quantum; `None`: the busier one
    side: Option<usize>,
    dropped: Vec<u64>,
}

impl Twin {
    fn enqueue(&mut self, now: u64, tin: usize, flow: u32, hosts: [u32; 2], pkt: Pkt) {
        if self.tins.iter().all(Tin::is_empty) {
            self.next = self.next.max(now);
        }
        let (side, tin) = (self.side, &mut self.tins[tin]);
        if tin.is_empty() {
            tin.next = tin.next.max(now);
        }
        let place = tin.flows.iter().position(|of| of.flow == flow).unwrap_or_else(|| {
            let (pkts, deficit, count, drop_next) = (Vec::new(), 0, 0, 0);
            tin.flows.push(Flow { flow, hosts, pkts, deficit, count, drop_next, dropping: false, used: false });
            tin.flows.len() - 1
        });
        if tin.flows[place].pkts.is_empty() {
            tin.refill(place, now);
        }
        if tin.old.contains(&place) {
            tin.joins_bulk(place);
        } else if !tin.new.contains(&place) {
            tin.flows[place].deficit = tin.share(place, side) / 65_536;
            tin.new.push(place);
        }
        tin.flows[place].pkts.push(pkt);
    }

    fn dequeue(&mut self, now: u64) -> Option<Pkt> {
        if self.next > now {
            return None;
        }
        while !self.tins.iter().all(Tin::is_empty) {
            let with: Vec<usize> = (0..self.tins.len()).filter(|tin| !self.tins[*tin].has_no_turns()).collect();
            let within = with.iter().rev().find(|tin| self.tins[**tin].next <= now);
            let tin = *within.or_else(|| with.iter().min_by_key(|tin| self.tins[**tin].next))?;
            if let Some(pkt) = self.serve(tin, now) {
                let tin = &mut self.tins[tin];
                tin.next = tin.next.min(now) + takes(self.rate / tin.parts, pkt.frame);
                self.next += takes(self.rate, pkt.frame);
                return Some(pkt);
            }
        }
        None
    }

    fn serve(&mut self, tin: usize, now: u64) -> Option<Pkt> {
        let side = self.side;
        let tin = &mut self.tins[tin];
        let four = 4 * takes(self.rate / tin.parts, 1514);
        while let Some(flow) = tin.new.first().or(tin.old.first()).copied() {
            let was_new = !tin.new.is_empty();
            let leave = |tin: &mut Tin| if was_new { tin.new.remove(0) } else { tin.old.remove(0) };
            if tin.flows[flow].deficit <= 0 {
                leave(tin);
                tin.old.push(flow);
                if !tin.flows[flow].pkts.is_empty() {
                    tin.joins_bulk(flow);
                }
                tin.flows[flow].deficit += tin.turn(flow, side);
                continue;
            }
            while !tin.flows[flow].pkts.is_empty() {
                let mut pkt = tin.flows[flow].pkts.remove(0);
                let signals = tin.signals(flow, now, pkt.came, four);
                let f = &mut tin.flows[flow];
                let drops = signals && !pkt.ecn.is_capable();
                if f.count == 0 {
                    f.drop_next = now + tin.interval;
                } else if f.drop_next < now && !drops {
                    f.drop_next = now;
                }
                if drops && !f.pkts.is_empty() {
                    self.dropped.push(pkt.number);
                    continue;
                }
                if signals && pkt.ecn.is_capable() {
                    pkt.ecn = Ecn::Ce;
                }
                f.deficit -= pkt.frame as i64;
                return Some(pkt);
            }
            let f = &mut tin.flows[flow];
            f.dropping = false;
            if f.count > 0 && now >= f.drop_next {
                f.forget(tin.interval);
            }
            leave(tin);
            tin.leaves_bulk(flow);
        }
        None
    }
}

/// Flows with their stations, directions and code points.
const FLOWS: [(u32, u32, bool, u8, usize); 8] = [
    (0, 1, false, 0, 0),
    (1, 1, false, 0, 0),
    (2, 2, false, 0, 0),
    (3, 2, true, 0, 0),
    (4, 3, false, 8, 1),
    (5, 3, true, 34, 2),
    (6, 1, false, 46, 3),
    (7, 4, false, 0, 0),
];

#[test]
fn it_does_as_a_twin_in_plain_lists() {
    let (mut signals, mut sent) = (0, 0);
    for seed in 0..200 {
        let mut random = Stream::new(seed, "cake", 0);
        let rate = [2_000_000, 8_000_000, 20_000_000][seed as usize % 3];
        let (isolation, side) =
            [("dual_srchost", Some(0)), ("dual_dsthost", Some(1)), ("triple_isolate", None)][seed as usize / 3 % 3];
        let bandwidth = format!("{rate} bit/s");
        let entries = [("bandwidth", bandwidth.as_str()), ("diffserv", "diffserv4"), ("isolation", isolation)];
        let mut queue = cake(&entries, seed);
        // Each tin has a key of the queue's stream, and from it a stream to round quanta.
        let mut keys = Stream::new(seed, "queue", 0);
        let tins = [1, 16, 2, 4].map(|parts| Tin::new(rate, parts, Stream::new(keys.bits(), "quanta", 0)));
        let mut twin = Twin { rate, next: 0, tins: tins.into(), side, dropped: Vec::new() };
        let (mut now, mut dropped, mut load) = (0, Vec::new(), 1.0);
        for number in 0..2_000 {
            // The mean frame is 800 B long.
            now += random.bits() % (2 * takes(rate, 800));
            if random.chance(0.01) {
                load = [0.5, 0.9, 1.1, 1.5][random.up_to(3) as usize];
            }
            if random.chance(load / 2.0) {
                let (flow, station, up, dscp, tin) = FLOWS[random.up_to(7) as usize];
                let (bytes, ecn) = (40 + random.up_to(1460), [Ecn::NotEct, Ecn::Ect0][random.up_to(1) as usize]);
                let plain = PacketMeta::plain(FlowId(flow), NodeId(station), up, bytes);
                let meta = PacketMeta { ecn, dscp, enqueued_at: ns(now), ..plain };
                queue.enqueue(ns(now), Packet::new(meta, number), &mut dropped);
                let hosts = if up { [station + 1, 0] } else { [0, station + 1] };
                twin.enqueue(now, tin, flow, hosts, Pkt { number, frame: u64::from(bytes) + 14, ecn, came: now });
            } else {
                let ours = queue.dequeue(ns(now), Wanted::ANY, &mut dropped).map(|p| (p.body, p.meta.ecn));
                let its = twin.dequeue(now).map(|pkt| (pkt.number, pkt.ecn));
                assert_eq!(ours, its, "seed {seed}, step {number}");
                sent += u64::from(its.is_some());
            }
            let ours: Vec<u64> = dropped.iter().map(|(packet, _)| packet.body).collect();
            assert_eq!(ours, twin.dropped, "seed {seed}, step {number}");
        }
        signals += queue.marks() + dropped.len() as u64;
    }
    assert!(sent > 100_000 && signals > 5_000, "{sent} sent, {signals} signals");
}

/// Bytes of frames of each flow that leave in a second of a queue whose flows always have packets: 20 of 1500 B wait of each.
fn shares(entries: &[(&str, &str)], flows: &[PacketMeta]) -> Vec<u64> {
    let (mut queue, mut dropped, mut sent) = (cake(entries, 1), Vec::new(), vec![0; flows.len()]);
    let mut put = |queue: &mut Box<dyn QueueDiscipline<u64>>, flow: usize, now: Time| {
        let meta = PacketMeta { enqueued_at: now, ecn: Ecn::Ect0, ..flows[flow] };
        queue.enqueue(now, Packet::new(meta, flow as u64), &mut dropped);
    };
    (0..20 * flows.len()).for_each(|number| put(&mut queue, number % flows.len(), Time::ZERO));
    let mut now = Time::ZERO;
    loop {
        now = queue.ready_at().map_or(now, |at| at.max(now));
        if now > ms(1_000) {
            return sent;
        }
        let packet = queue.dequeue(now, Wanted::ANY, &mut Vec::new()).expect("packets wait, and the shaper is open");
        sent[packet.body as usize] += u64::from(packet.meta.bytes) + 14;
        put(&mut queue, packet.body as usize, now);
    }
}

fn down(flow: u32, station: u32, dscp: u8) -> PacketMeta {
    PacketMeta { dscp, ..PacketMeta::plain(FlowId(flow), NodeId(station), false, 1500) }
}

#[test]
fn the_shaper_lets_its_rate_pass() {
    // 20 Mbit/s are 2,500,000 B in a second, of frames; with ATM cells of 53 B, 33 cells for 1540 B carry 1514 of 1749.
    let flow = [down(0, 1, 0)];
    let rate = ("bandwidth", "20 Mbit/s");
    assert!(shares(&[rate], &flow)[0].abs_diff(2_500_000) <= 1_514);
    let atm = shares(&[rate, ("overhead", "40 B"), ("framing", "atm")], &flow)[0];
    assert!(atm.abs_diff(2_500_000 * 1_514 / (33 * 53)) <= 1_514, "{atm}");
}

#[test]
fn a_host_gets_no_more_by_many_flows() {
    let flows: Vec<PacketMeta> = (0..6).map(|flow| down(flow, if flow == 0 { 1 } else { 2 }, 0)).collect();
    let one_of = |isolation| {
        let sent = shares(&[("bandwidth", "20 Mbit/s"), ("isolation", isolation)], &flows);
        sent[0] as f64 / sent.iter().sum::<u64>() as f64
    };
    assert!((one_of("dual_dsthost") - 0.5).abs() < 0.01, "{}", one_of("dual_dsthost"));
    assert!((one_of("flows") - 1.0 / 6.0).abs() < 0.01);
    // One server sends all: its six flows divide each quantum.
    assert!((one_of("triple_isolate") - 1.0 / 6.0).abs() < 0.01);
    // Uploads: one source is the station, the destination the server.
    let up: Vec<PacketMeta> = flows.iter().map(|meta| PacketMeta { up: true, ..*meta }).collect();
    let sent = shares(&[("bandwidth", "20 Mbit/s"), ("isolation", "dual_srchost")], &up);
    assert!((sent[0] as f64 / sent.iter().sum::<u64>() as f64 - 0.5).abs() < 0.01);
}

#[test]
fn tins_have_their_thresholds_and_best_effort_the_rest() {
    // Thresholds: bulk 6.25 %, video 50 %, voice 25 %; best effort has the rest.
    let flows = [(0, 8), (1, 0), (2, 34), (3, 46)].map(|(flow, dscp)| down(flow, 1, dscp));
    let rate = ("bandwidth", "20 Mbit/s");
    let parts = |diffserv, flows: &[PacketMeta]| -> Vec<f64> {
        let sent = shares(&[rate, ("diffserv", diffserv)], flows);
        sent.iter().map(|bytes| (1_000 * bytes / sent.iter().sum::<u64>()) as f64 / 10.0).collect()
    };
    let near = |found: &[f64], expected: &[f64]| {
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.5), "{found:?}, expected {expected:?}");
    };
    near(&parts("diffserv4", &flows), &[6.25, 18.75, 50.0, 25.0]);
    near(&parts("diffserv3", &flows), &[6.25, 34.375, 34.375, 25.0]);
    near(&parts("besteffort", &flows), &[25.0; 4]);
    // A tin alone is not limited by its threshold.
    near(&parts("diffserv4", &flows[..1]), &[100.0]);
    // Nor are voice and bulk together, whose clocks are 4 and 16 packets ahead after one: voice sends 12 until bulk's is nearer.
    near(&parts("diffserv4", &[flows[0], flows[3]]), &[100.0 / 13.0, 1_200.0 / 13.0]);
}

#[test]
fn without_a_shaper_packets_leave_at_once_and_tins_share_by_their_weights() {
    let mut queue = cake(&[("diffserv", "diffserv4")], 1);
    let mut dropped = Vec::new();
    assert!(queue.ready_at().is_none() && !queue.is_shaped());
    for number in 0..4_000 {
        let dscp = [8, 0, 34, 46][number as usize % 4];
        let meta = PacketMeta { enqueued_at: Time::ZERO, ..down(number as u32 % 4, 1, dscp) };
        queue.enqueue(Time::ZERO, Packet::new(meta, number % 4), &mut dropped);
    }
    let mut sent = [0; 4];
    for _ in 0..1_160 {
        let packet = queue.dequeue(Time::ZERO, Wanted::ANY, &mut dropped).expect("1000 wait of each");
        sent[packet.body as usize] += 1;
    }
    // 1/16, 1, 1/2, 1/4 of 29/16: 40, 640, 320, 160.
    assert!(sent.iter().zip([40_i32, 640, 320, 160]).all(|(of, expected)| (of - expected).abs() <= 3), "{sent:?}");
}

#[test]
fn a_full_queue_loses_the_oldest_packets_of_its_fattest_flow() {
    let (mut queue, mut dropped) = (cake(&[("memory_limit", "46080 B"), ("isolation", "flows")], 1), Vec::new());
    // 20 packets of 2304 B.
    for number in 0..25 {
        let flow = u32::from(number == 3);
        queue.enqueue(Time::ZERO, Packet::new(down(flow, 1, 0), number), &mut dropped);
    }
    let lost: Vec<_> = dropped.iter().map(|(packet, reason)| (packet.body, *reason)).collect();
    assert_eq!(lost, [0, 1, 2, 4, 5].map(|number| (number, DropReason::QueueFull)));
}

#[test]
fn a_mac_finds_the_packets_of_a_station_once_the_shaper_is_open() {
    let (mut queue, mut dropped) = (cake(&[("bandwidth", "8 Mbit/s")], 1), Vec::new());
    for number in 0..4 {
        let station = 1 + number as u32 % 2;
        queue.enqueue(Time::ZERO, Packet::new(down(number as u32 % 2, station, 0), number), &mut dropped);
    }
    let wanted = Wanted { station: Some(NodeId(2)), tid: Some(0) };
    let mut out = |at| queue.dequeue(ns(at), wanted, &mut dropped).map(|packet| packet.body);
    // 1514 B take 1.514 ms.
    assert_eq!([out(0), out(0), out(1_513_999), out(1_514_000), out(9_000_000)], [Some(1), None, None, Some(3), None]);
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let refusal = |entries: &[(&str, &str)]| {
        let all = [("kind", "cake")].iter().chain(entries).map(|(key, value)| (key.to_string(), Value::text(*value)));
        QueueDisciplineKind::parse(&Value::Table(all.collect()), "queue").unwrap_err().to_string()
    };
    assert!(refusal(&[("bandwidth", "1 kbit/s")]).contains("queue.bandwidth"));
    assert!(refusal(&[("overhead", "40 B")]).contains("no effect without a shaper"));
    assert!(refusal(&[("bandwidth", "1 Mbit/s"), ("overhead", "300 B")]).contains("at most 256 B"));
    assert!(refusal(&[("rtt", "1 us")]).contains("from 20 us"));
    assert!(refusal(&[("memory_limit", "1000 B")]).contains("too little"));
}
