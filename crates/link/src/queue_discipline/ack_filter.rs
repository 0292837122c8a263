//! A queue that drops pure TCP ACKs in it which a later one makes redundant.
//!
//! Source: the ACK filter of CAKE (net/sched/sch_cake.c, `cake_ack_filter`), made stricter by the purposes of ACKs
//! [RFC 5690, RFC 3449 §5.2]. It is first in, first out, with a limit; when an ACK comes, the oldest redundant one of
//! the same connection leaves. An ACK is redundant if the next one of its connection is in the queue too, and both
//! acknowledge something new under the same flags. These ACKs therefore stay, whatever comes after them:
//!
//! - a duplicate ACK, a window update, and the ACK that they repeat: they acknowledge nothing new;
//! - one that carries SACK blocks, or PSH, URG, SYN, FIN or RST;
//! - one at which ECE, CWR or AE change, and the last before the change;
//! - the last of a burst, and the one that answers the last push: none comes after it;
//! - the first ones of a connection, from which the sender's window grows.
//!
//! Left out: CAKE's removal of ACKs with SACK blocks that a later one covers.

use std::collections::VecDeque;

use lasthop_observe::DropReason;
use lasthop_registry::{Amount, params};
use lasthop_units::{Packets, Time};

use super::backlog::{Backlog, Slot};
use super::interface::{Drop, QueueDiscipline, Wanted};
use crate::{AckFacts, Packet, PacketMeta};

params! {
    /// Parameters of `ack_filter`.
    pub struct Params {
        /// Largest backlog, in packets or in bytes; a packet that would exceed it is dropped.
        pub limit: Amount = Amount::Packets(50),
        /// Drop a redundant ACK at once; off: only where another one waits behind it. [CAKE: ack-filter-aggressive]
        pub aggressive: bool = false,
        /// Number of pure ACKs of a connection that pass before the first drop. [gopal2005 §3]
        pub start_after: Packets = Packets(10),
    }
    check |this, path| {
        super::bounds::check_limit(this.limit, path)
    }
}

/// The latest ACK.
#[derive(Clone, Copy)]
struct Latest {
    facts: AckFacts,
    /// Its place, if it waits and will be redundant once another continues it.
    place: Option<Slot>,
}

/// The ACKs of one connection, in one direction.
#[derive(Default)]
struct Acks {
    latest: Option<Latest>,
    seen: u64,
    /// ACKs that wait and are redundant, oldest first.
    superfluous: VecDeque<Slot>,
}

impl Acks {
    /// The latest ACK that waits, if this one makes it redundant.
    fn overtaken(&self, facts: AckFacts) -> Option<Slot> {
        let latest = self.latest.filter(|latest| facts.continues(&latest.facts))?;
        latest.place
    }

    /// The ACK that leaves when this one comes, if this many redundant ones are spared.
    fn victim(&self, facts: AckFacts, spared: usize) -> Option<Slot> {
        let overtaken = self.overtaken(facts);
        let superfluous = self.superfluous.len() + usize::from(overtaken.is_some());
        if superfluous <= spared {
            return None;
        }
        self.superfluous.front().copied().or(overtaken)
    }

    /// Adds an ACK that waits at `place`.
    fn follow(&mut self, facts: AckFacts, place: Slot, start_after: u64) {
        self.superfluous.extend(self.overtaken(facts));
        let before = self.latest.filter(|latest| latest.facts.connection == facts.connection);
        self.seen = if before.is_some() { self.seen + 1 } else { 1 };
        let continues = before.is_some_and(|latest| facts.continues(&latest.facts));
        let may_go = continues && facts.is_plain && self.seen > start_after;
        self.latest = Some(Latest { facts, place: may_go.then_some(place) });
    }

    /// Forgets the ACK at `place`, which waits no longer.
    fn forget(&mut self, place: Slot) {
        if let Some(latest) = &mut self.latest
            && latest.place == Some(place)
        {
            latest.place = None;
        }
        if let Some(index) = self.superfluous.iter().position(|p| *p == place) {
            self.superfluous.remove(index);
        }
    }
}

/// A FIFO that drops pure ACKs which a later ACK makes redundant.
pub struct AckFilter<B> {
    params: Params,
    waiting: Backlog<B>,
    /// ACKs by flow and direction.
    acks: Vec<Acks>,
}

/// The index of a flow's ACKs in one direction.
fn index(packet: &PacketMeta) -> usize {
    2 * packet.flow.index() + usize::from(packet.up)
}

impl<B> AckFilter<B> {
    /// An empty queue.
    pub fn new(params: &Params) -> Self {
        AckFilter { params: params.clone(), waiting: Backlog::default(), acks: Vec::new() }
    }

    fn acks_of(&mut self, packet: &PacketMeta) -> &mut Acks {
        let index = index(packet);
        if self.acks.len() <= index {
            self.acks.resize_with(index + 1, Acks::default);
        }
        &mut self.acks[index]
    }

    /// Returns whether a packet of `bytes` fits once the one at `freed` is gone.
    fn fits(&self, bytes: u32, freed: Option<Slot>) -> bool {
        match (self.params.limit, freed) {
            (limit, None) => self.waiting.has_room(limit, bytes),
            (limit @ Amount::Bytes(_), Some(place)) => {
                self.waiting.has_room(limit, bytes.saturating_sub(self.waiting.meta(place).bytes))
            }
            (Amount::Packets(_) | Amount::Unlimited, Some(_)) => true,
        }
    }

    /// Accepts a pure ACK, and drops the one that it makes redundant.
    fn enqueue_ack(&mut self, packet: Packet<B>, dropped: &mut Vec<Drop<B>>) {
        let (meta, start_after) = (packet.meta, self.params.start_after.0);
        let spared = usize::from(!self.params.aggressive);
        let victim = self.acks_of(&meta).victim(meta.ack, spared);
        if !self.fits(meta.bytes, victim) {
            dropped.push((packet, DropReason::QueueFull));
            return;
        }
        let place = self.waiting.push(packet);
        let acks = self.acks_of(&meta);
        acks.follow(meta.ack, place, start_after);
        if let Some(place) = victim {
            acks.forget(place);
            dropped.push((self.waiting.take(place), DropReason::AckFiltered));
        }
    }
}

impl<B: Send> QueueDiscipline<B> for AckFilter<B> {
    fn enqueue(&mut self, _: Time, packet: Packet<B>, dropped: &mut Vec<Drop<B>>) {
        if packet.meta.pure_ack {
            self.enqueue_ack(packet, dropped);
        } else if self.has_room(packet.meta.bytes) {
            self.waiting.push(packet);
        } else {
            dropped.push((packet, DropReason::QueueFull));
        }
    }

    fn dequeue(&mut self, _: Time, wanted: Wanted, _: &mut Vec<Drop<B>>) -> Option<Packet<B>> {
        let place = self.waiting.find(wanted)?;
        let packet = self.waiting.take(place);
        if packet.meta.pure_ack {
            self.acks_of(&packet.meta).forget(place);
        }
        Some(packet)
    }

    fn packets(&self) -> u32 {
        self.waiting.packets()
    }

    fn tcp_acks(&self) -> u32 {
        self.waiting.tcp_acks()
    }

    fn has_room(&self, bytes: u32) -> bool {
        self.waiting.has_room(self.params.limit, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{ack, data};
    use super::*;

    const ECE: u8 = 1;

    fn acks(numbers: &[u32]) -> Vec<PacketMeta> {
        numbers.iter().map(|number| ack(0, *number)).collect()
    }

    /// The remaining ACK numbers (0 for data) after these arrivals at a queue that filters from the first ACK on.
    fn left(aggressive: bool, arrivals: &[PacketMeta]) -> Vec<u32> {
        let mut queue = AckFilter::new(&Params { aggressive, start_after: Packets(0), ..Params::default() });
        let mut dropped = Vec::new();
        for meta in arrivals {
            queue.enqueue(Time::ZERO, Packet::new(*meta, ()), &mut dropped);
        }
        assert!(dropped.iter().all(|(p, reason)| p.meta.pure_ack && *reason == DropReason::AckFiltered));
        std::iter::from_fn(|| queue.dequeue(Time::ZERO, Wanted::ANY, &mut dropped)).map(|p| p.meta.ack.number).collect()
    }

    #[test]
    fn of_acks_that_wait_the_first_and_the_last_stay() {
        // The first of a connection stays; without `aggressive` one redundant ACK is spared beside the latest.
        assert_eq!(left(true, &acks(&[10, 20, 30, 40, 50])), [10, 50]);
        assert_eq!(left(false, &acks(&[10, 20, 30, 40, 50])), [10, 40, 50]);
    }

    #[test]
    fn duplicate_ack_and_its_original_stay() {
        assert_eq!(left(true, &acks(&[10, 20, 30, 30, 30, 40, 50])), [10, 30, 30, 30, 50]);
        // A window update is treated like a duplicate.
        assert_eq!(left(true, &acks(&[10, 20, 20, 30])), [10, 20, 20, 30]);
    }

    #[test]
    fn an_older_ack_that_was_overtaken_drops_nothing() {
        assert_eq!(left(true, &acks(&[10, 30, 20, 40])), [10, 30, 20, 40]);
    }

    #[test]
    fn numbers_wrap() {
        assert_eq!(left(true, &acks(&[u32::MAX - 20, u32::MAX - 10, 5, 15])), [u32::MAX - 20, 15]);
    }

    #[test]
    fn ack_with_more_than_a_number_stays() {
        let mut arrivals = acks(&[10, 20, 30, 40]);
        arrivals[2].ack.is_plain = false;
        assert_eq!(left(true, &arrivals), [10, 30, 40]);
    }

    #[test]
    fn a_change_of_the_ecn_flags_stays_on_both_sides() {
        let mut arrivals = acks(&[10, 20, 30, 40, 50, 60, 70]);
        for echo in &mut arrivals[3..5] {
            echo.ack.ecn_flags = ECE;
        }
        // 30 is the last ACK without the flag, 40 the first with it, 50 the last with it, 60 the first without it.
        assert_eq!(left(true, &arrivals), [10, 30, 40, 50, 60, 70]);
    }

    #[test]
    fn flows_directions_and_connections_are_apart() {
        let (mut other_flow, mut other_way) = (acks(&[15, 25, 35]), acks(&[16, 26, 36]));
        other_flow.iter_mut().for_each(|meta| meta.flow.0 = 1);
        other_way.iter_mut().for_each(|meta| meta.up = true);
        let mut arrivals = Vec::new();
        for index in 0..3 {
            arrivals.extend([acks(&[10, 20, 30])[index], other_flow[index], other_way[index]]);
        }
        assert_eq!(left(true, &arrivals), [10, 15, 16, 30, 35, 36]);
        let mut again = acks(&[10, 20, 30, 40, 50]);
        again[2..].iter_mut().for_each(|meta| meta.ack.connection = 1);
        assert_eq!(left(true, &again), [10, 20, 30, 50]);
    }

    #[test]
    fn data_is_never_dropped_for_an_ack() {
        let arrivals = [ack(0, 10), ack(0, 20), data(0, 1500), ack(0, 30), data(0, 40)];
        assert_eq!(left(true, &arrivals), [10, 0, 30, 0]);
    }

    #[test]
    fn an_ack_that_has_left_is_not_missed() {
        let mut queue = AckFilter::new(&Params { aggressive: true, start_after: Packets(0), ..Params::default() });
        let mut dropped = Vec::new();
        let mut enter = |queue: &mut AckFilter<()>, number| {
            queue.enqueue(Time::ZERO, Packet::new(ack(0, number), ()), &mut dropped);
            dropped.len()
        };
        for number in 1..100 {
            // Each leaves before the next comes.
            assert_eq!(enter(&mut queue, 10 * number), 0);
            assert!(queue.dequeue(Time::ZERO, Wanted::ANY, &mut Vec::new()).is_some());
        }
        enter(&mut queue, 1_000);
        assert_eq!(enter(&mut queue, 1_010), 1);
    }

    #[test]
    fn a_full_queue_takes_an_ack_in_place_of_a_superfluous_one() {
        let params = Params { aggressive: true, start_after: Packets(2), limit: Amount::Packets(3) };
        let mut queue = AckFilter::new(&params);
        let mut dropped = Vec::new();
        for number in [10, 20, 30, 40, 50] {
            queue.enqueue(Time::ZERO, Packet::new(ack(0, number), ()), &mut dropped);
        }
        let told: Vec<_> = dropped.iter().map(|(p, reason)| (p.meta.ack.number, *reason)).collect();
        assert_eq!(told, [(30, DropReason::AckFiltered), (40, DropReason::AckFiltered)]);
    }
}
