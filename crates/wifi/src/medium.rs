//! The shared medium: transmissions, who senses them, and the jump to the next moment at which
//! anything happens.
//!
//! There is no event per slot and none per receiver that only overhears. Where all nodes hear one
//! another alike, one view of the medium serves them all and a frame costs the same with ten
//! stations or a thousand; where they do not, each node has a view of its own. Both are the same
//! code: a plain slot-by-slot twin in the tests sends the same frames at the same nanoseconds.

use std::collections::VecDeque;

use lasthop_engine::Stream;
use lasthop_link::{Drop, Marks, Packet, PacketMeta, Wanted};
use lasthop_observe::{FlowId, LinkId, NodeId, QueueLayer, Record};
use lasthop_registry::Switch;
use lasthop_units::{Duration, Present, Time};

use crate::channel::Channel;
use crate::config::{AfterLoss, BssConfig, MediumConfig, Queues};
use crate::mac::carrier_sense::{Capture, CarrierSense};
use crate::mac::contention::{Countdown, FunctionId, LaneId, LaneKind, Spaces, View};
use crate::mac::edca::AccessCategory;
use crate::mac::interference::{Memory, Success};
use crate::mac::link_memory::LinkMemory;
use crate::mac::node::{Access, ChannelAccess, Function, Node, NodeConfig, State};
use crate::mac::ppdu::{DATA_OVERHEAD, QOS_DATA_OVERHEAD, Transmission};
use crate::mac::received::Reception;
use crate::phy::Phy;
use crate::phy::error_model::ErrorModel;
use crate::rate_control::RateControl;

/// What the medium asks to be told of.
#[derive(Clone, Copy, Debug)]
pub enum MediumEvent {
    /// a view's next backoff ends
    Backoff {
        /// which view
        view: u32,
        /// which of its events
        generation: u32,
    },
    /// a channel access function starts at the boundary to which it is committed
    Start {
        /// which
        function: u32,
    },
    /// a PPDU ends
    PpduEnds(u32),
    /// a receiver sends its CTS or ACK, or a sender its data after a CTS
    Respond(NodeId),
    /// the NAV that an RTS set may be taken back
    NavTimeout {
        /// whose
        view: u32,
        /// only if nothing was heard since
        since: Time,
    },
    /// a receiver may know PPDUs by now whose preambles it has missed
    Recognises {
        /// whose view
        view: u32,
    },
    /// a recipient has waited long enough for an MPDU that is missing
    Reorder {
        /// whose agreement
        function: u32,
        /// which of its agreements
        session: u32,
    },
    /// a beacon of this BSS is due
    Beacon(u32),
}

/// The world around a medium.
pub trait Environment<B> {
    /// Whether somebody observes [`Step`](lasthop_observe::Step)s.
    const READS_STEPS: bool = false;
    /// Calls back [`Medium::handle`] with `event` at `at`.
    fn schedule(&mut self, at: Time, event: MediumEvent);
    /// `packet` arrived at `node`. Must not call the medium before it returns.
    fn deliver(&mut self, now: Time, node: NodeId, packet: Packet<B>);
    /// `node` has nothing left to send in `category`, or at all where it knows none: a packet of a back-pressured
    /// socket or a saturated source, if there is one.
    fn pull(&mut self, now: Time, node: NodeId, category: Option<AccessCategory>) -> Option<Packet<B>>;
    /// `node` is done with a packet that was handed to it: it was acknowledged, given up or dropped; `refused` if it
    /// was dropped while a packet of the same flow came in.
    fn released(&mut self, now: Time, node: NodeId, packet: &PacketMeta, refused: bool) {
        let _ = (now, node, packet, refused);
    }
    /// Something happened.
    fn observe(&mut self, at: Time, record: Record);
}

/// The nodes that share the air, and what is on it.
pub struct Medium<B> {
    pub(crate) bss: Vec<BssConfig>,
    /// for each view
    pub(crate) spaces: Vec<Spaces>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) functions: Vec<Function<B>>,
    pub(crate) rate_controls: Vec<Box<dyn RateControl>>,
    pub(crate) ideals: Vec<Box<dyn RateControl>>,
    pub(crate) link_memory: Vec<LinkMemory>,
    pub(crate) bss_of_link: Vec<usize>,
    pub(crate) views: Vec<View>,
    pub(crate) channel: Channel,
    pub(crate) noise_mw_per_hz: f64,
    pub(crate) carrier_sense: CarrierSense,
    pub(crate) memory: Memory,
    pub(crate) successes: Vec<Success>,
    pub(crate) error_model: Box<dyn ErrorModel>,
    pub(crate) capture: Option<Capture>,
    pub(crate) after_loss: AfterLoss,
    pub(crate) on_air: Vec<Transmission>,
    pub(crate) next_id: u32,
    pub(crate) contenders: u32,
    pub(crate) noise: Vec<Stream>,
    pub(crate) dropped: Vec<Drop<B>>,
    /// Stations whose retries wait, while a turn is given.
    pub(crate) retrying: Vec<NodeId>,
    /// Which MPDUs of the A-MPDU that has just ended were decoded.
    pub(crate) decoded: Vec<bool>,
    /// What the first MPDU of it that was not was lost to.
    pub(crate) lost_to: Option<Reception>,
    /// Lengths of the MPDUs that bystanders overhear.
    pub(crate) overheard: Vec<u32>,
    /// Packets that a recipient has just let go.
    pub(crate) arrived: Vec<Packet<B>>,
    pub(crate) counts: Counts,
    present: Present,
}

/// What went in and out, for the conservation check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// packets handed to nodes
    pub offered: u64,
    /// MSDUs that arrived, once each
    pub delivered: u64,
    /// dropped by queues
    pub dropped_by_queue: u64,
    /// given up by the MAC without having arrived
    pub dropped_by_mac: u64,
    /// given up by the MAC although they had arrived: only the acknowledgement was missing
    pub unacknowledged: u64,
}

/// The access classes of a medium, and the place of each.
#[derive(Default)]
struct Lanes(Vec<LaneKind>);

impl Lanes {
    fn place(&mut self, kind: LaneKind) -> LaneId {
        let known = self.0.iter().position(|k| *k == kind);
        LaneId(known.unwrap_or_else(|| {
            self.0.push(kind);
            self.0.len() - 1
        }))
    }
}

impl<B: Send + 'static> Medium<B> {
    /// A silent medium.
    pub fn new(mut config: MediumConfig<B>) -> Self {
        let plain = config.error_model.is_none() && config.capture == Switch::Off;
        assert!(!config.channel.is_uniform() || plain, "errors and capture need a matrix of powers");
        let mut lanes = Lanes::default();
        let mut functions = Vec::new();
        let mut nodes: Vec<Node> = Vec::with_capacity(config.nodes.len());
        let mut bss_of_link = Vec::new();
        for (index, node) in config.nodes.iter().enumerate() {
            let (id, bss) = (NodeId(index as u32), &config.bss[node.bss as usize]);
            let uplink = LinkId(bss_of_link.len() as u32);
            if id != bss.ap {
                bss_of_link.extend([node.bss as usize; 2]);
            }
            let first = functions.len() as u32;
            let mut functions_of = FunctionsOf { id, node, bss, seed: config.seed, queues: &mut config.queues };
            functions_of.push(&mut functions, &mut lanes, config.countdown);
            nodes.push(Node {
                bss: node.bss as usize,
                ap: bss.ap,
                uplink,
                functions: first..functions.len() as u32,
                backpressured: node.backpressured,
                offered: 0,
                retry_limit: node.retry_limit,
                view: config.channel.view_of(id),
                beacon_due: false,
                transmitting: false,
                unanswered: None,
                response: None,
            });
        }
        for (index, station) in config.nodes.iter().enumerate().filter(|(_, n)| n.airtime_weight != 256) {
            let ap = &nodes[nodes[index].ap.index()];
            for function in &mut functions[ap.functions.start as usize..ap.functions.end as usize] {
                function.queue.set_weight(NodeId(index as u32), station.airtime_weight);
            }
        }
        let spaces = spaces_of_views(&config, &nodes);
        let capture = config.capture.as_option().copied();
        Medium {
            noise: config.nodes.iter().map(|c| Stream::named(config.seed, "reception", &c.name)).collect(),
            views: spaces.iter().map(|spaces| View::new(spaces, &lanes.0)).collect(),
            link_memory: vec![LinkMemory::default(); bss_of_link.len()],
            spaces,
            nodes,
            functions,
            rate_controls: config.rate_controls,
            ideals: config.ideals,
            bss_of_link,
            carrier_sense: CarrierSense::new(
                &config.channel,
                capture,
                config.nodes.iter().map(|node| node.mid_packet_detection),
            ),
            channel: config.channel,
            noise_mw_per_hz: config.noise_mw_per_hz,
            memory: Memory::new(),
            successes: Vec::new(),
            error_model: config.error_model,
            capture,
            after_loss: config.after_loss,
            bss: config.bss,
            on_air: Vec::new(),
            next_id: 0,
            contenders: 0,
            dropped: Vec::new(),
            retrying: Vec::new(),
            decoded: Vec::new(),
            lost_to: None,
            overheard: Vec::new(),
            arrived: Vec::new(),
            counts: Counts::default(),
            present: Present::default(),
        }
    }

    /// Starts what runs by itself: beacons.
    pub fn start(&mut self, env: &mut impl Environment<B>) {
        for (index, bss) in self.bss.iter().enumerate() {
            if let Some(interval) = bss.beacons {
                env.schedule(Time::ZERO + interval, MediumEvent::Beacon(index as u32));
            }
        }
    }

    /// Hands `packet` to `node`'s queue.
    pub fn enqueue(&mut self, now: Time, node: NodeId, mut packet: Packet<B>, env: &mut impl Environment<B>) {
        self.present.advance(now);
        packet.meta.enqueued_at = now;
        self.nodes[node.index()].offered += 1;
        self.note_entry(now, node, &packet.meta, env);
        let id = self.nodes[node.index()].function_of(packet.meta.tid);
        let function = &mut self.functions[id.index()];
        let is_free = !function.aggregates && function.frame.is_none();
        if is_free && function.queue.lets_pass(packet.meta.bytes) {
            self.load(now, id, packet, env);
            return self.request_access(now, id, env);
        }
        // Also what goes to the MAC at once passes the queue: it may average over arrivals, or count what is in flight.
        let (flow, queue) = (packet.meta.flow, &mut function.queue);
        queue.enqueue(now, packet, &mut self.dropped);
        let next = is_free.then(|| queue.dequeue(now, Wanted::ANY, &mut self.dropped)).flatten();
        self.report_drops(now, id, Some(flow), env);
        match next {
            Some(packet) => self.load(now, id, packet, env),
            None => self.report_queue(now, node, env),
        }
        self.request_access(now, id, env);
    }

    /// A source that waits to be asked has data of `tid` for `node`: if the device is free it is asked for it.
    pub fn offer(&mut self, now: Time, node: NodeId, tid: u8, env: &mut impl Environment<B>) {
        self.present.advance(now);
        let id = self.nodes[node.index()].function_of(tid);
        if !self.functions[id.index()].backlogged {
            self.request_access(now, id, env);
        }
    }

    /// Whether `node`'s queue asks its sockets for data instead of dropping it.
    pub fn is_backpressured(&self, node: NodeId) -> bool {
        self.nodes[node.index()].backpressured
    }

    /// What went in and out.
    pub fn counts(&self) -> Counts {
        Counts { offered: self.nodes.iter().map(|node| node.offered).sum(), ..self.counts }
    }

    /// How many packets each node was handed so far.
    pub fn offered(&self) -> impl Iterator<Item = u64> {
        self.nodes.iter().map(|node| node.offered)
    }

    /// Packets that wait in queues or MACs and have not arrived yet.
    pub fn held(&self) -> u64 {
        self.functions.iter().map(Function::held).sum()
    }

    /// Handles an event that was asked for.
    pub fn handle(&mut self, now: Time, event: MediumEvent, env: &mut impl Environment<B>) {
        self.present.advance(now);
        match event {
            MediumEvent::Backoff { view, generation } => {
                let at = view as usize;
                if self.views[at].accept(generation)
                    && let Some(function) = self.views[at].take_ended(now, &self.spaces[at])
                {
                    self.win(now, function, env);
                }
            }
            MediumEvent::Start { function } => {
                if self.functions[function as usize].state == (State::Committed { at: now }) {
                    self.win(now, FunctionId(function), env);
                }
            }
            MediumEvent::PpduEnds(id) => self.ppdu_ends(now, id, env),
            MediumEvent::Respond(node) => self.respond(now, node, env),
            MediumEvent::NavTimeout { view, since } => self.nav_timeout(now, view as usize, since, env),
            MediumEvent::Recognises { view } => self.recognise(now, view as usize, env),
            MediumEvent::Reorder { function, session } => self.reorder_timeout(now, function, session, env),
            MediumEvent::Beacon(bss) => self.beacon_is_due(now, bss as usize, env),
        }
    }

    /// The index of the view of a node.
    pub(crate) fn view_of(&self, node: NodeId) -> usize {
        self.nodes[node.index()].view
    }

    /// The PHY of a node's BSS.
    pub(crate) fn phy_of(&self, node: NodeId) -> &Phy {
        &self.bss[self.nodes[node.index()].bss].phy
    }

    /// Where `node` sends packets of or for `station`, and over which link.
    pub(crate) fn way(&self, node: NodeId, station: NodeId) -> (NodeId, LinkId) {
        let (own, peer) = (&self.nodes[node.index()], &self.nodes[station.index()]);
        if own.ap == node { (station, LinkId(peer.uplink.0 + 1)) } else { (own.ap, own.uplink) }
    }

    /// Puts a packet into the frame slot of a function.
    #[inline(always)]
    fn load(&mut self, now: Time, id: FunctionId, packet: Packet<B>, env: &mut impl Environment<B>) {
        self.note_taken(now, id, &packet.meta, env);
        let (to, link) = self.way(self.functions[id.index()].node, packet.meta.station);
        self.functions[id.index()].load(now, packet, to, link);
    }

    /// A packet of a socket that waits to be asked.
    pub(crate) fn pull(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) -> Option<Packet<B>> {
        let function = &self.functions[id.index()];
        let functions = &self.nodes[function.node.index()].functions;
        let category = (functions.len() > 1).then(|| AccessCategory::ALL[(id.0 - functions.start) as usize]);
        let mut packet = env.pull(now, function.node, category)?;
        packet.meta.enqueued_at = now;
        let (node, aggregates) = (function.node, function.aggregates);
        self.nodes[node.index()].offered += 1;
        self.note_entry(now, node, &packet.meta, env);
        if aggregates {
            self.note_taken(now, id, &packet.meta, env);
        }
        Some(packet)
    }

    /// Makes sure that a function has what it sends next at hand; false if there is nothing to send.
    #[inline]
    pub(crate) fn refill(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) -> bool {
        let function = &self.functions[id.index()];
        (function.backlogged && function.frame.is_some()) || self.look_for_work(now, id, env)
    }

    fn look_for_work(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) -> bool {
        let has_work = self.has_work(now, id, env);
        if std::mem::replace(&mut self.functions[id.index()].backlogged, has_work) != has_work {
            if has_work {
                self.contenders += 1
            } else {
                self.contenders -= 1
            }
            env.observe(now, Record::Contenders { count: self.contenders });
        }
        has_work
    }

    fn has_work(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) -> bool {
        let function = &mut self.functions[id.index()];
        if function.has_work() {
            return true;
        }
        let node = function.node;
        if function.aggregates {
            // A-MPDUs take packets from the queue when they are made.
            if self.functions[id.index()].queue.packets() > 0 {
                return true;
            }
            let Some(packet) = self.pull(now, id, env) else { return false };
            self.functions[id.index()].staged.push_back(packet);
            return true;
        }
        let function = &mut self.functions[id.index()];
        let mut queued = None;
        if function.queue.packets() > 0 {
            queued = function.queue.dequeue(now, Wanted::ANY, &mut self.dropped);
            self.report_drops(now, id, None, env);
            self.report_queue(now, node, env);
        }
        let Some(packet) = queued.or_else(|| self.pull(now, id, env)) else { return false };
        self.load(now, id, packet, env);
        true
    }

    pub(crate) fn report_queue(&mut self, now: Time, node: NodeId, env: &mut impl Environment<B>) {
        let functions = self.nodes[node.index()].functions.clone();
        if functions.len() == 1 {
            let queue = &self.functions[functions.start as usize].queue;
            return env.observe(now, Record::Queue { node, packets: queue.packets(), tcp_acks: queue.tcp_acks() });
        }
        let (mut packets, mut tcp_acks) = (0, 0);
        for function in &mut self.functions[functions.start as usize..functions.end as usize] {
            if function.queue_changed {
                function.queue_changed = false;
                function.queued = (function.queue.packets(), function.queue.tcp_acks());
            }
            packets += function.queued.0;
            tcp_acks += function.queued.1;
        }
        env.observe(now, Record::Queue { node, packets, tcp_acks });
    }

    /// Tells of what the queue has dropped and marked, while a packet of flow `incoming` came in.
    pub(crate) fn report_drops(
        &mut self,
        now: Time,
        id: FunctionId,
        incoming: Option<FlowId>,
        env: &mut impl Environment<B>,
    ) {
        let function = &mut self.functions[id.index()];
        function.queue_changed = true;
        let (node, layer) = (function.node, QueueLayer::Interface);
        let count = function.marks.new_of(&*function.queue);
        if count > 0 {
            env.observe(now, Record::Marked { node, layer, count });
        }
        if self.dropped.is_empty() {
            return;
        }
        for (packet, reason) in self.dropped.drain(..) {
            self.counts.dropped_by_queue += 1;
            env.observe(now, packet.meta.dropped(node, layer, reason));
            env.released(now, node, &packet.meta, incoming == Some(packet.meta.flow));
        }
    }

    /// A function has something to send: it sends at once, counts on, or draws a backoff [802.11-2020 §10.3.4.2].
    pub(crate) fn request_access(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) {
        if !self.functions[id.index()].backlogged && self.refill(now, id, env) {
            self.withdraw(now, id);
        }
        let State::Idle { ready_at } = self.functions[id.index()].state else { return };
        let node = &self.nodes[self.functions[id.index()].node.index()];
        let beacon = node.beacon_due && node.first_function() == id;
        let (view, lane) = (node.view, self.functions[id.index()].lane);
        if !self.functions[id.index()].backlogged && !beacon {
            return;
        }
        if node.has_edca() {
            return self.request_edca_access(now, id, ready_at, env);
        }
        let spaces = &self.spaces[view];
        let left = self.views[view].left_of(now, spaces, lane, ready_at);
        let at = self.views[view].sends_at(now, spaces, lane).filter(|_| left == 0);
        match at {
            Some(at) if at == now => return self.win(now, id, env),
            Some(at) => {
                self.functions[id.index()].state = State::Committed { at };
                return env.schedule(at, MediumEvent::Start { function: id.0 });
            }
            None => self.contend_with(now, id, view, left),
        }
        self.functions[id.index()].state = State::Contending;
        self.schedule_backoff(view, env);
    }

    /// A function of EDCA that has counted without anything to send, and has nothing left to count, is idle.
    fn withdraw(&mut self, now: Time, id: FunctionId) {
        let function = &mut self.functions[id.index()];
        let node = &self.nodes[function.node.index()];
        if !node.has_edca() || function.state != State::Contending {
            return;
        }
        if let Some(ready_at) = self.views[node.view].withdraw(now, &self.spaces[node.view], id, function.lane) {
            function.state = State::Idle { ready_at };
        }
    }

    /// A function of EDCA has something to send: with nothing left to count it waits for the next boundary of slots, or draws
    /// a backoff where the medium is busy; if it turns busy before the boundary, it draws none
    /// [802.11-2020 §10.23.2.2, §10.23.2.4].
    fn request_edca_access(&mut self, now: Time, id: FunctionId, ready_at: u64, env: &mut impl Environment<B>) {
        let node = &self.nodes[self.functions[id.index()].node.index()];
        let (at, unanswered) = (node.view, node.unanswered);
        let exchanging = node.functions.clone().any(|f| self.functions[f as usize].state == State::Exchanging);
        let occupied = node.transmitting || node.response.is_some() || exchanging;
        let (function, spaces, view) = (&mut self.functions[id.index()], &self.spaces[at], &mut self.views[at]);
        let lane = function.lane;
        let next = view.next_boundary(now, spaces, lane);
        // What comes before the timeout of the frame before it has come in time for the backoff drawn after that.
        let in_time = unanswered.is_some_and(|u| u.by == id && now < u.timeout);
        let earliest = unanswered.map_or(Time::ZERO, |u| view.not_before(spaces, id, lane, &u));
        let unanswered = unanswered.filter(|u| view.is_undisturbed_since(u.ended));
        let waits = unanswered.is_some_and(|u| now < u.timeout);
        let busy = occupied || waits || view.is_noticed(now, spaces);
        let boundary = view.last_boundary(now, lane, ready_at).filter(|at| !busy && *at >= earliest);
        if let Some(at) = boundary {
            function.state = State::Committed { at };
            return env.schedule(at, MediumEvent::Start { function: id.0 });
        }
        let key =
            if busy && ready_at <= next && !in_time { next + function.draw_backoff() } else { ready_at.max(next) };
        function.state = State::Contending;
        let held = unanswered.is_some_and(|u| view.hold_back_newcomer(now, spaces, id, lane, key - next, &u));
        if !held {
            view.contend_until(id, lane, key);
        }
        self.schedule_backoff(at, env);
    }

    /// A function contends with what is left of its post-backoff; if nothing is, it draws a backoff where the
    /// medium is busy, and waits for the end of the inter-frame space where it is not.
    #[inline(always)]
    fn contend_with(&mut self, now: Time, id: FunctionId, view: usize, left: u64) {
        let function = &mut self.functions[id.index()];
        let (lane, spaces, view) = (function.lane, &self.spaces[view], &mut self.views[view]);
        if left > 0 {
            view.contend(now, spaces, id, lane, left);
        } else if view.is_busy(now) {
            view.contend(now, spaces, id, lane, function.draw_backoff());
        } else {
            view.contend_without_backoff(id, lane, function.draw_backoff());
        }
    }

    /// Asks for the event at which the next backoff of `view` ends.
    pub(crate) fn schedule_backoff(&mut self, view: usize, env: &mut impl Environment<B>) {
        if let Some((at, generation)) = self.views[view].reschedule(&self.spaces[view]) {
            env.schedule(at, MediumEvent::Backoff { view: view as u32, generation });
        }
    }
}

/// What the channel access functions of a node are made of.
struct FunctionsOf<'a, B> {
    id: NodeId,
    node: &'a NodeConfig,
    bss: &'a BssConfig,
    seed: u64,
    queues: &'a mut Queues<B>,
}

impl<B> FunctionsOf<'_, B> {
    /// Appends them.
    fn push(&mut self, functions: &mut Vec<Function<B>>, lanes: &mut Lanes, countdown: Countdown) {
        match &self.node.access {
            ChannelAccess::Dcf(access) => {
                let offset = if *access == Access::Pifs { -1 } else { 0 };
                let counts_busy_slot = countdown == Countdown::Bianchi;
                let lane = lanes.place(LaneKind { offset, counts_busy_slot });
                let window = (self.bss.phy.cw_min(), self.bss.phy.cw_max());
                functions.push(self.function("", lane, window, Duration::ZERO));
            }
            ChannelAccess::Edca(categories) => {
                for (category, of) in AccessCategory::ALL.into_iter().zip(categories) {
                    let offset = i64::from(of.aifsn) - 2;
                    let lane = lanes.place(LaneKind { offset, counts_busy_slot: true });
                    // Best effort draws what a station without categories would.
                    let suffix = if category == AccessCategory::Be { "" } else { category.word() };
                    functions.push(self.function(suffix, lane, (of.cw_min, of.cw_max), of.txop_limit));
                }
            }
        }
    }

    fn function(
        &mut self,
        suffix: &str,
        lane: LaneId,
        (cw_min, cw_max): (u32, u32),
        txop_limit: Duration,
    ) -> Function<B> {
        let name = if suffix.is_empty() { self.node.name.clone() } else { format!("{} {suffix}", self.node.name) };
        let queue = (self.queues)(self.id, Stream::named(self.seed, "queue", &name));
        Function {
            node: self.id,
            state: State::Idle { ready_at: 0 },
            lane,
            cw: cw_min,
            cw_min,
            cw_max,
            txop_limit,
            txop_ends: None,
            began: Time::ZERO,
            backoff: Stream::named(self.seed, "backoff", &name),
            aggregates: self.bss.aggregation.is_some(),
            overhead: match self.node.access {
                ChannelAccess::Dcf(_) => DATA_OVERHEAD,
                ChannelAccess::Edca(_) => QOS_DATA_OVERHEAD,
            },
            counts_airtime: queue.schedules_stations(),
            marks: Marks::of(&*queue),
            queue,
            queued: (0, 0),
            queue_changed: false,
            frame: None,
            staged: VecDeque::new(),
            sessions: Vec::new(),
            session_of: Default::default(),
            line: VecDeque::new(),
            latest: 0,
            lengths: Vec::new(),
            psdu_bytes: 0,
            lost_to: None,
            backlogged: false,
        }
    }
}

/// Inter-frame spaces of each view: those of the nodes that share it.
fn spaces_of_views<B>(config: &MediumConfig<B>, nodes: &[Node]) -> Vec<Spaces> {
    let mut spaces = vec![None; config.channel.views()];
    for node in nodes {
        let phy = &config.bss[node.bss].phy;
        spaces[node.view].get_or_insert(Spaces { slot: phy.slot(), difs: phy.difs() });
    }
    spaces.into_iter().map(|of| of.expect("every view has a node")).collect()
}
