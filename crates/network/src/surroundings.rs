//! All of a network except its medium, so that the medium can call it.

use std::collections::VecDeque;

use lasthop_engine::{Scheduler, Turn};
use lasthop_link::{Packet, PacketMeta};
use lasthop_observe::detail::Detail;
use lasthop_observe::{NodeId, Observer, Record, Step};
use lasthop_units::Time;
use lasthop_wifi::phy::ModeId;
use lasthop_wifi::{AccessCategory, Agenda, Attempted, Environment, MediumEvent};

use crate::event::Event;
use crate::hosts::{Context, Hosts};

/// The clock, the observer and the hosts of a network: the environment that its medium calls back.
pub(crate) struct Surroundings<B, O, H: Hosts<B>> {
    pub events: Scheduler<Event<H::Event>>,
    pub observer: O,
    pub hosts: H,
    /// packets that the medium delivered during a call
    pub inbox: Inbox<B>,
}

/// Packets on their way out of the medium, in order; mostly one at a time.
pub(crate) struct Inbox<B> {
    first: Option<(NodeId, Packet<B>)>,
    others: VecDeque<(NodeId, Packet<B>)>,
}

impl<B> Inbox<B> {
    pub fn new() -> Inbox<B> {
        Inbox { first: None, others: VecDeque::new() }
    }

    #[inline(always)]
    pub fn push(&mut self, node: NodeId, packet: Packet<B>) {
        if self.first.is_none() && self.others.is_empty() {
            self.first = Some((node, packet));
        } else {
            self.others.push_back((node, packet));
        }
    }

    #[inline(always)]
    pub fn pop(&mut self) -> Option<(NodeId, Packet<B>)> {
        if self.first.is_some() { self.first.take() } else { self.others.pop_front() }
    }
}

impl<B: Send + 'static, O: Observer, H: Hosts<B>> Surroundings<B, O, H> {
    /// The hosts, and the context of a call to them.
    #[inline(always)]
    pub fn call(&mut self, now: Time) -> (&mut H, Context<'_, H::Event, O>) {
        (&mut self.hosts, Context { now, observer: &mut self.observer, events: &mut self.events })
    }

    #[inline(always)]
    pub fn tell(&mut self, now: Time, step: Step) {
        self.observer.observe(now, Record::Step(step));
    }
}

impl<B, O, H: Hosts<B>> Agenda for Surroundings<B, O, H> {
    #[inline(always)]
    fn schedule(&mut self, at: Time, event: MediumEvent) {
        self.events.at(at, Event::Medium(event));
    }

    #[inline(always)]
    fn turn(&mut self) -> Turn {
        self.events.turn()
    }

    #[inline(always)]
    fn schedule_in_turn(&mut self, at: Time, turn: Turn, event: MediumEvent) {
        self.events.at_turn(at, turn, Event::Medium(event));
    }
}

impl<B: Send + 'static, O: Observer, H: Hosts<B>> Environment<B> for Surroundings<B, O, H> {
    const READS_STEPS: bool = O::READS_STEPS;
    const READS_DETAILS: bool = O::READS_DETAILS;
    const READS_FRAMES: bool = O::READS_FRAMES;

    #[inline(always)]
    fn reads_steps(&self) -> bool {
        self.observer.reads_steps()
    }

    #[inline(always)]
    fn reads_frames(&self) -> bool {
        self.observer.reads_frames()
    }

    #[inline(always)]
    fn awaits_txops(&self) -> bool {
        self.observer.awaits_txops()
    }

    #[inline(always)]
    fn deliver(&mut self, _: Time, node: NodeId, packet: Packet<B>) {
        self.inbox.push(node, packet);
    }

    fn pull(&mut self, now: Time, node: NodeId, category: Option<AccessCategory>) -> Option<Packet<B>> {
        let (hosts, mut at) = self.call(now);
        hosts.pull(node, category, &mut at)
    }

    fn is_saturated(&self, node: NodeId, category: Option<AccessCategory>) -> bool {
        self.hosts.is_saturated(node, category)
    }

    #[inline]
    fn released(&mut self, now: Time, _: NodeId, packet: &PacketMeta, refused: bool) {
        if packet.up {
            let (hosts, mut at) = self.call(now);
            hosts.released(packet, refused, &mut at);
        }
    }

    #[inline]
    fn attempted(&mut self, now: Time, node: NodeId, packet: &PacketMeta, mode: ModeId, result: Attempted) {
        self.hosts.attempted(now, node, packet, mode, result);
    }

    fn group_ended(&mut self, now: Time, number: u32, decoded: &[NodeId]) {
        self.hosts.group_ended(now, number, decoded);
    }

    fn discarded(&mut self, packet: Packet<B>) {
        self.hosts.discarded(packet);
    }

    #[inline(always)]
    fn observe(&mut self, at: Time, record: Record) {
        self.observer.observe(at, record);
    }

    #[inline(always)]
    fn detail(&mut self, at: Time, detail: Detail) {
        self.observer.detail(at, detail);
    }
}
