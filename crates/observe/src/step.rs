//! Where packets are, what is on the air and what senders wait for: what only an account of time reads.
//!
//! Whoever emits these works nothing out for them where [`Observer::READS_STEPS`](crate::Observer::READS_STEPS) is
//! false.

use lasthop_units::Duration;

use crate::{FlowId, LinkId, NodeId, Outcome};

/// What a PPDU carries, as far as it matters to whom the airtime is booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// MSDUs: packets of flows
    Packets,
    /// what surrounds them: RTS, CTS, Ack, BlockAck, BlockAckReq
    Control,
    /// an acknowledgement that ends an exchange
    Acknowledgement,
    /// a beacon
    Beacon,
}

/// A PPDU that comes on the air.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// who sends it
    pub node: NodeId,
    /// whose exchange it belongs to
    pub initiator: NodeId,
    /// the link that the exchange is about; none for a beacon
    pub link: Option<LinkId>,
    /// what it carries
    pub payload: Payload,
    /// on which channel, counted from 0
    pub channel: u32,
    /// true if every node of the channel notices it; else it is told of each that does
    pub to_all: bool,
    /// how long it lasts
    pub airtime: Duration,
    /// how long it would last at the best rate that its link can carry
    pub at_best: Duration,
    /// whether its sender has won the medium over a PPDU that had begun a slot ago or earlier, loud enough for its
    /// preamble, which the sender has missed
    pub tramples: bool,
}

/// A PPDU that has ended.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// who sent it
    pub node: NodeId,
    /// whose exchange it belongs to
    pub initiator: NodeId,
    /// how many MPDUs it held, whatever became of them
    pub mpdus: u32,
    /// of these, how many its receiver decoded
    pub decoded: u32,
    /// what the first that was not was lost to
    pub lost_to: Option<Outcome>,
    /// whether the exchange goes on a SIFS later
    pub goes_on: bool,
}

/// What keeps the sender of a flow from sending more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// its application has nothing for it
    Application,
    /// the handshake
    Opening,
    /// the congestion window
    CongestionWindow,
    /// the window that the receiver offers
    ReceiveWindow,
    /// pacing
    Pacing,
    /// its own host: small queues, or an interface that asks when it has room
    Device,
}

/// Something of which the metrics take no notice.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// A host has handed a packet to the network.
    Emitted {
        /// of which flow
        flow: FlowId,
    },
    /// It has reached the host at its end.
    Arrived {
        /// of which flow
        flow: FlowId,
    },
    /// A packet comes to the interface of a wireless node.
    Enters {
        /// whose
        node: NodeId,
        /// of which flow
        flow: FlowId,
        /// whether it is a pure TCP ACK
        tcp_ack: bool,
    },
    /// It is taken from the queue of that interface into the MAC.
    Taken {
        /// whose
        node: NodeId,
        /// of which flow
        flow: FlowId,
    },
    /// The MAC is done with it.
    Leaves {
        /// whose
        node: NodeId,
        /// of which flow
        flow: FlowId,
    },
    /// A packet comes to the queue of a wired link.
    WireEnters {
        /// of which flow
        flow: FlowId,
        /// true towards the server
        up: bool,
    },
    /// The link begins to transmit it.
    WireTaken {
        /// of which flow
        flow: FlowId,
        /// true towards the server
        up: bool,
    },
    /// What the ends of a flow wait for has changed. A recording is told of it too.
    Waits {
        /// which
        flow: FlowId,
        /// what keeps the sender from sending more
        hold: Hold,
        /// whether an end awaits an answer until a timer sends again what is not acknowledged
        awaits_answer: bool,
        /// whether an end withholds an ACK
        withholds_ack: bool,
    },
    /// A PPDU comes on the air; [`Carries`](Step::Carries) and [`Noticed`](Step::Noticed) follow.
    Start(Start),
    /// The exchange of the PPDU that has just been told of is about packets of this flow.
    Carries {
        /// whose exchange
        initiator: NodeId,
        /// which flow
        flow: FlowId,
        /// bytes of packets with data
        data_bytes: u32,
        /// bytes of pure TCP ACKs
        ack_bytes: u32,
    },
    /// The PPDU that has just been told of is noticed by these nodes.
    Noticed {
        /// whose exchange
        initiator: NodeId,
        /// from which node on `nodes` counts
        first: NodeId,
        /// a bit for each of 64 nodes, the lowest for `first`
        nodes: u64,
    },
    /// A PPDU under way is noticed by this node, which has missed its preamble.
    Recognised {
        /// whose exchange it belongs to
        initiator: NodeId,
        /// by whom
        by: NodeId,
    },
    /// A PPDU has ended.
    End(End),
}
