//! Events for recordings and captures only: each PPDU with its mode, each segment with its numbers, each packet with
//! its number; for captures each MPDU, and the nodes that decoded it.
//!
//! Emitters skip the work for them if [`Observer::READS_DETAILS`](crate::Observer::READS_DETAILS) is false, and the
//! work for captures if [`Observer::READS_FRAMES`](crate::Observer::READS_FRAMES) or, of this run,
//! [`Observer::reads_frames`](crate::Observer::reads_frames) is.

pub use lasthop_units::{CaState, QuicFrameKind, QuicSpace};
use lasthop_units::{DataRate, Db, Dbm, Duration, Ecn, Time};

use crate::{End, FlowId, LinkId, NodeId};

/// The kind of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PpduKind {
    /// request to send
    Rts,
    /// clear to send
    Cts,
    /// a CTS that its sender addresses to itself
    CtsToSelf,
    /// an MSDU with an acknowledgement of its own
    Data,
    /// the acknowledgement of an MSDU
    Ack,
    /// an A-MPDU under a Block Ack agreement
    Ampdu,
    /// the acknowledgement of an A-MPDU
    BlockAck,
    /// BlockAckReq
    BlockAckReq,
    /// a beacon
    Beacon,
    /// the end of a TXOP before its reservation is over
    CfEnd,
    /// a trigger that asks several stations for their BlockAcks
    MuBar,
    /// a trigger that asks several stations for the lengths of their queues
    Bsrp,
    /// a trigger that asks several stations for data
    Trigger,
    /// the acknowledgement of data of several stations
    MultiStaBlockAck,
    /// the answer to a trigger of a station without data: the length of its queue
    QosNull,
}

impl PpduKind {
    /// Returns whether it is a frame for several stations, each of which is named in it.
    pub const fn is_for_several(self) -> bool {
        matches!(self, PpduKind::MuBar | PpduKind::Bsrp | PpduKind::Trigger | PpduKind::MultiStaBlockAck)
    }
}

/// A resource unit of a part of a PPDU of several users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// its tones
    pub tones: u32,
    /// its place among the units of its size, in order of frequency, from 0
    pub place: u32,
    /// the number of users of its PPDU
    pub users: u32,
}

/// A PPDU that starts, as its sender transmits it. In a PPDU of several users there is one for each part.
#[derive(Clone, Copy, Debug)]
pub struct PpduStart {
    /// its sender
    pub node: NodeId,
    /// its receiver, if it has one
    pub to: Option<NodeId>,
    /// the initiator of its exchange
    pub initiator: NodeId,
    /// the link of the exchange's data; none for a beacon
    pub link: Option<LinkId>,
    /// its channel, counted from 0
    pub channel: u32,
    /// its kind
    pub kind: PpduKind,
    /// the resource unit of a part of a PPDU of several users
    pub unit: Option<Unit>,
    /// its duration
    pub airtime: Duration,
    /// the end of the reservation in its Duration field
    pub reserves_until: Time,
    /// PHY rate of its PSDU in bit/s
    pub rate: DataRate,
    /// modulation and coding scheme, if it has one
    pub mcs: Option<u8>,
    /// spatial streams
    pub streams: u8,
    /// guard interval; zero for DSSS
    pub guard_interval: Duration,
    /// width of the channel that it occupies, in MHz
    pub width_mhz: u16,
    /// length of its PSDU
    pub bytes: u32,
    /// number of its MPDUs
    pub mpdus: u32,
    /// number of these sent before; for an RTS and a CTS-to-self, of the MPDUs that they announce
    pub retried: u32,
}

/// Consecutively numbered packets of a flow in a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// their flow
    pub flow: FlowId,
    /// true from the station to the server
    pub up: bool,
    /// the number of the first packet
    pub packet: u32,
    /// the number of packets
    pub packets: u32,
    /// bytes of packets with data
    pub data_bytes: u32,
    /// bytes of pure TCP ACKs
    pub ack_bytes: u32,
    /// whether the receiver of the PPDU decoded their MPDUs
    pub decoded: bool,
}

/// The end of the network at which a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// at the wireless end
    Station,
    /// behind an AP
    Server,
}

/// A TCP segment at one of its hosts.
#[derive(Clone, Copy, Debug)]
pub struct SegmentFacts {
    /// its flow
    pub flow: FlowId,
    /// its connection within the flow, counted from 0
    pub connection: u32,
    /// the host of this event
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
    /// number of its SACK blocks
    pub sack_blocks: u32,
    /// the first SACK block, which is the newest
    pub sack: Option<(u32, u32)>,
    /// number of its packet
    pub packet: u32,
    /// bytes of its IP packet
    pub packet_bytes: u32,
}

/// A frame of a QUIC packet, or a range of an ACK.
#[derive(Clone, Copy, Debug)]
pub struct QuicFrame {
    /// its kind
    pub kind: QuicFrameKind,
    /// its stream; of frames about a number of streams 0 for bidirectional ones, 2 for others
    pub stream: Option<u32>,
    /// the offset of its data, the limit that it sets or reports, a connection ID, an error code, or an unknown type
    pub offset: u64,
    /// the length of its data or padding, the sequence number of a connection ID, or the error code of a stream
    pub length: u32,
    /// whether its data is the last of its stream
    pub is_last: bool,
    /// the first and the last packet that the range acknowledges
    pub acked: Option<(u32, u32)>,
}

/// A frame of a QUIC packet at one of its hosts.
#[derive(Clone, Copy, Debug)]
pub struct QuicFacts {
    /// its flow
    pub flow: FlowId,
    /// its connection within the flow, counted from 0
    pub connection: u32,
    /// the host of this event
    pub host: Host,
    /// true if the host sends it, false if it has arrived there
    pub sent: bool,
    /// true from the station to the server
    pub up: bool,
    /// number of its IP packet
    pub packet: u32,
    /// the space of its QUIC packet
    pub space: QuicSpace,
    /// the low bytes of the packet number, as the header has them
    pub number: u32,
    /// the number of these bytes
    pub number_bytes: u8,
    /// length of the QUIC packet
    pub bytes: u32,
    /// the frame
    pub frame: QuicFrame,
}

/// A place that a packet passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// its host hands it to the network
    Sent,
    /// it enters the interface of a wireless node
    QueueIn,
    /// it is taken from the queue of that interface into the MAC
    QueueOut,
    /// the MAC has finished with it
    MacDone,
    /// it enters the queue of a wired link
    WireIn,
    /// the link begins to transmit it
    WireOut,
    /// it has reached the host at its end
    Received,
}

/// The fields of a TCP header that differ between segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpHeader {
    /// its connection within the flow, counted from 0
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
    /// the options, if they take bytes; in ns-2 they take none
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
    /// number of SACK blocks
    pub sack_blocks: u8,
    /// AccECN
    pub accecn: Option<AccEcn>,
}

/// The AccECN option of a TCP header. [RFC 9768 §3.2.3]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccEcn {
    /// true if the counter of ECT(1) comes first
    pub ect1_first: bool,
    /// the counters in their order: ECT(0), CE, ECT(1), or the other way round; absent ones are at the end
    pub counters: [Option<u32>; 3],
}

/// A packet as its host passes it to the network, or receives it: the fields of its headers.
#[derive(Clone, Copy, Debug)]
pub struct PacketFacts {
    /// its flow
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
    /// the number of a simulated datagram in its flow, which its answer repeats
    pub datagram: Option<u64>,
}

/// A frame that a host made itself, as it is handed to its MAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameFacts {
    /// its sender
    pub node: NodeId,
    /// the flow, the direction (true from the station) and the number of its packet; none for a group frame
    pub packet: Option<(FlowId, bool, u32)>,
}

/// An MPDU with packets, in a PPDU that ends.
#[derive(Clone, Copy, Debug)]
pub struct Mpdu {
    /// its sender
    pub node: NodeId,
    /// the number of its part among those that its sender sends, from 0
    pub part: u32,
    /// its number under its Block Ack agreement, never wrapped; none if it has an acknowledgement of its own
    pub sequence: Option<u64>,
    /// user priority of its packets
    pub tid: u8,
    /// whether it was on the air before
    pub again: bool,
    /// its length, with header and FCS
    pub bytes: u32,
    /// number of its packets, which follow
    pub packets: u32,
    /// whether its receiver has decoded it
    pub decoded: bool,
}

/// An event that neither the metrics nor an account read.
#[derive(Clone, Copy, Debug)]
pub enum Detail {
    /// A PPDU starts.
    PpduStarts(PpduStart),
    /// The PPDU of this node that ends held these packets; [`PpduEnds`](Detail::PpduEnds) follows.
    Carries {
        /// its sender
        node: NodeId,
        /// the number of the part among those that its sender sends, from 0
        part: u32,
        /// its packets
        run: Run,
    },
    /// A PPDU has ended, or the first part that its sender sends.
    PpduEnds(End),
    /// A further part that a sender sends has ended.
    PartEnds {
        /// its number, from 1
        part: u32,
        /// its end
        end: End,
    },
    /// A channel access function has drawn a backoff.
    Backoff {
        /// its node
        node: NodeId,
        /// the function's index within the node, the one with the highest priority first
        function: u32,
        /// number of slots
        slots: u32,
        /// the contention window it is drawn from
        cw: u32,
    },
    /// An interferer begins a burst.
    Burst {
        /// its number
        interferer: u32,
        /// duration of the burst
        duration: Duration,
        /// its power relative to the interferer's
        level: Db,
    },
    /// For captures: the primary channel of an access point, if it is on this channel from now on.
    Tuned {
        /// the access point
        ap: NodeId,
        /// the channel, counted from 0 in the order in which BSSs have had them
        channel: u32,
        /// the number of the primary channel
        number: u8,
        /// its centre in MHz
        mhz: u16,
    },
    /// The state of a sender's congestion control may have changed.
    Stands {
        /// its flow
        flow: FlowId,
        /// the state
        at: CaState,
    },
    /// A segment leaves its host, or has reached it.
    Segment(SegmentFacts),
    /// A frame of a QUIC packet leaves its host, or has reached it.
    Quic(QuicFacts),
    /// An end of a QUIC connection has declared packets lost.
    QuicLost {
        /// its flow
        flow: FlowId,
        /// its connection within the flow, counted from 0
        connection: u32,
        /// the host of the end
        host: Host,
        /// number of packets
        packets: u64,
    },
    /// A packet passes a place.
    Passes {
        /// the place
        what: Passage,
        /// its node; the AP for its wired link, the station for hosts
        node: NodeId,
        /// its flow
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
    /// For captures: the last MPDU reported holds this packet.
    Holds {
        /// the sender of the MPDU
        node: NodeId,
        /// the number of its part among those that its sender sends, from 0
        part: u32,
        /// its flow
        flow: FlowId,
        /// true from the station to the server
        up: bool,
        /// its number
        packet: u32,
        /// its ECN field now
        ecn: Ecn,
    },
    /// For captures: the BlockAckReq of this node that ends belongs to this agreement.
    Requests {
        /// its sender
        node: NodeId,
        /// user priority of the agreement
        tid: u8,
        /// the new start of the window, never wrapped
        start: u64,
    },
    /// For captures: the trigger that this node begins, or its acknowledgement of data of several stations, names a station.
    Names {
        /// its sender
        node: NodeId,
        /// the station; none: any that draws one of the units from this one on
        station: Option<NodeId>,
        /// the unit in which it is to answer; none in an acknowledgement
        unit: Option<Unit>,
        /// the MCS of its answer
        mcs: u8,
        /// the streams of its answer
        streams: u8,
        /// user priority of its data that are acknowledged, or asked about
        tid: u8,
        /// the first sequence number that is asked about, never wrapped
        start: u64,
        /// duration of the answer
        answer: Duration,
    },
    /// For captures: the PPDU of this node that begins reports the length of its queue.
    Reports {
        /// its sender
        node: NodeId,
        /// the Queue Size subfield of its MPDUs
        queue_size: u8,
    },
    /// For captures, if nodes hear differently: a node has decoded the PPDU that has ended, or has received it as its
    /// addressee.
    Heard {
        /// its sender
        node: NodeId,
        /// the number of the part among those that its sender sends, from 0
        part: u32,
        /// its receiver
        by: NodeId,
        /// the received power
        power: Dbm,
        /// whether it has decoded any of it
        decoded: bool,
    },
    /// For captures: the PPDU of this node that has ended is reported completely.
    Told {
        /// its sender
        node: NodeId,
        /// whether every other node of its channel has decoded it; otherwise those that have were reported
        by_all: bool,
    },
}
