//! Disciplines with all their packets in one backlog, from which their counts follow.

use lasthop_registry::Amount;
use lasthop_units::{Duration, Time};

use super::backlog::Backlog;
use super::interface::{Drop, QueueDiscipline, Wanted};
use crate::Packet;

/// A discipline with one [`Backlog`] and its limit.
pub trait OneBacklog: Send {
    /// The body of its packets.
    type Body;
    /// Whether packets leave in the order of arrival, and are dropped at the tail only.
    const IS_FIFO: bool = false;

    /// All packets that wait.
    fn waiting(&self) -> &Backlog<Self::Body>;
    /// The largest backlog.
    fn limit(&self) -> Amount;
    /// [`QueueDiscipline::enqueue`].
    fn put(&mut self, now: Time, packet: Packet<Self::Body>, dropped: &mut Vec<Drop<Self::Body>>);
    /// [`QueueDiscipline::dequeue`].
    fn take(&mut self, now: Time, wanted: Wanted, dropped: &mut Vec<Drop<Self::Body>>) -> Option<Packet<Self::Body>>;
    /// Packets marked with CE so far.
    fn marked(&self) -> u64 {
        0
    }

    /// [`QueueDiscipline::set_target`].
    fn keep(&mut self, target: Duration) {
        let _ = target;
    }

    /// Returns whether a packet of `bytes` fits below the limit.
    #[inline]
    fn fits(&self, bytes: u32) -> bool {
        self.waiting().has_room(self.limit(), bytes)
    }
}

impl<Q: OneBacklog> QueueDiscipline<Q::Body> for Q {
    fn enqueue(&mut self, now: Time, packet: Packet<Q::Body>, dropped: &mut Vec<Drop<Q::Body>>) {
        self.put(now, packet, dropped);
    }

    fn dequeue(&mut self, now: Time, wanted: Wanted, dropped: &mut Vec<Drop<Q::Body>>) -> Option<Packet<Q::Body>> {
        self.take(now, wanted, dropped)
    }

    fn set_target(&mut self, target: Duration) {
        self.keep(target);
    }

    fn waiting_for(&self, wanted: Wanted, most: usize) -> usize {
        self.waiting().count(wanted, most)
    }

    fn packets(&self) -> u32 {
        self.waiting().packets()
    }

    fn tcp_acks(&self) -> u32 {
        self.waiting().tcp_acks()
    }

    fn has_room(&self, bytes: u32) -> bool {
        self.fits(bytes)
    }

    fn lets_pass(&self, bytes: u32) -> bool {
        Q::IS_FIFO && self.waiting().packets() == 0 && self.fits(bytes)
    }

    fn plain_limit(&self) -> Option<Amount> {
        Q::IS_FIFO.then_some(self.limit())
    }

    fn marks(&self) -> u64 {
        self.marked()
    }
}
