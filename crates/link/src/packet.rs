//! Packets: facts and body.

use std::ops::{Deref, DerefMut};

use lasthop_observe::detail::{Detail, Passage};
use lasthop_observe::{DropReason, FlowId, NodeId, QueueLayer, Record};
use lasthop_units::{Ecn, Time};

/// The facts of a packet that lower layers may know: those that an access point may legally read from a header.
#[derive(Clone, Copy, Debug)]
pub struct PacketMeta {
    /// size of the IP packet in bytes
    pub bytes: u32,
    /// the flow it belongs to, as a classifier would find from addresses and ports
    pub flow: FlowId,
    /// stands for its addresses and ports in hashes: the number of its flow among all of the scenario, of which a run may carry a part
    pub tuple: u32,
    /// the station at the wireless end
    pub station: NodeId,
    /// true from the station towards the server
    pub up: bool,
    /// user priority 0 to 7, from the DSCP; with it its access category [802.11-2020 Table 10-1]
    pub tid: u8,
    /// the differentiated services code point, 0 to 63 [RFC 2474 §3]
    pub dscp: u8,
    /// a TCP segment without data, SYN, FIN or RST
    pub pure_ack: bool,
    /// for a pure ACK, the facts that filters compare; for other packets only the connection
    pub ack: AckFacts,
    /// the ECN field, which a queue may set to [`Ecn::Ce`] if it is [capable](Ecn::is_capable)
    pub ecn: Ecn,
    /// whether it begins a PPDU: it joins no A-MPDU of those before it
    pub begins_ppdu: bool,
    /// its number, if its host numbers packets: each direction of a flow counts from 1
    pub packet: u32,
    /// time at which it entered the queue it waits in
    pub enqueued_at: Time,
}

impl PacketMeta {
    /// The facts of a packet of `bytes` between `station` and its server that is best effort, not ECN-capable and no
    /// pure ACK.
    pub fn plain(flow: FlowId, station: NodeId, up: bool, bytes: u32) -> PacketMeta {
        PacketMeta {
            bytes,
            flow,
            tuple: flow.0,
            station,
            up,
            tid: 0,
            dscp: 0,
            pure_ack: false,
            ack: AckFacts::default(),
            ecn: Ecn::NotEct,
            begins_ppdu: false,
            packet: 0,
            enqueued_at: Time::ZERO,
        }
    }

    /// The record for observers of a drop of this packet.
    pub fn dropped(&self, node: NodeId, layer: QueueLayer, reason: DropReason) -> Record {
        self.lost(node, layer, reason, false)
    }

    /// The record for observers if the MAC gives it up; it may have arrived nevertheless.
    pub fn given_up(&self, node: NodeId, arrived: bool) -> Record {
        self.lost(node, QueueLayer::Mac, DropReason::RetryLimit, arrived)
    }

    /// The detail for recordings of a passage of this packet at `node`.
    #[inline(always)]
    pub fn passes(&self, what: Passage, node: NodeId) -> Detail {
        Detail::Passes { what, node, flow: self.flow, up: self.up, packet: self.packet }
    }

    fn lost(&self, node: NodeId, layer: QueueLayer, reason: DropReason, arrived: bool) -> Record {
        let PacketMeta { flow, pure_ack: tcp_ack, up, packet, .. } = *self;
        Record::Dropped { node, flow, layer, reason, tcp_ack, arrived, up, packet }
    }
}

/// The facts that a filter of ACKs may read from a TCP header that is not encrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckFacts {
    /// acknowledgement number
    pub number: u32,
    /// number of the connection within the flow, as ports would show
    pub connection: u16,
    /// the bits ECE, CWR and AE of the header, from bit 0 on [RFC 3168 §6.1, RFC 9768 §3.1]; bit 3 is [`AckFacts::ACCECN`]
    pub ecn_flags: u8,
    /// true if it carries nothing else: no SACK blocks, no PSH
    pub is_plain: bool,
}

impl AckFacts {
    /// AE, among `ecn_flags`. [RFC 9768 §3.1]
    pub const AE: u8 = 1 << 2;
    /// The ACK has the option of accurate ECN, among `ecn_flags`. [RFC 9768 §3.2.3]
    pub const ACCECN: u8 = 1 << 3;

    /// Returns whether it acknowledges more than an ACK `before` it of the same connection, under the same ECN flags.
    pub fn continues(&self, before: &AckFacts) -> bool {
        self.connection == before.connection
            && (self.ecn_flags ^ before.ecn_flags) & !Self::ACCECN == 0
            && self.number.wrapping_sub(before.number) as i32 > 0
    }
}

impl PacketMeta {
    /// Sets CE if it may; returns whether the packet carries CE now. [RFC 3168 §5]
    pub fn mark(&mut self) -> bool {
        if self.ecn.is_capable() {
            self.ecn = Ecn::Ce;
        }
        self.ecn == Ecn::Ce
    }
}

/// A packet with a body that lower layers do not look into.
///
/// It is a handle: a packet moves from queue to queue many times, and each move copies a pointer.
#[derive(Clone, Debug)]
pub struct Packet<B>(Box<Content<B>>);

/// The content of a [`Packet`], which reads and writes it as its own fields.
#[derive(Clone, Debug)]
pub struct Content<B> {
    /// the facts that lower layers may read
    pub meta: PacketMeta,
    /// the rest, opaque to them
    pub body: B,
}

impl<B> Packet<B> {
    /// A packet with these facts and this body.
    #[inline]
    pub fn new(meta: PacketMeta, body: B) -> Packet<B> {
        Packet(Box::new(Content { meta, body }))
    }

    /// Its facts and its body.
    #[inline]
    pub fn into_parts(self) -> (PacketMeta, B) {
        let Content { meta, body } = *self.0;
        (meta, body)
    }

    /// Its body.
    #[inline]
    pub fn into_body(self) -> B {
        self.0.body
    }
}

impl<B> Deref for Packet<B> {
    type Target = Content<B>;
    #[inline(always)]
    fn deref(&self) -> &Content<B> {
        &self.0
    }
}

impl<B> DerefMut for Packet<B> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Content<B> {
        &mut self.0
    }
}
