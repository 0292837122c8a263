//! Queue, frames, agreements and rates of a station in one access category. This module knows no backoffs and no other
//! radios.
//!
//! `single`: MSDUs that are acknowledged one by one; `frame`: one of them. `ampdu`: A-MPDUs under Block Ack agreements;
//! `agreement`: windows and reordering. `driver`: A-MPDUs that are prepared; `hardware`: their places; `firmware`: the
//! driver of other hardware; `reports`: results on their way to it. `rates`: the place of a frame in its chain of rates;
//! `links`: the rate controls. `reservation`: the exchange that is to follow. `psdu`: opportunities to send, and the PSDUs
//! sent in them; `several`: those in PPDUs of several users. This file: the sources of packets, and the places where they wait.

pub(crate) mod agreement;
mod ampdu;
mod driver;
mod firmware;
pub(crate) mod frame;
mod hardware;
pub(crate) mod links;
pub(crate) mod psdu;
mod rates;
mod reports;
mod reservation;
mod several;
mod single;

use std::collections::{BTreeMap, VecDeque};

use lasthop_link::{AirtimeUse, ByClass, Drop, Marks, Packet, PacketMeta, QueueDiscipline, Wanted};
use lasthop_observe::detail::Passage;
use lasthop_observe::{FlowId, NodeId, QueueLayer, Record, Step};
use lasthop_units::{DataRate, Duration, Time};

use crate::aggregation::Aggregation;
use crate::books::Books;
use crate::config::Driver;
use crate::edca::AccessCategory;
use crate::environment::Environment;
use crate::ids::SenderId;
use crate::layout::Layout;

use agreement::Agreement;
use frame::{Airtimes, Frame};
use hardware::Hardware;
use reports::Reports;

/// The part of a station that sends in one access category, or in all of them if it has none.
pub(crate) struct Sender<B> {
    pub node: NodeId,
    is_ap: bool,
    category: Option<AccessCategory>,
    /// Retransmissions after the first attempt; `None`: no limit.
    retry_limit: Option<u32>,
    /// The limits of its A-MPDUs; `None`: it makes none.
    aggregation: Option<Aggregation>,
    /// True if it has something to send.
    backlogged: bool,
    /// True if the queue counts airtime.
    counts_airtime: bool,
    /// True if the queue may have changed since it was last counted; then the packets it held, and TCP ACKs among them.
    queue_changed: bool,
    queued: (u32, u32),
    /// True if the content of the queue is to be reported.
    queue_to_report: bool,
    /// Bytes of an MPDU besides the IP packet.
    overhead: u32,
    /// The largest packet so far.
    largest: u32,
    /// The frame at its head, where frames are acknowledged one by one.
    pub frame: Option<Frame<B>>,
    airtimes: Airtimes,
    queue: Box<dyn QueueDiscipline<B>>,
    marks: Marks,
    /// The shaper of the queue, if it has one.
    shaper: Shaper,
    dropped: Vec<Drop<B>>,
    /// Packets handed to it so far.
    pub offered: u64,
    /// Packets that were taken out and did not fit into the PSDU, if A-MPDUs are made; they are sent first.
    staged: VecDeque<Packet<B>>,
    pub agreements: Vec<Agreement<B>>,
    /// (station, TID) of each agreement
    agreement_of: BTreeMap<(NodeId, u8), usize>,
    /// Agreements with something to retransmit, in the order in which they joined.
    line: VecDeque<usize>,
    /// Exchanges of A-MPDUs that failed since the last one that succeeded or the last return of the window: QSRC[AC].
    failures: u32,
    /// End of the latest exchange of an A-MPDU or a BlockAckReq.
    exchange_ended: Time,
    /// Stations whose retries wait, while a turn is chosen.
    retrying: Vec<NodeId>,
    /// The A-MPDUs that a driver has prepared; `None`: each is made when the medium is won.
    hardware: Option<Box<Hardware>>,
    /// Results on their way to the driver of other hardware; `None`: there is no such driver.
    reports: Option<Box<Reports>>,
}

/// Configuration of a sender.
pub(crate) struct SenderConfig<B> {
    pub node: NodeId,
    pub is_ap: bool,
    pub category: Option<AccessCategory>,
    pub retry_limit: Option<u32>,
    pub aggregation: Option<Aggregation>,
    /// its number, and the driver below its queue
    pub driver: Option<(SenderId, Driver)>,
    /// bytes of an MPDU around the IP packet
    pub overhead: u32,
    pub queue: Box<dyn QueueDiscipline<B>>,
}

/// Place of a packet that came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    /// into the frame slot at once
    Mac,
    /// the queue, unless it was dropped
    Queue,
}

/// The shaper of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shaper {
    /// there is none
    Absent,
    /// it may hold packets; whether the time at which it opens is scheduled
    Present { is_awaited: bool },
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
            counts_airtime: config.queue.shares_airtime(),
            queue_changed: false,
            queued: (0, 0),
            queue_to_report: false,
            overhead: config.overhead,
            largest: 0,
            frame: None,
            airtimes: Airtimes::default(),
            marks: Marks::of(&*config.queue),
            shaper: if config.queue.is_shaped() { Shaper::Present { is_awaited: false } } else { Shaper::Absent },
            queue: config.queue,
            dropped: Vec::new(),
            offered: 0,
            staged: VecDeque::new(),
            agreements: Vec::new(),
            agreement_of: BTreeMap::new(),
            line: VecDeque::new(),
            failures: 0,
            exchange_ended: Time::ZERO,
            retrying: Vec::new(),
            hardware: config.driver.and_then(|(id, driver)| Hardware::of(id, driver)).map(Box::new),
            reports: config.driver.and_then(|(id, driver)| Reports::of(id, driver)).map(Box::new),
        }
    }

    /// Waits and marks of its queue by class, if the queue has classes.
    pub fn by_class(&self) -> Option<&ByClass> {
        self.queue.by_class()
    }

    /// Resets them.
    pub fn start_counting(&mut self) {
        self.queue.start();
    }

    /// The reason why its queue cannot go on, if it cannot.
    pub(crate) fn queue_failure(&self) -> Option<&str> {
        self.queue.failure()
    }

    /// Returns whether packets of the queue may be taken now.
    #[inline(always)]
    fn has_queued(&self, now: Time) -> bool {
        self.queue.packets() > 0 && (self.shaper == Shaper::Absent || self.queue.ready_at().is_none_or(|at| at <= now))
    }

    /// The time at which the shaper of the queue opens, if packets wait for it and that is not scheduled yet: the caller
    /// schedules it.
    #[inline(always)]
    pub(crate) fn shaper_to_await(&mut self, now: Time) -> Option<Time> {
        if self.shaper != (Shaper::Present { is_awaited: false }) {
            return None;
        }
        let at = self.queue.ready_at().filter(|at| *at > now)?;
        self.shaper = Shaper::Present { is_awaited: true };
        Some(at)
    }

    /// Called when that time has come.
    pub(crate) fn shaper_has_opened(&mut self) {
        self.shaper = Shaper::Present { is_awaited: false };
    }

    /// Returns whether it makes A-MPDUs.
    #[inline(always)]
    pub(crate) fn aggregates(&self) -> bool {
        self.aggregation.is_some()
    }

    /// Returns whether it has something to send.
    #[inline(always)]
    pub(crate) fn is_backlogged(&self) -> bool {
        self.backlogged
    }

    /// Returns whether the queue counts airtime.
    #[inline(always)]
    pub(crate) fn counts_airtime(&self) -> bool {
        self.counts_airtime
    }

    /// Gives a station `weight` parts of the airtime; the default is 256.
    pub(crate) fn set_weight(&mut self, station: NodeId, weight: u32) {
        self.queue.set_weight(station, weight);
    }

    /// Changes the limits of its later A-MPDUs, if it makes any.
    pub(crate) fn limit_ampdus(&mut self, max_mpdus: Option<u32>, max_duration: Option<Duration>) {
        if let Some(limits) = &mut self.aggregation {
            limits.max_mpdus = max_mpdus.unwrap_or(limits.max_mpdus);
            limits.max_duration = max_duration.unwrap_or(limits.max_duration);
        }
    }

    /// Sets the delay that the law of its queue keeps.
    pub(crate) fn set_target(&mut self, target: Duration) {
        self.queue.set_target(target);
    }

    /// Charges a station for airtime.
    pub(crate) fn on_airtime(&mut self, now: Time, used: &AirtimeUse) {
        self.queue.on_airtime(now, used);
    }

    /// Charges an AP's attempt to reach a station to the station's share.
    fn charge_downlink(&mut self, now: Time, station: NodeId, airtime: Duration, rate: DataRate) {
        // A station's own queue limits pending airtime if hardware below it holds packets.
        if self.counts_airtime && (self.is_ap || self.has_firmware()) {
            self.charge(now, AirtimeUse { station, up: false, airtime, rate });
        }
    }

    /// Packets in its queue or its MAC that have not arrived yet.
    pub(crate) fn held(&self) -> u64 {
        let in_frame = u64::from(self.frame.as_ref().is_some_and(Frame::is_under_way));
        let in_agreements: u64 = self.agreements.iter().map(Agreement::held).sum();
        u64::from(self.queue.packets()) + in_frame + self.staged.len() as u64 + in_agreements
    }

    /// Packets in its queue, and TCP ACKs among them.
    #[inline(always)]
    pub(crate) fn occupancy(&self) -> (u32, u32) {
        self.queue.occupancy()
    }

    /// Does the same as [`occupancy`](Self::occupancy), but counts only if that may have changed.
    pub(crate) fn counted(&mut self) -> (u32, u32) {
        if std::mem::take(&mut self.queue_changed) {
            self.queued = self.occupancy();
        }
        self.queued
    }

    /// Returns whether the content of the queue is to be reported, and resets this.
    #[inline(always)]
    pub(crate) fn take_queue_to_report(&mut self) -> bool {
        std::mem::take(&mut self.queue_to_report)
    }

    /// Takes a packet in.
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
        self.largest = self.largest.max(packet.meta.bytes);
        self.note_entry(now, &packet.meta, env);
        let is_free = self.frame.is_none() && !self.aggregates();
        if is_free && self.queue.lets_pass(packet.meta.bytes) {
            self.load(now, packet, layout, env);
            return Entered::Mac;
        }
        // A packet for the MAC also passes the queue: the discipline may average over arrivals, or count packets in
        // flight.
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

    /// Returns whether its next frame is at hand.
    #[inline(always)]
    pub(crate) fn is_ready(&self) -> bool {
        self.backlogged && self.frame.is_some()
    }

    /// Fetches its next frame, if it is not at hand; false if there is nothing to send.
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
        if self.prepares() {
            return self.has_prepared();
        }
        if self.frame.is_some() || !self.staged.is_empty() || !self.line.is_empty() {
            return true;
        }
        if self.aggregates() {
            // A-MPDUs take packets from the queue when they are made.
            if self.has_queued(now) {
                return !self.has_firmware() || self.queue.pass_down(now, &mut self.dropped) > 0;
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

    /// Pulls a packet from a socket that waits for this.
    fn pull(&mut self, now: Time, env: &mut impl Environment<B>) -> Option<Packet<B>> {
        if self.has_firmware() {
            // Packets go through the hardware's queue.
            return None;
        }
        let mut packet = env.pull(now, self.node, self.category)?;
        packet.meta.enqueued_at = now;
        self.offered += 1;
        self.note_entry(now, &packet.meta, env);
        if self.aggregates() {
            self.note_taken(now, &packet.meta, env);
        }
        Some(packet)
    }

    /// Reports packets that the queue has dropped and marked, while a packet of flow `incoming` came in.
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
            env.discarded(packet);
        }
    }

    /// Reports a packet that comes to the interface.
    #[inline(always)]
    fn note_entry(&self, now: Time, meta: &PacketMeta, env: &mut impl Environment<B>) {
        let (node, flow, tcp_ack) = (self.node, meta.flow, meta.pure_ack);
        env.observe(now, Record::Step(Step::Enters { node, flow, tcp_ack }));
        env.detail(now, meta.passes(Passage::QueueIn, node));
    }

    /// Reports a packet that goes into the MAC.
    #[inline(always)]
    fn note_taken(&self, now: Time, meta: &PacketMeta, env: &mut impl Environment<B>) {
        env.observe(now, Record::Step(Step::Taken { node: self.node, flow: meta.flow }));
        env.detail(now, meta.passes(Passage::QueueOut, self.node));
    }

    /// Releases a packet with which the MAC is done, delivered or not.
    #[inline(always)]
    fn release(&mut self, now: Time, meta: &PacketMeta, env: &mut impl Environment<B>) {
        release(now, (self.node, &mut *self.queue, self.reports.as_deref_mut()), meta, env);
    }
}

/// Releases a packet with which the MAC of `node` is done, delivered or not, at once or when the driver learns of it.
#[inline(always)]
fn release<B>(
    now: Time,
    (node, queue, reports): (NodeId, &mut dyn QueueDiscipline<B>, Option<&mut Reports>),
    meta: &PacketMeta,
    env: &mut impl Environment<B>,
) {
    if reports.is_none_or(|reports| !reports.keeps(now, meta)) {
        release_at_once(now, node, queue, meta, env);
    }
}

#[inline(always)]
fn release_at_once<B>(
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
