//! What a station sends in one access category: queue, frames, agreements, rates. Knows no backoffs and no other radios.
//!
//! `single`: MSDUs that are acknowledged one by one; `frame`: one of them. `ampdu`: A-MPDUs under Block Ack agreements; `agreement`: windows and
//! reordering; `aggregation`: how much goes into one. `rates`: how far a frame has come in its chain of rates; `links`: who
//! chooses them. `psdu`: what a sender is asked for, and what it gives. This file: where packets come from and wait.

pub(crate) mod aggregation;
pub(crate) mod agreement;
mod ampdu;
pub(crate) mod frame;
pub(crate) mod links;
pub(crate) mod psdu;
mod rates;
mod single;

use std::collections::{BTreeMap, VecDeque};

use lasthop_link::{AirtimeUse, Drop, Marks, Packet, PacketMeta, QueueDiscipline, Wanted};
use lasthop_observe::detail::Passage;
use lasthop_observe::{FlowId, NodeId, QueueLayer, Record, Step};
use lasthop_units::{DataRate, Duration, Time};

use crate::access::edca::AccessCategory;
use crate::books::Books;
use crate::environment::Environment;
use crate::layout::Layout;
use crate::ppdu::{DATA_OVERHEAD, QOS_DATA_OVERHEAD};
use aggregation::Aggregation;
use agreement::Agreement;
use frame::Frame;

pub(crate) use ampdu::Tried;

/// What a station sends in one access category, and in all of them where it knows none.
pub(crate) struct Sender<B> {
    pub node: NodeId,
    is_ap: bool,
    category: Option<AccessCategory>,
    /// Retransmissions after the first attempt; `None`: as many as it takes.
    retry_limit: Option<u32>,
    /// The limits of its A-MPDUs; `None`: it makes none.
    aggregation: Option<Aggregation>,
    /// Whether it has something to send.
    backlogged: bool,
    /// Whether the queue wants to know of airtime.
    counts_airtime: bool,
    /// Whether the queue may hold something else than when it was last counted; what it held then, and of that TCP ACKs.
    queue_changed: bool,
    queued: (u32, u32),
    /// Whether what it holds is to be reported.
    queue_to_report: bool,
    /// What an MPDU has besides the IP packet, in bytes.
    overhead: u32,
    /// The frame at its head, where frames are acknowledged one by one.
    pub frame: Option<Frame<B>>,
    queue: Box<dyn QueueDiscipline<B>>,
    marks: Marks,
    dropped: Vec<Drop<B>>,
    /// Packets handed to it so far.
    pub offered: u64,
    /// Packets that were taken out and did not fit what was made, where A-MPDUs are made; they go first.
    staged: VecDeque<Packet<B>>,
    pub agreements: Vec<Agreement<B>>,
    /// (station, TID) of each agreement
    agreement_of: BTreeMap<(NodeId, u8), usize>,
    /// Agreements that have something to send again, in the order in which they got it.
    line: VecDeque<usize>,
    /// Stations whose retries wait, while a turn is given.
    retrying: Vec<NodeId>,
}

/// How a sender is set up.
pub(crate) struct SenderConfig<B> {
    pub node: NodeId,
    pub is_ap: bool,
    pub category: Option<AccessCategory>,
    pub retry_limit: Option<u32>,
    pub aggregation: Option<Aggregation>,
    pub queue: Box<dyn QueueDiscipline<B>>,
}

/// Where a packet went that came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    /// into the frame slot at once
    Mac,
    /// to the queue, or it was dropped
    Queue,
}

impl<B> Sender<B> {
    pub(crate) fn new(config: SenderConfig<B>) -> Sender<B> {
        Sender {
            node: config.node,
            is_ap: config.is_ap,
            category: config.category,
            retry_limit: config.retry_limit,
            aggregation: config.aggregation,
            backlogged: false,
            counts_airtime: config.queue.schedules_stations(),
            queue_changed: false,
            queued: (0, 0),
            queue_to_report: false,
            overhead: if config.category.is_some() { QOS_DATA_OVERHEAD } else { DATA_OVERHEAD },
            frame: None,
            marks: Marks::of(&*config.queue),
            queue: config.queue,
            dropped: Vec::new(),
            offered: 0,
            staged: VecDeque::new(),
            agreements: Vec::new(),
            agreement_of: BTreeMap::new(),
            line: VecDeque::new(),
            retrying: Vec::new(),
        }
    }

    /// Why its queue cannot go on, if it cannot.
    pub(crate) fn queue_failure(&self) -> Option<&str> {
        self.queue.failure()
    }

    /// Whether it makes A-MPDUs.
    #[inline(always)]
    pub(crate) fn aggregates(&self) -> bool {
        self.aggregation.is_some()
    }

    /// What an MPDU that is acknowledged by itself has besides the IP packet.
    pub(crate) fn overhead(&self) -> u32 {
        self.overhead
    }

    /// Whether it has something to send.
    #[inline(always)]
    pub(crate) fn is_backlogged(&self) -> bool {
        self.backlogged
    }

    /// Whether the queue wants to know of airtime.
    #[inline(always)]
    pub(crate) fn counts_airtime(&self) -> bool {
        self.counts_airtime
    }

    /// Gives a station `weight` parts of the airtime where others have 256.
    pub(crate) fn set_weight(&mut self, station: NodeId, weight: u32) {
        self.queue.set_weight(station, weight);
    }

    /// A station has used the air.
    pub(crate) fn on_airtime(&mut self, now: Time, used: &AirtimeUse) {
        self.queue.on_airtime(now, used);
    }

    /// An AP's attempt at reaching a station counts against the station's share.
    fn charge_downlink(&mut self, now: Time, station: NodeId, airtime: Duration, rate: DataRate) {
        if self.counts_airtime && self.is_ap {
            self.queue.on_airtime(now, &AirtimeUse { station, up: false, airtime, rate });
        }
    }

    /// Packets that wait in its queue or its MAC and have not arrived yet.
    pub(crate) fn held(&self) -> u64 {
        let in_frame = u64::from(self.frame.as_ref().is_some_and(Frame::is_under_way));
        let in_agreements: u64 = self.agreements.iter().map(Agreement::held).sum();
        u64::from(self.queue.packets()) + in_frame + self.staged.len() as u64 + in_agreements
    }

    /// Packets in its queue, and of these TCP ACKs.
    #[inline(always)]
    pub(crate) fn occupancy(&self) -> (u32, u32) {
        self.queue.occupancy()
    }

    /// As [`occupancy`](Self::occupancy); counts only if that may have changed.
    pub(crate) fn counted(&mut self) -> (u32, u32) {
        if std::mem::take(&mut self.queue_changed) {
            self.queued = self.occupancy();
        }
        self.queued
    }

    /// Whether what the queue holds is to be reported; asked once.
    #[inline(always)]
    pub(crate) fn take_queue_to_report(&mut self) -> bool {
        std::mem::take(&mut self.queue_to_report)
    }

    /// A packet comes in.
    #[inline(always)]
    pub(crate) fn enqueue(
        &mut self,
        now: Time,
        mut packet: Packet<B>,
        layout: &Layout,
        books: &mut Books,
        env: &mut impl Environment<B>,
    ) -> Entered {
        packet.meta.enqueued_at = now;
        self.offered += 1;
        self.note_entry(now, &packet.meta, env);
        let is_free = self.frame.is_none() && !self.aggregates();
        if is_free && self.queue.lets_pass(packet.meta.bytes) {
            self.load(now, packet, layout, env);
            return Entered::Mac;
        }
        // Also what goes to the MAC at once passes the queue: it may average over arrivals, or count what is in flight.
        let flow = packet.meta.flow;
        self.queue.enqueue(now, packet, &mut self.dropped);
        let next = is_free.then(|| self.queue.dequeue(now, Wanted::ANY, &mut self.dropped)).flatten();
        self.report_drops(now, Some(flow), books, env);
        match next {
            Some(packet) => {
                self.load(now, packet, layout, env);
                Entered::Mac
            }
            None => Entered::Queue,
        }
    }

    /// Whether what it sends next is at hand.
    #[inline(always)]
    pub(crate) fn is_ready(&self) -> bool {
        self.backlogged && self.frame.is_some()
    }

    /// Makes sure that it has what it sends next at hand; false if there is nothing to send.
    pub(crate) fn look_for_work(
        &mut self,
        now: Time,
        layout: &Layout,
        books: &mut Books,
        env: &mut impl Environment<B>,
    ) -> bool {
        let has_work = self.finds_work(now, layout, books, env);
        if std::mem::replace(&mut self.backlogged, has_work) != has_work {
            if has_work {
                books.contenders += 1
            } else {
                books.contenders -= 1
            }
            env.observe(now, Record::Contenders { count: books.contenders });
        }
        has_work
    }

    fn finds_work(&mut self, now: Time, layout: &Layout, books: &mut Books, env: &mut impl Environment<B>) -> bool {
        if self.frame.is_some() || !self.staged.is_empty() || !self.line.is_empty() {
            return true;
        }
        if self.aggregates() {
            // A-MPDUs take packets from the queue when they are made.
            if self.queue.packets() > 0 {
                return true;
            }
            let Some(packet) = self.pull(now, env) else { return false };
            self.staged.push_back(packet);
            return true;
        }
        let mut queued = None;
        if self.queue.packets() > 0 {
            queued = self.queue.dequeue(now, Wanted::ANY, &mut self.dropped);
            self.report_drops(now, None, books, env);
            self.queue_to_report = true;
        }
        let Some(packet) = queued.or_else(|| self.pull(now, env)) else { return false };
        self.load(now, packet, layout, env);
        true
    }

    /// A packet of a socket that waits to be asked.
    fn pull(&mut self, now: Time, env: &mut impl Environment<B>) -> Option<Packet<B>> {
        let mut packet = env.pull(now, self.node, self.category)?;
        packet.meta.enqueued_at = now;
        self.offered += 1;
        self.note_entry(now, &packet.meta, env);
        if self.aggregates() {
            self.note_taken(now, &packet.meta, env);
        }
        Some(packet)
    }

    /// Tells of what the queue has dropped and marked, while a packet of flow `incoming` came in.
    #[inline(always)]
    fn report_drops(&mut self, now: Time, incoming: Option<FlowId>, books: &mut Books, env: &mut impl Environment<B>) {
        self.queue_changed = true;
        let count = self.marks.new_of(&*self.queue);
        if count > 0 {
            env.observe(now, Record::Marked { node: self.node, layer: QueueLayer::Interface, count });
        }
        if !self.dropped.is_empty() {
            self.tell_drops(now, incoming, books, env);
        }
    }

    #[inline(never)]
    fn tell_drops(&mut self, now: Time, incoming: Option<FlowId>, books: &mut Books, env: &mut impl Environment<B>) {
        for (packet, reason) in self.dropped.drain(..) {
            books.counts.dropped_by_queue += 1;
            env.observe(now, packet.meta.dropped(self.node, QueueLayer::Interface, reason));
            env.released(now, self.node, &packet.meta, incoming == Some(packet.meta.flow));
            env.discarded(packet.body);
        }
    }

    /// A packet comes to the interface.
    #[inline(always)]
    fn note_entry(&self, now: Time, meta: &PacketMeta, env: &mut impl Environment<B>) {
        let (node, flow, tcp_ack) = (self.node, meta.flow, meta.pure_ack);
        env.observe(now, Record::Step(Step::Enters { node, flow, tcp_ack }));
        env.detail(now, meta.passes(Passage::QueueIn, node));
    }

    /// A packet goes into the MAC.
    #[inline(always)]
    fn note_taken(&self, now: Time, meta: &PacketMeta, env: &mut impl Environment<B>) {
        env.observe(now, Record::Step(Step::Taken { node: self.node, flow: meta.flow }));
        env.detail(now, meta.passes(Passage::QueueOut, self.node));
    }

    /// The MAC is done with a packet, one way or the other.
    #[inline(always)]
    fn release(&mut self, now: Time, meta: &PacketMeta, env: &mut impl Environment<B>) {
        release(now, self.node, &mut *self.queue, meta, env);
    }
}

/// The MAC of `node` is done with a packet, one way or the other.
#[inline(always)]
fn release<B>(
    now: Time,
    node: NodeId,
    queue: &mut dyn QueueDiscipline<B>,
    meta: &PacketMeta,
    env: &mut impl Environment<B>,
) {
    queue.on_done(now, meta);
    env.released(now, node, meta, false);
    env.observe(now, Record::Step(Step::Leaves { node, flow: meta.flow }));
    env.detail(now, meta.passes(Passage::MacDone, node));
}
