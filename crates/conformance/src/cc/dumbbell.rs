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
//! Random losses, and the jitter that keeps flows from synchronising, come from one seeded generator. ACKs are never
//! lost. The queue may mark packets that find more than a number of packets in it [RFC 8257 §3.1, RFC 9331 §5.2].

use std::collections::VecDeque;

use lasthop_engine::Scheduler;
use lasthop_tcp::{Config, Endpoint, Segment};
use lasthop_units::{Duration, Ecn, Time};

/// The path that the flows share.
#[derive(Clone, Debug)]
pub struct Bottleneck {
    /// bit/s of IP packets; infinite for none
    pub rate_bps: f64,
    /// packets that may wait, the one in service included
    pub buffer_packets: usize,
    /// packets that find more than these in the queue are marked, if they may be
    pub marks_above: usize,
    /// RTT without any queue
    pub rtt: Duration,
    /// share of data packets that are lost at random
    pub loss: f64,
    /// distance of regular losses in data packets; 0 for none
    pub loses_each: u64,
    /// largest random wait of a data packet before the queue
    pub jitter: Duration,
    /// seed of random losses and jitter
    pub seed: u64,
}

impl Bottleneck {
    /// A path without a queue; only `loss` limits.
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

    /// The same with two products of bandwidth and RTT; it marks above a number of packets.
    pub fn marking(rate_bps: f64, rtt: Duration, marks_above: usize) -> Bottleneck {
        Bottleneck { marks_above, ..Bottleneck::wired(rate_bps, rtt, 2.0) }
    }
}

/// One connection.
pub struct Flow {
    /// the end that sends the data
    pub sender: Endpoint,
    /// the end that receives it
    pub receiver: Endpoint,
    /// time of its ACKs beyond half an RTT
    pub longer_way: Duration,
    start: Time,
    latest_entry: Time,
}

/// A pair of endpoints to be connected.
pub struct Pair {
    /// the end that opens the connection
    pub sender: Endpoint,
    /// the other end, still closed
    pub receiver: Endpoint,
    /// time at which the connection begins
    pub start: Time,
}

/// Events of the world; each with the flow and its segment.
enum Event {
    /// it enters the queue
    Enters(usize, Segment),
    /// the first in the queue has left
    Served,
    /// it arrives at its receiver
    Arrives(usize, Segment),
    /// its answer arrives at its sender
    Returns(usize, Segment),
}

/// SplitMix64.
pub struct Random(pub u64);
impl Random {
    /// A number in [0, 1).
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
    /// time
    pub at: Time,
    /// index of its flow
    pub flow: usize,
    /// true from the sender
    pub from_sender: bool,
    /// the segment
    pub segment: Segment,
}

/// The simulated world.
pub struct Dumbbell {
    /// the connections
    pub flows: Vec<Flow>,
    path: Bottleneck,
    random: Random,
    /// the clock, and the segments under way
    events: Scheduler<Event>,
    /// in the queue, the first in service
    queue: VecDeque<(usize, Segment)>,
    data_packets: u64,
    /// packets that were marked
    pub marked: u64,
    /// segments sent by the ends, from `keep_log` on
    pub log: Option<Vec<Sent>>,
    /// data packets that were lost at random
    pub lost: u64,
    /// data packets that found no room
    pub overflowed: u64,
    /// packets in the queue, times seconds
    pub queue_integral: f64,
    queue_changed: Time,
}

impl Dumbbell {
    /// Connections of `configs`, each of which begins at its time and sends without end.
    pub fn new(path: Bottleneck, configs: &[(Config, Time)]) -> Dumbbell {
        let pair = |(n, (config, start)): (usize, &(Config, Time))| Pair {
            sender: Endpoint::new(config, 1000 + n as u32),
            receiver: Endpoint::new(config, 2000 + n as u32),
            start: *start,
        };
        Dumbbell::of_pairs(path, configs.iter().enumerate().map(pair).collect())
    }

    /// The same with endpoints made elsewhere, with controllers of any origin.
    pub fn of_pairs(path: Bottleneck, mut pairs: Vec<Pair>) -> Dumbbell {
        pairs.iter_mut().for_each(|pair| pair.sender.write_forever());
        Dumbbell::idle(path, pairs)
    }

    /// The same with endpoints whose applications have nothing to send yet.
    pub fn idle(path: Bottleneck, pairs: Vec<Pair>) -> Dumbbell {
        let flow = |Pair { sender, mut receiver, start }: Pair| {
            receiver.listen();
            Flow { sender, receiver, longer_way: Duration::ZERO, start, latest_entry: Time::ZERO }
        };
        Dumbbell {
            flows: pairs.into_iter().map(flow).collect(),
            random: Random(path.seed),
            path,
            events: Scheduler::new(),
            queue: VecDeque::new(),
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
        let (sender, receiver) = (Endpoint::new(config, 1000), Endpoint::new(config, 2000));
        Dumbbell::idle(path, vec![Pair { sender, receiver, start: Time::ZERO }])
    }

    /// The present time.
    pub fn now(&self) -> Time {
        self.events.now()
    }

    /// The application of a flow writes more bytes.
    pub fn write(&mut self, flow: usize, bytes: u64) {
        self.flows[flow].sender.write(bytes);
        self.send(flow);
    }

    /// Logs the segments that the ends send, from now on.
    pub fn keep_log(&mut self) {
        self.log = Some(Vec::new());
    }

    fn note(&mut self, flow: usize, from_sender: bool, segment: Segment) {
        let at = self.now();
        if let Some(log) = &mut self.log {
            log.push(Sent { at, flow, from_sender, segment });
        }
    }

    /// One connection.
    pub fn single(path: Bottleneck, config: &Config) -> Dumbbell {
        Dumbbell::new(path, &[(config.clone(), Time::ZERO)])
    }

    /// Runs all events before `end`.
    pub fn run_until(&mut self, end: Time) {
        while self.step(end) {}
        self.events.advance_to(end);
        self.count_queue();
    }

    /// Runs the next event, if it comes before `end`; a timer that is due at the same time comes last.
    fn step(&mut self, end: Time) -> bool {
        let (timer, flow) = self.earliest_timer();
        let next = self.events.next_at().unwrap_or(Time::NEVER);
        if next.min(timer) >= end {
            return false;
        }
        if timer < next {
            self.events.advance_to(timer);
            self.wake(flow);
        } else if let Some((now, event)) = self.events.next_before(end) {
            self.handle(now, event);
        }
        true
    }

    fn handle(&mut self, now: Time, event: Event) {
        match event {
            Event::Enters(flow, segment) => self.enter(flow, segment),
            Event::Served => self.serve(),
            Event::Arrives(flow, segment) => {
                self.flows[flow].receiver.handle_segment(now, &segment);
                self.answer(flow);
            }
            Event::Returns(flow, segment) => {
                self.flows[flow].sender.handle_segment(now, &segment);
                self.send(flow);
            }
        }
    }

    fn earliest_timer(&self) -> (Time, usize) {
        let deadline = |(n, flow): (usize, &Flow)| {
            let wake = flow.sender.poll_timeout().min(flow.receiver.poll_timeout());
            (if flow.start.is_never() { wake } else { wake.min(flow.start) }, n)
        };
        self.flows.iter().enumerate().map(deadline).min().unwrap_or((Time::NEVER, 0))
    }

    fn wake(&mut self, n: usize) {
        let (now, flow) = (self.now(), &mut self.flows[n]);
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
        let now = self.now();
        while let Some(segment) = self.flows[n].sender.poll_transmit(now) {
            self.note(n, true, segment);
            if self.path.rate_bps.is_infinite() {
                self.propagate(n, segment);
                continue;
            }
            // Jitter never changes the order within a flow.
            let wait = Duration::from_secs_f64(self.path.jitter.as_secs_f64() * self.random.unit());
            let at = (now + wait).max(self.flows[n].latest_entry);
            self.flows[n].latest_entry = at;
            self.events.at(at, Event::Enters(n, segment));
        }
    }

    fn answer(&mut self, n: usize) {
        let now = self.now();
        while let Some(segment) = self.flows[n].receiver.poll_transmit(now) {
            self.note(n, false, segment);
            self.events.after(self.path.rtt / 2 + self.flows[n].longer_way, Event::Returns(n, segment));
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
            self.events.after(self.service(&segment), Event::Served);
        }
    }

    fn serve(&mut self) {
        self.count_queue();
        let Some((n, segment)) = self.queue.pop_front() else { return };
        if let Some((_, next)) = self.queue.front() {
            self.events.after(self.service(next), Event::Served);
        }
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
        self.events.after(self.path.rtt / 2, Event::Arrives(n, segment));
    }

    fn count_queue(&mut self) {
        self.queue_integral += self.queue.len() as f64 * self.now().since(self.queue_changed).as_secs_f64();
        self.queue_changed = self.now();
    }

    /// Bytes delivered to each receiver between two times; the world stands at the second one afterwards.
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

/// A time in seconds.
pub fn seconds(s: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(s)
}
