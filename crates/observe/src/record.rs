//! The vocabulary of events.

use lasthop_units::{DataRate, Duration};

use crate::step::Step;

macro_rules! id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index into an array.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}
id!(
    /// A node on the wireless side: first the APs, one for each BSS, then the stations, both in the order of the scenario.
    NodeId
);
id!(
    /// A flow, in the order of the scenario.
    FlowId
);
id!(
    /// A directed wireless link. Link `2k` leads from the `k`-th station to its AP, `2k + 1` back.
    LinkId
);

/// What carries a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// reliable
    Tcp,
    /// not
    Udp,
    /// datagrams that the other end sends back: what counts is the round trip
    Echo,
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// no room in the queue
    QueueFull,
    /// by the law of an active queue management: it had waited too long, or by chance
    Early,
    /// a pure TCP ACK that a later one made superfluous
    AckFiltered,
    /// by chance on the wired link, whatever room there was
    Lost,
    /// the MAC gave up after the last retransmission
    RetryLimit,
    /// it arrived after its recipient had given it up and let later ones pass
    ReorderTimeout,
}

/// Where a packet waited when it was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLayer {
    /// the interface queue of a wireless node
    Interface,
    /// already handed to the MAC
    Mac,
    /// the wired link, towards the server
    WiredUp,
    /// the wired link, towards the AP
    WiredDown,
}

/// How an attempt to send a data frame ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// acknowledged
    Success,
    /// lost to another transmission that overlapped it or its response, and began within a slot of it or came from a
    /// node that its sender hears
    Collision,
    /// lost to noise, to a frame error or below the sensitivity: it would have been without others too
    Noise,
    /// lost to others that its sender does not hear, of another BSS or hidden
    Interference,
    /// not acknowledged, and nobody knows why: a capture does not tell a collision from noise. Simulations never have it.
    Unknown,
}

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub enum Record {
    /// The application got `bytes` more bytes, in order.
    Delivered {
        /// whose
        flow: FlowId,
        /// payload bytes
        bytes: u64,
    },
    /// The sender of a flow emitted a segment or datagram with data.
    SegmentSent {
        /// whose
        flow: FlowId,
        /// true if some of it had been sent before
        retransmission: bool,
    },
    /// The sender's window changed.
    Window {
        /// whose
        flow: FlowId,
        /// congestion window in segments
        cwnd: f64,
        /// slow-start threshold in segments; infinite at first
        ssthresh: f64,
        /// bytes in flight
        flight_bytes: u64,
    },
    /// The sender took an RTT sample.
    Rtt {
        /// whose
        flow: FlowId,
        /// the sample
        sample: Duration,
        /// the RTT that the controller works with, where it has one of its own
        controller: Option<Duration>,
    },
    /// The sender of a flow found ACKs missing.
    AckLoss {
        /// whose
        flow: FlowId,
        /// how many at once
        missing: u64,
    },
    /// The retransmission timer of a flow expired.
    Timeout {
        /// whose
        flow: FlowId,
    },
    /// A sized transfer was delivered and acknowledged in full.
    Completed {
        /// whose
        flow: FlowId,
        /// from its start
        took: Duration,
    },
    /// The interface queue of a node holds this much now.
    Queue {
        /// whose
        node: NodeId,
        /// all packets
        packets: u32,
        /// of these, pure TCP ACKs
        tcp_acks: u32,
    },
    /// A packet was dropped.
    Dropped {
        /// by whom; the AP for the wired link
        node: NodeId,
        /// whose
        flow: FlowId,
        /// where it waited
        layer: QueueLayer,
        /// why
        reason: DropReason,
        /// whether it was a pure TCP ACK
        tcp_ack: bool,
        /// whether it had arrived all the same, and only its acknowledgement had not
        arrived: bool,
        /// true from the station to the server
        up: bool,
        /// its number, as far as its host numbers packets
        packet: u32,
    },
    /// A data frame was sent, or the RTS that precedes it, and this came of it.
    Attempt {
        /// on which link
        link: LinkId,
        /// by whom
        node: NodeId,
        /// PHY rate of the data frame
        rate: DataRate,
        /// with how many MPDUs
        mpdus: u32,
        /// of these, acknowledged
        acknowledged: u32,
        /// whether the frame had been tried before
        retry: bool,
        /// what came of it
        outcome: Outcome,
    },
    /// An MSDU arrived at the other end of a link for the first time.
    FrameDelivered {
        /// on which link
        link: LinkId,
        /// from the head of the sender's queue to the end of the data frame
        delay: Duration,
    },
    /// A packet arrived at the host at its end.
    PacketDelivered {
        /// the station at the wireless end
        station: NodeId,
        /// true from the station to the server
        up: bool,
        /// since the other host sent it
        delay: Duration,
    },
    /// A node's transmitter is on from now on.
    TransmitterOn {
        /// whose
        node: NodeId,
        /// for a frame on which link, where it concerns one
        link: Option<LinkId>,
    },
    /// A node's transmitter, which goes off now, was on for this long.
    Airtime {
        /// whose
        node: NodeId,
        /// for a frame on which link, where it concerns one
        link: Option<LinkId>,
        /// PPDU duration
        duration: Duration,
    },
    /// Two access categories of a node wanted to send at the same instant; the lower one had to wait.
    InternalCollision {
        /// whose
        node: NodeId,
    },
    /// A queue marked packets with CE.
    Marked {
        /// whose queue; the AP for the wired link
        node: NodeId,
        /// where
        layer: QueueLayer,
        /// how many
        count: u64,
    },
    /// A rate control changed the rate at which it starts.
    RateChange {
        /// for which link
        link: LinkId,
        /// which it is now
        rate: DataRate,
        /// to a lower rate
        down: bool,
        /// what became of the attempt before the change
        after: Outcome,
    },
    /// So many PPDUs are on the air of a channel now.
    OnAir {
        /// which channel, counted from 0
        channel: u32,
        /// how many
        count: u32,
    },
    /// So many nodes have a data frame to send now.
    Contenders {
        /// how many
        count: u32,
    },
    /// Something that only an account of time reads.
    Step(Step),
}
