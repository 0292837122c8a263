//! The order of the queues of a tin: deficit round robin, sparse flows first, with quanta divided among the flows of a host.
//!
//! Source: [RFC 8290 §4.2] for new and old queues, [Høiland-Jørgensen 2018] for the division: a queue's quantum is the tin's, divided by
//! the number of old queues of its host, so hosts share first and flows then. Unlike RFC 8290, an emptied queue that has not used up its
//! deficit leaves the round at once, and comes back as a new one: the order of packets of a Linux 6.1 shows that. So do quanta in
//! whole bytes, rounded up or down at random from 65535/65536 of the part: at 2 Mbit/s a quantum of 300 B is 299 B at times.

use std::collections::VecDeque;

use lasthop_engine::Stream;

use super::super::flow_queue::{FlowQueue, FlowQueues};
use super::isolation::{Buckets, Ends, Found, Hosts, Isolation};
use super::shaper::Sizes;
use crate::{Packet, PacketMeta, Wanted};

/// A quantum is divided by its product with a reciprocal: this many parts over the divisor, rounded down.
const WHOLE: i64 = 65_535;
/// Parts of a byte.
const PARTS: i64 = 65_536;

/// Facts of a queue for the order.
#[derive(Clone, Copy)]
struct Member {
    ends: Ends,
    /// whether it counts among the queues with a backlog
    counts: bool,
    /// whether it is among the old queues
    is_old: bool,
}

/// The queues of a tin, and their order.
pub(super) struct Turns {
    isolation: Isolation,
    quantum: i64,
    buckets: Buckets,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    hosts: Hosts,
    /// by queue, those of other tins included
    members: Vec<Option<Member>>,
    /// rounds quanta
    random: Stream,
}

impl Turns {
    /// Empty queues that send `quantum` bytes in their turn; the hash is under a secret `key`.
    pub fn new(isolation: Isolation, quantum: u64, key: u64) -> Turns {
        Turns {
            isolation,
            quantum: quantum as i64,
            buckets: Buckets::new(key),
            new: VecDeque::new(),
            old: VecDeque::new(),
            hosts: Hosts::default(),
            members: Vec::new(),
            random: Stream::new(key, "quanta", 0),
        }
    }

    /// Returns whether a packet that is `wanted` waits. Queues that are empty and still have turns count where any packet is
    /// wanted: in their turn they leave the round.
    pub fn has<B, L>(&self, queues: &FlowQueues<B, L>, wanted: Wanted) -> bool {
        if wanted == Wanted::ANY {
            return !self.new.is_empty() || !self.old.is_empty();
        }
        self.new.iter().chain(&self.old).any(|queue| queues[*queue].has(wanted))
    }

    /// The number of packets that are `wanted`, up to `most`.
    pub fn waiting_for<B, L>(&self, queues: &FlowQueues<B, L>, wanted: Wanted, most: usize) -> usize {
        let all = self.new.iter().chain(&self.old).map(|queue| &queues[*queue]);
        all.flat_map(|queue| queue.metas().filter(|packet| wanted.includes(packet))).take(most).count()
    }

    /// The queue of a packet; `add` makes one.
    pub fn queue_of<B, L>(
        &mut self,
        packet: &PacketMeta,
        queues: &mut FlowQueues<B, L>,
        add: impl FnOnce(&mut FlowQueues<B, L>) -> u32,
    ) -> u32 {
        let tuple = self.isolation.tuple(packet);
        let is_idle = |queue: u32| queues[queue].is_empty() && queues[queue].round.is_none();
        match self.buckets.find(tuple, is_idle) {
            Found::Queue(queue) => queue,
            Found::Taken(bucket, idle) => {
                let queue = idle.unwrap_or_else(|| add(queues));
                self.buckets.give(bucket, tuple, queue);
                if self.members.len() <= queue as usize {
                    self.members.resize(queue as usize + 1, None);
                }
                self.members[queue as usize] = Some(Member { ends: Ends::of(packet), counts: false, is_old: false });
                queue
            }
        }
    }

    fn member(&mut self, queue: u32) -> &mut Member {
        self.members[queue as usize].as_mut().expect("a queue with turns has been given to a flow")
    }

    /// The bytes of a turn of this queue, in 1/65536 B.
    fn part_of(&mut self, queue: u32) -> i64 {
        let ends = self.member(queue).ends;
        self.quantum * (WHOLE / i64::from(self.hosts.load(self.isolation, ends)))
    }

    /// The whole bytes of a turn of this queue, rounded at random.
    fn quantum_of(&mut self, queue: u32) -> i64 {
        (self.part_of(queue) + i64::from(self.random.up_to(u32::from(u16::MAX)))) / PARTS
    }

    /// Counts a queue among those with a backlog, or no longer.
    fn count(&mut self, queue: u32, counts: bool) {
        let Member { ends, counts: counted, .. } = *self.member(queue);
        if counted == counts {
            return;
        }
        self.member(queue).counts = counts;
        if counts {
            self.hosts.join(ends);
        } else {
            self.hosts.leave(ends);
        }
    }

    /// Gives turns to a queue that has received a packet, first among the new ones if it had none. One that went into debt
    /// with its last packets pays among the old ones.
    pub fn admit<B, L>(&mut self, queues: &mut FlowQueues<B, L>, index: u32) {
        let quantum = self.part_of(index) / PARTS;
        let queue = &mut queues[index];
        if queue.round.is_some() {
            if self.member(index).is_old {
                self.count(index, true);
            }
            return;
        }
        queue.round = Some(0);
        self.member(index).is_old = queue.deficit < -self.quantum;
        if queue.deficit < -self.quantum {
            self.old.push_back(index);
            self.count(index, true);
        } else {
            queue.deficit = quantum;
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
        sizes: &Sizes,
        mut serve: impl FnMut(&mut FlowQueues<B, L>, u32) -> Option<Packet<B>>,
    ) -> Option<Packet<B>> {
        loop {
            let (is_new, place, index) = self.next(queues, wanted)?;
            if queues[index].deficit <= 0 && wanted == Wanted::ANY {
                self.wait_for_turn(queues, is_new, place, index);
            } else if let Some(packet) = serve(queues, index) {
                queues[index].deficit -= sizes.of(&packet.meta).0 as i64;
                if queues[index].deficit <= 0 && wanted != Wanted::ANY {
                    let has_backlog = !queues[index].is_empty();
                    self.move_back(is_new, place, index, has_backlog);
                }
                return Some(packet);
            } else if queues[index].is_empty() {
                self.retire(&mut queues[index], is_new, place, index);
            }
        }
    }

    /// The first queue that has a packet `wanted`, or none at all and is to be retired.
    fn next<B, L>(&self, queues: &FlowQueues<B, L>, wanted: Wanted) -> Option<(bool, usize, u32)> {
        let is_next = |queue: &u32| queues[*queue].is_empty() || queues[*queue].has(wanted);
        let of = |list: &VecDeque<u32>, is_new| list.iter().position(is_next).map(|place| (is_new, place, list[place]));
        of(&self.new, true).or_else(|| of(&self.old, false))
    }

    fn remove(&mut self, is_new: bool, place: usize) {
        if is_new {
            self.new.remove(place)
        } else {
            self.old.remove(place)
        };
    }

    /// Lets a queue wait among the old ones. One that has been emptied there counts no sooner than a packet comes.
    fn move_back(&mut self, is_new: bool, place: usize, index: u32, has_backlog: bool) {
        self.remove(is_new, place);
        self.old.push_back(index);
        self.member(index).is_old = true;
        if has_backlog {
            self.count(index, true);
        }
    }

    /// Gives a queue that has used up its deficit another quantum, for its next turn. One that is alone gets as many at once
    /// as it needs.
    fn wait_for_turn<B, L>(&mut self, queues: &mut FlowQueues<B, L>, is_new: bool, place: usize, index: u32) {
        let has_backlog = !queues[index].is_empty();
        self.move_back(is_new, place, index, has_backlog);
        let is_alone = self.new.len() + self.old.len() == 1;
        loop {
            queues[index].deficit += self.quantum_of(index);
            if !is_alone || queues[index].deficit > 0 {
                break;
            }
        }
    }

    /// Takes an emptied queue out of the round.
    fn retire<B, L>(&mut self, queue: &mut FlowQueue<B, L>, is_new: bool, place: usize, index: u32) {
        self.remove(is_new, place);
        self.count(index, false);
        self.member(index).is_old = false;
        queue.round = None;
    }
}
