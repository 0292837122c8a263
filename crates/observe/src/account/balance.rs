//! The result of an account.

use std::collections::BTreeMap;

use lasthop_units::Duration;

use super::term::{Place, Rival, Term};

/// Packets of a flow at one end of its wireless link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// packets with data that entered its interface
    pub data: u64,
    /// pure TCP ACKs that entered it
    pub tcp_acks: u64,
    /// part of `data` dropped by its queue
    pub data_dropped: u64,
    /// part of `tcp_acks` dropped by its queue
    pub tcp_acks_dropped: u64,
    /// part of both given up by its MAC
    pub given_up: u64,
}

impl Traffic {
    pub(in crate::account) fn count(&mut self, tcp_ack: bool) {
        *if tcp_ack { &mut self.tcp_acks } else { &mut self.data } += 1;
    }
    pub(in crate::account) fn count_drop(&mut self, tcp_ack: bool) {
        *if tcp_ack { &mut self.tcp_acks_dropped } else { &mut self.data_dropped } += 1;
    }
}

/// Time in a queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueTime {
    /// total time
    pub spent: Duration,
    /// time by holder of the medium; `None`: a free medium
    pub meanwhile: BTreeMap<Option<Rival>, Duration>,
}

impl QueueTime {
    pub(super) fn add(&mut self, rival: Option<Rival>, spent: Duration) {
        self.spent += spent;
        *self.meanwhile.entry(rival).or_default() += spent;
    }
}

/// The time of a flow.
#[derive(Clone, Debug)]
pub struct FlowBalance {
    /// every term
    pub terms: Vec<(Term, Duration)>,
    /// [`Term::WaitingForOthers`] by name
    pub waits: Vec<(Rival, Duration)>,
    /// [`Term::Queues`] by queue
    pub queues: Vec<(Place, QueueTime)>,
    /// at the station and at its AP
    pub traffic: [Traffic; 2],
}

/// The content of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// packets with data that arrived, for the time they would take at the best rate
    Data,
    /// the same for pure TCP ACKs
    TcpAck,
    /// excess of PPDUs with either over that time
    BelowBest,
    /// time in PPDUs of several users after the last symbols with data
    Padding,
    /// RTS, CTS, Ack, BlockAck, BlockAckReq, triggers
    Control,
    /// a beacon
    Beacon,
}

/// The outcome of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// its receiver decoded it
    Arrived,
    /// it was lost to another
    Collided,
    /// the same, while a PPDU was on the air that began during another one whose preamble its sender had missed
    OverlapsMissed,
    /// it was lost to noise
    Noise,
    /// it was lost to an interferer
    Interferer,
}

impl Kind {
    /// All, in display order.
    pub const ALL: [Kind; 6] = [Kind::Data, Kind::TcpAck, Kind::BelowBest, Kind::Padding, Kind::Control, Kind::Beacon];
    /// Its name in results.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Data => "data",
            Kind::TcpAck => "tcp_acks",
            Kind::BelowBest => "rate_below_best",
            Kind::Padding => "padding",
            Kind::Control => "control",
            Kind::Beacon => "beacons",
        }
    }
}

/// Time of the channel that the PPDUs of a node took.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeAirtime([[Duration; 5]; 6]);

impl NodeAirtime {
    pub(super) fn add(&mut self, kind: Kind, fate: Fate, spent: Duration) {
        self.0[kind as usize][fate as usize] += spent;
    }
    /// The time of PPDUs with this kind and fate.
    pub fn get(&self, kind: Kind, fate: Fate) -> Duration {
        self.0[kind as usize][fate as usize]
    }
    /// The time of all PPDUs with this fate.
    pub fn of_fate(&self, fate: Fate) -> Duration {
        self.0.iter().fold(Duration::ZERO, |sum, of| sum + of[fate as usize])
    }
    /// The time of all PPDUs.
    pub fn total(&self) -> Duration {
        self.0.iter().flatten().fold(Duration::ZERO, |sum, of| sum + *of)
    }
}

/// The time of a channel.
#[derive(Clone, Debug)]
pub struct ChannelBalance {
    /// by node; zero for nodes of other channels
    pub nodes: Vec<NodeAirtime>,
    /// number of PPDUs that began during another one whose preamble their sender had missed
    pub overlaps_missed: u64,
    /// silence between the frames of exchanges
    pub within_exchanges: Duration,
    /// no PPDU and no exchange, but an interferer on the air
    pub interferers: Duration,
    /// silence while a node has packets to send
    pub contending: Duration,
    /// silence while no node has packets
    pub idle: Duration,
}

/// The balance of all flows and channels.
#[derive(Clone, Debug)]
pub struct Balance {
    /// the time covered
    pub covered: Duration,
    /// by flow
    pub flows: Vec<FlowBalance>,
    /// by channel
    pub channels: Vec<ChannelBalance>,
}

impl Balance {
    /// # Panics
    /// If a flow or a channel does not add up to all of the time.
    pub(super) fn check(&self) {
        for (index, flow) in self.flows.iter().enumerate() {
            let sum = flow.terms.iter().fold(Duration::ZERO, |sum, (_, spent)| sum + *spent);
            assert_eq!(sum, self.covered, "the account of flow {index} does not add up");
        }
        for (index, channel) in self.channels.iter().enumerate() {
            let on_air = channel.nodes.iter().fold(Duration::ZERO, |sum, node| sum + node.total());
            let sum = on_air + channel.within_exchanges + channel.interferers + channel.contending + channel.idle;
            assert_eq!(sum, self.covered, "the account of channel {index} does not add up");
        }
    }
}
