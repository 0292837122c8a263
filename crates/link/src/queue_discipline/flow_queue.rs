//! Queues of single flows: the common part of the fair disciplines.
//!
//! A packet goes to one of many queues by a hash of its five-tuple, which the flow and the direction represent here:
//! the data and the ACKs of one connection are different flows. Sizes are those of Ethernet frames, as Linux counts
//! them, so a quantum of 1514 B is one full-size packet.

use std::collections::VecDeque;
use std::ops::{Index, IndexMut};

use lasthop_observe::{DropReason, NodeId};
use lasthop_registry::{Amount, ParamError};
use lasthop_units::{Ecn, Time};

use super::interface::Drop;
use super::law::Verdict;
use super::law::codel::{Codel, Departing, Settings};
use crate::{Packet, PacketMeta, Wanted};

/// A full-size Ethernet frame without its FCS, in bytes: an IP packet of 1500 B and its header.
pub(super) const FULL_FRAME: u64 = 1514;

/// Size in bytes as an Ethernet interface of Linux counts it: with a header of 14 B.
pub(super) fn frame_bytes(packet: &PacketMeta) -> u32 {
    packet.bytes + 14
}

/// Memory in bytes that Linux needs for an IP packet of `bytes`: the data with 64 B of headroom and 320 B of shared
/// information in a slab of a power of two, and 256 B of `sk_buff`; 2304 B for a packet of 1500 B, 768 B for an ACK.
/// [Linux 6.18 `SKB_TRUESIZE`]
pub(super) fn memory_for(bytes: u32) -> u64 {
    u64::from((bytes + 64 + 320).next_power_of_two() + 256)
}

/// A hash of the flow and the direction of a packet under a secret `key`.
pub(super) fn flow_hash(packet: &PacketMeta, key: u64) -> u32 {
    mixed(u64::from(packet.tuple) << 1 | u64::from(packet.up), key)
}

/// A hash of a word under a secret `key`: SplitMix64 [Steele, Lea, Flood 2014].
pub(super) fn mixed(word: u64, key: u64) -> u32 {
    let mut z = word.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ key;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 32) as u32
}

/// One queue, first in, first out, and the state of its scheduler and its law `L`.
pub(super) struct FlowQueue<B, L> {
    waiting: VecDeque<Packet<B>>,
    bytes: u32,
    /// station and TID of the packets, if all have the same
    receiver: (NodeId, u8),
    /// true if they differ, because flows have the same hash
    is_mixed: bool,
    /// bytes that it may still send in its turn
    pub deficit: i64,
    /// the round in which it takes its turns
    pub round: Option<u32>,
    /// its active queue management
    pub law: L,
}

impl<B, L> FlowQueue<B, L> {
    /// An empty queue.
    pub fn new(law: L) -> Self {
        let receiver = (NodeId(0), 0);
        FlowQueue { waiting: VecDeque::new(), bytes: 0, receiver, is_mixed: false, deficit: 0, round: None, law }
    }

    /// Packets waiting.
    pub fn packets(&self) -> u32 {
        self.waiting.len() as u32
    }

    /// Bytes of [frames](frame_bytes) waiting.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// The packet that came first, if any waits.
    pub fn first(&self) -> Option<&PacketMeta> {
        self.waiting.front().map(|packet| &packet.meta)
    }

    /// Returns whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns whether a packet that is `wanted` waits.
    #[inline]
    pub fn has(&self, wanted: Wanted) -> bool {
        if self.is_mixed {
            return self.all(wanted).next().is_some();
        }
        !self.is_empty() && wanted.is_for(self.receiver.0, self.receiver.1)
    }

    /// The packets that are `wanted`.
    fn all(&self, wanted: Wanted) -> impl Iterator<Item = &Packet<B>> {
        self.waiting.iter().filter(move |packet| wanted.includes(&packet.meta))
    }

    /// Adds a packet at the tail.
    #[inline]
    pub fn push(&mut self, packet: Packet<B>) {
        let receiver = (packet.meta.station, packet.meta.tid);
        if self.is_empty() {
            (self.receiver, self.is_mixed) = (receiver, false);
        }
        self.is_mixed |= self.receiver != receiver;
        self.bytes += frame_bytes(&packet.meta);
        self.waiting.push_back(packet);
    }

    /// Removes the first packet that is `wanted`.
    #[inline]
    pub fn pop(&mut self, wanted: Wanted) -> Option<Packet<B>> {
        let packet = if self.is_mixed && wanted != Wanted::ANY {
            let place = self.waiting.iter().position(|p| wanted.includes(&p.meta))?;
            self.waiting.remove(place)?
        } else if wanted.is_for(self.receiver.0, self.receiver.1) {
            self.waiting.pop_front()?
        } else {
            return None;
        };
        self.bytes -= frame_bytes(&packet.meta);
        Some(packet)
    }

    /// The packet that came last, if any waits.
    pub fn newest(&self) -> Option<&PacketMeta> {
        self.waiting.back().map(|packet| &packet.meta)
    }

    /// The packets that wait, in the order in which they came.
    pub fn metas(&self) -> impl Iterator<Item = &PacketMeta> {
        self.waiting.iter().map(|packet| &packet.meta)
    }

    /// Removes the packet at a place in that order.
    ///
    /// # Panics
    /// If no packet waits there.
    pub fn remove(&mut self, place: usize) -> Packet<B> {
        let packet = self.waiting.remove(place).expect("a packet waits at this place");
        self.bytes -= frame_bytes(&packet.meta);
        packet
    }

    /// Removes the newest packet.
    pub fn pop_newest(&mut self) -> Option<Packet<B>> {
        let packet = self.waiting.pop_back()?;
        self.bytes -= frame_bytes(&packet.meta);
        Some(packet)
    }
}

/// Limits for all queues together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// packets
    pub packets: u64,
    /// [memory](memory_for), bytes
    pub memory: u64,
}

impl Limits {
    /// Refuses limits that admit nothing; `path` is the place of the table.
    pub fn check(&self, path: &str) -> Result<(), ParamError> {
        super::bounds::check_limit(Amount::Packets(self.packets), path)?;
        if self.memory < memory_for(1500) {
            let told = "too little for a packet of 1500 B, which takes 2304 B";
            return Err(ParamError::new(format!("{path}.memory_limit"), told));
        }
        Ok(())
    }
}

/// Many queues, each made when its first packet comes and then kept, and the totals of all of them.
pub(super) struct FlowQueues<B, L> {
    queues: Vec<FlowQueue<B, L>>,
    packets: u32,
    tcp_acks: u32,
    memory: u64,
}

impl<B, L> Default for FlowQueues<B, L> {
    fn default() -> Self {
        FlowQueues { queues: Vec::new(), packets: 0, tcp_acks: 0, memory: 0 }
    }
}

impl<B, L> FlowQueues<B, L> {
    /// Adds an empty queue; returns its index.
    pub fn add(&mut self, law: L) -> u32 {
        self.queues.push(FlowQueue::new(law));
        self.queues.len() as u32 - 1
    }

    /// Packets waiting.
    pub fn packets(&self) -> u32 {
        self.packets
    }

    /// Pure TCP ACKs among them.
    pub fn tcp_acks(&self) -> u32 {
        self.tcp_acks
    }

    /// Returns whether the limits are exceeded.
    pub fn is_over(&self, limits: Limits) -> bool {
        u64::from(self.packets) > limits.packets || self.memory > limits.memory
    }

    /// Returns whether a packet of `bytes` would fit.
    pub fn has_room(&self, limits: Limits, bytes: u32) -> bool {
        u64::from(self.packets) < limits.packets && self.memory + memory_for(bytes) <= limits.memory
    }

    /// Adds a packet to a queue.
    pub fn push(&mut self, queue: u32, packet: Packet<B>) {
        self.packets += 1;
        self.tcp_acks += u32::from(packet.meta.pure_ack);
        self.memory += memory_for(packet.meta.bytes);
        self[queue].push(packet);
    }

    /// Removes the first packet of a queue that is `wanted`.
    pub fn pop(&mut self, queue: u32, wanted: Wanted) -> Option<Packet<B>> {
        let packet = self[queue].pop(wanted)?;
        self.forget(&packet);
        Some(packet)
    }

    /// Removes the packet at a place of a queue.
    pub fn remove(&mut self, queue: u32, place: usize) -> Packet<B> {
        let packet = self[queue].remove(place);
        self.forget(&packet);
        packet
    }

    /// Removes the newest packet of a queue.
    pub fn pop_newest(&mut self, queue: u32) -> Option<Packet<B>> {
        let packet = self[queue].pop_newest()?;
        self.forget(&packet);
        Some(packet)
    }

    fn forget(&mut self, packet: &Packet<B>) {
        self.packets -= 1;
        self.tcp_acks -= u32::from(packet.meta.pure_ack);
        self.memory -= memory_for(packet.meta.bytes);
    }

    /// The queue with the most bytes, if anything waits.
    pub fn fattest(&self) -> Option<u32> {
        let fat = (0..self.queues.len()).rev().max_by_key(|i| self.queues[*i].bytes)?;
        (!self.queues[fat].is_empty()).then_some(fat as u32)
    }
}

/// Side effects of a law on packets.
pub(super) struct Signals<'a, B> {
    /// packets dropped
    pub dropped: &'a mut Vec<Drop<B>>,
    /// number of packets marked with CE
    pub marks: &'a mut u64,
    /// the ECN field with which the last packet that passed had come
    pub came: Ecn,
}

impl<B> FlowQueues<B, Codel> {
    /// Removes the first packet of a queue that is `wanted` and that CoDel lets pass.
    pub fn pop_by_codel(
        &mut self,
        queue: u32,
        wanted: Wanted,
        now: Time,
        settings: &Settings,
        signals: &mut Signals<B>,
    ) -> Option<Packet<B>> {
        while let Some(mut packet) = self.pop(queue, wanted) {
            signals.came = packet.meta.ecn;
            let departing = Departing {
                sojourn: now.since(packet.meta.enqueued_at),
                left_bytes: u64::from(self[queue].bytes()),
                is_capable: packet.meta.ecn.is_capable(),
            };
            match self[queue].law.judge(settings, now, departing) {
                Verdict::Forward => return Some(packet),
                Verdict::Mark => {
                    *signals.marks += u64::from(packet.meta.mark());
                    return Some(packet);
                }
                Verdict::Drop => signals.dropped.push((packet, DropReason::Early)),
            }
        }
        if self[queue].is_empty() {
            self[queue].law.on_empty();
        }
        None
    }
}

impl<B, L> Index<u32> for FlowQueues<B, L> {
    type Output = FlowQueue<B, L>;
    fn index(&self, queue: u32) -> &FlowQueue<B, L> {
        &self.queues[queue as usize]
    }
}

impl<B, L> IndexMut<u32> for FlowQueues<B, L> {
    fn index_mut(&mut self, queue: u32) -> &mut FlowQueue<B, L> {
        &mut self.queues[queue as usize]
    }
}

/// The assignment of packets to queues: a fixed number of hash values, and a queue for each value that has come up.
pub(super) struct Classifier {
    key: u64,
    queue_of: Vec<u32>,
}

/// A hash value whose queue has not been made yet.
const UNUSED: u32 = u32::MAX;

impl Classifier {
    /// A classifier with `hashes` values under a secret `key`.
    pub fn new(hashes: u32, key: u64) -> Self {
        Classifier { key, queue_of: vec![UNUSED; hashes as usize] }
    }

    /// The index of the packet's queue, which `add` makes if necessary.
    pub fn queue(&mut self, packet: &PacketMeta, add: impl FnOnce() -> u32) -> u32 {
        // The scaling of a hash in Linux: without a division, each value equally likely.
        let hash = (u64::from(flow_hash(packet, self.key)) * self.queue_of.len() as u64) >> 32;
        let queue = &mut self.queue_of[hash as usize];
        if *queue == UNUSED {
            *queue = add();
        }
        *queue
    }
}

/// Deficit round robin over queues with priority for those that are new. [RFC 8290 §4.2]
///
/// ```text
///            packet for an                          deficit used up
///            empty queue      ┌─────┐ ─────────────────────────────────┐
///           ────────────────► │ new │                                  ▼
///                             └─────┘ ─── emptied, others are old ─► ┌─────┐ ──┐ deficit
///                                │                                   │ old │   │ used up
///                                └─ emptied, none is old ─► gone ◄── └─────┘ ◄─┘
///                                                          emptied
/// ```
pub(super) struct Round {
    name: u32,
    quantum: i64,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
}

/// A place in a [`Round`].
enum RoundIndex {
    New(usize),
    Old(usize),
}

impl Round {
    /// An empty round; a queue may send `quantum` bytes in its turn.
    pub fn new(name: u32, quantum: u64) -> Self {
        Round { name, quantum: quantum as i64, new: VecDeque::new(), old: VecDeque::new() }
    }

    /// Gives turns to a queue that has received a packet, first among the new ones if it had none. [RFC 8290 §4.1] A
    /// queue that went into debt with its last packets pays it among the old ones.
    pub fn admit<B, L>(&mut self, queue: &mut FlowQueue<B, L>, index: u32) {
        if queue.round.is_some() {
            return;
        }
        queue.round = Some(self.name);
        if queue.deficit < -self.quantum {
            self.old.push_back(index);
        } else {
            queue.deficit = self.quantum;
            self.new.push_back(index);
        }
    }

    /// The next packet of those that are `wanted`. `serve` takes one from the queue whose turn it is, by its law.
    ///
    /// If only some packets are wanted, a queue may be served although it has used up its deficit: it goes into debt,
    /// and pays when any packet is wanted again.
    pub fn dequeue<B, L>(
        &mut self,
        queues: &mut FlowQueues<B, L>,
        wanted: Wanted,
        mut serve: impl FnMut(&mut FlowQueues<B, L>, u32) -> Option<Packet<B>>,
    ) -> Option<Packet<B>> {
        loop {
            let (place, index) = self.next(queues, wanted)?;
            let queue = &mut queues[index];
            if queue.deficit <= 0 && wanted == Wanted::ANY {
                // A queue that is alone gets as many turns at once as it needs.
                let is_alone = self.new.len() + self.old.len() == 1;
                let turns = if is_alone { 1 - queue.deficit / self.quantum } else { 1 };
                queue.deficit += self.quantum * turns;
                self.remove(&place);
                self.old.push_back(index);
            } else if let Some(packet) = serve(queues, index) {
                queues[index].deficit -= i64::from(frame_bytes(&packet.meta));
                if queues[index].deficit <= 0 && wanted != Wanted::ANY {
                    // Other queues of the same receiver come before it at the next call.
                    self.remove(&place);
                    self.old.push_back(index);
                }
                return Some(packet);
            } else if queues[index].is_empty() {
                self.retire(place, &mut queues[index], index);
            }
        }
    }

    /// The number of packets in queues of the round that are `wanted`, up to `most`.
    pub fn waiting_for<B, L>(&self, queues: &FlowQueues<B, L>, wanted: Wanted, most: usize) -> usize {
        let holders = self.new.iter().chain(&self.old).map(|index| &queues[*index]).filter(|queue| queue.has(wanted));
        holders.flat_map(|queue| queue.all(wanted)).take(most).count()
    }

    /// The first queue that has a packet `wanted`, or none at all and is to be retired.
    fn next<B, L>(&self, queues: &FlowQueues<B, L>, wanted: Wanted) -> Option<(RoundIndex, u32)> {
        if wanted == Wanted::ANY {
            let first_old = || self.old.front().map(|index| (RoundIndex::Old(0), *index));
            return self.new.front().map(|index| (RoundIndex::New(0), *index)).or_else(first_old);
        }
        let is_next = |index: &u32| queues[*index].is_empty() || queues[*index].has(wanted);
        if let Some(place) = self.new.iter().position(is_next) {
            return Some((RoundIndex::New(place), self.new[place]));
        }
        let place = self.old.iter().position(is_next)?;
        Some((RoundIndex::Old(place), self.old[place]))
    }

    fn remove(&mut self, place: &RoundIndex) {
        match *place {
            RoundIndex::New(0) => self.new.pop_front(),
            RoundIndex::Old(0) => self.old.pop_front(),
            RoundIndex::New(place) => self.new.remove(place),
            RoundIndex::Old(place) => self.old.remove(place),
        };
    }

    /// Retires an emptied queue. One that was new has to pass through the old ones; otherwise it could come back as new
    /// at once and starve them. [RFC 8290 §4.2]
    fn retire<B, L>(&mut self, place: RoundIndex, queue: &mut FlowQueue<B, L>, index: u32) {
        self.remove(&place);
        if matches!(place, RoundIndex::New(_)) && !self.old.is_empty() {
            self.old.push_back(index);
        } else {
            queue.round = None;
        }
    }
}
