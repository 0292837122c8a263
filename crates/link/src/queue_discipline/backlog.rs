//! Packets in the order of arrival, from which any may be taken.
//!
//! Most disciplines use it. It is a doubly linked list in an array: taking the oldest packet, or one with a known
//! [`Slot`], costs the same whatever the length. A search for packets of a station resumes where the last search
//! ended, so filling an A-MPDU passes each packet once.

use lasthop_registry::Amount;

use super::bounds;
use super::interface::Wanted;
use crate::{Packet, PacketMeta};

/// The place of a waiting packet, valid until it is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(u32);

/// No place: before the first, after the last.
const NOWHERE: u32 = u32::MAX;

struct Node<B> {
    /// `None` while the node is free; `next` is then the next free one.
    packet: Option<Packet<B>>,
    previous: u32,
    next: u32,
}

/// Result of a search: no packet up to `at` is wanted.
#[derive(Clone, Copy)]
struct Search {
    wanted: Wanted,
    at: u32,
}

/// A queue in order of arrival, from which the packets of one station and TID can be taken first.
pub struct Backlog<B> {
    nodes: Vec<Node<B>>,
    free: u32,
    first: u32,
    last: u32,
    search: Search,
    packets: u32,
    tcp_acks: u32,
    bytes: u64,
}

impl<B> Default for Backlog<B> {
    fn default() -> Self {
        let search = Search { wanted: Wanted::ANY, at: NOWHERE };
        Backlog {
            nodes: Vec::new(),
            free: NOWHERE,
            first: NOWHERE,
            last: NOWHERE,
            search,
            packets: 0,
            tcp_acks: 0,
            bytes: 0,
        }
    }
}

impl<B> Backlog<B> {
    /// Number of packets that wait.
    pub fn packets(&self) -> u32 {
        self.packets
    }

    /// Number of pure TCP ACKs among them.
    pub fn tcp_acks(&self) -> u32 {
        self.tcp_acks
    }

    /// Number of bytes that wait.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns whether a packet of `bytes` fits below the limit.
    #[inline]
    pub fn has_room(&self, limit: Amount, bytes: u32) -> bool {
        bounds::has_room(limit, (self.packets, self.bytes), bytes)
    }

    /// Adds a packet behind all others.
    #[inline(always)]
    pub fn push(&mut self, packet: Packet<B>) -> Slot {
        self.packets += 1;
        self.bytes += u64::from(packet.meta.bytes);
        self.tcp_acks += u32::from(packet.meta.pure_ack);
        let at = self.vacant();
        let node = &mut self.nodes[at as usize];
        (node.previous, node.next) = (self.last, NOWHERE);
        // A free node has no packet, so there is nothing to drop.
        std::mem::forget(node.packet.replace(packet));
        match self.last {
            NOWHERE => self.first = at,
            last => self.nodes[last as usize].next = at,
        }
        self.last = at;
        if self.search.at == NOWHERE {
            self.search.at = at;
        }
        Slot(at)
    }

    /// Takes a free node, after adding some if there is none.
    #[inline]
    fn vacant(&mut self) -> u32 {
        if self.free == NOWHERE {
            self.add();
        }
        let at = self.free;
        self.free = self.nodes[at as usize].next;
        at
    }

    #[cold]
    #[inline(never)]
    fn add(&mut self) {
        self.free = self.nodes.len() as u32;
        self.nodes.push(Node { packet: None, previous: NOWHERE, next: NOWHERE });
    }

    /// The oldest packet that is wanted.
    pub fn find(&mut self, wanted: Wanted) -> Option<Slot> {
        if wanted == Wanted::ANY {
            return self.oldest();
        }
        self.find_before(wanted, None)
    }

    /// The oldest packet that is wanted among those before the one at `end`, or among all.
    #[inline(always)]
    pub fn find_before(&mut self, wanted: Wanted, end: Option<Slot>) -> Option<Slot> {
        if self.search.wanted != wanted {
            self.search = Search { wanted, at: self.first };
        }
        let end = end.map_or(NOWHERE, |end| end.0);
        while self.search.at != end
            && let Some(node) = self.nodes.get(self.search.at as usize)
        {
            if node.packet.as_ref().is_some_and(|p| wanted.includes(&p.meta)) {
                return Some(Slot(self.search.at));
            }
            self.search.at = node.next;
        }
        None
    }

    /// The number of packets that are wanted, up to `most`.
    pub fn count(&self, wanted: Wanted, most: usize) -> usize {
        let mut at = if self.search.wanted == wanted { self.search.at } else { self.first };
        let packets = std::iter::from_fn(|| {
            let node = self.nodes.get(at as usize)?;
            at = node.next;
            Some(node.packet.as_ref())
        });
        packets.flatten().filter(|packet| wanted.includes(&packet.meta)).take(most).count()
    }

    /// The place of the packet that came next after the one at `place`.
    #[inline(always)]
    pub fn after(&self, place: Slot) -> Option<Slot> {
        let next = self.nodes[place.0 as usize].next;
        (next != NOWHERE).then_some(Slot(next))
    }

    /// The place of the packet that came first.
    pub fn oldest(&self) -> Option<Slot> {
        (self.first != NOWHERE).then_some(Slot(self.first))
    }

    /// The facts of the packet at `place`.
    pub fn meta(&self, place: Slot) -> &PacketMeta {
        let node = &self.nodes[place.0 as usize];
        &node.packet.as_ref().expect("a packet waits at its place until it is taken").meta
    }

    /// Removes the packet at `place`.
    #[inline]
    pub fn take(&mut self, place: Slot) -> Packet<B> {
        let node = &mut self.nodes[place.0 as usize];
        let packet = node.packet.take().expect("a packet waits at its place until it is taken");
        let (previous, next) = (node.previous, node.next);
        node.next = self.free;
        self.free = place.0;
        match previous {
            NOWHERE => self.first = next,
            previous => self.nodes[previous as usize].next = next,
        }
        match next {
            NOWHERE => self.last = previous,
            next => self.nodes[next as usize].previous = previous,
        }
        if self.search.at == place.0 {
            self.search.at = next;
        }
        self.packets -= 1;
        self.bytes -= u64::from(packet.meta.bytes);
        self.tcp_acks -= u32::from(packet.meta.pure_ack);
        packet
    }

    /// Removes the oldest packet that is wanted.
    #[inline(always)]
    pub fn pop(&mut self, wanted: Wanted) -> Option<Packet<B>> {
        if wanted == Wanted::ANY { self.pop_oldest() } else { self.find(wanted).map(|place| self.take(place)) }
    }

    /// Removes the packet that came first: as [`take`](Self::take), without packets before it.
    #[inline(always)]
    fn pop_oldest(&mut self) -> Option<Packet<B>> {
        let at = self.first;
        let node = self.nodes.get_mut(at as usize)?;
        let packet = node.packet.take()?;
        self.first = std::mem::replace(&mut node.next, self.free);
        self.free = at;
        match self.nodes.get_mut(self.first as usize) {
            Some(next) => next.previous = NOWHERE,
            None => self.last = NOWHERE,
        }
        if self.search.at == at {
            self.search.at = self.first;
        }
        self.packets -= 1;
        self.bytes -= u64::from(packet.meta.bytes);
        self.tcp_acks -= u32::from(packet.meta.pure_ack);
        Some(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::data;
    use super::*;
    use lasthop_engine::Stream;
    use lasthop_observe::NodeId;

    fn packet(number: u64, random: &mut Stream) -> Packet<u64> {
        let meta = PacketMeta {
            station: NodeId(1 + random.up_to(2)),
            tid: random.up_to(1) as u8,
            pure_ack: random.chance(0.3),
            ..data(0, 40 + random.up_to(1460))
        };
        Packet::new(meta, number)
    }

    fn wanted(random: &mut Stream) -> Wanted {
        let station = random.chance(0.6).then(|| NodeId(1 + random.up_to(2)));
        Wanted { station, tid: random.chance(0.3).then(|| random.up_to(1) as u8) }
    }

    #[test]
    fn it_gives_the_packets_that_a_plain_list_gives() {
        for seed in 0..20 {
            let mut random = Stream::new(seed, "backlog", 0);
            let (mut backlog, mut plain) = (Backlog::default(), Vec::<Packet<u64>>::new());
            let mut asked = Wanted::ANY;
            for number in 0..5_000 {
                // Mostly growing in the first half, mostly shrinking in the second.
                if random.chance(if number < 2_500 { 0.6 } else { 0.4 }) {
                    let packet = packet(number, &mut random);
                    plain.push(packet.clone());
                    backlog.push(packet);
                } else {
                    // A MAC asks several times for the same station and TID.
                    if random.chance(0.3) {
                        asked = wanted(&mut random);
                    }
                    let expected = plain.iter().position(|p| asked.includes(&p.meta)).map(|i| plain.remove(i).body);
                    assert_eq!(backlog.pop(asked).map(|p| p.body), expected, "seed {seed}, step {number}");
                }
                let counts = (backlog.packets() as usize, backlog.tcp_acks() as usize, backlog.bytes());
                let acks = plain.iter().filter(|p| p.meta.pure_ack).count();
                assert_eq!(counts, (plain.len(), acks, plain.iter().map(|p| u64::from(p.meta.bytes)).sum()));
            }
        }
    }
}
