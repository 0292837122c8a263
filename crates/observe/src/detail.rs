//! What only a recording reads: each PPDU with its mode, each segment with its numbers, each packet by its number.
//!
//! Whoever tells these works nothing out for them where [`Observer::READS_DETAILS`](crate::Observer::READS_DETAILS) is
//! false.

use lasthop_units::{DataRate, Duration, Time};

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
}
