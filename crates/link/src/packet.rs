//! A packet: facts and body.

use lasthop_observe::detail::{Detail, Passage};
use lasthop_observe::{DropReason, FlowId, NodeId, QueueLayer, Record};
use lasthop_units::{Ecn, Time};

/// What lower layers may know of a packet: what an access point may legally see of a header.
#[derive(Clone, Copy, Debug)]
pub struct PacketMeta {
    /// size of the IP packet in bytes
    pub bytes: u32,
    /// the flow it belongs to, as a classifier would tell from addresses and ports
    pub flow: FlowId,
    /// the station at the wireless end
    pub station: NodeId,
    /// true from the station towards the server
    pub up: bool,
    /// user priority 0 to 7, from the DSCP; with it its access category [802.11-2020 Table 10-1]
    pub tid: u8,
    /// a TCP segment without data, SYN, FIN or RST
    pub pure_ack: bool,
    /// of a pure ACK, what filters compare; of other packets only the connection
    pub ack: AckFacts,
    /// the ECN field, which a queue may set to [`Ecn::Ce`] where it [may](Ecn::is_capable)
    pub ecn: Ecn,
    /// its number, where its host numbers packets: each direction of a flow counts from 1
    pub packet: u32,
    /// when it entered the queue it waits in
    pub enqueued_at: Time,
}

impl PacketMeta {
    /// Of a packet of `bytes` between `station` and its server that is best effort, not ECN-capable and no pure ACK.
    pub fn plain(flow: FlowId, station: NodeId, up: bool, bytes: u32) -> PacketMeta {
        PacketMeta {
            bytes,
            flow,
            station,
            up,
            tid: 0,
            pure_ack: false,
            ack: AckFacts::default(),
            ecn: Ecn::NotEct,
            packet: 0,
            enqueued_at: Time::ZERO,
        }
    }

    /// What observers are told where this packet is dropped.
    pub fn dropped(&self, node: NodeId, layer: QueueLayer, reason: DropReason) -> Record {
        self.lost(node, layer, reason, false)
    }

    /// What they are told where the MAC gives it up; it may have arrived all the same.
    pub fn given_up(&self, node: NodeId, arrived: bool) -> Record {
        self.lost(node, QueueLayer::Mac, DropReason::RetryLimit, arrived)
    }

    /// What a recording is told where it gets somewhere at `node`.
    #[inline(always)]
    pub fn passes(&self, what: Passage, node: NodeId) -> Detail {
        Detail::Passes { what, node, flow: self.flow, up: self.up, packet: self.packet }
    }

    fn lost(&self, node: NodeId, layer: QueueLayer, reason: DropReason, arrived: bool) -> Record {
        let PacketMeta { flow, pure_ack: tcp_ack, up, packet, .. } = *self;
        Record::Dropped { node, flow, layer, reason, tcp_ack, arrived, up, packet }
    }
}

/// What a filter of ACKs may read of a TCP header that is not encrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckFacts {
    /// acknowledgement number
    pub number: u32,
    /// which connection of the flow, as ports would tell
    pub connection: u16,
    /// the bits ECE, CWR and AE of the header [RFC 3168 §6.1, RFC 9768 §3.1]
    pub ecn_flags: u16,
    /// true if it bears nothing else: no SACK blocks, no PSH
    pub is_plain: bool,
}

impl AckFacts {
    /// Whether it acknowledges more than an ACK `before` it of the same connection, under the same ECN flags.
    pub fn continues(&self, before: &AckFacts) -> bool {
        self.connection == before.connection
            && self.ecn_flags == before.ecn_flags
            && self.number.wrapping_sub(before.number) as i32 > 0
    }
}

impl PacketMeta {
    /// Sets CE where it may; whether it carries CE now. [RFC 3168 §5]
    pub fn mark(&mut self) -> bool {
        if self.ecn.is_capable() {
            self.ecn = Ecn::Ce;
        }
        self.ecn == Ecn::Ce
    }
}

/// A packet with a body that nobody below looks into.
#[derive(Clone, Debug)]
pub struct Packet<B> {
    /// the facts
    pub meta: PacketMeta,
    /// the rest
    pub body: B,
}
