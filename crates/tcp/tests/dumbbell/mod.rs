//! Several connections through one wired bottleneck, under a virtual clock.
//!
//! ```text
//!  sender 0 ─┐                                         ┌─ receiver 0
//!  sender 1 ─┼─► jitter ─► FIFO, rate ─► rtt/2, loss ──┼─ receiver 1
//!     …      ┘                                         └─    …
//!     ▲                      rtt / 2                          │
//!     └───────────────────────────────────────────────────────┘
//! ```
//!
//! Losses by chance, and the jitter that keeps flows from falling into step, come from one seeded generator. ACKs are
//! never lost. The queue may mark what finds more than a number of packets in it [RFC 8257 §3.1, RFC 9331 §5.2].
#![allow(dead_code)]

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use lasthop_tcp::{Config, Endpoint, Segment};
use lasthop_units::{Duration, Ecn, Time};

/// What the flows share.
#[derive(Clone, Debug)]
pub struct Bottleneck {
    /// bit/s of IP packets; infinite for none
    pub rate_bps: f64,
    /// packets that may wait, the one in service included
    pub buffer_packets: usize,
    /// what finds more packets than these in the queue is marked, if it may be
    pub marks_above: usize,
    /// RTT without any queue
    pub rtt: Duration,
    /// share of data packets that are lost by chance
    pub loss: f64,
    /// every so many data packets one is lost; 0 for never
    pub loses_each: u64,
    /// each data packet waits for up to so long before the queue
    pub jitter: Duration,
    pub seed: u64,
}

impl Bottleneck {
    /// A path without a queue, where only `loss` limits.
    pub fn lossy(loss: f64, rtt: Duration) -> Bottleneck {
        Bottleneck {
            rate_bps: f64::INFINITY,
            buffer_packets: usize::MAX,
            marks_above: usize::MAX,
            rtt,
            loss,
            loses_each: 0,
            jitter: Duration::ZERO,
            seed: 1,
        }
    }

    /// A wired bottleneck with a buffer of `bdps` times bandwidth and RTT, in packets of 1500 B.
    pub fn wired(rate_bps: f64, rtt: Duration, bdps: f64) -> Bottleneck {
        let bdp = rate_bps * rtt.as_secs_f64() / (8.0 * 1500.0);
        let service = Duration::from_secs_f64(8.0 * 1500.0 / rate_bps);
        let buffer_packets = (bdp * bdps).round() as usize;
        Bottleneck { rate_bps, buffer_packets, jitter: service, ..Bottleneck::lossy(0.0, rtt) }
    }

    /// The same with two products of bandwidth and RTT, which marks above a number of packets.
    pub fn marking(rate_bps: f64, rtt: Duration, marks_above: usize) -> Bottleneck {
        Bottleneck { marks_above, ..Bottleneck::wired(rate_bps, rtt, 2.0) }
    }
}

/// One connection.
pub struct Flow {
    pub sender: Endpoint,
    pub receiver: Endpoint,
    /// what its ACKs take beyond half an RTT
    pub longer_way: Duration,
    start: Time,
    latest_entry: Time,
}

struct Entry {
    at: Time,
    order: u64,
    flow: usize,
    segment: Segment,
}
impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}
impl Eq for Entry {}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

/// SplitMix64.
pub struct Random(pub u64);
impl Random {
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A segment as it left an end.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub at: Time,
    pub flow: usize,
    pub from_sender: bool,
    pub segment: Segment,
}

/// The world.
pub struct Dumbbell {
    pub now: Time,
    pub flows: Vec<Flow>,
    path: Bottleneck,
    random: Random,
    order: u64,
    /// before the queue
    entering: BinaryHeap<Reverse<Entry>>,
    /// in the queue, the first in service
    queue: VecDeque<(usize, Segment)>,
    served_at: Time,
    /// between the bottleneck and the receivers
    forward: VecDeque<(Time, usize, Segment)>,
    /// between the receivers and the senders
    backward: VecDeque<(Time, usize, Segment)>,
    data_packets: u64,
    /// packets that were marked
    pub marked: u64,
    /// what the ends have sent, from `keep_log` on
    pub log: Option<Vec<Sent>>,
    /// data packets that were lost by chance
    pub lost: u64,
    /// data packets that found no room
    pub overflowed: u64,
    /// packets in the queue, times seconds
    pub queue_integral: f64,
    queue_changed: Time,
}

impl Dumbbell {
    /// Connections of `configs`, the n-th of which begins at its time and sends without end.
    pub fn new(path: Bottleneck, configs: &[(Config, Time)]) -> Dumbbell {
        let flow = |(n, (config, start)): (usize, &(Config, Time))| {
            let mut sender = Endpoint::new(config, 1000 + n as u32);
            let mut receiver = Endpoint::new(config, 2000 + n as u32);
            receiver.listen();
            sender.write_forever();
            Flow { sender, receiver, longer_way: Duration::ZERO, start: *start, latest_entry: Time::ZERO }
        };
        Dumbbell {
            now: Time::ZERO,
            flows: configs.iter().enumerate().map(flow).collect(),
            random: Random(path.seed),
            path,
            order: 0,
            entering: BinaryHeap::new(),
            queue: VecDeque::new(),
            served_at: Time::NEVER,
            forward: VecDeque::new(),
            backward: VecDeque::new(),
            data_packets: 0,
            marked: 0,
            log: None,
            lost: 0,
            overflowed: 0,
            queue_integral: 0.0,
            queue_changed: Time::ZERO,
        }
    }

    /// One connection whose application has nothing to send yet.
    pub fn single_idle(path: Bottleneck, config: &Config) -> Dumbbell {
        let mut world = Dumbbell::single(path, config);
        world.flows[0].sender = Endpoint::new(config, 1000);
        world
    }

    /// The application of a flow offers so many more bytes.
    pub fn write(&mut self, flow: usize, bytes: u64) {
        self.flows[flow].sender.write(bytes);
        self.send(flow);
    }

    /// Writes down what the ends send, from now on.
    pub fn keep_log(&mut self) {
        self.log = Some(Vec::new());
    }

    fn note(&mut self, flow: usize, from_sender: bool, segment: Segment) {
        let at = self.now;
        if let Some(log) = &mut self.log {
            log.push(Sent { at, flow, from_sender, segment });
        }
    }

    /// One connection.
    pub fn single(path: Bottleneck, config: &Config) -> Dumbbell {
        Dumbbell::new(path, &[(config.clone(), Time::ZERO)])
    }

    pub fn run_until(&mut self, end: Time) {
        while self.step(end) {}
        self.now = end;
        self.count_queue();
    }

    /// Does what comes next, if it comes before `end`.
    fn step(&mut self, end: Time) -> bool {
        let entry = self.entering.peek().map_or(Time::NEVER, |Reverse(entry)| entry.at);
        let arrival = self.forward.front().map_or(Time::NEVER, |(at, ..)| *at);
        let ack = self.backward.front().map_or(Time::NEVER, |(at, ..)| *at);
        let (timer, flow) = self.earliest_timer();
        let next = entry.min(arrival).min(ack).min(self.served_at).min(timer);
        if next >= end {
            return false;
        }
        self.now = next;
        if next == self.served_at {
            self.serve();
        } else if next == arrival {
            let Some((_, flow, segment)) = self.forward.pop_front() else { return false };
            self.flows[flow].receiver.handle_segment(next, &segment);
            self.answer(flow);
        } else if next == ack {
            let Some((_, flow, segment)) = self.backward.pop_front() else { return false };
            self.flows[flow].sender.handle_segment(next, &segment);
            self.send(flow);
        } else if next == entry {
            let Some(Reverse(Entry { flow, segment, .. })) = self.entering.pop() else { return false };
            self.enter(flow, segment);
        } else {
            self.wake(flow);
        }
        true
    }

    fn earliest_timer(&self) -> (Time, usize) {
        let deadline = |(n, flow): (usize, &Flow)| {
            let wake = flow.sender.poll_timeout().min(flow.receiver.poll_timeout());
            (if flow.start.is_never() { wake } else { wake.min(flow.start) }, n)
        };
        self.flows.iter().enumerate().map(deadline).min().unwrap_or((Time::NEVER, 0))
    }

    fn wake(&mut self, n: usize) {
        let (now, flow) = (self.now, &mut self.flows[n]);
        if flow.start <= now {
            flow.start = Time::NEVER;
            flow.sender.connect(now);
        }
        flow.sender.handle_timeout(now);
        flow.receiver.handle_timeout(now);
        self.send(n);
        self.answer(n);
    }

    fn send(&mut self, n: usize) {
        while let Some(segment) = self.flows[n].sender.poll_transmit(self.now) {
            self.note(n, true, segment);
            if self.path.rate_bps.is_infinite() {
                self.propagate(n, segment);
                continue;
            }
            // Jitter never changes the order within a flow.
            let wait = Duration::from_secs_f64(self.path.jitter.as_secs_f64() * self.random.unit());
            let at = (self.now + wait).max(self.flows[n].latest_entry);
            self.flows[n].latest_entry = at;
            self.order += 1;
            self.entering.push(Reverse(Entry { at, order: self.order, flow: n, segment }));
        }
    }

    fn answer(&mut self, n: usize) {
        while let Some(segment) = self.flows[n].receiver.poll_transmit(self.now) {
            self.note(n, false, segment);
            let at = self.now + self.path.rtt / 2 + self.flows[n].longer_way;
            let place = self.backward.partition_point(|(other, ..)| *other <= at);
            self.backward.insert(place, (at, n, segment));
        }
    }

    fn enter(&mut self, n: usize, mut segment: Segment) {
        if self.queue.len() >= self.path.buffer_packets {
            self.overflowed += 1;
            return;
        }
        self.count_queue();
        if self.queue.len() > self.path.marks_above && segment.ecn.is_capable() {
            segment.ecn = Ecn::Ce;
            self.marked += 1;
        }
        self.queue.push_back((n, segment));
        if self.queue.len() == 1 {
            self.served_at = self.now + self.service(&segment);
        }
    }

    fn serve(&mut self) {
        self.count_queue();
        let Some((n, segment)) = self.queue.pop_front() else { return };
        self.served_at = self.queue.front().map_or(Time::NEVER, |(_, next)| self.now + self.service(next));
        self.propagate(n, segment);
    }

    fn service(&self, segment: &Segment) -> Duration {
        Duration::from_secs_f64(f64::from(segment.ip_bytes()) * 8.0 / self.path.rate_bps)
    }

    fn propagate(&mut self, n: usize, segment: Segment) {
        if segment.payload > 0 {
            self.data_packets += 1;
            let by_turn = self.path.loses_each > 0 && self.data_packets.is_multiple_of(self.path.loses_each);
            if by_turn || (self.path.loss > 0.0 && self.random.unit() < self.path.loss) {
                self.lost += 1;
                return;
            }
        }
        self.forward.push_back((self.now + self.path.rtt / 2, n, segment));
    }

    fn count_queue(&mut self) {
        self.queue_integral += self.queue.len() as f64 * self.now.since(self.queue_changed).as_secs_f64();
        self.queue_changed = self.now;
    }

    /// Bytes delivered to each receiver between two times, and the world goes on from the second.
    pub fn delivered_between(&mut self, from: Time, to: Time) -> Vec<u64> {
        self.run_until(from);
        let before: Vec<u64> = self.flows.iter().map(|flow| flow.receiver.delivered_bytes()).collect();
        self.run_until(to);
        self.flows.iter().zip(before).map(|(flow, before)| flow.receiver.delivered_bytes() - before).collect()
    }
}

/// Jain's index of fairness.
pub fn jain(shares: &[u64]) -> f64 {
    let sum: f64 = shares.iter().map(|share| *share as f64).sum();
    let squares: f64 = shares.iter().map(|share| (*share as f64) * (*share as f64)).sum();
    sum * sum / (shares.len() as f64 * squares)
}

pub fn seconds(s: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(s)
}
