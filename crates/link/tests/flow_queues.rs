//! Behaviour of the queues of single flows: `fq_codel`, `fq_pie` and `sfq`.

use crate::packets;

use lasthop_engine::Stream;
use lasthop_link::queue_discipline::{fq_codel, fq_pie, sfq};
use lasthop_link::{QueueDiscipline, QueueDisciplineKind, Wanted};
use lasthop_observe::{DropReason, NodeId};
use lasthop_registry::{Parameter, Switch, Value};
use lasthop_units::{Duration, Ecn, Packets, Time};
use packets::{capable, ms, packet, queue};

fn fq_codel(params: fq_codel::Params) -> Box<dyn QueueDiscipline<u64>> {
    queue(&QueueDisciplineKind::FqCodel(params))
}

/// Takes packets at once; returns their flows.
fn flows_out(queue: &mut dyn QueueDiscipline<u64>, now: Time, count: usize) -> Vec<u32> {
    let mut dropped = Vec::new();
    (0..count).map_while(|_| queue.dequeue(now, Wanted::ANY, &mut dropped)).map(|p| p.meta.flow.0).collect()
}

#[test]
fn a_sparse_flow_overtakes_eight_bulk_flows() {
    let sparse_kinds = [
        QueueDisciplineKind::FqCodel(fq_codel::Params::default()),
        QueueDisciplineKind::FqPie(fq_pie::Params::default()),
    ];
    for kind in sparse_kinds {
        let (mut queue, mut dropped) = (queue(&kind), Vec::new());
        for number in 0..400 {
            queue.enqueue(Time::ZERO, packet(1 + number as u32 % 8, 1500, number, Time::ZERO), &mut dropped);
        }
        // All eight have had a turn, so all are old.
        flows_out(&mut *queue, ms(0), 8);
        // One packet in more than a round's time: 12 packets leave, and 11 of these are of the eight.
        for t in 1..30 {
            queue.enqueue(ms(t), packet(9, 200, t, ms(t)), &mut dropped);
            let next = flows_out(&mut *queue, ms(t), 12);
            assert_eq!(next[0], 9, "{}", kind.name());
            assert!(next.len() == 12 && next[1..].iter().all(|flow| *flow < 9));
        }
    }
}

#[test]
fn a_flow_that_comes_back_as_soon_as_it_is_empty_starves_nobody() {
    // [RFC 8290 §4.2]: once emptied, it passes through the old flows before it is new again.
    let (mut queue, mut dropped) = (fq_codel(fq_codel::Params::default()), Vec::new());
    for number in 0..200 {
        queue.enqueue(ms(0), packet(1, 1500, number, ms(0)), &mut dropped);
    }
    let mut bulk = 0;
    for number in 0..100 {
        queue.enqueue(ms(0), packet(2, 200, number, ms(0)), &mut dropped);
        // Counts packets that leave before that of the short flow.
        while flows_out(&mut *queue, ms(0), 1) == [1] {
            bulk += 1;
        }
    }
    // Its quantum of 1514 B lasts for 1514/214 = 7.07: 8 packets, and in each round the other one sends at least one.
    assert!(bulk >= 100 / 8, "{bulk}");
}

#[test]
fn shares_are_equal_in_bytes_for_all_sizes() {
    for kind in QueueDisciplineKind::all() {
        if !["fq_codel", "fq_pie", "sfq"].contains(&kind.name()) {
            continue;
        }
        let (mut queue, mut dropped) = (queue(&kind), Vec::new());
        let sizes = [1500, 700, 86];
        // sfq holds 127 packets: one comes for each that leaves.
        for (flow, bytes) in sizes.iter().enumerate() {
            for number in 0..40 {
                queue.enqueue(ms(0), packet(flow as u32, *bytes, number, ms(0)), &mut dropped);
            }
        }
        let mut sent = [0u64; 3];
        for number in 0..20_000 {
            let flow = flows_out(&mut *queue, ms(0), 1)[0];
            let bytes = sizes[flow as usize];
            sent[flow as usize] += u64::from(bytes + 14);
            queue.enqueue(ms(0), packet(flow, bytes, number, ms(0)), &mut dropped);
            // A quantum and the packet that exceeded it.
            let (least, most) = (sent.iter().min().unwrap_or(&0), sent.iter().max().unwrap_or(&0));
            assert!(most - least <= 2 * 1514, "{}: {sent:?}", kind.name());
        }
        assert!(dropped.is_empty());
    }
}

#[test]
fn data_and_acks_of_a_connection_are_two_flows() {
    let (mut queue, mut dropped) = (fq_codel(fq_codel::Params::default()), Vec::new());
    for number in 0..20 {
        queue.enqueue(ms(0), packet(1, 1500, number, ms(0)), &mut dropped);
    }
    flows_out(&mut *queue, ms(0), 2);
    let mut ack = packet(1, 40, 100, ms(0));
    ack.meta.up = true;
    queue.enqueue(ms(0), ack, &mut dropped);
    assert_eq!(queue.dequeue(ms(0), Wanted::ANY, &mut dropped).map(|p| p.body), Some(100));
}

#[test]
fn a_full_queue_loses_half_of_its_fattest_flow_but_no_more_than_64() {
    for (fat, lost) in [(60, 30), (300, 64)] {
        let limit = Packets(fat + 10);
        let (mut queue, mut dropped) = (fq_codel(fq_codel::Params { limit, ..Default::default() }), Vec::new());
        for number in 0..fat {
            queue.enqueue(ms(0), packet(1, 1500, number, ms(0)), &mut dropped);
        }
        // Many small packets are a thin flow.
        for number in 0..10 {
            queue.enqueue(ms(0), packet(2, 100, number, ms(0)), &mut dropped);
        }
        assert!(dropped.is_empty() && !queue.has_room(100));
        queue.enqueue(ms(0), packet(2, 100, 10, ms(0)), &mut dropped);
        // From the head, oldest first.
        assert!(dropped.iter().all(|(p, why)| p.meta.flow.0 == 1 && *why == DropReason::QueueFull));
        assert_eq!(dropped.iter().map(|(p, _)| p.body).collect::<Vec<_>>(), (0..lost).collect::<Vec<_>>());
    }
}

#[test]
fn memory_is_limited_too() {
    // A packet of 1500 B takes 2304 B, an ACK 768 B: [Linux SKB_TRUESIZE].
    let limit = lasthop_units::Bytes(10 * 2304);
    for (bytes, fit) in [(1500, 10), (40, 30)] {
        let params = fq_codel::Params { memory_limit: limit, ..Default::default() };
        let (mut queue, mut dropped) = (fq_codel(params), Vec::new());
        for number in 0..fit {
            assert!(queue.has_room(bytes));
            queue.enqueue(ms(0), packet(1, bytes, number, ms(0)), &mut dropped);
        }
        assert!(dropped.is_empty() && !queue.has_room(bytes));
        queue.enqueue(ms(0), packet(1, bytes, fit, ms(0)), &mut dropped);
        assert!(!dropped.is_empty());
    }
}

#[test]
fn codel_rules_each_queue_by_itself() {
    // A bulk flow of 100 packets of 1500 B that refills, one packet a millisecond: its packets wait for some 100 ms and
    // are dropped, while a flow with one packet every 20 ms loses none.
    let (mut queue, mut dropped) = (fq_codel(fq_codel::Params::default()), Vec::new());
    for number in 0..100 {
        queue.enqueue(ms(0), packet(1, 1500, number, ms(0)), &mut dropped);
    }
    let mut sparse_out = 0;
    for t in 1..2000 {
        queue.enqueue(ms(t), packet(1, 1500, t, ms(t)), &mut dropped);
        if t % 20 == 0 {
            queue.enqueue(ms(t), packet(2, 200, t, ms(t)), &mut dropped);
        }
        let out = queue.dequeue(ms(t), Wanted::ANY, &mut dropped).expect("the bulk flow waits");
        sparse_out += u32::from(out.meta.flow.0 == 2);
    }
    assert_eq!(sparse_out, 1999 / 20);
    assert!(dropped.iter().all(|(p, why)| p.meta.flow.0 == 1 && *why == DropReason::Early));
    // Above 5 ms from 5 ms on, so the first drop is at 105 ms, the others 100/sqrt(1), 100/sqrt(2), ... ms apart: the
    // sum of 103 of them is 1888.6 ms, of 104 1898.4 ms, and 1999 - 105 = 1894.
    assert_eq!(dropped.len(), 104);
}

#[test]
fn capable_packets_are_marked_and_not_dropped() {
    let (mut queue, mut dropped) = (fq_codel(fq_codel::Params::default()), Vec::new());
    for number in 0..300 {
        queue.enqueue(ms(0), capable(packet(1, 1500, number, ms(0))), &mut dropped);
    }
    let mut marked = 0;
    for t in 1..300 {
        let out = queue.dequeue(ms(t), Wanted::ANY, &mut dropped);
        marked += u64::from(out.is_some_and(|p| p.meta.ecn == Ecn::Ce));
    }
    assert!(dropped.is_empty() && marked >= 2);
    assert_eq!(queue.marks(), marked);
}

#[test]
fn pie_holds_a_flow_that_does_not_yield_near_its_target() {
    // 1250 B at 10 Mbit/s take 1 ms. A flow of 1.1 packets a millisecond, which is one in eleven too many, and a sparse
    // one.
    let (mut queue, mut dropped) = (queue(&QueueDisciplineKind::FqPie(fq_pie::Params::default())), Vec::new());
    let (mut waited_ms, mut sparse_out, mut late_drops) = (Vec::new(), 0, 0);
    for t in 1..60_000 {
        for _ in 0..if t % 10 == 0 { 2 } else { 1 } {
            queue.enqueue(ms(t), packet(1, 1250, t, ms(t)), &mut dropped);
        }
        if t % 50 == 0 {
            queue.enqueue(ms(t), packet(2, 200, t, ms(t)), &mut dropped);
        }
        assert!(dropped.iter().all(|(p, why)| p.meta.flow.0 == 1 && *why == DropReason::Early));
        late_drops += if t > 30_000 { dropped.len() } else { 0 };
        dropped.clear();
        let out = queue.dequeue(ms(t), Wanted::ANY, &mut dropped).expect("more come than go");
        sparse_out += u32::from(out.meta.flow.0 == 2);
        if t > 30_000 && out.meta.flow.0 == 1 {
            waited_ms.push(ms(t).since(out.meta.enqueued_at).as_secs_f64() * 1e3);
        }
    }
    assert_eq!(sparse_out, 59_999 / 50);
    let mean_ms = waited_ms.iter().sum::<f64>() / waited_ms.len() as f64;
    assert!((10.0..20.0).contains(&mean_ms), "target 15 ms: {mean_ms}");
    // The excess is 1.1 + 0.02 - 1 = 0.12 packets a millisecond in 30 s, less the change of the queue.
    assert!((3500..3700).contains(&late_drops), "{late_drops}");
}

/// A queue of a twin: packets with their sizes as frames, its deficit in bytes, and the time of the last change of its
/// length.
struct PlainQueue {
    flow: u32,
    packets: Vec<(u64, i64)>,
    credit: i64,
    changed: u64,
}

/// Deficit round robin as in RFC 8290 §4.2, in plain lists.
#[derive(Default)]
struct PlainRoundRobin {
    queues: Vec<PlainQueue>,
    new: Vec<u32>,
    old: Vec<u32>,
}

impl PlainRoundRobin {
    fn enqueue(&mut self, flow: u32, body: u64, frame: i64) {
        if !self.queues.iter().any(|q| q.flow == flow) {
            self.queues.push(PlainQueue { flow, packets: Vec::new(), credit: 0, changed: 0 });
        }
        let is_listed = self.new.contains(&flow) || self.old.contains(&flow);
        let queue = self.queues.iter_mut().find(|q| q.flow == flow).expect("just made");
        queue.packets.push((body, frame));
        if !is_listed && queue.credit < -1514 {
            self.old.push(flow);
        } else if !is_listed {
            queue.credit = 1514;
            self.new.push(flow);
        }
    }

    /// The next packet of flow `only`, or of any flow, with one station for each flow. A flow chosen by `only` goes
    /// into debt.
    fn dequeue(&mut self, only: Option<u32>) -> Option<u64> {
        let may = |flow: u32| only.is_none_or(|one| one == flow);
        loop {
            let is_empty = |flow: u32| self.queues.iter().any(|q| q.flow == flow && q.packets.is_empty());
            let next = |list: &[u32]| list.iter().copied().find(|flow| may(*flow) || is_empty(*flow));
            let (flow, is_new) = match (next(&self.new), next(&self.old)) {
                (Some(flow), _) => (flow, true),
                (None, Some(flow)) => (flow, false),
                (None, None) => return None,
            };
            let queue = self.queues.iter_mut().find(|q| q.flow == flow).expect("a listed flow has a queue");
            if (queue.credit > 0 || only.is_some()) && !queue.packets.is_empty() {
                let (body, frame) = queue.packets.remove(0);
                queue.credit -= frame;
                if queue.credit <= 0 && only.is_some() {
                    self.new.retain(|f| *f != flow);
                    self.old.retain(|f| *f != flow);
                    self.old.push(flow);
                }
                return Some(body);
            }
            let has_used_its_turn = queue.credit <= 0 && only.is_none();
            if has_used_its_turn {
                queue.credit += 1514;
            }
            self.new.retain(|f| *f != flow);
            self.old.retain(|f| *f != flow);
            if has_used_its_turn || is_new && !self.old.is_empty() {
                self.old.push(flow);
            }
        }
    }
}

#[test]
fn fq_codel_serves_as_a_plain_round_robin_does() {
    for seed in 0..30 {
        let mut random = Stream::new(seed, "round robin", 0);
        let params = fq_codel::Params { flows: 65_536, ..Default::default() };
        let mut queue = QueueDisciplineKind::FqCodel(params).build::<u64>(Stream::new(seed, "queue", 0));
        let (mut plain, mut dropped) = (PlainRoundRobin::default(), Vec::new());
        for number in 0..3000 {
            // All packets come at one time, so that CoDel does nothing.
            if random.chance(if number % 600 < 300 { 0.6 } else { 0.35 }) {
                let (flow, bytes) = (random.up_to(7), 40 + random.up_to(1460));
                queue.enqueue(ms(0), packet(flow, bytes, number, ms(0)), &mut dropped);
                plain.enqueue(flow, number, i64::from(bytes) + 14);
            } else {
                let station = random.chance(0.3).then(|| random.up_to(7));
                let wanted = Wanted { station: station.map(NodeId), tid: None };
                let out = queue.dequeue(ms(0), wanted, &mut dropped).map(|p| p.body);
                assert_eq!(out, plain.dequeue(station), "seed {seed}, step {number}");
            }
        }
        assert!(dropped.is_empty());
    }
}

/// `sch_sfq` in plain lists: queues in the order of the round.
struct PlainSfq {
    limit: usize,
    depth: usize,
    flows: usize,
    head_drop: bool,
    round: Vec<PlainQueue>,
    clock: u64,
}

impl PlainSfq {
    /// Adds a packet; returns the packet that is dropped, if one is.
    fn enqueue(&mut self, flow: u32, body: u64, frame: i64) -> Option<u64> {
        self.clock += 1;
        let mut lost = None;
        let new = PlainQueue { flow, packets: vec![(body, frame)], credit: 1514, changed: self.clock };
        match self.round.iter().position(|q| q.flow == flow) {
            None if self.round.len() == self.flows => return Some(body),
            None => self.round.push(new),
            Some(at) if self.round[at].packets.len() == self.depth && !self.head_drop => return Some(body),
            Some(at) => {
                let queue = &mut self.round[at];
                if queue.packets.len() == self.depth {
                    lost = Some(queue.packets.remove(0).0);
                }
                queue.packets.push((body, frame));
                queue.changed = self.clock;
            }
        }
        if self.round.iter().map(|q| q.packets.len()).sum::<usize>() <= self.limit {
            return lost;
        }
        self.clock += 1;
        let longest = self.round.iter().map(|q| q.packets.len()).max().unwrap_or(0);
        let candidates = (0..self.round.len()).filter(|at| self.round[*at].packets.len() == longest);
        let at = if longest == 1 { 0 } else { candidates.max_by_key(|at| self.round[*at].changed).unwrap_or(0) };
        let queue = &mut self.round[at];
        queue.changed = self.clock;
        let lost = queue.packets.remove(if self.head_drop { 0 } else { longest - 1 });
        self.round.retain(|q| !q.packets.is_empty());
        Some(lost.0)
    }

    fn dequeue(&mut self) -> Option<u64> {
        self.clock += 1;
        while self.round.first()?.credit <= 0 {
            self.round[0].credit += 1514;
            self.round.rotate_left(1);
        }
        let queue = &mut self.round[0];
        let (body, frame) = queue.packets.remove(0);
        (queue.credit, queue.changed) = (queue.credit - frame, self.clock);
        self.round.retain(|q| !q.packets.is_empty());
        Some(body)
    }
}

#[test]
fn sfq_drops_and_serves_as_a_plain_one_does() {
    for seed in 0..40 {
        let mut random = Stream::new(seed, "sfq", 0);
        let (limit, depth, flows, head_drop) = (20, 6, 5, seed % 2 == 1);
        let params =
            sfq::Params { limit: Packets(limit), depth, flows, head_drop, divisor: 65_536, ..Default::default() };
        let mut queue = QueueDisciplineKind::Sfq(params).build::<u64>(Stream::new(seed, "queue", 0));
        let (limit, depth, flows) = (limit as usize, depth as usize, flows as usize);
        let mut plain = PlainSfq { limit, depth, flows, head_drop, round: Vec::new(), clock: 0 };
        let mut losses = 0;
        for number in 0..4000 {
            if random.chance(if number % 400 < 250 { 0.62 } else { 0.3 }) {
                let (flow, bytes) = (random.up_to(6), 40 + random.up_to(1460));
                let mut dropped = Vec::new();
                queue.enqueue(ms(0), packet(flow, bytes, number, ms(0)), &mut dropped);
                let lost: Vec<u64> = dropped.iter().map(|(p, _)| p.body).collect();
                let expected: Vec<u64> = plain.enqueue(flow, number, i64::from(bytes) + 14).into_iter().collect();
                assert_eq!(lost, expected, "seed {seed}, step {number}");
                losses += lost.len();
            } else {
                let out = queue.dequeue(ms(0), Wanted::ANY, &mut Vec::new()).map(|p| p.body);
                assert_eq!(out, plain.dequeue(), "seed {seed}, step {number}");
            }
        }
        assert!(losses > 100, "the test fills it: {losses}");
    }
}

#[test]
fn sfq_holds_127_packets_as_linux_does() {
    let (mut queue, mut dropped) = (queue(&QueueDisciplineKind::Sfq(sfq::Params::default())), Vec::new());
    for number in 0..200 {
        queue.enqueue(ms(0), packet(1, 1500, number, ms(0)), &mut dropped);
    }
    // One flow: at its full depth, the arriving packet is dropped.
    assert_eq!(dropped.iter().map(|(p, _)| p.body).collect::<Vec<_>>(), (127..200).collect::<Vec<_>>());
    dropped.clear();
    // Another flow: the long one makes room, at its tail.
    for number in 0..10 {
        queue.enqueue(ms(0), packet(2, 100, number, ms(0)), &mut dropped);
    }
    assert_eq!(dropped.iter().map(|(p, _)| p.body).collect::<Vec<_>>(), (117..127).rev().collect::<Vec<_>>());
}

#[test]
fn perturbation_parts_flows_that_share_a_queue() {
    // Two hash values for two flows: with each new key they share a queue with probability one half.
    let shared = |perturb: Switch<Duration>, t: u64, seed: u64| {
        let params = sfq::Params { divisor: 2, flows: 2, perturb, ..Default::default() };
        let mut queue = QueueDisciplineKind::Sfq(params).build::<u64>(Stream::new(seed, "queue", 0));
        let mut dropped = Vec::new();
        for number in 0..40 {
            queue.enqueue(ms(0), packet(1 + number as u32 / 20, 1500, number, ms(0)), &mut dropped);
        }
        // In one queue the packets of the first flow leave before those of the second.
        flows_out(&mut *queue, ms(t), 20) == [1; 20]
    };
    let period = Switch::On(Duration::from_secs(10));
    let changed = (0..200).filter(|seed| shared(period, 9_999, *seed) != shared(period, 10_000, *seed)).count();
    // Binomial with mean 100 and deviation 7: four deviations.
    assert!((72..=128).contains(&changed), "{changed}");
    assert!((0..200).all(|seed| shared(Switch::Off, 0, seed) == shared(Switch::Off, 10_000_000, seed)));
}

#[test]
fn impossible_parameters_are_errors_with_their_path() {
    let integer = |n: i64| Value::Integer(n);
    let cases = [
        ("sfq", "depth", integer(128), "queue.depth: a queue holds 1 to 127 packets"),
        ("sfq", "divisor", integer(1000), "queue.divisor: a power of two up to 65536"),
        (
            "sfq",
            "limit",
            Value::text("20000 packets"),
            "queue.limit: from 2 to 16256 packets, which is depth times flows",
        ),
        ("sfq", "perturb", Value::text("0 s"), "queue.perturb: a time above 0 s, or \"off\""),
        ("fq_codel", "flows", integer(0), "queue.flows: from 1 to 65536 queues"),
        ("fq_codel", "quantum", Value::text("0 B"), "queue.quantum: from 1 B to 1 MiB; a full-size frame has 1514 B"),
        ("fq_codel", "drop_batch", integer(0), "queue.drop_batch: a full queue must lose a packet; at least 1"),
        (
            "fq_pie",
            "memory_limit",
            Value::text("2000 B"),
            "queue.memory_limit: too little for a packet of 1500 B, which takes 2304 B",
        ),
        (
            "airtime_fq_codel",
            "limit",
            Value::text("0 packets"),
            "queue.limit: a queue without room drops everything; at least 1 packet",
        ),
        (
            "airtime_fq_codel",
            "aql_low",
            Value::text("13 ms"),
            "queue.aql_low: above 0 s and not above aql_high; aql = false has no limit",
        ),
    ];
    for (kind, key, value, told) in cases {
        let table = Value::Table(vec![("kind".into(), Value::text(kind)), (key.into(), value)]);
        let error = QueueDisciplineKind::parse(&table, "queue").expect_err(told);
        assert_eq!(error.to_string(), told);
    }
}
