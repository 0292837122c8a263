//! What only a recording or a capture reads: each PPDU with its mode, each segment with its numbers, each packet by its
//! number; for captures each MPDU, and who has heard what.
//!
//! Whoever tells these works nothing out for them where [`Observer::READS_DETAILS`](crate::Observer::READS_DETAILS) is
//! false, and nothing that only a capture reads where [`Observer::READS_FRAMES`](crate::Observer::READS_FRAMES) is.

use lasthop_units::{DataRate, Dbm, Duration, Ecn, Time};

use crate::{End, FlowId, LinkId, NodeId};

/// What a PPDU is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PpduKind {
    /// request to send
    Rts,
    /// clear to send
    Cts,
    /// a CTS that its sender addresses to itself
    CtsToSelf,
    /// an MSDU that is acknowledged by itself
    Data,
    /// the acknowledgement of one
    Ack,
    /// an A-MPDU under a Block Ack agreement
    Ampdu,
    /// what acknowledges one
    BlockAck,
    /// BlockAckReq
    BlockAckReq,
    /// a beacon
    Beacon,
}

/// A PPDU that comes on the air, as it is sent.
#[derive(Clone, Copy, Debug)]
pub struct PpduStart {
    /// who sends it
    pub node: NodeId,
    /// for whom it is, if for anybody in particular
    pub to: Option<NodeId>,
    /// whose exchange it belongs to
    pub initiator: NodeId,
    /// the link of the data that the exchange is about; none for a beacon
    pub link: Option<LinkId>,
    /// on which channel, counted from 0
    pub channel: u32,
    /// what it is
    pub kind: PpduKind,
    /// how long it lasts
    pub airtime: Duration,
    /// until when its Duration field reserves the medium
    pub reserves_until: Time,
    /// bits in a second of its PSDU
    pub rate: DataRate,
    /// modulation and coding scheme, where it has one
    pub mcs: Option<u8>,
    /// spatial streams
    pub streams: u8,
    /// guard interval; zero for DSSS
    pub guard_interval: Duration,
    /// width of the channel that it fills, in MHz
    pub width_mhz: u16,
    /// length of its PSDU
    pub bytes: u32,
    /// how many MPDUs it holds
    pub mpdus: u32,
    /// of these, how many were sent before; of an RTS and a CTS-to-self, how many of what they announce
    pub retried: u32,
}

/// Packets of a flow, numbered one after another, that a PPDU held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// which flow
    pub flow: FlowId,
    /// true from the station to the server
    pub up: bool,
    /// the number of the first
    pub packet: u32,
    /// how many there are
    pub packets: u32,
    /// bytes of packets with data
    pub data_bytes: u32,
    /// bytes of pure TCP ACKs
    pub ack_bytes: u32,
    /// whether the receiver of the PPDU decoded their MPDUs
    pub decoded: bool,
}

/// Which end of the network a host is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// the wireless one
    Station,
    /// behind an AP
    Server,
}

/// A TCP segment at one of its hosts.
#[derive(Clone, Copy, Debug)]
pub struct SegmentFacts {
    /// whose
    pub flow: FlowId,
    /// which connection of the flow, counted from 0
    pub connection: u32,
    /// the host at which this happens
    pub host: Host,
    /// true if the host sends it, false if it has arrived there
    pub sent: bool,
    /// sequence number
    pub seq: u32,
    /// acknowledgement number
    pub ack: u32,
    /// bytes of payload
    pub payload: u32,
    /// window field, not scaled
    pub window: u32,
    /// control bits, as in the header
    pub flags: u32,
    /// how many SACK blocks it has
    pub sack_blocks: u32,
    /// the first of these: the newest
    pub sack: Option<(u32, u32)>,
    /// number of its packet
    pub packet: u32,
}

/// Where congestion control of a sender stands, as Linux calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaState {
    /// nothing unusual
    Open,
    /// duplicate ACKs or SACK blocks, not yet taken for loss
    Disorder,
    /// the window shrinks because of an ECN mark or a full local queue
    Cwr,
    /// fast recovery
    Recovery,
    /// after a retransmission timeout
    Loss,
}

/// What a packet passes on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// its host hands it to the network
    Sent,
    /// it comes to the interface of a wireless node
    QueueIn,
    /// it is taken from the queue of that interface into the MAC
    QueueOut,
    /// the MAC is done with it
    MacDone,
    /// it comes to the queue of a wired link
    WireIn,
    /// the link begins to transmit it
    WireOut,
    /// it has reached the host at its end
    Received,
}

/// A TCP header, as far as it differs from one segment to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpHeader {
    /// which connection of the flow, counted from 0
    pub connection: u32,
    /// sequence number
    pub seq: u32,
    /// acknowledgement number
    pub ack: u32,
    /// window field, not scaled
    pub window: u16,
    /// control bits, as in the header
    pub flags: u16,
    /// bytes of payload
    pub payload: u32,
    /// the options, where they take bytes; ns-2 has them for nothing
    pub options: Option<TcpOptions>,
}

/// The options of a TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// maximum segment size
    pub mss: Option<u16>,
    /// shift of the window field
    pub window_scale: Option<u8>,
    /// SACK permitted
    pub sack_permitted: bool,
    /// value and echo of timestamps
    pub timestamps: Option<(u32, u32)>,
    /// SACK blocks, the newest first
    pub sack: [(u32, u32); 4],
    /// how many of these there are
    pub sack_blocks: u8,
}

/// A packet as its host hands it to the network, or gets it: what its headers say.
#[derive(Clone, Copy, Debug)]
pub struct PacketFacts {
    /// of which flow
    pub flow: FlowId,
    /// true from the station to the server
    pub up: bool,
    /// its number
    pub packet: u32,
    /// true if its host sends it, false if it has arrived at the other
    pub sent: bool,
    /// size of the IP packet
    pub bytes: u32,
    /// the ECN field here
    pub ecn: Ecn,
    /// the TCP header; none for a datagram
    pub tcp: Option<TcpHeader>,
}

/// An MPDU with packets, in a PPDU that ends.
#[derive(Clone, Copy, Debug)]
pub struct Mpdu {
    /// who has sent it
    pub node: NodeId,
    /// its number under its Block Ack agreement, never wrapped; none where it is acknowledged by itself
    pub sequence: Option<u64>,
    /// user priority of what it holds
    pub tid: u8,
    /// whether it was on the air before
    pub again: bool,
    /// its length, with header and FCS
    pub bytes: u32,
    /// how many packets it holds, which are told next
    pub packets: u32,
    /// whether its receiver has decoded it
    pub decoded: bool,
}

/// Something of which neither the metrics nor an account take notice.
#[derive(Clone, Copy, Debug)]
pub enum Detail {
    /// A PPDU comes on the air.
    PpduStarts(PpduStart),
    /// The PPDU of this node that ends held these packets; [`PpduEnds`](Detail::PpduEnds) follows.
    Carries {
        /// who sends it
        node: NodeId,
        /// which
        run: Run,
    },
    /// A PPDU has ended.
    PpduEnds(End),
    /// A channel access function has drawn a backoff.
    Backoff {
        /// whose
        node: NodeId,
        /// which of the node's, the one with the highest priority first
        function: u32,
        /// how many slots
        slots: u32,
        /// from which contention window
        cw: u32,
    },
    /// The sender of a flow may stand somewhere else now.
    Stands {
        /// whose
        flow: FlowId,
        /// where
        at: CaState,
    },
    /// A segment leaves its host, or has reached it.
    Segment(SegmentFacts),
    /// A packet gets somewhere.
    Passes {
        /// where
        what: Passage,
        /// at which node; the AP for its wired link, the station for hosts
        node: NodeId,
        /// of which flow
        flow: FlowId,
        /// true from the station to the server
        up: bool,
        /// its number
        packet: u32,
    },
    /// For captures: a packet at one of its hosts.
    Packet(PacketFacts),
    /// For captures: the PPDU of this node that ends held an MPDU; [`Holds`](Detail::Holds) follows for each of its packets,
    /// and [`PpduEnds`](Detail::PpduEnds) after all of them.
    Mpdu(Mpdu),
    /// For captures: the MPDU that was told last holds this packet.
    Holds {
        /// who has sent the MPDU
        node: NodeId,
        /// of which flow
        flow: FlowId,
        /// true from the station to the server
        up: bool,
        /// its number
        packet: u32,
        /// its ECN field by now
        ecn: Ecn,
    },
    /// For captures: the BlockAckReq of this node that ends is about this agreement.
    Requests {
        /// who has sent it
        node: NodeId,
        /// user priority of the agreement
        tid: u8,
        /// where the window starts now, never wrapped
        start: u64,
    },
    /// For captures, where nodes hear differently: a node has decoded the PPDU that has ended, or has heard it as the one
    /// that it was meant for.
    Heard {
        /// who has sent it
        node: NodeId,
        /// who has heard it
        by: NodeId,
        /// with which power
        power: Dbm,
        /// whether it has decoded any of it
        decoded: bool,
    },
    /// For captures: all has been told of the PPDU of this node that has ended.
    Told {
        /// who has sent it
        node: NodeId,
        /// every other node of its channel has decoded it; else those that have were told
        by_all: bool,
    },
}
