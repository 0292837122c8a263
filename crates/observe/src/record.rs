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

/// The transport of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// reliable
    Tcp,
    /// reliable, in UDP datagrams
    Quic,
    /// not
    Udp,
    /// datagrams that the other end sends back: round trips count
    Echo,
}

impl Transport {
    /// Whether its senders have a congestion window.
    pub fn has_window(self) -> bool {
        matches!(self, Transport::Tcp | Transport::Quic)
    }
}

/// The reason why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// no room in the queue
    QueueFull,
    /// by an active queue management: it had waited too long, or at random
    Early,
    /// a pure TCP ACK made superfluous by a later one
    AckFiltered,
    /// at random on the wired link, regardless of free space
    Lost,
    /// the MAC gave up after the last retransmission
    RetryLimit,
    /// it arrived after its recipient had given it up and passed on later ones
    ReorderTimeout,
}

/// The place where a packet waited when it was dropped.
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

/// The outcome of an attempt to send a data frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// acknowledged
    Success,
    /// lost to another transmission that overlapped it or its response, and began within a slot of it or came from a
    /// node that its sender hears
    Collision,
    /// lost to noise, to a frame error or below the sensitivity: it would have been lost without others too
    Noise,
    /// lost to transmissions that its sender does not hear, of another BSS or hidden
    Interference,
    /// lost to an interferer, which is not of 802.11
    Interferer,
    /// not acknowledged for an unknown reason: a capture does not tell a collision from noise. Simulations never have
    /// it.
    Unknown,
}

/// An event.
#[derive(Clone, Copy, Debug)]
pub enum Record {
    /// The application received `bytes` more bytes, in order.
    Delivered {
        /// its flow
        flow: FlowId,
        /// payload bytes
        bytes: u64,
    },
    /// The sender of a flow emitted a segment or datagram with data.
    SegmentSent {
        /// its flow
        flow: FlowId,
        /// true if some of it had been sent before
        retransmission: bool,
    },
    /// The sender's window changed.
    Window {
        /// its flow
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
        /// its flow
        flow: FlowId,
        /// the sample
        sample: Duration,
        /// the RTT that the controller works with, if it has one of its own
        controller: Option<Duration>,
    },
    /// The sender of a flow found ACKs missing.
    AckLoss {
        /// its flow
        flow: FlowId,
        /// their number
        missing: u64,
    },
    /// The retransmission timer of a flow expired.
    Timeout {
        /// its flow
        flow: FlowId,
    },
    /// A sized transfer was delivered and acknowledged in full.
    Completed {
        /// its flow
        flow: FlowId,
        /// time from its start
        took: Duration,
    },
    /// The interface queue of a node holds these packets now.
    Queue {
        /// its node
        node: NodeId,
        /// all packets
        packets: u32,
        /// pure TCP ACKs among them
        tcp_acks: u32,
    },
    /// A packet was dropped.
    Dropped {
        /// the node that dropped it; the AP for the wired link
        node: NodeId,
        /// its flow
        flow: FlowId,
        /// the place where it waited
        layer: QueueLayer,
        /// the reason
        reason: DropReason,
        /// whether it was a pure TCP ACK
        tcp_ack: bool,
        /// whether it had arrived nevertheless, with only its acknowledgement lost
        arrived: bool,
        /// true from the station to the server
        up: bool,
        /// its number, if its host numbers packets
        packet: u32,
    },
    /// A data frame, or the RTS that precedes it, was sent with this outcome.
    Attempt {
        /// its link
        link: LinkId,
        /// its sender
        node: NodeId,
        /// PHY rate of the data frame
        rate: DataRate,
        /// number of its MPDUs
        mpdus: u32,
        /// number of these that were acknowledged
        acknowledged: u32,
        /// whether the frame had been tried before
        retry: bool,
        /// the outcome
        outcome: Outcome,
    },
    /// An MSDU arrived at the other end of a link for the first time.
    FrameDelivered {
        /// its link
        link: LinkId,
        /// time from the head of the sender's queue to the end of the data frame
        delay: Duration,
    },
    /// A packet arrived at the host at its end.
    PacketDelivered {
        /// the station at the wireless end
        station: NodeId,
        /// true from the station to the server
        up: bool,
        /// time since the other host sent it
        delay: Duration,
    },
    /// A node's transmitter is on from now on.
    TransmitterOn {
        /// its node
        node: NodeId,
        /// the link of its frame, if there is one
        link: Option<LinkId>,
    },
    /// A node's transmitter, which goes off now, was on for this long.
    Airtime {
        /// its node
        node: NodeId,
        /// the link of its frame, if there is one
        link: Option<LinkId>,
        /// PPDU duration
        duration: Duration,
    },
    /// A node sends a part of a PPDU of several users from now on, whose time is shared by tones.
    PartOn {
        /// its node
        node: NodeId,
        /// its link
        link: Option<LinkId>,
        /// tones of the parts before it
        before: u32,
        /// its tones
        tones: u32,
        /// tones of all parts
        all: u32,
    },
    /// The part of a node on this link, which ends now, was on until now.
    PartOff {
        /// its node
        node: NodeId,
        /// its link
        link: Option<LinkId>,
    },
    /// A part of a PPDU of several users with data has ended.
    Part {
        /// its sender
        node: NodeId,
        /// the access point that sent the PPDU, or asked for it
        ap: NodeId,
        /// whether it is the first part of its PPDU
        first: bool,
        /// tones of its resource unit
        tones: u32,
        /// tones of the channel
        of_tones: u32,
        /// duration of the PPDU
        airtime: Duration,
        /// time of its symbols after the last one with its data
        padding: Duration,
    },
    /// Data of a station that a trigger asked for are acknowledged or lost: an [`Attempt`](Record::Attempt) follows.
    Triggered {
        /// the station
        node: NodeId,
        /// number of its MPDUs
        mpdus: u32,
    },
    /// A TXOP of a node has ended. Only for observers that [await](crate::Observer::awaits_txops) it.
    TxopEnded {
        /// its holder
        node: NodeId,
    },
    /// Two access categories of a node were ready to send at the same instant; the lower one had to wait.
    InternalCollision {
        /// its node
        node: NodeId,
    },
    /// A queue marked packets with CE.
    Marked {
        /// the node of the queue; the AP for the wired link
        node: NodeId,
        /// the queue
        layer: QueueLayer,
        /// number of packets
        count: u64,
    },
    /// A rate control changed its starting rate.
    RateChange {
        /// its link
        link: LinkId,
        /// the new rate
        rate: DataRate,
        /// to a lower rate
        down: bool,
        /// outcome of the attempt before the change
        after: Outcome,
    },
    /// The number of PPDUs on the air of a channel changed.
    OnAir {
        /// the channel, counted from 0
        channel: u32,
        /// the new number
        count: u32,
    },
    /// An interferer that the nodes of a channel may hear begins a burst, or ends one.
    Interferer {
        /// the channel, counted from 0
        channel: u32,
        /// whether it begins
        begins: bool,
    },
    /// The number of nodes with a data frame to send changed.
    Contenders {
        /// the new number
        count: u32,
    },
    /// An event that only an account of time reads.
    Step(Step),
}
