//! A queue discipline from outside.
//!
//! A discipline orders packets by their facts and never looks into their bodies. An external one therefore gets packets
//! whose body is a [`Ticket`], whatever the network carries; the bodies wait here until their tickets come back.

use lasthop_engine::Stream;
use lasthop_observe::{DropReason, NodeId};
use lasthop_units::Time;

use super::interface::{AirtimeUse, Drop, QueueDiscipline, Wanted};
use crate::{Packet, PacketMeta};

/// Substitute for the body of a packet that waits. It cannot be copied: a packet that goes in comes out once.
#[derive(Debug)]
pub struct Ticket(u32);

/// Makes an empty queue; its random numbers come from the stream.
pub type QueueMaker = dyn Fn(Stream) -> Box<dyn QueueDiscipline<Ticket>> + Send + Sync;

/// A queue of packets with bodies `B`, ordered by a discipline that sees tickets.
pub struct ForeignQueue<B> {
    discipline: Box<dyn QueueDiscipline<Ticket>>,
    bodies: Cloakroom<B>,
    dropped: Vec<Drop<Ticket>>,
}

impl<B> ForeignQueue<B> {
    /// An empty queue in the order of `discipline`.
    pub fn new(discipline: Box<dyn QueueDiscipline<Ticket>>) -> Self {
        ForeignQueue { discipline, bodies: Cloakroom::default(), dropped: Vec::new() }
    }

    fn hand_back(&mut self, dropped: &mut Vec<Drop<B>>) {
        let bodies = &mut self.bodies;
        dropped
            .extend(self.dropped.drain(..).map(|(packet, reason): (_, DropReason)| (bodies.reclaim(packet), reason)));
    }
}

impl<B: Send> QueueDiscipline<B> for ForeignQueue<B> {
    fn enqueue(&mut self, now: Time, packet: Packet<B>, dropped: &mut Vec<Drop<B>>) {
        let packet = self.bodies.leave(packet);
        self.discipline.enqueue(now, packet, &mut self.dropped);
        self.hand_back(dropped);
    }

    fn dequeue(&mut self, now: Time, wanted: Wanted, dropped: &mut Vec<Drop<B>>) -> Option<Packet<B>> {
        let packet = self.discipline.dequeue(now, wanted, &mut self.dropped);
        self.hand_back(dropped);
        packet.map(|packet| self.bodies.reclaim(packet))
    }

    fn packets(&self) -> u32 {
        self.discipline.packets()
    }

    fn tcp_acks(&self) -> u32 {
        self.discipline.tcp_acks()
    }

    fn has_room(&self, bytes: u32) -> bool {
        self.discipline.has_room(bytes)
    }

    fn lets_pass(&self, bytes: u32) -> bool {
        self.discipline.lets_pass(bytes)
    }

    fn marks(&self) -> u64 {
        self.discipline.marks()
    }

    fn on_done(&mut self, now: Time, packet: &PacketMeta) {
        self.discipline.on_done(now, packet);
    }

    fn on_airtime(&mut self, now: Time, used: &AirtimeUse) {
        self.discipline.on_airtime(now, used);
    }

    fn set_weight(&mut self, station: NodeId, weight: u32) {
        self.discipline.set_weight(station, weight);
    }

    fn failure(&self) -> Option<&str> {
        self.discipline.failure()
    }

    fn schedules_stations(&self) -> bool {
        self.discipline.schedules_stations()
    }

    fn shares_airtime(&self) -> bool {
        self.discipline.shares_airtime()
    }

    fn next_station(&mut self, now: Time, retrying: &[NodeId]) -> Option<NodeId> {
        self.discipline.next_station(now, retrying)
    }
}

/// Storage of packets until their tickets come back.
struct Cloakroom<B> {
    places: Vec<Option<Packet<B>>>,
    free: Vec<u32>,
}

impl<B> Default for Cloakroom<B> {
    fn default() -> Self {
        Cloakroom { places: Vec::new(), free: Vec::new() }
    }
}

impl<B> Cloakroom<B> {
    fn leave(&mut self, packet: Packet<B>) -> Packet<Ticket> {
        let place = self.free.pop().unwrap_or(self.places.len() as u32);
        let ticket = Packet::new(packet.meta, Ticket(place));
        match self.places.get_mut(place as usize) {
            Some(empty) => *empty = Some(packet),
            None => self.places.push(Some(packet)),
        }
        ticket
    }

    fn reclaim(&mut self, ticket: Packet<Ticket>) -> Packet<B> {
        let Ticket(place) = ticket.body;
        self.free.push(place);
        let mut packet = self.places[place as usize].take().expect("each ticket is for one packet");
        packet.meta = ticket.meta;
        packet
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::data;
    use super::super::{QueueDisciplineKind, codel, fifo};
    use super::*;
    use lasthop_registry::Amount;
    use lasthop_units::Duration;

    fn random() -> Stream {
        Stream::new(1, "queue", 0)
    }

    /// The output and the drops of a queue whose arrivals exceed its departures for a second.
    fn through(mut queue: Box<dyn QueueDiscipline<String>>) -> (Vec<String>, Vec<(String, DropReason)>) {
        let (mut out, mut dropped) = (Vec::new(), Vec::new());
        for n in 0..100 {
            let now = Time::ZERO + Duration::from_millis(10 * n);
            for half in ["a", "b"] {
                queue.enqueue(now, Packet::new(data(0, 1500), format!("{n}{half}")), &mut dropped);
            }
            out.extend(queue.dequeue(now, Wanted::ANY, &mut dropped).map(|packet| packet.into_body()));
        }
        (out, dropped.into_iter().map(|(packet, reason)| (packet.into_body(), reason)).collect())
    }

    #[test]
    fn a_discipline_behaves_with_tickets_as_with_bodies() {
        let kinds = [
            QueueDisciplineKind::Fifo(fifo::Params::limited(Amount::Packets(7))),
            QueueDisciplineKind::Codel(codel::Params::default()),
        ];
        for kind in kinds {
            let (out, dropped) = through(Box::new(ForeignQueue::new(kind.build(random()))));
            assert!(out.len() > 90 && !dropped.is_empty());
            assert_eq!((out, dropped), through(kind.build(random())), "{}", kind.name());
        }
    }

    #[test]
    fn places_are_used_again() {
        let fifo = QueueDisciplineKind::all().remove(0);
        let mut queue = ForeignQueue::new(fifo.build(random()));
        for n in 0..1000 {
            queue.enqueue(Time::ZERO, Packet::new(data(0, 40), n), &mut Vec::new());
            let packet = queue.dequeue(Time::ZERO, Wanted::ANY, &mut Vec::new());
            assert_eq!(packet.map(|packet| packet.body), Some(n));
        }
        assert_eq!(queue.bodies.places.len(), 1);
    }
}
