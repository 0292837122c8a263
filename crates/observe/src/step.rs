//! Places of packets, PPDUs on the air and the reasons why senders wait: events that only an account of time
//! reads.
//!
//! Emitters skip the work for them if [`Observer::READS_STEPS`](crate::Observer::READS_STEPS) or, of this run,
//! [`Observer::reads_steps`](crate::Observer::reads_steps) is false.

use lasthop_units::{Duration, Hold};

use crate::{FlowId, LinkId, NodeId, Outcome};

/// The content of a PPDU, as far as it matters for booking airtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// MSDUs: packets of flows
    Packets,
    /// frames around them: RTS, CTS, Ack, BlockAck, BlockAckReq
    Control,
    /// an acknowledgement that ends an exchange
    Acknowledgement,
    /// a beacon
    Beacon,
}

/// A PPDU that starts.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// its sender
    pub node: NodeId,
    /// the initiator of its exchange
    pub initiator: NodeId,
    /// the link of the exchange; none for a beacon
    pub link: Option<LinkId>,
    /// its content
    pub payload: Payload,
    /// its channel, counted from 0
    pub channel: u32,
    /// true if every node of the channel notices it; otherwise a step follows for those that do
    pub to_all: bool,
    /// its duration
    pub airtime: Duration,
    /// its duration at the best rate that its link can carry; of several users, without padding, mean over used tones
    pub at_best: Duration,
    /// whether its exchange is with several users
    pub of_several: bool,
    /// time after the last symbols with data of its users, mean over used tones; zero for one user
    pub padding: Duration,
    /// whether its sender has won the medium over a PPDU that had begun a slot ago or earlier, strong enough for
    /// its preamble, which the sender has missed
    pub overlaps_missed: bool,
}

/// A PPDU that has ended.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// its sender
    pub node: NodeId,
    /// the initiator of its exchange
    pub initiator: NodeId,
    /// number of its MPDUs, decoded or not
    pub mpdus: u32,
    /// number of these that its receiver decoded
    pub decoded: u32,
    /// cause of loss of the first one not decoded
    pub lost_to: Option<Outcome>,
    /// whether the exchange continues a SIFS later
    pub goes_on: bool,
}

/// An event that the metrics do not read.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// A host has passed a packet to the network.
    Emitted {
        /// its flow
        flow: FlowId,
    },
    /// A packet has reached the host at its end.
    Arrived {
        /// its flow
        flow: FlowId,
    },
    /// A packet enters the interface of a wireless node.
    Enters {
        /// its node
        node: NodeId,
        /// its flow
        flow: FlowId,
        /// whether it is a pure TCP ACK
        tcp_ack: bool,
    },
    /// A packet is taken from the queue of that interface into the MAC.
    Taken {
        /// its node
        node: NodeId,
        /// its flow
        flow: FlowId,
    },
    /// The MAC has finished with a packet.
    Leaves {
        /// its node
        node: NodeId,
        /// its flow
        flow: FlowId,
    },
    /// A packet enters the queue of a wired link.
    WireEnters {
        /// its flow
        flow: FlowId,
        /// true towards the server
        up: bool,
    },
    /// The link begins to transmit a packet.
    WireTaken {
        /// its flow
        flow: FlowId,
        /// true towards the server
        up: bool,
    },
    /// The reasons why the ends of a flow wait have changed. A recording reads it too.
    Waits {
        /// its flow
        flow: FlowId,
        /// the reason why the sender sends no more
        hold: Hold,
        /// whether an end awaits an answer until a timer retransmits unacknowledged data
        awaits_answer: bool,
        /// whether an end withholds an ACK
        withholds_ack: bool,
    },
    /// A PPDU starts; [`Carries`](Step::Carries) and [`Noticed`](Step::Noticed) follow.
    Start(Start),
    /// The exchange of the PPDU just reported carries packets of this flow.
    Carries {
        /// the initiator of the exchange
        initiator: NodeId,
        /// its flow
        flow: FlowId,
        /// bytes of packets with data
        data_bytes: u32,
        /// bytes of pure TCP ACKs
        ack_bytes: u32,
    },
    /// These nodes notice the PPDU just reported.
    Noticed {
        /// the initiator of the exchange
        initiator: NodeId,
        /// the node of the lowest bit of `nodes`
        first: NodeId,
        /// a bit for each of 64 nodes, the lowest for `first`
        nodes: u64,
    },
    /// This node, which has missed a PPDU's preamble, notices the PPDU later.
    Recognised {
        /// the initiator of its exchange
        initiator: NodeId,
        /// the node
        by: NodeId,
    },
    /// A channel access function may not contend from now on, until a trigger asks for its data or its time is over; or it
    /// may again.
    Held {
        /// its node
        node: NodeId,
        /// its number within the node, the one with the highest priority first
        function: u32,
        /// whether it may not
        held: bool,
    },
    /// A node is on another channel from now on; it sends nothing.
    Moved {
        /// the node
        node: NodeId,
        /// the channel, counted from 0 in the order in which BSSs have had them
        channel: u32,
    },
    /// A PPDU has ended.
    End(End),
}
