//! The hosts at both ends of a network, as the network sees them.

use lasthop_engine::Scheduler;
use lasthop_link::{Packet, PacketMeta};
use lasthop_observe::detail::Detail;
use lasthop_observe::{NodeId, Observer, Record, Step};
use lasthop_units::Time;
use lasthop_wifi::phy::ModeId;
use lasthop_wifi::{AccessCategory, Attempted};

use crate::event::Event;

/// The context of a call of hosts: the time, a way to schedule events, and the observer.
pub struct Context<'a, E, O> {
    /// the present
    pub now: Time,
    /// the observer of the run
    pub observer: &'a mut O,
    pub(crate) events: &'a mut Scheduler<Event<E>>,
}

impl<E, O: Observer> Context<'_, E, O> {
    /// Calls [`Hosts::handle`] with `event` at `at`, or now if that is past.
    #[inline(always)]
    pub fn schedule(&mut self, at: Time, event: E) {
        self.events.at(at.max(self.now), Event::Host(event));
    }

    /// Reports a step to the observer.
    #[inline(always)]
    pub fn tell(&mut self, step: Step) {
        self.observer.observe(self.now, Record::Step(step));
    }

    /// Reports a detail that only a recording reads.
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
    /// the queue of this station pulls data when it has room ([`Hosts::pull`])
    Offer {
        /// the station
        station: NodeId,
        /// user priority of the data, 0 to 7
        tid: u8,
    },
    /// the wired link of this AP pulls data when it is free ([`Hosts::feed`])
    Feed {
        /// the AP
        ap: NodeId,
    },
}

/// All hosts of a network: those at its stations and the servers behind its APs.
///
/// After each call of [`arrive`](Self::arrive) and [`handle`](Self::handle) the network carries out the orders of
/// [`next`](Self::next) until there are no more.
pub trait Hosts<B> {
    /// The events that hosts schedule for themselves.
    type Event: Copy;

    /// Handles a packet that has reached the host at its end: the server if it goes up, otherwise its station.
    fn arrive<O: Observer>(&mut self, packet: Packet<B>, at: &mut Context<'_, Self::Event, O>);

    /// Handles an event that was scheduled and is due.
    fn handle<O: Observer>(&mut self, event: Self::Event, at: &mut Context<'_, Self::Event, O>);

    /// Returns the next action of the hosts that were called, one at a time.
    fn next<O: Observer>(&mut self, at: &mut Context<'_, Self::Event, O>) -> Option<Order<B>>;

    /// Called after everything else that belongs to an event. Returns whether a host has something to do that had to
    /// wait for it, such as sending data for which [`released`](Self::released) made room; [`next`](Self::next) then
    /// returns the orders.
    fn resume(&mut self) -> bool {
        false
    }

    /// Returns the next packet for the MAC of a back-pressured `station` that has room, in `category` if it has
    /// categories.
    fn pull<O: Observer>(
        &mut self,
        station: NodeId,
        category: Option<AccessCategory>,
        at: &mut Context<'_, Self::Event, O>,
    ) -> Option<Packet<B>> {
        let _ = (station, category, at);
        None
    }

    /// Whether a saturated source of a station would answer [`pull`](Self::pull).
    fn is_saturated(&self, station: NodeId, category: Option<AccessCategory>) -> bool {
        let _ = (station, category);
        false
    }

    /// Returns the next packet of a saturated source behind `ap`, whose wired link is free.
    fn feed<O: Observer>(&mut self, ap: NodeId, at: &mut Context<'_, Self::Event, O>) -> Option<Packet<B>> {
        let _ = (ap, at);
        None
    }

    /// Called when a station is done with one of its packets: it was acknowledged, given up or dropped; `refused` if
    /// its queue dropped it while a packet of the same flow came in.
    fn released<O: Observer>(&mut self, packet: &PacketMeta, refused: bool, at: &mut Context<'_, Self::Event, O>) {
        let _ = (packet, refused, at);
    }

    /// Called when a packet that was [injected](crate::Network::inject) enters.
    fn enters<O: Observer>(&mut self, packet: &mut Packet<B>, at: &mut Context<'_, Self::Event, O>) {
        let _ = (packet, at);
    }

    /// Called with a packet that has come to an access point, over the air if it goes up and otherwise over the wire.
    /// Returns it if the network is to take it on; `None` if a host there takes it.
    #[inline(always)]
    fn at_access_point<O: Observer>(
        &mut self,
        ap: NodeId,
        packet: Packet<B>,
        at: &mut Context<'_, Self::Event, O>,
    ) -> Option<Packet<B>> {
        let _ = (ap, at);
        Some(packet)
    }

    /// Called with the result of an attempt of `node` at the MPDU of a packet, in `mode`.
    #[inline(always)]
    fn attempted(&mut self, now: Time, node: NodeId, packet: &PacketMeta, mode: ModeId, result: Attempted) {
        let _ = (now, node, packet, mode, result);
    }

    /// Called at the end of a group frame that was [announced](crate::Network::send_to_all), with the nodes that decoded it.
    fn group_ended(&mut self, now: Time, number: u32, decoded: &[NodeId]) {
        let _ = (now, number, decoded);
    }

    /// Takes a packet that a queue of the network dropped; hosts may reuse it.
    fn discarded(&mut self, packet: Packet<B>) {
        drop(packet);
    }
}
