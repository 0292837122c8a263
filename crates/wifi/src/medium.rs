//! The shared medium: transmissions, who senses them, and the jump to the next moment at which
//! anything happens.
//!
//! There is no event per slot and none per receiver that only overhears. Where all nodes hear one
//! another alike, one view of the medium serves them all and a frame costs the same with ten
//! stations or a thousand; where they do not, each node has a view of its own. Both are the same
//! code: a plain slot-by-slot twin in the tests sends the same frames at the same nanoseconds.

use lasthop_link::{Drop, Packet, PacketMeta};
use lasthop_observe::{FlowId, LinkId, NodeId, QueueLayer, Record};
use lasthop_registry::{Switch, words};
use lasthop_units::{Bytes, Duration, Time};

use crate::channel::Channel;
use crate::mac::carrier_sense::{Capture, CarrierSense};
use crate::mac::contention::{Countdown, Spaces, View};
use crate::mac::interference::{Memory, Success};
use crate::mac::node::{Node, NodeConfig, State};
use crate::mac::ppdu::Transmission;
use crate::phy::Phy;
use crate::phy::error_model::ErrorModel;
use crate::rate_control::RateControl;

words! {
    /// What precedes OFDM frames so that 802.11b stations keep silent [802.11-2020 §10.3.2.13].
    pub enum Protection {
        /// nothing
        None = "none",
        /// a CTS to itself at a DSSS rate
        CtsToSelf = "cts_to_self",
        /// an RTS/CTS exchange at a DSSS rate
        RtsCts = "rts_cts",
    }
}

/// What nodes wait after a frame that was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterLoss {
    /// as the standard has it: bystanders EIFS, the sender its ACK timeout [802.11-2020 §10.3.2.3.7, §10.3.2.11]
    Standard,
    /// bystanders DIFS, as where nobody could detect that a frame had begun; the sender its ACK timeout
    NoEifs,
    /// everybody DIFS, as closed forms have it
    DifsForAll,
}

impl AfterLoss {
    pub(crate) fn bystanders_wait_eifs(self) -> bool {
        self == AfterLoss::Standard
    }
    pub(crate) fn sender_waits_ack_timeout(self) -> bool {
        self != AfterLoss::DifsForAll
    }
}

/// What a medium is made of.
pub struct MediumConfig {
    /// timing and modes
    pub phy: Phy,
    /// the AP first, then the stations
    pub nodes: Vec<NodeConfig>,
    /// for each link, who chooses its rates; see [`LinkId`]
    pub rate_controls: Vec<Box<dyn RateControl>>,
    /// who hears whom
    pub channel: Channel,
    /// noise in a receiver in milliwatts per hertz, for error models that need the SINR
    pub noise_mw_per_hz: f64,
    /// noise
    pub error_model: Box<dyn ErrorModel>,
    /// when a frame survives others that overlap it
    pub capture: Switch<Capture>,
    /// data frames longer than this are preceded by RTS/CTS; `None`: none
    pub rts_threshold: Option<Bytes>,
    /// what precedes OFDM data frames
    pub protection: Protection,
    /// countdown of others during a transmission
    pub countdown: Countdown,
    /// what nodes wait after a frame that was lost
    pub after_loss: AfterLoss,
    /// interval between beacons
    pub beacons: Option<Duration>,
    /// of the run
    pub seed: u64,
}

/// What the medium asks to be told of.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// a view's next backoff ends
    Backoff {
        /// which view
        view: u32,
        /// which of its events
        generation: u32,
    },
    /// a node starts at the boundary to which it is committed
    Start(NodeId),
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
    /// a beacon is due
    Beacon,
}

/// The world around a medium.
pub trait Environment<B> {
    /// Calls back [`Medium::handle`] with `event` at `at`.
    fn schedule(&mut self, at: Time, event: Event);
    /// `packet` arrived at `node`. Must not call the medium before it returns.
    fn deliver(&mut self, now: Time, node: NodeId, packet: Packet<B>);
    /// `node` has nothing left to send: a packet of a back-pressured socket or a saturated source, if
    /// there is one.
    fn pull(&mut self, now: Time, node: NodeId) -> Option<Packet<B>>;
    /// `node` is done with a packet that was handed to it: it was acknowledged, given up or dropped; `refused` if it
    /// was dropped while a packet of the same flow came in.
    fn released(&mut self, now: Time, node: NodeId, packet: &PacketMeta, refused: bool) {
        let _ = (now, node, packet, refused);
    }
    /// Something happened.
    fn observe(&mut self, at: Time, record: Record);
}

/// The nodes of one channel and what is on the air.
pub struct Medium<B> {
    pub(crate) phy: Phy,
    pub(crate) spaces: Spaces,
    pub(crate) nodes: Vec<Node<B>>,
    pub(crate) rate_controls: Vec<Box<dyn RateControl>>,
    pub(crate) views: Vec<View>,
    pub(crate) channel: Channel,
    pub(crate) noise_mw_per_hz: f64,
    pub(crate) carrier_sense: CarrierSense,
    pub(crate) memory: Memory,
    pub(crate) successes: Vec<Success>,
    pub(crate) error_model: Box<dyn ErrorModel>,
    pub(crate) capture: Option<Capture>,
    pub(crate) rts_threshold: Option<Bytes>,
    pub(crate) protection: Protection,
    pub(crate) after_loss: AfterLoss,
    pub(crate) beacons: Option<Duration>,
    pub(crate) on_air: Vec<Transmission>,
    pub(crate) next_id: u32,
    pub(crate) contenders: u32,
    pub(crate) noise: Vec<lasthop_engine::Stream>,
    dropped: Vec<Drop<B>>,
    pub(crate) counts: Counts,
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

impl<B: Send + 'static> Medium<B> {
    /// A silent medium.
    pub fn new(config: MediumConfig) -> Self {
        let spaces = Spaces { slot: config.phy.slot(), difs: config.phy.difs(), countdown: config.countdown };
        let shared = matches!(config.channel, Channel::Uniform { .. });
        let plain = config.error_model.is_none() && config.capture == Switch::Off;
        assert!(!shared || plain, "errors and capture need a matrix of powers");
        let nodes: Vec<Node<B>> = config
            .nodes
            .iter()
            .enumerate()
            .map(|(i, c)| Node::new(c, config.phy.cw_min(), config.channel.view_of(NodeId(i as u32)), config.seed))
            .collect();
        let views = config.channel.views();
        let capture = config.capture.as_option().copied();
        let noise = config.nodes.iter().map(|c| lasthop_engine::Stream::named(config.seed, "reception", &c.name));
        Medium {
            spaces,
            noise: noise.collect(),
            nodes,
            rate_controls: config.rate_controls,
            views: (0..views).map(|_| View::new(&spaces)).collect(),
            carrier_sense: CarrierSense::new(&config.channel, capture),
            channel: config.channel,
            noise_mw_per_hz: config.noise_mw_per_hz,
            memory: Memory::new(),
            successes: Vec::new(),
            error_model: config.error_model,
            capture,
            rts_threshold: config.rts_threshold,
            protection: config.protection,
            after_loss: config.after_loss,
            beacons: config.beacons,
            on_air: Vec::new(),
            next_id: 0,
            contenders: 0,
            dropped: Vec::new(),
            counts: Counts::default(),
            phy: config.phy,
        }
    }

    /// Starts what runs by itself: beacons.
    pub fn start(&mut self, env: &mut impl Environment<B>) {
        if let Some(interval) = self.beacons {
            env.schedule(Time::ZERO + interval, Event::Beacon);
        }
    }

    /// Hands `packet` to `node`'s queue.
    pub fn enqueue(&mut self, now: Time, node: NodeId, mut packet: Packet<B>, env: &mut impl Environment<B>) {
        packet.meta.enqueued_at = now;
        self.counts.offered += 1;
        if self.nodes[node.index()].frame.is_none() && self.nodes[node.index()].queue.packets() == 0 {
            self.load(now, node, packet, env);
        } else {
            let flow = packet.meta.flow;
            self.nodes[node.index()].queue.enqueue(now, packet, &mut self.dropped);
            self.report_drops(now, node, Some(flow), env);
            self.report_queue(now, node, env);
        }
        self.request_access(now, node, env);
    }

    /// A source that waits to be asked has data for `node`: if the device is free it is asked for it.
    pub fn offer(&mut self, now: Time, node: NodeId, env: &mut impl Environment<B>) {
        if self.nodes[node.index()].frame.is_none() {
            self.next_frame(now, node, env);
            self.request_access(now, node, env);
        }
    }

    /// Whether `node`'s queue asks its sockets for data instead of dropping it.
    pub fn is_backpressured(&self, node: NodeId) -> bool {
        self.nodes[node.index()].backpressured
    }

    /// What went in and out.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Packets that wait in queues or MACs and have not arrived yet.
    pub fn held(&self) -> u64 {
        let waiting =
            |n: &Node<B>| u64::from(n.queue.packets()) + u64::from(n.frame.as_ref().is_some_and(|f| f.body.is_some()));
        self.nodes.iter().map(waiting).sum()
    }

    /// Handles an event that was asked for.
    pub fn handle(&mut self, now: Time, event: Event, env: &mut impl Environment<B>) {
        match event {
            Event::Backoff { view, generation } => {
                if self.views[view as usize].accept(generation)
                    && let Some(node) = self.views[view as usize].take_ended(now, &self.spaces)
                {
                    self.win(now, node, env);
                }
            }
            Event::Start(node) => self.win(now, node, env),
            Event::PpduEnds(id) => self.ppdu_ends(now, id, env),
            Event::Respond(node) => self.respond(now, node, env),
            Event::NavTimeout { view, since } => self.nav_timeout(now, view as usize, since, env),
            Event::Beacon => self.beacon_is_due(now, env),
        }
    }

    /// The index of the view of a node.
    pub(crate) fn view_of(&self, node: NodeId) -> usize {
        self.nodes[node.index()].view
    }

    /// Puts a packet into the frame slot of `node`.
    fn load(&mut self, now: Time, node: NodeId, packet: Packet<B>, env: &mut impl Environment<B>) {
        let ap = NodeId(0);
        let station = packet.meta.station;
        let (to, link) =
            if node == ap { (station, LinkId(2 * (station.0 - 1) + 1)) } else { (ap, LinkId(2 * (node.0 - 1))) };
        self.nodes[node.index()].load(now, packet, to, link);
        self.contenders += 1;
        env.observe(now, Record::Contenders { count: self.contenders });
    }

    /// Fills the frame slot of `node` from its queue or its sockets; false if there is nothing to send.
    pub(crate) fn next_frame(&mut self, now: Time, node: NodeId, env: &mut impl Environment<B>) -> bool {
        let queued = if self.nodes[node.index()].queue.packets() > 0 {
            let packet = self.nodes[node.index()].dequeue(now, &mut self.dropped);
            self.report_drops(now, node, None, env);
            self.report_queue(now, node, env);
            packet
        } else {
            None
        };
        let packet = queued.or_else(|| env.pull(now, node).inspect(|_| self.counts.offered += 1));
        match packet {
            Some(packet) => {
                self.load(now, node, packet, env);
                true
            }
            None => false,
        }
    }

    /// The frame slot of `node` is empty again.
    pub(crate) fn unload(&mut self, now: Time, node: NodeId, env: &mut impl Environment<B>) {
        self.nodes[node.index()].frame = None;
        self.contenders -= 1;
        env.observe(now, Record::Contenders { count: self.contenders });
    }

    fn report_queue(&self, now: Time, node: NodeId, env: &mut impl Environment<B>) {
        let queue = &self.nodes[node.index()].queue;
        env.observe(now, Record::Queue { node, packets: queue.packets(), tcp_acks: queue.tcp_acks() });
    }

    /// Tells of what the queue has dropped, while a packet of flow `incoming` came in.
    fn report_drops(&mut self, now: Time, node: NodeId, incoming: Option<FlowId>, env: &mut impl Environment<B>) {
        for (packet, reason) in self.dropped.drain(..) {
            self.counts.dropped_by_queue += 1;
            let (flow, tcp_ack) = (packet.meta.flow, packet.meta.pure_ack);
            env.observe(now, Record::Dropped { node, flow, layer: QueueLayer::Interface, reason, tcp_ack });
            env.released(now, node, &packet.meta, incoming == Some(flow));
        }
    }

    /// `node` has something to send: it sends at once, counts on, or draws a backoff [802.11-2020 §10.3.4.2].
    pub(crate) fn request_access(&mut self, now: Time, node: NodeId, env: &mut impl Environment<B>) {
        let State::Idle { ready_at } = self.nodes[node.index()].state else { return };
        let (view, lane) = (self.view_of(node), self.nodes[node.index()].lane);
        let left = self.views[view].left_of(now, &self.spaces, lane, ready_at);
        let at = self.views[view].sends_at(now, &self.spaces, lane).filter(|_| left == 0);
        match at {
            Some(at) if at == now => return self.win(now, node, env),
            Some(at) => {
                self.nodes[node.index()].state = State::Committed;
                return env.schedule(at, Event::Start(node));
            }
            None => self.contend_with(now, node, left),
        }
        self.nodes[node.index()].state = State::Contending;
        self.schedule_backoff(view, env);
    }

    /// `node` contends with what is left of its post-backoff; if nothing is, it draws a backoff where the
    /// medium is busy, and waits for the end of the inter-frame space where it is not.
    fn contend_with(&mut self, now: Time, id: NodeId, left: u64) {
        let node = &mut self.nodes[id.index()];
        let (lane, view) = (node.lane, &mut self.views[node.view]);
        if left > 0 {
            view.contend(now, &self.spaces, id, lane, left);
        } else if view.is_busy(now) {
            view.contend(now, &self.spaces, id, lane, node.draw_backoff());
        } else {
            view.contend_without_backoff(id, lane, node.draw_backoff());
        }
    }

    /// Asks for the event at which the next backoff of `view` ends.
    pub(crate) fn schedule_backoff(&mut self, view: usize, env: &mut impl Environment<B>) {
        if let Some((at, generation)) = self.views[view].reschedule(&self.spaces) {
            env.schedule(at, Event::Backoff { view: view as u32, generation });
        }
    }
}
