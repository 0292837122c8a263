//! The hosts at both ends of a network, as the network sees them.

use lasthop_engine::Scheduler;
use lasthop_link::{Packet, PacketMeta};
use lasthop_observe::detail::Detail;
use lasthop_observe::{NodeId, Observer, Record, Step};
use lasthop_units::Time;
use lasthop_wifi::AccessCategory;

use crate::event::Event;

/// The context of a call of hosts: the time, a way to schedule events, and the observer.
pub struct Context<'a, E, O> {
    /// the present
    pub now: Time,
    /// who is told what happens
    pub observer: &'a mut O,
    pub(crate) events: &'a mut Scheduler<Event<E>>,
}

impl<E, O: Observer> Context<'_, E, O> {
    /// Calls [`Hosts::handle`] with `event` at `at`, or now if that is past.
    #[inline(always)]
    pub fn schedule(&mut self, at: Time, event: E) {
        self.events.at(at.max(self.now), Event::Host(event));
    }

    /// Tells who watches of a step.
    #[inline(always)]
    pub fn tell(&mut self, step: Step) {
        self.observer.observe(self.now, Record::Step(step));
    }

    /// Tells who watches of what only a recording reads.
    #[inline(always)]
    pub fn detail(&mut self, detail: Detail) {
        self.observer.detail(self.now, detail);
    }
}

/// A request of hosts to the network.
#[derive(Clone, Debug)]
pub enum Order<B> {
    /// a packet goes out, up from its station or down from its server
    Send(Packet<B>),
    /// the queue of this station asks for data when it has room ([`Hosts::pull`])
    Offer {
        /// which station
        station: NodeId,
        /// user priority of the data, 0 to 7
        tid: u8,
    },
    /// the wired link of this AP asks for data when it is free ([`Hosts::feed`])
    Feed {
        /// which AP
        ap: NodeId,
    },
}

/// All hosts of a network: those at its stations and the servers behind its APs.
///
/// After each call of [`arrive`](Self::arrive) and [`handle`](Self::handle) the network carries out what
/// [`next`](Self::next) orders until it orders nothing more.
pub trait Hosts<B> {
    /// The events that hosts schedule for themselves.
    type Event: Copy;

    /// A packet has reached the host at its end: the server if it goes up, else its station.
    fn arrive<O: Observer>(&mut self, packet: Packet<B>, at: &mut Context<'_, Self::Event, O>);

    /// An event that was scheduled is due.
    fn handle<O: Observer>(&mut self, event: Self::Event, at: &mut Context<'_, Self::Event, O>);

    /// Returns the next action of the hosts that were called, one at a time.
    fn next<O: Observer>(&mut self, at: &mut Context<'_, Self::Event, O>) -> Option<Order<B>>;

    /// All else that belongs to an event is done: whether a host has something to do that had to wait for it, such as
    /// data for which [`released`](Self::released) made room. [`next`](Self::next) says what, until this is false.
    fn resume(&mut self) -> bool {
        false
    }

    /// The MAC of a back-pressured `station` has room, in `category` where it has categories: the next packet for it.
    fn pull<O: Observer>(
        &mut self,
        station: NodeId,
        category: Option<AccessCategory>,
        at: &mut Context<'_, Self::Event, O>,
    ) -> Option<Packet<B>> {
        let _ = (station, category, at);
        None
    }

    /// The wired link of `ap` is free: the next packet of a saturated source behind it.
    fn feed<O: Observer>(&mut self, ap: NodeId, at: &mut Context<'_, Self::Event, O>) -> Option<Packet<B>> {
        let _ = (ap, at);
        None
    }

    /// A station is done with a packet of its own: it was acknowledged, given up or dropped; `refused` if its queue
    /// dropped it while a packet of the same flow came in.
    fn released<O: Observer>(&mut self, packet: &PacketMeta, refused: bool, at: &mut Context<'_, Self::Event, O>) {
        let _ = (packet, refused, at);
    }

    /// A packet that was [injected](crate::Network::inject) enters now.
    fn enters<O: Observer>(&mut self, packet: &mut Packet<B>, at: &mut Context<'_, Self::Event, O>) {
        let _ = (packet, at);
    }

    /// A queue of the network dropped a packet: what it carried, which hosts may use for another.
    fn discarded(&mut self, body: B) {
        drop(body);
    }
}
