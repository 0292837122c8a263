//! A node, and its channel access functions: queue, frame or Block Ack agreements, contention window, backoff.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use lasthop_engine::Stream;
use lasthop_link::{Marks, Packet, PacketMeta, QueueDiscipline};
use lasthop_observe::{LinkId, NodeId, Outcome};
use lasthop_registry::words;
use lasthop_units::{Dbm, Duration, Time};

use super::block_ack::Session;
use super::contention::{FunctionId, LaneId, Unanswered};
use super::edca::{AccessCategory, EdcaParameters};
use super::ppdu::Ppdu;
use super::rates::Rates;
use crate::phy::ModeId;

words! {
    /// The inter-frame space a node waits before it contends.
    pub enum Access {
        /// the standard's, for every node
        Difs = "difs",
        /// one slot less: priority for the AP [802.11-2020 §10.3.2.3]
        Pifs = "pifs",
    }
}

/// How a node gets to the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelAccess {
    /// one queue: DCF
    Dcf(Access),
    /// a queue for each access category, in the order of [`AccessCategory::ALL`]: EDCA
    Edca([EdcaParameters; 4]),
}

/// How a node is set up.
#[derive(Clone, Debug)]
pub struct NodeConfig {
    /// its name, after which its random streams are named
    pub name: String,
    /// which BSS of the medium it belongs to
    pub bss: u32,
    /// data waits in the socket and is asked for when the device has room; only what is handed to it waits in its queue
    pub backpressured: bool,
    /// retransmissions after the first attempt; `None`: as many as it takes
    pub retry_limit: Option<u32>,
    /// its way to the medium
    pub access: ChannelAccess,
    /// from which power on it notices an OFDM PPDU whose preamble it has missed, when it has listened for aCCAMidTime;
    /// `None`: by its energy only
    pub mid_packet_detection: Option<Dbm>,
    /// a station's share of airtime, where the queue of its AP gives shares; 256 is the default
    pub airtime_weight: u32,
}

/// What a channel access function is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// nothing to send; its post-backoff ends or ended at this count of slots of its lane
    Idle { ready_at: u64 },
    /// its backoff is counted down by its view; without a frame if it has just given one up
    Contending,
    /// it will start at this boundary, whatever it could sense by then
    Committed { at: Time },
    /// it has won: frame exchange in progress
    Exchanging,
}

/// The MSDU that the MAC tries to send, where each is acknowledged by itself.
pub(crate) struct Frame<B> {
    pub meta: PacketMeta,
    /// Gone once the receiver has it: what arrives again is a duplicate, acknowledged and discarded.
    pub body: Option<B>,
    pub to: NodeId,
    pub link: LinkId,
    /// of the latest attempt
    pub mode: ModeId,
    pub rts: bool,
    pub rates: Rates,
    /// attempts so far
    pub attempts: u32,
    /// when it came to the head of the queue
    pub since: Time,
}

/// A channel access function.
pub(crate) struct Function<B> {
    pub node: NodeId,
    pub state: State,
    pub lane: LaneId,
    pub cw: u32,
    pub cw_min: u32,
    pub cw_max: u32,
    pub txop_limit: Duration,
    /// When the TXOP that it holds ends, if its limit is not zero.
    pub txop_ends: Option<Time>,
    /// When the exchange in progress began.
    pub began: Time,
    pub backoff: Stream,
    pub queue: Box<dyn QueueDiscipline<B>>,
    /// Whether it makes A-MPDUs.
    pub aggregates: bool,
    /// What an MPDU has besides the IP packet, in bytes.
    pub overhead: u32,
    /// Whether the queue wants to know of airtime.
    pub counts_airtime: bool,
    /// Packets and TCP ACKs in the queue, when they were last counted; whether that may have changed.
    pub queued: (u32, u32),
    pub queue_changed: bool,
    /// Of the queue.
    pub marks: Marks,
    /// The frame at its head, where frames are acknowledged one by one.
    pub frame: Option<Frame<B>>,
    /// Packets that were taken out and did not fit what was made, where A-MPDUs are made; they go first.
    pub staged: VecDeque<Packet<B>>,
    pub sessions: Vec<Session<B>>,
    /// (station, TID) of each session
    pub session_of: BTreeMap<(NodeId, u8), usize>,
    /// Sessions that have something to send again, in the order in which they got it.
    pub line: VecDeque<usize>,
    /// The session of the latest exchange.
    pub latest: usize,
    /// Lengths of the MPDUs of the A-MPDU in progress; empty if it is about something else.
    pub lengths: Vec<u32>,
    /// Length of its PSDU.
    pub psdu_bytes: u32,
    /// What the first of them that was lost was lost to, while others arrived.
    pub lost_to: Option<Outcome>,
    /// Whether it has something to send.
    pub backlogged: bool,
}

impl<B> Function<B> {
    /// A backoff from the current contention window: uniform in 0..=CW [802.11-2020 §10.3.3].
    pub(crate) fn draw_backoff(&mut self) -> u64 {
        u64::from(self.backoff.up_to(self.cw))
    }

    /// The window of the next attempt after one that failed.
    pub(crate) fn widen(&mut self) {
        self.cw = (2 * self.cw + 1).min(self.cw_max);
    }

    /// Moves a waiting packet into the frame slot.
    pub(crate) fn load(&mut self, now: Time, packet: Packet<B>, to: NodeId, link: LinkId) {
        let Packet { meta, body } = packet;
        let (mode, rates) = (ModeId::default(), Rates::default());
        self.frame = Some(Frame { meta, body: Some(body), to, link, mode, rts: false, rates, attempts: 0, since: now });
    }

    /// Packets in its MAC that have not arrived.
    pub(crate) fn held(&self) -> u64 {
        let in_frame = u64::from(self.frame.as_ref().is_some_and(|f| f.body.is_some()));
        let in_sessions: u64 = self.sessions.iter().map(Session::held).sum();
        u64::from(self.queue.packets()) + in_frame + self.staged.len() as u64 + in_sessions
    }

    /// Puts a session at the end of the line, unless it stands there.
    pub(crate) fn line_up(&mut self, session: usize) {
        if !std::mem::replace(&mut self.sessions[session].in_line, true) {
            self.line.push_back(session);
        }
    }

    /// Whether anything waits in its MAC.
    pub(crate) fn has_work(&self) -> bool {
        self.frame.is_some() || !self.staged.is_empty() || !self.line.is_empty()
    }
}

/// A node of the medium.
pub(crate) struct Node {
    pub bss: usize,
    /// The AP of its BSS; itself, where it is one.
    pub ap: NodeId,
    /// A station's link to its AP; the one back follows. Of no meaning for an AP.
    pub uplink: LinkId,
    /// Its channel access functions, the one with the highest priority first.
    pub functions: Range<u32>,
    pub backpressured: bool,
    /// Packets handed to it so far.
    pub offered: u64,
    pub retry_limit: Option<u32>,
    pub view: usize,
    pub beacon_due: bool,
    /// true while its transmitter is on
    pub transmitting: bool,
    /// Its last frame that was not answered.
    pub unanswered: Option<Unanswered>,
    /// What it sends a SIFS after the frame before.
    pub response: Option<Ppdu>,
}

impl Node {
    /// The function that serves packets of `tid`.
    pub(crate) fn function_of(&self, tid: u8) -> FunctionId {
        let place = if self.functions.len() == 1 { 0 } else { AccessCategory::of_tid(tid).index() as u32 };
        FunctionId(self.functions.start + place)
    }

    /// Whether it has a function for each access category.
    pub(crate) fn has_edca(&self) -> bool {
        self.functions.len() > 1
    }

    /// The function with the highest priority.
    pub(crate) fn first_function(&self) -> FunctionId {
        FunctionId(self.functions.start)
    }
}
