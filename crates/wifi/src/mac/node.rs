//! A node: its queue, the frame at the head of its MAC, its contention window and retry counter.

use lasthop_engine::Stream;
use lasthop_link::{Drop, Packet, PacketMeta, QueueDiscipline, QueueDisciplineKind, Wanted};
use lasthop_observe::{LinkId, NodeId};
use lasthop_registry::words;
use lasthop_units::Time;

use super::contention::{DIFS_LANE, LaneId, PIFS_LANE};
use super::ppdu::Ppdu;
use crate::phy::ModeId;
use crate::rate_control::RateChain;

words! {
    /// The inter-frame space a node waits before it contends.
    pub enum Access {
        /// the standard's, for every node
        Difs = "difs",
        /// one slot less: priority for the AP [802.11-2020 §10.3.2.3]
        Pifs = "pifs",
    }
}

/// Where a node's packets wait.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeQueue {
    /// in a queue discipline that may drop
    Discipline(QueueDisciplineKind),
    /// in the socket: data is asked for when the device has room, ACKs wait in an unlimited queue
    Backpressure,
}

/// How a node is set up.
#[derive(Clone, Debug)]
pub struct NodeConfig {
    /// its name, after which its random streams are named
    pub name: String,
    /// where its packets wait
    pub queue: NodeQueue,
    /// retransmissions after the first attempt; `None`: as many as it takes
    pub retry_limit: Option<u32>,
    /// its inter-frame space
    pub access: Access,
}

/// What a node's MAC is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// nothing to send; its post-backoff ends or ended at this count of slots of its lane
    Idle { ready_at: u64 },
    /// its backoff is counted down by its view; without a frame if it has just given one up
    Contending,
    /// it will start at a boundary, whatever it could sense by then
    Committed,
    /// it has won: frame exchange in progress
    Exchanging,
}

/// The MSDU that the MAC tries to send.
pub(crate) struct Frame<B> {
    pub meta: PacketMeta,
    /// Gone once the receiver has it: what arrives again is a duplicate, acknowledged and discarded.
    pub body: Option<B>,
    pub to: NodeId,
    pub link: LinkId,
    /// of the latest attempt
    pub mode: ModeId,
    pub rates: Rates,
    /// attempts so far
    pub attempts: u32,
    /// when it came to the head of the queue
    pub since: Time,
}

/// The chain of rates that an MSDU goes through.
#[derive(Clone, Copy, Default)]
pub(crate) struct Rates {
    chain: Option<RateChain>,
    tried: u32,
}

impl Rates {
    /// The mode of the next attempt; a new chain is asked for where the last one is used up.
    pub(crate) fn next(&mut self, ask: impl FnOnce() -> RateChain) -> ModeId {
        let left = self.chain.and_then(|chain| chain.mode_of_attempt(self.tried));
        self.tried += 1;
        left.unwrap_or_else(|| {
            let chain = ask();
            *self = Rates { chain: Some(chain), tried: 1 };
            chain.first()
        })
    }
}

/// A node of the medium.
pub(crate) struct Node<B> {
    pub state: State,
    pub frame: Option<Frame<B>>,
    pub queue: Box<dyn QueueDiscipline<B>>,
    pub backpressured: bool,
    pub cw: u32,
    pub retry_limit: Option<u32>,
    pub lane: LaneId,
    pub view: usize,
    pub beacon_due: bool,
    pub backoff: Stream,
    /// true while its transmitter is on
    pub transmitting: bool,
    /// What it sends a SIFS after the frame before.
    pub response: Option<Ppdu>,
}

impl<B: Send + 'static> Node<B> {
    pub(crate) fn new(config: &NodeConfig, cw_min: u32, view: usize, seed: u64) -> Self {
        let (kind, backpressured) = match &config.queue {
            NodeQueue::Discipline(kind) => (kind.clone(), false),
            NodeQueue::Backpressure => (unlimited(), true),
        };
        Node {
            state: State::Idle { ready_at: 0 },
            frame: None,
            queue: kind.build(Stream::named(seed, "queue", &config.name)),
            backpressured,
            cw: cw_min,
            retry_limit: config.retry_limit,
            lane: match config.access {
                Access::Difs => DIFS_LANE,
                Access::Pifs => PIFS_LANE,
            },
            view,
            beacon_due: false,
            backoff: Stream::named(seed, "backoff", &config.name),
            transmitting: false,
            response: None,
        }
    }
}

fn unlimited() -> QueueDisciplineKind {
    QueueDisciplineKind::Fifo(lasthop_link::queue_discipline::fifo::Params {
        limit: lasthop_registry::Amount::Unlimited,
    })
}

impl<B> Node<B> {
    /// A backoff from the current contention window: uniform in 0..=CW [802.11-2020 §10.3.3].
    pub(crate) fn draw_backoff(&mut self) -> u64 {
        u64::from(self.backoff.up_to(self.cw))
    }

    /// Moves a waiting packet into the frame slot.
    pub(crate) fn load(&mut self, now: Time, packet: Packet<B>, to: NodeId, link: LinkId) {
        let Packet { meta, body } = packet;
        let (mode, rates) = (ModeId::default(), Rates::default());
        self.frame = Some(Frame { meta, body: Some(body), to, link, mode, rates, attempts: 0, since: now });
    }

    /// Takes the next packet from the queue.
    pub(crate) fn dequeue(&mut self, now: Time, dropped: &mut Vec<Drop<B>>) -> Option<Packet<B>> {
        self.queue.dequeue(now, Wanted::ANY, dropped)
    }
}
