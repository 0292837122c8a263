//! Packets for the tests of disciplines.

use lasthop_observe::{FlowId, NodeId};

use crate::{AckFacts, PacketMeta};

/// A data packet of a flow to station 1, came at 0.
pub fn data(flow: u32, bytes: u32) -> PacketMeta {
    PacketMeta::plain(FlowId(flow), NodeId(1), false, bytes)
}

/// A pure ACK of 40 B, likewise.
pub fn ack(flow: u32, number: u32) -> PacketMeta {
    let ack = AckFacts { number, is_plain: true, ..AckFacts::default() };
    PacketMeta { pure_ack: true, ack, ..data(flow, 40) }
}
