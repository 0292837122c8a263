//! First in, first out, dropping at the tail.
//!
//! Models the interface queue of a plain system. The limit is counted in packets, where a 40-byte
//! ACK costs as much as a full segment, or in bytes. Leaves out: priority bands.

use std::collections::VecDeque;

use lasthop_observe::DropReason;
use lasthop_registry::{Amount, ParamError, params};
use lasthop_units::Time;

use super::{Drop, QueueDiscipline, Wanted};
use crate::Packet;

params! {
    /// Parameters of `fifo`.
    pub struct Params {
        /// Largest backlog, in packets or in bytes; a packet that would exceed it is dropped.
        pub limit: Amount = Amount::Packets(50),
    }
    check |this, path| {
        if matches!(this.limit, Amount::Packets(0) | Amount::Bytes(0)) {
            return Err(ParamError::new(format!("{path}.limit"), "a queue without room drops everything; at least 1 packet"));
        }
        Ok(())
    }
}

/// See the module.
pub struct Fifo<B> {
    params: Params,
    waiting: VecDeque<Packet<B>>,
    bytes: u64,
    tcp_acks: u32,
}

impl<B> Fifo<B> {
    /// An empty queue.
    pub fn new(params: Params) -> Self {
        Fifo { params, waiting: VecDeque::new(), bytes: 0, tcp_acks: 0 }
    }
}

impl<B: Send> QueueDiscipline<B> for Fifo<B> {
    fn enqueue(&mut self, _: Time, packet: Packet<B>, dropped: &mut Vec<Drop<B>>) {
        if !self.has_room(packet.meta.bytes) {
            dropped.push((packet, DropReason::QueueFull));
            return;
        }
        self.bytes += u64::from(packet.meta.bytes);
        self.tcp_acks += u32::from(packet.meta.pure_ack);
        self.waiting.push_back(packet);
    }

    fn dequeue(&mut self, _: Time, wanted: Wanted, _: &mut Vec<Drop<B>>) -> Option<Packet<B>> {
        let place = self.waiting.iter().position(|p| wanted.includes(&p.meta))?;
        let packet = self.waiting.remove(place)?;
        self.bytes -= u64::from(packet.meta.bytes);
        self.tcp_acks -= u32::from(packet.meta.pure_ack);
        Some(packet)
    }

    fn packets(&self) -> u32 {
        self.waiting.len() as u32
    }

    fn tcp_acks(&self) -> u32 {
        self.tcp_acks
    }

    fn has_room(&self, bytes: u32) -> bool {
        match self.params.limit {
            Amount::Unlimited => true,
            Amount::Packets(limit) => (self.waiting.len() as u64) < limit,
            Amount::Bytes(limit) => self.bytes + u64::from(bytes) <= limit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PacketMeta;
    use lasthop_observe::{FlowId, NodeId};
    use lasthop_units::Ecn;

    fn packet(bytes: u32, name: char) -> Packet<char> {
        let meta = PacketMeta {
            bytes,
            flow: FlowId(0),
            station: NodeId(1),
            up: true,
            tid: 0,
            pure_ack: bytes == 40,
            ecn: Ecn::NotEct,
            enqueued_at: Time::ZERO,
        };
        Packet { meta, body: name }
    }

    /// Enqueues packets of these sizes; returns what comes out and what was dropped.
    fn through(limit: Amount, sizes: &[u32]) -> (String, String) {
        let mut queue = Fifo::new(Params { limit });
        let mut dropped = Vec::new();
        for (size, name) in sizes.iter().zip('a'..) {
            queue.enqueue(Time::ZERO, packet(*size, name), &mut dropped);
        }
        let out = std::iter::from_fn(|| queue.dequeue(Time::ZERO, Wanted::ANY, &mut dropped)).map(|p| p.body).collect();
        assert_eq!((queue.packets(), queue.tcp_acks(), queue.bytes), (0, 0, 0));
        (out, dropped.iter().map(|(p, _)| p.body).collect())
    }

    #[test]
    fn a_limit_in_packets_counts_an_ack_as_a_packet() {
        assert_eq!(through(Amount::Packets(2), &[40, 1500, 40]), ("ab".into(), "c".into()));
    }

    #[test]
    fn a_limit_in_bytes_lets_a_small_packet_in_where_a_large_one_is_dropped() {
        assert_eq!(through(Amount::Bytes(1600), &[1500, 1500, 40]), ("ac".into(), "b".into()));
        // Exactly full is not over.
        assert_eq!(through(Amount::Bytes(1540), &[1500, 40]), ("ab".into(), "".into()));
    }

    #[test]
    fn an_unlimited_queue_never_drops() {
        assert_eq!(through(Amount::Unlimited, &[1500; 20]).1, "");
    }
}
