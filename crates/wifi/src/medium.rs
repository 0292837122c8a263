//! The shared medium: the next event, and packets in and out.
//!
//! There is no event per slot and none per receiver that only overhears. Where all nodes hear one another alike, they
//! share one view of the medium, and a frame costs the same with ten stations or a thousand. Elsewhere each node has
//! its own view. The code is the same for both: a plain slot-by-slot twin in the tests sends the same frames at the
//! same nanoseconds.
//!
//! The air, channel access and the senders each own their state. This file hands events to the layers above them, and
//! packets to and from the nodes.

use std::collections::VecDeque;

use lasthop_engine::Stream;
use lasthop_link::{ByClass, Packet};
use lasthop_observe::{LinkId, NodeId, Record};
use lasthop_registry::Switch;
use lasthop_units::{Bytes, Db, Duration, Present, Time};

use crate::access::function::{Function, State, Terms};
use crate::access::lane::{LaneKind, Spaces};
use crate::access::view::Countdown;
use crate::access::{Contention, Lanes, Requested};
use crate::air::carrier_sense::CarrierSense;
use crate::air::{Air, AirConfig, Radio};
use crate::books::{Books, Counts};
use crate::channel::Channel;
use crate::config::{Access, AfterLoss, ChannelAccess, MediumConfig, NodeConfig};
use crate::edca::{AccessCategory, EdcaParameters};
use crate::environment::{Environment, GroupFrame, MediumEvent};
use crate::exchange::{Exchanges, FunctionFacts};
use crate::ids::{FunctionId, SenderId, TxId};
use crate::layout::Layout;
use crate::multi_user::Users;
use crate::multi_user::random_access::{Contender, RandomAccess};
use crate::multi_user::scheduler::SchedulerContext;
use crate::ppdu::{DATA_OVERHEAD, FCS_BYTES, Ppdu, QOS_DATA_OVERHEAD};
use crate::rate_control::{RateChain, RateControl};
use crate::sender::links::Links;
use crate::sender::{Entered, Sender, SenderConfig};

/// A frame other than a packet for which a function of a radio contends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Errand {
    /// a beacon: its first function
    Beacon,
    /// the group frames of its host: its first function
    Group,
    /// questions to its stations: its function of best effort
    Question,
}

/// Frames other than packets that a node has to send.
#[derive(Clone, Default)]
pub(crate) struct Station {
    /// The frame it sends a SIFS after the frame before, or an acknowledgement that it is sending.
    pub response: Option<Ppdu>,
    /// In the order in which they came up, each once.
    pub errands: Vec<Errand>,
    /// Group frames of its host: those that wait, and the number of the one on the air.
    pub groups: VecDeque<GroupFrame>,
    pub group_on_air: Option<u32>,
}

/// The part of a medium that cannot go on; see [`Medium::failure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// the queue of a node
    Queue(NodeId),
    /// the rate control of a link
    RateControl(LinkId),
    /// the error model
    ErrorModel,
    /// the scheduler of several users of an access point
    Scheduler(NodeId),
}

/// The nodes that share the air, and the PPDUs on it.
pub struct Medium<B> {
    pub(crate) layout: Layout,
    pub(crate) air: Air,
    pub(crate) access: Contention,
    /// the sender of each channel access function
    pub(crate) senders: Vec<Sender<B>>,
    /// facts about each channel access function
    pub(crate) functions: Vec<FunctionFacts>,
    /// the exchanges in progress
    pub(crate) exchanges: Exchanges,
    pub(crate) stations: Vec<Station>,
    pub(crate) links: Links,
    pub(crate) ideals: Vec<Box<dyn RateControl>>,
    pub(crate) books: Books,
    /// Number of errands of all nodes.
    pub(crate) errands: u32,
    pub(crate) after_loss: AfterLoss,
    /// Users of each access point that serves several at once, by its BSS.
    pub(crate) users: Vec<Users>,
    /// Lengths of the MPDUs that bystanders overhear.
    pub(crate) overheard: Vec<u32>,
    /// Ends of the parts of a PPDU of several users, for recordings and captures.
    pub(crate) part_ends: Vec<(u32, Option<lasthop_observe::End>)>,
    /// QoS Nulls of a PPDU that were sent and heard, for accounts.
    pub(crate) nulls: Option<(u32, u32)>,
    pub(crate) present: Present,
}

impl<B: Send + 'static> Medium<B> {
    /// A silent medium.
    ///
    /// # Panics
    /// If errors or capture are configured where nodes share views; if nodes of different channels share a view; or if
    /// nodes of a channel do not share one although other nodes do.
    pub fn new(config: MediumConfig<B>) -> Self {
        Setup::of(config).medium()
    }

    /// Starts beacons and interferers, which run by themselves.
    pub fn start(&mut self, env: &mut impl Environment<B>) {
        for (index, bss) in self.layout.bss.iter().enumerate() {
            if let Some(interval) = bss.beacons {
                env.schedule(Time::ZERO + interval, MediumEvent::Beacon(index as u32));
            }
            if let Some(interval) = bss.multi_user.filter(|of| of.uplink).and_then(|of| of.access_request) {
                env.schedule(Time::ZERO + interval, MediumEvent::AsksStations(index as u32));
            }
        }
        self.start_bursts(env);
    }

    /// Hands `packet` to `node`'s queue.
    pub fn enqueue(&mut self, now: Time, node: NodeId, packet: Packet<B>, env: &mut impl Environment<B>) {
        self.present.advance(now);
        let id = self.layout.node(node).function_of(packet.meta.tid);
        let sender = &mut self.senders[id.index()];
        if sender.enqueue(now, packet, &self.layout, &mut self.books, env) == Entered::Queue {
            self.report_queue(now, node, env);
        }
        if self.senders[id.index()].has_driver() {
            self.prepare(now, id, env);
        }
        self.request_access(now, id, env);
    }

    /// Lets a function take packets that its shaper held.
    fn shaper_opens(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) {
        self.senders[id.index()].shaper_has_opened();
        if self.senders[id.index()].has_driver() {
            self.prepare(now, id, env);
        }
        self.request_access(now, id, env);
    }

    /// Schedules the time at which the shaper of a queue opens, if packets wait for it.
    #[inline(always)]
    fn await_shaper(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) {
        if let Some(at) = self.senders[id.index()].shaper_to_await(now) {
            env.schedule(at, MediumEvent::ShaperOpens { function: id.0 });
        }
    }

    /// Announces data of `tid` for `node` from a source that waits to be pulled; it is pulled if the device is free.
    pub fn offer(&mut self, now: Time, node: NodeId, tid: u8, env: &mut impl Environment<B>) {
        self.present.advance(now);
        let id = self.layout.node(node).function_of(tid);
        if self.senders[id.index()].has_driver() {
            self.prepare(now, id, env);
        }
        if !self.senders[id.index()].is_backlogged() {
            self.request_access(now, id, env);
        }
    }

    /// Returns whether `node`'s queue pulls data from its sockets instead of dropping it.
    pub fn is_backpressured(&self, node: NodeId) -> bool {
        self.layout.node(node).backpressured
    }

    /// Packets that went in and out.
    pub fn counts(&self) -> Counts {
        Counts { offered: self.offered().sum(), ..self.books.counts }
    }

    /// Number of packets that each node was handed so far.
    pub fn offered(&self) -> impl Iterator<Item = u64> {
        let of = |range: &std::ops::Range<u32>| &self.senders[range.start as usize..range.end as usize];
        self.layout.nodes.iter().map(move |node| of(&node.functions).iter().map(|sender| sender.offered).sum())
    }

    /// Waits and marks by class of the queues of each node since counting began, if they have classes.
    pub fn by_class(&self) -> impl Iterator<Item = Option<ByClass>> {
        let of = |range: &std::ops::Range<u32>| &self.senders[range.start as usize..range.end as usize];
        self.layout.nodes.iter().map(move |node| {
            let all = of(&node.functions).iter().filter_map(Sender::by_class).cloned();
            all.reduce(|mut all, more| {
                all.join(&more);
                all
            })
        })
    }

    /// Resets the waits and marks by class.
    pub fn start_counting(&mut self) {
        self.senders.iter_mut().for_each(Sender::start_counting);
    }

    /// The algorithm that cannot continue, if there is one, with the reason.
    pub fn failure(&self) -> Option<(Failed, &str)> {
        let queue = self.senders.iter().find_map(|sender| Some((Failed::Queue(sender.node), sender.queue_failure()?)));
        let control = || self.links.failure().map(|(link, why)| (Failed::RateControl(link), why));
        let model = || self.air.failure().map(|why| (Failed::ErrorModel, why));
        let scheduler = || {
            let mut all = self.layout.bss.iter().zip(&self.users);
            all.find_map(|(bss, users)| Some((Failed::Scheduler(bss.ap), users.scheduler.failure()?)))
        };
        queue.or_else(control).or_else(model).or_else(scheduler)
    }

    /// Packets that wait in queues or MACs and have not arrived yet.
    pub fn held(&self) -> u64 {
        self.senders.iter().map(Sender::held).sum()
    }

    /// Handles an event that the medium scheduled.
    #[inline(always)]
    pub fn handle(&mut self, now: Time, event: MediumEvent, env: &mut impl Environment<B>) {
        self.present.advance(now);
        match event {
            MediumEvent::Backoff { turn } => {
                if let Some(function) = self.access.backoff_ends(now, turn, env) {
                    self.win(now, function, env);
                }
            }
            MediumEvent::PpduEnds(id) => self.ppdu_ends(now, TxId(id), env),
            MediumEvent::AnswerEnds(node) => self.answer_ends(now, node, env),
            event => self.handle_rarer(now, event, env),
        }
    }

    #[inline(never)]
    fn handle_rarer(&mut self, now: Time, event: MediumEvent, env: &mut impl Environment<B>) {
        match event {
            MediumEvent::Backoff { .. } | MediumEvent::PpduEnds(_) | MediumEvent::AnswerEnds(_) => {
                unreachable!("they were handled before")
            }
            MediumEvent::Start { function } => {
                let id = FunctionId(function);
                if self.access.state(id) == (State::Committed { at: now }) {
                    self.win(now, id, env);
                }
            }
            MediumEvent::Respond(node) => self.respond(now, node, env),
            MediumEvent::NavTimeout { by, since } => {
                self.access.nav_timeout(now, self.access.view_of(by), since, env);
            }
            MediumEvent::Recognises { view } => self.recognise(now, view as usize, env),
            MediumEvent::Reorder { sender, agreement } => {
                let (id, books) = (SenderId(sender), &mut self.books);
                self.senders[id.index()].reorder_timeout(now, id, agreement, books, env);
            }
            MediumEvent::ShaperOpens { function } => self.shaper_opens(now, FunctionId(function), env),
            MediumEvent::Completion { sender } => self.complete(now, SenderId(sender), env),
            MediumEvent::Beacon(bss) => self.beacon_is_due(now, bss as usize, env),
            MediumEvent::AsksStations(bss) => self.asks_stations(now, bss as usize, env),
            MediumEvent::BurstBegins(by) => self.burst_begins(now, by, env),
            MediumEvent::BurstEnds(by) => self.burst_ends(now, by, env),
            MediumEvent::MuEdcaEnds { function } => self.mu_edca_ends(now, FunctionId(function), env),
            MediumEvent::Moves(bss) => self.moves(now, bss as usize, env),
            MediumEvent::Release { function } => {
                let id = FunctionId(function);
                let has_work = self.refill(now, id, env) || self.has_errand(id);
                self.access.release(now, id, has_work, env);
            }
        }
    }

    /// Lets a node neither count nor begin an exchange before `until`. Its backoffs keep the slots still to count, and an
    /// exchange that it has begun goes on.
    pub fn hold(&mut self, now: Time, node: NodeId, until: Time, env: &mut impl Environment<B>) {
        self.present.advance(now);
        for id in self.layout.node(node).functions.clone() {
            self.access.hold(now, FunctionId(id), until, env);
        }
    }

    /// Gives a node other EDCA parameters from now on, in one access category or in all: those of the backoffs in
    /// progress, and of later ones. The TXOP limit holds from its next TXOP on.
    ///
    /// # Panics
    /// If the node has no access categories.
    pub fn set_edca(
        &mut self,
        now: Time,
        node: NodeId,
        category: Option<AccessCategory>,
        to: &EdcaParameters,
        env: &mut impl Environment<B>,
    ) {
        self.present.advance(now);
        let own = self.layout.node(node);
        assert!(own.has_edca(), "node {} has no access categories", node.0);
        let of = own.functions.clone().zip(AccessCategory::ALL);
        for (id, _) in of.filter(|(_, one)| category.is_none_or(|category| category == *one)) {
            self.functions[id as usize].txop_limit = to.txop_limit;
            let kind = LaneKind::of_edca(to.aifsn);
            self.access.set_own(now, FunctionId(id), &Terms { kind, cw_min: to.cw_min, cw_max: to.cw_max }, env);
        }
    }

    /// Sends every later frame of a link by `chain`: frames whose rates have been chosen keep them.
    pub fn hold_rate(&mut self, link: LinkId, chain: RateChain) {
        self.links.hold(link, chain);
    }

    /// Raises the received powers of later PPDUs of a node by `gain`, measured from those of its configuration, if powers of this
    /// medium [may change](crate::Matrix::with_turned_powers).
    pub fn set_gain(&mut self, now: Time, node: NodeId, gain: Db) {
        self.air.set_gain(now, node, gain);
    }

    /// Changes the bounds of later downlink PPDUs of several users of an access point, if it sends any.
    pub fn bound_users(&mut self, ap: NodeId, max_users: Option<u32>, least_bytes: Option<Option<Bytes>>) {
        let bss = self.layout.node(ap).bss;
        if let Some(of) = &mut self.layout.bss[bss as usize].multi_user {
            of.max_users = max_users.unwrap_or(of.max_users);
            of.least_bytes = least_bytes.unwrap_or(of.least_bytes);
        }
    }

    /// Ranks a station among those that its access point serves together: while several have data, the scheduler chooses among those
    /// of the highest rank. At the start all have rank 0.
    pub fn rank_user(&mut self, station: NodeId, rank: u8) {
        let bss = self.layout.node(station).bss;
        self.users[bss as usize].rank(station, rank);
    }

    /// Sets the delay that the queues of a node keep, from now on, if their law has a target.
    pub fn set_queue_target(&mut self, node: NodeId, target: Duration) {
        for id in self.layout.node(node).functions.clone() {
            self.senders[id as usize].set_target(target);
        }
    }

    /// Gives a station `weight` parts of the airtime at its AP, with a default of 256, if the queue there shares it.
    pub fn set_airtime_weight(&mut self, station: NodeId, weight: u32) {
        let ap = self.layout.node(station).ap;
        for id in self.layout.node(ap).functions.clone() {
            self.senders[id as usize].set_weight(station, weight);
        }
    }

    /// Changes the limits of the later A-MPDUs of a node, if it makes any; PPDUs of several users keep theirs.
    pub fn limit_ampdus(&mut self, node: NodeId, max_mpdus: Option<u32>, max_duration: Option<Duration>) {
        for id in self.layout.node(node).functions.clone() {
            self.senders[id as usize].limit_ampdus(max_mpdus, max_duration);
        }
    }

    /// Puts RTS/CTS before later data PPDUs longer than this, of all nodes of the BSS of `node`.
    pub fn set_rts_threshold(&mut self, node: NodeId, threshold: Option<Bytes>) {
        let bss = self.layout.node(node).bss;
        self.layout.bss[bss as usize].rts_threshold = threshold;
        let may_announce = self.layout.bss[bss as usize].announces();
        for own in self.layout.nodes.iter().filter(|own| own.bss == bss) {
            for id in own.functions.clone() {
                self.functions[id as usize].may_announce = may_announce;
            }
        }
    }

    /// Gives a node without access categories another CWmin and CWmax from now on. A backoff in progress keeps its slots;
    /// a window outside the new bounds moves to the nearer one.
    ///
    /// # Panics
    /// If the node has access categories, or `cw_min` is greater than `cw_max`.
    pub fn set_window(&mut self, now: Time, node: NodeId, cw_min: u32, cw_max: u32, env: &mut impl Environment<B>) {
        self.present.advance(now);
        let own = self.layout.node(node);
        assert!(!own.has_edca() && cw_min <= cw_max, "node {} has access categories, or no window", node.0);
        let id = own.first_function();
        let terms = Terms { cw_min, cw_max, ..self.access.own(id) };
        self.access.set_own(now, id, &terms, env);
    }

    /// Fetches the next frame of a function, if it is not at hand; false if there is nothing to send.
    #[inline(always)]
    pub(crate) fn refill(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) -> bool {
        self.senders[id.index()].is_ready() || self.look_for_work(now, id, env)
    }

    /// Lets a driver build A-MPDUs, or pass packets down, as long as its hardware has places.
    #[inline(never)]
    fn prepare(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) {
        let (sender, limit) = (&mut self.senders[id.index()], self.functions[id.index()].txop_limit);
        sender.prepare(now, limit, (&self.layout, &mut self.links, &mut self.books), env);
        if sender.take_queue_to_report() {
            let node = sender.node;
            self.report_queue(now, node, env);
        }
        self.await_shaper(now, id, env);
    }

    /// Reports results to a driver, after which it may pass down more.
    fn complete(&mut self, now: Time, id: SenderId, env: &mut impl Environment<B>) {
        let sender = &mut self.senders[id.index()];
        let bss = self.layout.bss_of(sender.node);
        sender.complete(now, (bss, &mut self.links, &mut self.books), env);
        let function = FunctionId(id.0);
        self.prepare(now, function, env);
        self.request_access(now, function, env);
    }

    #[inline(never)]
    fn look_for_work(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) -> bool {
        if self.senders[id.index()].has_driver() {
            self.prepare(now, id, env);
        }
        let sender = &mut self.senders[id.index()];
        let has_work = sender.look_for_work(now, &self.layout, &mut self.books, env);
        if sender.take_queue_to_report() {
            let node = sender.node;
            self.report_queue(now, node, env);
        }
        if !has_work {
            self.await_shaper(now, id, env);
        }
        has_work
    }

    /// Reports how much waits at a node.
    #[inline(always)]
    pub(crate) fn report_queue(&mut self, now: Time, node: NodeId, env: &mut impl Environment<B>) {
        let functions = self.layout.node(node).functions.clone();
        let (packets, tcp_acks) = if functions.len() == 1 {
            self.senders[functions.start as usize].occupancy()
        } else {
            let of = &mut self.senders[functions.start as usize..functions.end as usize];
            of.iter_mut().map(Sender::counted).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
        };
        env.observe(now, Record::Queue { node, packets, tcp_acks });
    }

    /// Lets a function with something to send, or a node with an errand, send at once or contend.
    #[inline(always)]
    pub(crate) fn request_access(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) {
        let contends = !matches!(self.access.state(id), State::Idle { .. });
        if !contends || !self.senders[id.index()].is_backlogged() {
            self.request_access_of(now, id, env);
        }
    }

    /// The slow path of [`request_access`](Self::request_access): the function does not contend, or has had nothing to
    /// send.
    #[inline(never)]
    fn request_access_of(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) {
        self.leave_unsettled(self.functions[id.index()].by, env);
        // A function that contends to ask stations goes on with its backoff.
        if !self.senders[id.index()].is_backlogged() && self.refill(now, id, env) && !self.has_question(id) {
            self.access.withdraw(now, id);
        }
        let State::Idle { ready_at } = self.access.state(id) else { return };
        if !self.senders[id.index()].is_backlogged() && !self.has_errand(id) {
            return;
        }
        let FunctionFacts { by: node, has_siblings, .. } = self.functions[id.index()];
        let occupied = has_siblings
            && (self.air.is_sending(node)
                || self.stations[node.index()].response.is_some()
                || self.access.is_exchanging(node));
        let requested = self.access.request(now, id, ready_at, occupied, env);
        self.note_backoff(now, id, env);
        if requested == Requested::Wins {
            self.win(now, id, env);
        }
    }
}

/// A medium under construction.
struct Setup<B> {
    config: MediumConfig<B>,
    layout: Layout,
    lanes: Lanes,
    functions: Vec<Function>,
    senders: Vec<Sender<B>>,
    facts: Vec<FunctionFacts>,
}

impl<B: Send + 'static> Setup<B> {
    fn of(mut config: MediumConfig<B>) -> Setup<B> {
        let plain = config.error_model.is_none() && config.capture == Switch::Off;
        assert!(!config.channel.is_uniform() || plain, "errors and capture need a matrix of powers");
        let judges = config.error_model.needs_sinr() && !config.channel.is_uniform();
        assert!(config.interferers.is_empty() || judges, "interferers need a matrix of powers and a model of the SINR");
        let nodes = std::mem::take(&mut config.nodes);
        let layout = Layout::new(std::mem::take(&mut config.bss), &nodes);
        let lanes = Lanes::default();
        let (functions, senders, facts) = (Vec::new(), Vec::new(), Vec::new());
        let mut setup = Setup { config, layout, lanes, functions, senders, facts };
        for (index, node) in nodes.iter().enumerate() {
            setup.add(NodeId(index as u32), node);
        }
        for (index, station) in nodes.iter().enumerate().filter(|(_, n)| n.airtime_weight != 256) {
            let ap = setup.layout.node(setup.layout.nodes[index].ap);
            for sender in &mut setup.senders[ap.functions.start as usize..ap.functions.end as usize] {
                sender.set_weight(NodeId(index as u32), station.airtime_weight);
            }
        }
        setup.config.nodes = nodes;
        setup
    }

    /// Adds the channel access functions of a node.
    fn add(&mut self, id: NodeId, node: &NodeConfig) {
        match &node.access {
            ChannelAccess::Dcf(access) => {
                let offset = if *access == Access::Pifs { -1 } else { 0 };
                let kind = LaneKind { offset, counts_busy_slot: self.config.countdown == Countdown::Bianchi };
                let phy = &self.layout.bss_of(id).phy;
                let window = (node.legacy.map_or(phy.cw_min(), |of| of.cw_min), phy.cw_max());
                self.add_function(id, node, None, (kind, window, Duration::ZERO));
            }
            ChannelAccess::Edca(categories) => {
                for (category, of) in AccessCategory::ALL.into_iter().zip(categories) {
                    let kind = LaneKind::of_edca(of.aifsn);
                    self.add_function(id, node, Some(category), (kind, (of.cw_min, of.cw_max), of.txop_limit));
                }
            }
        }
    }

    fn add_function(
        &mut self,
        id: NodeId,
        node: &NodeConfig,
        category: Option<AccessCategory>,
        (kind, (cw_min, cw_max), txop_limit): (LaneKind, (u32, u32), Duration),
    ) {
        // Best effort draws the same numbers as a station without categories.
        let name = match category.filter(|category| *category != AccessCategory::Be) {
            Some(category) => format!("{} {}", node.name, category.word()),
            None => node.name.clone(),
        };
        let (seed, bss) = (self.config.seed, self.layout.bss_of(id));
        let (has_siblings, may_announce) = (self.layout.node(id).has_edca(), bss.announces());
        let serves_several = bss.ap == id && bss.multi_user.is_some() && node.driver.is_none();
        let reports_queue = bss.ap != id && node.multi_user && bss.multi_user.is_some();
        self.facts.push(FunctionFacts {
            by: id,
            has_siblings,
            may_announce,
            serves_several,
            reports_queue,
            txop_limit,
            mu_edca_until: Time::ZERO,
        });
        self.functions.push(Function {
            node: id,
            state: State::Idle { ready_at: 0 },
            lane: self.lanes.place(kind),
            cw: cw_min,
            cw_min,
            cw_max,
            backoff: Stream::named(seed, "backoff", &name),
            drawn: None,
            held_until: Time::ZERO,
        });
        let sender = SenderId(self.senders.len() as u32);
        self.senders.push(Sender::new(SenderConfig {
            node: id,
            is_ap: bss.ap == id,
            category,
            retry_limit: node.retry_limit,
            aggregation: bss.aggregation.filter(|_| node.legacy.is_none()),
            driver: node
                .driver
                .filter(|driver| driver.aggregates.is_none() || (bss.aggregation.is_some() && node.legacy.is_none()))
                .map(|driver| (sender, driver)),
            overhead: match category {
                _ if bss.whole_frames => FCS_BYTES,
                Some(_) => bss.security.overhead().0 as u32 + QOS_DATA_OVERHEAD,
                None => bss.security.overhead().0 as u32 + DATA_OVERHEAD,
            },
            queue: (self.config.queues)(id, Stream::named(seed, "queue", &name)),
        }));
    }

    fn medium(self) -> Medium<B> {
        let Setup { config, layout, lanes, functions, senders, facts } = self;
        let users = users_of(&layout, &config.nodes, config.seed);
        let capture = config.capture.as_option().copied();
        let detection = config.nodes.iter().map(|node| node.mid_packet_detection);
        let radio = |(index, node): (usize, &crate::layout::Node)| Radio {
            bss: node.bss,
            channel: layout.bss[node.bss as usize].channel,
            is_ap: node.ap.index() == index,
            transmitting: false,
        };
        let view_of = |node: usize| config.channel.view_of(NodeId(node as u32));
        let of_node = |(index, node): (usize, &crate::layout::Node)| (view_of(index), node.functions.clone());
        let views: Vec<_> = layout.nodes.iter().enumerate().map(of_node).collect();
        let mut spaces = spaces_of_views(&config.channel, &layout);
        let air = Air::new(AirConfig {
            radios: layout.nodes.iter().enumerate().map(radio).collect(),
            phys: layout.bss.iter().map(|bss| bss.phy.clone()).collect(),
            noise_mw_per_hz: config.noise_mw_per_hz,
            sense: CarrierSense::new(&config.channel, capture, detection),
            channel: config.channel,
            capture,
            error_model: config.error_model,
            noise: config.nodes.iter().map(|c| Stream::named(config.seed, "reception", &c.name)).collect(),
            interferers: config.interferers,
            seed: config.seed,
        });
        // The views of groups follow those of nodes.
        air.hearing.groups.iter().for_each(|group| spaces.push(spaces[group.members[0].index()]));
        Medium {
            air,
            access: Contention::new(lanes, spaces, functions, views.into_iter()),
            stations: vec![Station::default(); layout.nodes.len()],
            layout,
            senders,
            functions: facts,
            exchanges: Exchanges::default(),
            links: Links::new(config.rate_controls),
            ideals: config.ideals,
            books: Books::default(),
            errands: 0,
            after_loss: config.after_loss,
            users,
            overheard: Vec::new(),
            part_ends: Vec::new(),
            nulls: None,
            present: Present::default(),
        }
    }
}

/// The stations of each BSS that can take part in PPDUs of several users.
fn users_of(layout: &Layout, nodes: &[NodeConfig], seed: u64) -> Vec<Users> {
    let of = |bss: usize| {
        let takes_part = |index: &usize| {
            let (node, config) = (&layout.nodes[*index], &nodes[*index]);
            node.bss as usize == bss && node.ap.index() != *index && config.multi_user && config.legacy.is_none()
        };
        (0..nodes.len()).filter(takes_part).map(|index| NodeId(index as u32)).collect()
    };
    (0..layout.bss.len())
        .map(|index| {
            let bss = &layout.bss[index];
            let stations = if bss.multi_user.is_some() { of(index) } else { Vec::new() };
            let random = Stream::new(seed, "multi_user_scheduler", index as u64);
            let of = bss.multi_user.unwrap_or_default();
            let context = SchedulerContext { stations: stations.len(), of, random };
            let contends = |random: RandomAccess| {
                let of = |id: &NodeId| Contender::new(random, Stream::named(seed, "uora", &nodes[id.index()].name));
                stations.iter().map(of).collect()
            };
            let contenders = of.random_access.map_or_else(Vec::new, contends);
            Users::new(stations, bss.asks_as_ns3, contenders, bss.scheduler.build(context))
        })
        .collect()
}

/// Inter-frame spaces of each view: those of the nodes that share it.
fn spaces_of_views(channel: &Channel, layout: &Layout) -> Vec<Spaces> {
    let mut spaces = vec![None; channel.views()];
    let mut on = vec![None; channel.views()];
    let channels = layout.bss.iter().map(|bss| bss.channel as usize + 1).max().unwrap_or(0);
    let mut senses = vec![None; channels];
    for (index, node) in layout.nodes.iter().enumerate() {
        let (view, bss) = (channel.view_of(NodeId(index as u32)), &layout.bss[node.bss as usize]);
        spaces[view].get_or_insert(Spaces { slot: bss.phy.slot(), difs: bss.phy.difs() });
        let shared = *on[view].get_or_insert(bss.channel);
        assert!(shared == bss.channel, "nodes of different channels cannot share a view");
        let sensed = *senses[bss.channel as usize].get_or_insert(view);
        assert!(sensed == view || !channel.is_uniform(), "where all hear all, nodes of a channel share a view");
    }
    spaces.into_iter().map(|of| of.expect("every view has a node")).collect()
}
