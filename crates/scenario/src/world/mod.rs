//! The world of a scenario: stations and their medium, the wired link, the server, and the flows.
//!
//! ```text
//! station ── medium ── AP ── wired link ── detour of a flow ── server        each AP has a wired link of its own
//! ```
//!
//! The world owns the clock. Each component is handed the time and says what happens next; packets
//! that arrive at a node wait in an inbox until the component that delivered them has returned.

mod application;
mod detour;
mod exchange_flow;
mod flow;
mod own_queue;
mod reception;
mod tcp_flow;
mod tcp_pool;
mod udp_flow;

use std::collections::VecDeque;

use lasthop_engine::{Scheduler, Stream};
use lasthop_link::{Drop, Packet, PacketMeta, WireUse, WiredEvent, WiredLink};
use lasthop_observe::account::{Balance, Bookkeeper};
use lasthop_observe::{Collector, FlowId, NodeId, Observer, QueueLayer, Record, Step};
use lasthop_units::{Duration, Time};
use lasthop_wifi::{AccessCategory, Environment, Medium, MediumConfig};

use crate::ResolvedScenario;
use crate::description::TransportWord;
use crate::resolved::{NodeSpec, chosen};
use application::Span;
use detour::Detour;
pub(crate) use flow::{Body, Side};
use flow::{Flow, Wants};

/// Everything that can happen.
#[derive(Clone, Copy, Debug)]
enum Event {
    Medium(lasthop_wifi::Event),
    /// Of the wired link of a BSS.
    WiredUp(u32, WiredEvent),
    WiredDown(u32, WiredEvent),
    /// The wired link of a BSS is free for the next saturated source behind it.
    ServerTransmitterFree(u32),
    FlowStarts(FlowId),
    /// The application of a flow offers its next packet.
    Application(FlowId),
    TcpTimer(FlowId, Side),
    /// The oldest packet of a flow on its detour is at its end: upwards, or down.
    DetourEnds(FlowId, bool),
    WarmupEnds,
}

/// All but the medium, so that the medium can call it.
struct Surroundings<K> {
    events: Scheduler<Event>,
    collector: Collector<K>,
    flows: Vec<Flow>,
    /// For each node, the flows whose data enters the network there.
    sources: Vec<Vec<FlowId>>,
    /// For each node, the source to ask first.
    turn: Vec<usize>,
    inbox: VecDeque<(NodeId, Packet<Body>)>,
    /// Flows for whose data there is room again in the queue of their own host.
    roomy: Vec<FlowId>,
}

/// A run in progress, of which books are kept by `K`.
pub(crate) struct World<K> {
    medium: Medium<Body>,
    around: Surroundings<K>,
    /// Of each BSS; its AP has the same number.
    wires: Vec<Wires>,
    /// The BSS of each node.
    bss_of: Vec<usize>,
    /// For each flow.
    detours: Vec<Detour<Body>>,
    dropped: Vec<Drop<Body>>,
    /// Packets that reached the server, and the AP over the wire: for the conservation check.
    wired: Wired,
    /// Packets that each node was handed before the warm-up was over.
    offered_before: Vec<u64>,
    end: Time,
    interval: Option<Duration>,
    /// when the next sample of the time series is due
    next_sample: Time,
    channels: usize,
}

/// The wired link between an AP and the server.
struct Wires {
    up: WiredLink<Body>,
    down: WiredLink<Body>,
    /// Saturated sources behind it.
    saturated: Vec<FlowId>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Wired {
    sent: u64,
    arrived: u64,
    dropped: u64,
}

impl<K: Bookkeeper> Environment<Body> for Surroundings<K> {
    const READS_STEPS: bool = K::READS_STEPS;

    fn schedule(&mut self, at: Time, event: lasthop_wifi::Event) {
        self.events.at(at, Event::Medium(event));
    }

    fn deliver(&mut self, _: Time, node: NodeId, packet: Packet<Body>) {
        self.inbox.push_back((node, packet));
    }

    fn pull(&mut self, now: Time, node: NodeId, category: Option<AccessCategory>) -> Option<Packet<Body>> {
        let sources = self.sources[node.index()].len();
        for attempt in 0..sources {
            let turn = (self.turn[node.index()] + attempt) % sources;
            let id = self.sources[node.index()][turn];
            if category.is_some_and(|c| c != AccessCategory::of_tid(self.flows[id.index()].tid())) {
                continue;
            }
            if let Some(packet) = self.flows[id.index()].pull(now, &mut self.collector) {
                self.turn[node.index()] = turn + 1;
                self.tell(now, Step::Emitted { flow: id });
                self.tell_waits(now, id);
                self.arm_timer(id, Side::Sender);
                return Some(packet);
            }
        }
        None
    }

    #[inline]
    fn released(&mut self, now: Time, _: NodeId, packet: &PacketMeta, refused: bool) {
        if packet.up {
            self.leaves_own_queue(now, packet, refused);
        }
    }

    #[inline(always)]
    fn observe(&mut self, at: Time, record: Record) {
        self.collector.observe(at, record);
    }
}

impl<K: Bookkeeper> Surroundings<K> {
    /// A packet is out of the queue of its station.
    fn leaves_own_queue(&mut self, now: Time, packet: &PacketMeta, refused: bool) {
        let id = packet.flow;
        if self.flows[id.index()].leaves_own_queue(now, packet, refused, &mut self.collector) {
            self.roomy.push(id);
        }
    }

    #[inline(always)]
    fn tell(&mut self, now: Time, step: Step) {
        self.collector.observe(now, Record::Step(step));
    }

    /// Tells what the ends of a flow wait for.
    #[inline(always)]
    fn tell_waits(&mut self, now: Time, id: FlowId) {
        if K::READS_STEPS {
            let step = self.flows[id.index()].waits(now);
            self.tell(now, step);
        }
    }

    /// Makes sure that an event comes no later than the earliest timer of this end.
    fn arm_timer(&mut self, id: FlowId, side: Side) {
        if let Some(at) = self.flows[id.index()].timer_to_arm(side) {
            self.events.at(at.max(self.events.now()), Event::TcpTimer(id, side));
        }
    }
}

impl<K: Bookkeeper> World<K> {
    /// The world of `scenario` under `seed`; `interval` is that of the time series, if any is kept.
    pub(crate) fn new(scenario: &ResolvedScenario, seed: u64, interval: Option<Duration>, books: K) -> World<K> {
        let description = &scenario.description;
        let wired = &description.wired;
        let link = |ap: &str, name: &str| {
            let random = Stream::named(seed, "queue", &format!("{ap} {name}"));
            WiredLink::new(wired.rate, wired.delay, chosen(&wired.queue).build(random))
        };
        let wires = |ap: &NodeSpec| Wires {
            up: link(&ap.name, "wired up"),
            down: link(&ap.name, "wired down"),
            saturated: Vec::new(),
        };
        let mut wires: Vec<Wires> = scenario.nodes[..scenario.bss.len()].iter().map(wires).collect();
        let bss_of: Vec<usize> = scenario.nodes.iter().map(|n| n.config.bss as usize).collect();
        let medium = Medium::new(medium_config(scenario, seed, K::READS_STEPS));
        let mut sources = vec![Vec::new(); scenario.nodes.len()];
        let mut flows = Vec::with_capacity(scenario.flows.len());
        let span = Span { from: Time::ZERO + description.warmup, end: Time::ZERO + description.duration };
        for (id, spec) in (0..).map(FlowId).zip(&scenario.flows) {
            // What is paced leaves when it is due, be the device free or not: small queues alone bound what waits there.
            let paced = spec.section.transport == TransportWord::Tcp && spec.tcp.config.is_paced();
            let asked = spec.up && medium.is_backpressured(spec.station) && !paced;
            let flow = Flow::new(id, spec, seed, span, asked);
            match (flow.wants(), spec.up) {
                (Wants::Pull, false) => wires[bss_of[spec.station.index()]].saturated.push(id),
                (Wants::Pull, true) => sources[spec.station.index()].push(id),
                (Wants::Push, true) if asked => {
                    sources[spec.station.index()].push(id);
                }
                (Wants::Push, _) => {}
            }
            flows.push(flow);
        }
        let mut world = World {
            medium,
            around: Surroundings {
                events: Scheduler::new(),
                collector: Collector::new(
                    scenario.layout(),
                    interval.map(|i| description.duration.div_floor(i) as usize),
                    books,
                ),
                turn: vec![0; sources.len()],
                sources,
                flows,
                inbox: VecDeque::new(),
                roomy: Vec::new(),
            },
            wires,
            bss_of,
            detours: scenario.flows.iter().map(|f| Detour::new(f.section.wired_delay)).collect(),
            dropped: Vec::new(),
            wired: Wired::default(),
            offered_before: vec![0; scenario.nodes.len()],
            end: Time::ZERO + description.duration,
            interval,
            next_sample: interval.map_or(Time::NEVER, |i| Time::ZERO + i),
            channels: scenario.channels(),
        };
        world.start(scenario, seed);
        world
    }

    fn start(&mut self, scenario: &ResolvedScenario, seed: u64) {
        self.medium.start(&mut self.around);
        for (id, spec) in (0..).map(FlowId).zip(&scenario.flows) {
            let jitter = spec.section.start_jitter.as_nanos() as f64;
            let late = Stream::named(seed, "start", &spec.stream).unit() * jitter;
            let at = Time::ZERO + spec.section.start + Duration::from_nanos(late as u64);
            self.around.events.at(at, Event::FlowStarts(id));
        }
        self.around.events.at(Time::ZERO + scenario.description.warmup, Event::WarmupEnds);
    }

    /// Handles events until `until` or the end of the run, whichever comes first; true at the end.
    pub(crate) fn run_until(&mut self, until: Time) -> bool {
        let stop = until.min(self.end);
        while let Some((now, event)) = self.around.events.next_before(stop) {
            if self.next_sample <= now {
                self.take_samples(now);
            }
            self.handle(now, event);
        }
        stop == self.end
    }

    /// Takes the samples that are due up to `now`, at which nothing has happened yet: of what happens at the very time
    /// of a sample none has any, as nothing is handled at the end of a run.
    fn take_samples(&mut self, now: Time) {
        let Some(interval) = self.interval else { return };
        while self.next_sample <= now {
            self.around.collector.sample(self.next_sample);
            self.next_sample += interval;
        }
    }

    fn handle(&mut self, now: Time, event: Event) {
        match event {
            Event::Medium(event) => {
                self.medium.handle(now, event, &mut self.around);
                self.empty_inbox(now);
            }
            Event::WiredUp(bss, event) => {
                let before = self.under_way(bss as usize, true);
                let events = &mut self.around.events;
                let schedule = &mut |at, e| events.at(at, Event::WiredUp(bss, e));
                let arrived = self.wires[bss as usize].up.handle(now, event, &mut self.dropped, schedule);
                self.book_wired(now, bss, true);
                self.tell_departure(now, bss as usize, true, before);
                if let Some(packet) = arrived {
                    self.wired.arrived += 1;
                    self.beyond_the_wire(now, packet);
                }
            }
            Event::WiredDown(bss, event) => {
                let before = self.under_way(bss as usize, false);
                let events = &mut self.around.events;
                let schedule = &mut |at, e| events.at(at, Event::WiredDown(bss, e));
                let arrived = self.wires[bss as usize].down.handle(now, event, &mut self.dropped, schedule);
                self.book_wired(now, bss, false);
                self.tell_departure(now, bss as usize, false, before);
                if let Some(packet) = arrived {
                    self.wired.arrived += 1;
                    self.medium.enqueue(now, NodeId(bss), packet, &mut self.around);
                    self.empty_inbox(now);
                }
            }
            Event::ServerTransmitterFree(bss) => self.feed_wire(now, bss as usize),
            Event::FlowStarts(id) => {
                let side = self.around.flows[id.index()].start(now);
                self.may_send(now, id, side);
            }
            Event::Application(id) => {
                let side = self.around.flows[id.index()].application_offers(now);
                self.may_send(now, id, side);
            }
            Event::TcpTimer(id, side) => {
                self.around.flows[id.index()].timer_fires(now, side, &mut self.around.collector);
                self.may_send(now, id, side);
            }
            Event::DetourEnds(id, up) => match self.detours[id.index()].leave(up) {
                Some(packet) if up => self.arrive(now, packet),
                Some(packet) => self.send_wired(now, packet),
                None => unreachable!("an event is scheduled for each packet on a detour"),
            },
            Event::WarmupEnds => {
                self.around.collector.start(now);
                self.offered_before = self.medium.offered().collect();
                self.wires
                    .iter_mut()
                    .for_each(|wires| [&mut wires.up, &mut wires.down].into_iter().for_each(WiredLink::start));
            }
        }
        while let Some(id) = self.around.roomy.pop() {
            self.may_send(now, id, Side::Sender);
        }
    }

    fn empty_inbox(&mut self, now: Time) {
        while let Some((node, packet)) = self.around.inbox.pop_front() {
            if node.index() < self.wires.len() {
                self.send_wired(now, packet);
            } else {
                self.arrive(now, packet);
            }
        }
    }

    /// A packet has reached the host at its end: the station or the server.
    fn arrive(&mut self, now: Time, packet: Packet<Body>) {
        let id = packet.meta.flow;
        let PacketMeta { station, up, .. } = packet.meta;
        let delay = now.since(packet.body.sent_at());
        self.around.collector.observe(now, Record::PacketDelivered { station, up, delay });
        self.around.tell(now, Step::Arrived { flow: id });
        let side = self.around.flows[id.index()].arrive(now, &packet, &mut self.around.collector);
        self.may_send(now, id, side);
    }

    /// Sends what one end of a flow has to send, and keeps its timers.
    fn may_send(&mut self, now: Time, id: FlowId, side: Side) {
        let index = id.index();
        if let Some(at) = self.around.flows[index].application_at() {
            self.around.events.at(at, Event::Application(id));
        }
        if self.around.flows[index].wants() == Wants::Pull && !self.around.flows[index].is_up() {
            self.feed_wire(now, self.bss_of[self.around.flows[index].station().index()]);
        }
        let held_back = self.is_held_back(id, side);
        while let Some(packet) = self.around.flows[index].poll(now, side, held_back, &mut self.around.collector) {
            self.around.tell(now, Step::Emitted { flow: id });
            if packet.meta.up {
                let station = packet.meta.station;
                self.around.flows[index].enters_own_queue(&packet.meta);
                self.medium.enqueue(now, station, packet, &mut self.around);
            } else {
                self.beyond_the_wire(now, packet);
            }
        }
        if held_back {
            let (station, tid) = (self.around.flows[index].station(), self.around.flows[index].tid());
            self.medium.offer(now, station, tid, &mut self.around);
        }
        self.around.tell_waits(now, id);
        self.around.arm_timer(id, side);
    }

    /// Whether data of this side waits in its socket until the device asks for it.
    fn is_held_back(&self, id: FlowId, side: Side) -> bool {
        let flow = &self.around.flows[id.index()];
        side == Side::Sender && flow.is_up() && (flow.wants() == Wants::Pull || flow.is_asked())
    }

    /// Takes a packet from or to the server over the detour of its flow, if that takes time.
    fn beyond_the_wire(&mut self, now: Time, packet: Packet<Body>) {
        let PacketMeta { flow, up, .. } = packet.meta;
        let detour = &mut self.detours[flow.index()];
        if detour.delay > Duration::ZERO {
            self.around.events.after(detour.delay, Event::DetourEnds(flow, up));
            detour.enter(packet);
        } else if up {
            self.arrive(now, packet);
        } else {
            self.send_wired(now, packet);
        }
    }

    fn send_wired(&mut self, now: Time, packet: Packet<Body>) {
        self.wired.sent += 1;
        let PacketMeta { flow, up, .. } = packet.meta;
        let bss = self.bss_of[packet.meta.station.index()];
        self.around.tell(now, Step::WireEnters { flow, up });
        let before = self.under_way(bss, up);
        let (events, ap, wires) = (&mut self.around.events, bss as u32, &mut self.wires[bss]);
        if up {
            wires.up.send(now, packet, &mut self.dropped, &mut |at, e| events.at(at, Event::WiredUp(ap, e)));
        } else {
            wires.down.send(now, packet, &mut self.dropped, &mut |at, e| events.at(at, Event::WiredDown(ap, e)));
        }
        self.book_wired(now, ap, up);
        self.tell_departure(now, bss, up, before);
    }

    /// Packets that a wired link is transmitting or that are on the way, if somebody reads that.
    #[inline(always)]
    fn under_way(&self, bss: usize, up: bool) -> usize {
        if !K::READS_STEPS {
            return 0;
        }
        let wires = &self.wires[bss];
        if up { &wires.up } else { &wires.down }.under_way().0
    }

    /// Tells of the packet that a wired link has begun to transmit, if there are more under way than `before`.
    #[inline(always)]
    fn tell_departure(&mut self, now: Time, bss: usize, up: bool, before: usize) {
        if !K::READS_STEPS {
            return;
        }
        let wires = &self.wires[bss];
        let (under_way, latest) = if up { &wires.up } else { &wires.down }.under_way();
        if let Some(flow) = latest.filter(|_| under_way > before).map(|meta| meta.flow) {
            self.around.tell(now, Step::WireTaken { flow, up });
        }
    }

    /// Reports what the queue of a wired link has dropped and marked since it was last asked.
    fn book_wired(&mut self, now: Time, ap: u32, up: bool) {
        let (node, wires) = (NodeId(ap), &mut self.wires[ap as usize]);
        let (layer, link) =
            if up { (QueueLayer::WiredUp, &mut wires.up) } else { (QueueLayer::WiredDown, &mut wires.down) };
        for (packet, reason) in self.dropped.drain(..) {
            self.wired.dropped += 1;
            self.around.collector.observe(now, packet.meta.dropped(node, layer, reason));
        }
        let count = link.new_marks();
        if count > 0 {
            self.around.collector.observe(now, Record::Marked { node, layer, count });
        }
    }

    /// Saturated sources at the server send whenever the wire is free, in turn.
    fn feed_wire(&mut self, now: Time, bss: usize) {
        if !self.wires[bss].down.is_free(now) {
            return;
        }
        for _ in 0..self.wires[bss].saturated.len() {
            let id = self.wires[bss].saturated[0];
            self.wires[bss].saturated.rotate_left(1);
            if let Some(packet) = self.around.flows[id.index()].pull(now, &mut self.around.collector) {
                self.around.tell(now, Step::Emitted { flow: id });
                self.send_wired(now, packet);
                let free_at = self.wires[bss].down.free_at();
                self.around.events.at(free_at, Event::ServerTransmitterFree(bss as u32));
                return;
            }
        }
    }

    /// Checks that nothing was lost or made: packets in are packets out, dropped or still there.
    fn check_conservation(&self) -> Result<(), String> {
        let counts = self.medium.counts();
        let accounted = counts.delivered + counts.dropped_by_queue + counts.dropped_by_mac + self.medium.held();
        if counts.offered != accounted {
            return Err(format!(
                "packets are not conserved on the medium: {} in, {accounted} accounted for ({counts:?}, {} held)",
                counts.offered,
                self.medium.held()
            ));
        }
        let held: u64 = self.wires.iter().map(|w| w.up.held() + w.down.held()).sum();
        if self.wired.sent != self.wired.arrived + self.wired.dropped + held {
            return Err(format!("packets are not conserved on the wire: {:?}, {held} held", self.wired));
        }
        self.around.flows.iter().try_for_each(Flow::check_conservation)
    }

    /// Ends the run: what was measured, or why it cannot be trusted.
    pub(crate) fn finish(mut self) -> Result<Finished, String> {
        self.check_conservation()?;
        self.take_samples(self.end);
        let mut report = self.around.collector.report(self.end);
        let (busy, channels) = (report.medium.get("busy_fraction").unwrap_or(0.0), self.channels as f64);
        for row in report.nodes.iter().chain(&report.links) {
            let airtime = row.get("airtime_fraction").unwrap_or(0.0);
            // Both are exact; their quotients are rounded.
            if airtime > channels * busy + 1e-9 {
                return Err(format!("a transmitter was on for {airtime} of the time, the medium busy for {busy}"));
            }
        }
        for (flow, row) in self.around.flows.iter().zip(&mut report.flows) {
            flow.report(row);
        }
        let offered = self.medium.offered().zip(&self.offered_before).map(|(all, before)| all - before).collect();
        let covered = self.around.collector.covered(self.end);
        let wires = self.wires.iter().map(|w| [w.up.used().clone(), w.down.used().clone()]).collect();
        let events = self.around.events.handled();
        let (balance, series) = self.around.collector.close(self.end);
        Ok(Finished { report, series, balance, queues: QueueUse { covered, offered, wires }, events })
    }
}

/// What a run gave.
pub(crate) struct Finished {
    pub report: lasthop_observe::Report,
    pub series: lasthop_observe::Series,
    pub balance: Option<Balance>,
    pub queues: QueueUse,
    pub events: u64,
}

/// What went into the queues after the warm-up.
pub(crate) struct QueueUse {
    pub covered: Duration,
    /// packets handed to each node
    pub offered: Vec<u64>,
    /// of each AP's wired link, up and down
    pub wires: Vec<[WireUse; 2]>,
}

/// `compares`: the rates that are chosen are held against ideal ones.
fn medium_config(scenario: &ResolvedScenario, seed: u64, compares: bool) -> MediumConfig {
    MediumConfig {
        bss: scenario.bss.iter().map(|bss| bss.config.clone()).collect(),
        nodes: scenario.nodes.iter().map(|n| n.config.clone()).collect(),
        rate_controls: scenario.rate_controls(seed).expect("rate controls were built when the scenario was checked"),
        ideals: if compares { scenario.ideal_rate_controls() } else { Vec::new() },
        channel: scenario.channel(seed),
        noise_mw_per_hz: scenario.noise_mw_per_hz(),
        error_model: chosen(&scenario.description.channel.error_model).build(seed),
        capture: scenario.capture(),
        countdown: scenario.first_bss().countdown,
        after_loss: scenario.after_loss(),
        seed,
    }
}
