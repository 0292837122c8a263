//! `dualpi2` against a twin written from the pseudo-code of RFC 9332 appendix A, and on a bottleneck.

use std::collections::VecDeque;

use lasthop_engine::Stream;
use lasthop_link::{Packet, PacketMeta, QueueDiscipline, QueueDisciplineKind, Wanted};
use lasthop_observe::{DropReason, FlowId, NodeId};
use lasthop_registry::{Parameter, Value};
use lasthop_units::{Duration, Ecn, Time};

/// The discipline by its entries in a scenario file.
fn dualpi2(entries: &[(&str, Value)]) -> Box<dyn QueueDiscipline<u64>> {
    let kind = [("kind", Value::text("dualpi2"))];
    let table = kind.iter().chain(entries).map(|(name, value)| (name.to_string(), value.clone())).collect();
    let kind = QueueDisciplineKind::parse(&Value::Table(table), "queue").unwrap_or_else(|e| panic!("{e}"));
    kind.build(Stream::new(1, "queue", 0))
}

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_micros(us)
}

/// A packet of the twin: number, bytes, ECN bits, and its timestamp in seconds.
#[derive(Clone, Debug)]
struct Pkt {
    number: u64,
    byt: u64,
    ecn: u8,
    timestamp: f64,
}

/// `lq` or `cq`.
#[derive(Default)]
struct Queue {
    pkts: VecDeque<Pkt>,
    count: f64,
}

impl Queue {
    fn byt(&self) -> u64 {
        self.pkts.iter().map(|pkt| pkt.byt).sum()
    }
    fn time(&self, now: f64) -> f64 {
        self.pkts.front().map_or(0.0, |pkt| now - pkt.timestamp)
    }
    fn recur(&mut self, likelihood: f64) -> bool {
        self.count += likelihood;
        if self.count > 1.0 {
            self.count -= 1.0;
            return true;
        }
        false
    }
}

/// The variables of the pseudo-code, in seconds, with a timer. [RFC 9332 §A.1, §A.2]
#[derive(Default)]
struct Twin {
    lq: Queue,
    cq: Queue,
    k: f64,
    limit: u64,
    p: f64,
    prevq: f64,
    /// Number of the next run of the timer.
    ticks: u64,
    /// Bytes by which the L4S queue is ahead of its 15/16 of the contended service.
    ahead: f64,
    dropped: Vec<u64>,
}

const TARGET: f64 = 0.015;
const TUPDATE_US: u64 = 15_000;
const MIN_TH: f64 = 0.000_8;
const RANGE: f64 = 0.000_4;

impl Twin {
    /// `dualpi2_update()`: Figure 8, at the times up to `now`.
    fn timer(&mut self, now_us: u64) {
        while (self.ticks + 1) * TUPDATE_US <= now_us {
            self.ticks += 1;
            let at = (self.ticks * TUPDATE_US) as f64 / 1e6;
            let curq = self.cq.time(at).max(self.lq.time(at));
            self.p += 0.15 * (curq - TARGET) + 3.0 * (curq - self.prevq);
            self.p = self.p.clamp(0.0, 1.0);
            self.prevq = curq;
        }
        if self.lq.pkts.is_empty() && self.cq.pkts.is_empty() {
            self.ahead = 0.0;
        }
    }

    /// `dualpi2_enqueue()`: Figure 3.
    fn enqueue(&mut self, pkt: Pkt) {
        if self.lq.byt() + self.cq.byt() + 1500 > self.limit {
            return self.dropped.push(pkt.number);
        }
        if pkt.ecn % 2 == 1 { self.lq.pkts.push_back(pkt) } else { self.cq.pkts.push_back(pkt) }
    }

    /// The weighted round robin: a sixteenth for the classic queue, counted only while both have packets.
    fn scheduler_is_lq(&mut self) -> bool {
        let (Some(l), Some(c)) = (self.lq.pkts.front(), self.cq.pkts.front()) else {
            return self.cq.pkts.is_empty();
        };
        let lq = self.ahead <= 0.0;
        self.ahead += if lq { l.byt as f64 / 16.0 } else { -15.0 / 16.0 * c.byt as f64 };
        lq
    }

    /// `laqm()`: Figure 5.
    fn laqm(qdelay: f64) -> f64 {
        if qdelay >= MIN_TH + RANGE {
            1.0
        } else if qdelay > MIN_TH {
            (qdelay - MIN_TH) / RANGE
        } else {
            0.0
        }
    }

    /// `dualpi2_dequeue()`: Figure 7. The queue is as long as with the packet that leaves.
    fn dequeue(&mut self, now: f64) -> Option<Pkt> {
        let (p_cl, p_c) = (self.k * self.p, self.p * self.p);
        let p_cmax = 1.0 / (self.k * self.k);
        while self.lq.byt() + self.cq.byt() > 0 {
            let (mut pkt, mark);
            if self.scheduler_is_lq() {
                let (len, time) = (self.lq.pkts.len(), self.lq.time(now));
                pkt = self.lq.pkts.pop_front()?;
                if p_cl < 1.0 {
                    let native = if len > 1 { Self::laqm(time) } else { 0.0 };
                    mark = self.lq.recur(native.max(p_cl));
                } else {
                    if self.lq.recur(p_c) {
                        self.dropped.push(pkt.number);
                        continue;
                    }
                    mark = self.lq.recur(p_cl);
                }
            } else {
                pkt = self.cq.pkts.pop_front()?;
                mark = self.cq.recur(p_c);
                if mark && (pkt.ecn == 0 || p_c >= p_cmax) {
                    self.dropped.push(pkt.number);
                    continue;
                }
            }
            pkt.ecn = if mark { 3 } else { pkt.ecn };
            return Some(pkt);
        }
        None
    }
}

#[test]
fn it_does_as_the_pseudo_code_of_the_rfc() {
    let (mut marks, mut drops, mut overloads) = (0, 0, 0);
    for seed in 0..500 {
        let mut random = Stream::new(seed, "dualpi2", 0);
        let k = [1.0, 2.0, 2.5, 4.0][seed as usize % 4];
        let limit = [50_000, 400_000][seed as usize / 4 % 2];
        let entries = [
            ("preset", Value::text("rfc9332")),
            ("coupling", Value::Float(k)),
            ("limit", Value::text(format!("{limit} B"))),
        ];
        let mut queue = dualpi2(&entries);
        let mut twin = Twin { k, limit, ..Twin::default() };
        let (mut now_us, mut dropped, mut load) = (0, Vec::new(), 0.5);
        for number in 0..3_000 {
            now_us += u64::from(random.up_to(1_000));
            if random.chance(0.002) {
                now_us += 300_000;
            }
            if random.chance(0.01) {
                load = [0.4, 0.5, 0.55, 0.7][random.up_to(3) as usize];
            }
            twin.timer(now_us);
            if random.chance(load) {
                let (bits, bytes) = (random.up_to(3) as u8, 40 + random.up_to(1460));
                let plain = PacketMeta::plain(FlowId(0), NodeId(1), false, bytes);
                let meta = PacketMeta { ecn: Ecn::from_bits(bits), enqueued_at: us(now_us), ..plain };
                queue.enqueue(us(now_us), Packet::new(meta, number), &mut dropped);
                twin.enqueue(Pkt { number, byt: bytes.into(), ecn: bits, timestamp: now_us as f64 / 1e6 });
            } else {
                let ours = queue.dequeue(us(now_us), Wanted::ANY, &mut dropped).map(|p| (p.body, p.meta.ecn.bits()));
                let its = twin.dequeue(now_us as f64 / 1e6).map(|pkt| (pkt.number, pkt.ecn));
                assert_eq!(ours, its, "seed {seed}, step {number}");
                overloads += u64::from(twin.k * twin.p >= 1.0);
            }
            let ours: Vec<u64> = dropped.iter().map(|(packet, _)| packet.body).collect();
            assert_eq!(ours, twin.dropped, "seed {seed}, step {number}");
        }
        marks += queue.marks();
        drops += dropped.iter().filter(|(_, reason)| *reason == DropReason::Early).count();
    }
    assert!(marks > 10_000 && drops > 10_000 && overloads > 10_000, "{marks} marks, {drops} drops, {overloads}");
}

/// Fills the L4S queue and the classic one; bytes of each of them among the first `count` packets that leave.
fn shares(entries: &[(&str, Value)], count: usize) -> (u64, u64) {
    let (mut queue, mut dropped) = (dualpi2(entries), Vec::new());
    for number in 0..2 * count as u64 {
        let ecn = if number % 2 == 0 { Ecn::Ect1 } else { Ecn::NotEct };
        let meta = PacketMeta { ecn, ..PacketMeta::plain(FlowId(0), NodeId(1), false, 1500) };
        queue.enqueue(Time::ZERO, Packet::new(meta, number), &mut dropped);
    }
    let out: Vec<_> = (0..count).filter_map(|_| queue.dequeue(Time::ZERO, Wanted::ANY, &mut dropped)).collect();
    let l4s = out.iter().filter(|packet| packet.body % 2 == 0).count() as u64;
    (l4s, out.len() as u64 - l4s)
}

#[test]
fn the_classic_queue_has_its_share_of_a_contended_link() {
    assert_eq!(shares(&[], 1_000), (900, 100));
    assert_eq!(shares(&[("preset", Value::text("rfc9332"))], 1_600), (1_500, 100));
    assert_eq!(shares(&[("classic_share", Value::Float(0.5))], 1_000), (500, 500));
}

#[test]
fn packets_of_the_l4s_queue_are_marked_by_the_step_alone_while_the_link_is_short() {
    // 4 packets of 700 B are less than 2 MTU, so the base controller has no part in it.
    let (mut queue, mut dropped) = (dualpi2(&[]), Vec::new());
    for number in 0..4 {
        let meta = PacketMeta { ecn: Ecn::Ect1, ..PacketMeta::plain(FlowId(0), NodeId(1), false, 700) };
        queue.enqueue(Time::ZERO, Packet::new(meta, number), &mut dropped);
    }
    let mut at = |at_us| queue.dequeue(us(at_us), Wanted::ANY, &mut dropped).map(|packet| packet.meta.ecn);
    // "Exceeds" 1 ms: not at 1 ms itself.
    let marks = [at(999), at(1_000), at(1_001), at(3_000)];
    assert_eq!(marks, [Some(Ecn::Ect1), Some(Ecn::Ect1), Some(Ecn::Ce), Some(Ecn::Ce)]);
}
