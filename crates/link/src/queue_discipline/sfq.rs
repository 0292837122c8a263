//! Stochastic fairness queueing.
//!
//! Flows are hashed to queues, which are served by deficit round robin; a full queue drops from the longest one. It
//! follows `sch_sfq` of Linux 6.18, whose queues hold at most 127 packets. Left out: external classifiers and the RED
//! in each queue (`sfqred`).
//!
//! [McKenney 1990] [Shreedhar, Varghese 1996]

use std::collections::VecDeque;

use lasthop_engine::Stream;
use lasthop_observe::DropReason;
use lasthop_registry::{Switch, params, refuse};
use lasthop_units::{Bytes, Duration, Packets, Time};

use super::flow_queue::{FULL_FRAME, FlowQueues, flow_hash, frame_bytes};
use super::interface::{Drop, QueueDiscipline, Wanted};
use crate::{Packet, PacketMeta};

/// Linux stores the length of a queue in seven bits.
const DEEPEST: u32 = 127;

params! {
    /// Parameters of `sfq`.
    pub struct Params {
        /// Largest number of packets in all queues together; beyond it, the longest queue loses one.
        pub limit: Packets = Packets(127),
        /// Largest number of packets in one queue, at most 127 as in Linux.
        pub depth: u32 = DEEPEST,
        /// Largest number of queues in use at once; a packet that would need one more is dropped.
        pub flows: u32 = 128,
        /// Number of hash values, a power of two; flows with the same one share a queue.
        pub divisor: u32 = 1024,
        /// Quantum: bytes (of Ethernet frames without FCS) that a queue may send in its turn.
        pub quantum: Bytes = Bytes(FULL_FRAME),
        /// Time between changes of the hash, so that no two flows share a queue for long; or "off".
        pub perturb: Switch<Duration> = Switch::Off,
        /// Drop the oldest packet of a full queue instead of the newest.
        pub head_drop: bool = false,
    }
    check |this, path| {
        let room = u64::from(this.depth) * u64::from(this.flows);
        if !(1..=DEEPEST).contains(&this.depth) {
            return refuse(path, "depth", format!("a queue holds 1 to {DEEPEST} packets"));
        }
        if this.flows == 0 || this.flows > 65_408 {
            return refuse(path, "flows", "from 1 to 65408 queues");
        }
        if !this.divisor.is_power_of_two() || this.divisor > 65_536 {
            return refuse(path, "divisor", "a power of two up to 65536");
        }
        if !(2..=room).contains(&this.limit.0) {
            return refuse(path, "limit", format!("from 2 to {room} packets, which is depth times flows"));
        }
        if this.quantum.0 == 0 {
            return refuse(path, "quantum", ("a turn without a byte never ends", "one full frame has 1514 B"));
        }
        if this.perturb == Switch::On(Duration::ZERO) {
            return refuse(path, "perturb", "a time above 0 s, or \"off\"");
        }
        Ok(())
    }
}

/// State of the scheduler for a queue.
#[derive(Default)]
struct Slot {
    hash: u32,
    /// time of the last change of its length, counted in changes of any queue's length
    changed: u64,
}

/// An SFQ queue: hashed flow queues, served by deficit round robin.
pub struct Sfq<B> {
    params: Params,
    random: Stream,
    key: u64,
    next_perturbation: Time,
    /// the queue of a hash value, while it holds packets
    queue_of: Vec<Option<u32>>,
    queues: FlowQueues<B, Slot>,
    unused: Vec<u32>,
    /// queues with packets, starting with the one whose turn it is
    round: VecDeque<u32>,
    changes: u64,
}

impl<B> Sfq<B> {
    /// An empty queue; the keys of the hash are drawn from `random`.
    pub fn new(params: &Params, mut random: Stream) -> Self {
        let key = random.bits();
        let next_perturbation = params.perturb.as_option().map_or(Time::NEVER, |period| Time::ZERO + *period);
        let queue_of = vec![None; params.divisor as usize];
        Sfq {
            params: params.clone(),
            random,
            key,
            next_perturbation,
            queue_of,
            queues: FlowQueues::default(),
            unused: Vec::new(),
            round: VecDeque::new(),
            changes: 0,
        }
    }

    fn hash(&self, packet: &PacketMeta) -> u32 {
        flow_hash(packet, self.key) & (self.params.divisor - 1)
    }

    /// The queue of a flow: its present one, or a new one unless all are in use.
    fn classify(&mut self, packet: &PacketMeta) -> Option<u32> {
        let hash = self.hash(packet);
        if let Some(queue) = self.queue_of[hash as usize] {
            return Some(queue);
        }
        if self.round.len() as u32 >= self.params.flows {
            return None;
        }
        let queue = self.unused.pop().unwrap_or_else(|| self.queues.add(Slot::default()));
        self.queue_of[hash as usize] = Some(queue);
        self.queues[queue].law.hash = hash;
        // It joins at the end of the round: otherwise a queue that empties and refills would pass the waiting ones each
        // time.
        self.queues[queue].deficit = self.params.quantum.0 as i64;
        self.round.push_back(queue);
        Some(queue)
    }

    fn note_change(&mut self, queue: u32) {
        self.changes += 1;
        self.queues[queue].law.changed = self.changes;
    }

    fn append(&mut self, queue: u32, packet: Packet<B>) {
        self.queues.push(queue, packet);
        self.note_change(queue);
    }

    /// Drops a packet of a queue that is too long.
    fn shorten(&mut self, queue: u32, dropped: &mut Vec<Drop<B>>) {
        let packet =
            if self.params.head_drop { self.queues.pop(queue, Wanted::ANY) } else { self.queues.pop_newest(queue) };
        dropped.extend(packet.map(|p| (p, DropReason::QueueFull)));
        self.note_change(queue);
        self.release_if_empty(queue);
    }

    fn release_if_empty(&mut self, queue: u32) {
        if self.queues[queue].is_empty() {
            self.queue_of[self.queues[queue].law.hash as usize] = None;
            self.round.retain(|other| *other != queue);
            self.unused.push(queue);
        }
    }

    /// The longest queue, and among several the one whose length changed last; if all hold one packet, the next to be
    /// served.
    fn longest(&self) -> Option<u32> {
        let longest = *self.round.iter().max_by_key(|q| (self.queues[**q].packets(), self.queues[**q].law.changed))?;
        if self.queues[longest].packets() == 1 { self.round.front().copied() } else { Some(longest) }
    }

    /// Sets a new key when it is time and moves all packets accordingly, those of a flow in their order.
    fn perturb(&mut self, now: Time, dropped: &mut Vec<Drop<B>>) {
        let Some(period) = self.params.perturb.as_option().filter(|_| now >= self.next_perturbation) else {
            return;
        };
        self.next_perturbation += *period * (1 + now.since(self.next_perturbation).div_floor(*period));
        self.key = self.random.bits();
        let mut packets = Vec::with_capacity(self.queues.packets() as usize);
        for queue in std::mem::take(&mut self.round) {
            packets.extend(std::iter::from_fn(|| self.queues.pop(queue, Wanted::ANY)));
            self.release_if_empty(queue);
        }
        for packet in packets {
            match self.classify(&packet.meta) {
                Some(queue) if self.queues[queue].packets() < self.params.depth => self.append(queue, packet),
                _ => dropped.push((packet, DropReason::QueueFull)),
            }
        }
    }

    /// The queue whose turn it is, among those with a packet that is `wanted`.
    fn next(&mut self, wanted: Wanted) -> Option<u32> {
        loop {
            let place = self.round.iter().position(|q| self.queues[*q].has(wanted))?;
            let queue = self.round[place];
            if self.queues[queue].deficit > 0 {
                return Some(queue);
            }
            self.round.remove(place);
            self.round.push_back(queue);
            if wanted != Wanted::ANY {
                // It goes into debt, and pays when any packet is wanted again.
                return Some(queue);
            }
            self.queues[queue].deficit += self.params.quantum.0 as i64;
        }
    }
}

impl<B: Send> QueueDiscipline<B> for Sfq<B> {
    fn enqueue(&mut self, now: Time, packet: Packet<B>, dropped: &mut Vec<Drop<B>>) {
        self.perturb(now, dropped);
        let Some(queue) = self.classify(&packet.meta) else {
            dropped.push((packet, DropReason::QueueFull));
            return;
        };
        if self.queues[queue].packets() >= self.params.depth {
            if !self.params.head_drop {
                dropped.push((packet, DropReason::QueueFull));
                return;
            }
            let oldest = self.queues.pop(queue, Wanted::ANY);
            dropped.extend(oldest.map(|p| (p, DropReason::QueueFull)));
        }
        self.append(queue, packet);
        if u64::from(self.queues.packets()) > self.params.limit.0
            && let Some(longest) = self.longest()
        {
            self.shorten(longest, dropped);
        }
    }

    fn dequeue(&mut self, now: Time, wanted: Wanted, dropped: &mut Vec<Drop<B>>) -> Option<Packet<B>> {
        self.perturb(now, dropped);
        let queue = self.next(wanted)?;
        let packet = self.queues.pop(queue, wanted)?;
        self.note_change(queue);
        self.queues[queue].deficit -= i64::from(frame_bytes(&packet.meta));
        self.release_if_empty(queue);
        Some(packet)
    }

    fn packets(&self) -> u32 {
        self.queues.packets()
    }

    fn tcp_acks(&self) -> u32 {
        self.queues.tcp_acks()
    }

    /// Returns whether a packet of any flow would be accepted.
    fn has_room(&self, _: u32) -> bool {
        u64::from(self.queues.packets()) < self.params.limit.0
            && (self.round.len() as u32) < self.params.flows
            && self.round.iter().all(|q| self.queues[*q].packets() < self.params.depth)
    }
}
