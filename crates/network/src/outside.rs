//! A network without its own hosts: arrivals are kept until its driver takes them.

use std::collections::VecDeque;

use lasthop_link::Packet;
use lasthop_observe::Observer;
use lasthop_units::Time;

use crate::hosts::{Context, Hosts, Order};

/// An event that never happens.
#[derive(Clone, Copy, Debug)]
pub enum NoEvent {}

/// A packet at the end of its way: at the server if `packet.meta.up`, otherwise at its station.
#[derive(Debug)]
pub struct Arrival<B> {
    /// time of arrival
    pub at: Time,
    /// the packet; `packet.meta.ecn` shows whether a queue has marked it
    pub packet: Packet<B>,
}

/// The hosts of a network that a driver feeds: they keep arrivals until the driver takes them, and send nothing.
#[derive(Debug)]
pub struct Outside<B> {
    pub(crate) arrived: VecDeque<Arrival<B>>,
}

impl<B> Default for Outside<B> {
    fn default() -> Self {
        Outside { arrived: VecDeque::new() }
    }
}

impl<B> Hosts<B> for Outside<B> {
    type Event = NoEvent;

    fn arrive<O: Observer>(&mut self, packet: Packet<B>, at: &mut Context<'_, NoEvent, O>) {
        self.arrived.push_back(Arrival { at: at.now, packet });
    }

    fn handle<O: Observer>(&mut self, event: NoEvent, _: &mut Context<'_, NoEvent, O>) {
        match event {}
    }

    fn next<O: Observer>(&mut self, _: &mut Context<'_, NoEvent, O>) -> Option<Order<B>> {
        None
    }
}
