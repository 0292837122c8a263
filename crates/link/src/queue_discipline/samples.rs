//! Packets and queues for tests.

use lasthop_observe::{FlowId, NodeId};
use lasthop_units::Time;

use super::fifo::Fifo;
use super::interface::{Drop, QueueDiscipline, Wanted};
use crate::{AckFacts, Packet, PacketMeta};

/// A data packet of a flow to station 1 that came at 0.
pub fn data(flow: u32, bytes: u32) -> PacketMeta {
    PacketMeta::plain(FlowId(flow), NodeId(1), false, bytes)
}

/// A pure ACK of 40 B, with the same station and time.
pub fn ack(flow: u32, number: u32) -> PacketMeta {
    let ack = AckFacts { number, is_plain: true, ..AckFacts::default() };
    PacketMeta { pure_ack: true, ack, ..data(flow, 40) }
}

/// A FIFO that does not report that it is plain.
pub(crate) struct Reserved<B>(pub Fifo<B>);

impl<B: Send> QueueDiscipline<B> for Reserved<B> {
    fn enqueue(&mut self, now: Time, packet: Packet<B>, dropped: &mut Vec<Drop<B>>) {
        self.0.enqueue(now, packet, dropped);
    }
    fn dequeue(&mut self, now: Time, wanted: Wanted, dropped: &mut Vec<Drop<B>>) -> Option<Packet<B>> {
        self.0.dequeue(now, wanted, dropped)
    }
    fn packets(&self) -> u32 {
        self.0.packets()
    }
    fn tcp_acks(&self) -> u32 {
        self.0.tcp_acks()
    }
    fn has_room(&self, bytes: u32) -> bool {
        self.0.has_room(bytes)
    }
}
