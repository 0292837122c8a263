//! Packets for tests of queues.

#![allow(dead_code, reason = "each test takes what it needs")]

use lasthop_engine::Stream;
use lasthop_link::{Packet, PacketMeta, QueueDiscipline, QueueDisciplineKind};
use lasthop_observe::{FlowId, NodeId};
use lasthop_units::{Duration, Ecn, Time};

/// A packet of a flow to the station of the same number, with TID 0, not capable of ECN.
pub fn packet(flow: u32, bytes: u32, body: u64, now: Time) -> Packet<u64> {
    let plain = PacketMeta::plain(FlowId(flow), NodeId(flow), false, bytes);
    Packet::new(PacketMeta { enqueued_at: now, ..plain }, body)
}

/// The same packet, capable of ECN.
pub fn capable(mut packet: Packet<u64>) -> Packet<u64> {
    packet.meta.ecn = Ecn::Ect0;
    packet
}

/// An empty queue of a kind.
pub fn queue(kind: &QueueDisciplineKind) -> Box<dyn QueueDiscipline<u64>> {
    kind.build(Stream::new(1, "queue", 0))
}

/// A time in milliseconds.
pub fn ms(t: u64) -> Time {
    Time::ZERO + Duration::from_millis(t)
}
