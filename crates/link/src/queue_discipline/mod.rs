//! Queue disciplines, one file each.

use lasthop_observe::DropReason;
use lasthop_registry::registry;
use lasthop_units::Time;

use crate::Packet;

registry! {
    /// The queue discipline that a scenario chose, with its parameters.
    pub enum QueueDisciplineKind as "queue_discipline" {
        /// First in, first out; drops at the tail.
        fifo => Fifo: source "the default of every system without a better one", status "unit tests";
    }
    planned: red, codel, sfq, fq_codel, pie, fq_pie, cake_lite, split_ack, ack_filter, airtime_fq_codel
}

/// A packet that a discipline threw away, and why.
pub type Drop<B> = (Packet<B>, DropReason);

/// Where packets wait. Enqueueing or dequeueing may drop any packet; drops are appended to `dropped`.
pub trait QueueDiscipline<B>: Send {
    /// Takes a packet in, or drops it or another.
    fn enqueue(&mut self, now: Time, packet: Packet<B>, dropped: &mut Vec<Drop<B>>);
    /// The next packet to send.
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Drop<B>>) -> Option<Packet<B>>;
    /// Packets waiting.
    fn packets(&self) -> u32;
    /// Pure TCP ACKs among them.
    fn tcp_acks(&self) -> u32;
    /// Whether a packet of `bytes` would be taken in without a drop.
    fn has_room(&self, bytes: u32) -> bool;
}

impl QueueDisciplineKind {
    /// An empty queue of this kind.
    pub fn build<B: Send + 'static>(&self) -> Box<dyn QueueDiscipline<B>> {
        match self {
            QueueDisciplineKind::Fifo(params) => Box::new(fifo::Fifo::new(params.clone())),
        }
    }
}
