//! The hosts of a scenario: the stations, the servers behind the APs, and the flows between them.
//!
//! A flow has its data's sender at one end of the network and its receiver at the other. Ends send in turns: an
//! arrival, a timer or an application gives an end its turn, in which it sends all that it may before the next event.

mod application;
mod body;
mod connection;
pub(crate) mod driver;
mod exchange_flow;
mod flow;
mod numbers;
mod offload;
mod own_queue;
mod process;
pub(crate) mod quic_flow;
mod quic_lines;
pub(crate) mod reception;
mod side;
mod tcp_flow;
mod tcp_pool;
pub(crate) mod udp_flow;

use lasthop_link::{Content, Packet, PacketMeta};
use lasthop_network::{Context, Hosts, Order};
use lasthop_observe::{FlowId, NodeId, Observer, Record, Step};
use lasthop_tcp::congestion_control::Outside;
use lasthop_wifi::AccessCategory;

pub(crate) use application::Span;
pub(crate) use body::Body;
use body::Spares;
pub(crate) use flow::{Flow, Wants};
pub(crate) use numbers::{Headed, Numbers, note_received};
use offload::Joins;
use process::{FlowEnd, Next, Process, Work};
pub(crate) use side::Side;

/// Events that flows schedule for themselves.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FlowEvent {
    Starts(FlowId),
    /// the application of a flow offers its next packet
    Application(FlowId),
    Timer(FlowId, Side),
    /// the process of a host is free
    Free(NodeId),
    /// the host of this side passes on the segments that it has joined
    Offload(FlowId, Side),
}

pub(crate) type At<'a, O> = Context<'a, FlowEvent, O>;

/// Names and sizes in bytes of the objects of each flow; see [`crate::sizes_in_bytes`].
pub(crate) fn connection_sizes() -> Vec<(&'static str, usize)> {
    vec![("Connection", size_of::<connection::Connection>()), ("TcpFlow", size_of::<tcp_flow::TcpFlow>())]
}

/// The progress of the end whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Begins,
    Sends,
    HasSent,
    Ends,
}

/// An end that may have to send.
#[derive(Clone, Copy, Debug)]
struct Turn {
    flow: FlowId,
    side: Side,
    /// its data waits in its socket until the device pulls it
    held_back: bool,
    stage: Stage,
}

/// All flows of a scenario, with the turns in which their ends send.
pub(crate) struct FlowHosts {
    flows: Vec<Flow>,
    /// by node: its AP
    homes: Vec<NodeId>,
    /// by node: the flows whose data its interface pulls
    sources: Vec<Vec<FlowId>>,
    /// by node: the source to pull from first
    first: Vec<usize>,
    /// by AP: the saturated sources behind it
    saturated: Vec<Vec<FlowId>>,
    /// ends whose data has room again in the queue of their own host, or that have to be looked at
    roomy: Vec<FlowEnd>,
    /// by node: the process of a station, and of the server behind an AP; none if no flow takes time at its hosts
    processes: Vec<Process>,
    turn: Option<Turn>,
    spares: Spares,
    numbers: Numbers,
}

impl FlowHosts {
    /// No flows yet; `homes` has the AP of each node, `aps` is the number of APs.
    pub(crate) fn new(homes: Vec<NodeId>, aps: usize) -> FlowHosts {
        FlowHosts {
            flows: Vec::new(),
            sources: vec![Vec::new(); homes.len()],
            first: vec![0; homes.len()],
            saturated: vec![Vec::new(); aps],
            homes,
            roomy: Vec::new(),
            processes: Vec::new(),
            turn: None,
            spares: Spares::default(),
            numbers: Numbers::default(),
        }
    }

    /// Adds the next flow.
    pub(crate) fn add(&mut self, flow: Flow) {
        let id = FlowId(self.flows.len() as u32);
        let station = flow.station().index();
        match (flow.wants(), flow.is_up()) {
            (Wants::Pull, false) => self.saturated[self.homes[station].index()].push(id),
            (Wants::Pull, true) => self.sources[station].push(id),
            (Wants::Push, true) if flow.is_asked() => self.sources[station].push(id),
            (Wants::Push, _) => {}
        }
        if flow.cost().is_some() && self.processes.is_empty() {
            self.processes.resize_with(self.homes.len(), Process::default);
        }
        self.flows.push(flow);
    }

    /// By AP: whether there is a saturated source behind it.
    pub(crate) fn fed(&self) -> Vec<bool> {
        self.saturated.iter().map(|sources| !sources.is_empty()).collect()
    }

    /// All flows, in the order of their ids.
    pub(crate) fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// Gives a flow of bulk data over TCP a window in segments, or a pacing rate, above those of its congestion control.
    pub(crate) fn hold(&mut self, flow: FlowId, values: Outside) {
        self.flows[flow.index()].hold(values);
    }

    fn begin(&mut self, flow: FlowId, side: Side) {
        let held_back = self.flows[flow.index()].is_held_back(side);
        self.turn = Some(Turn { flow, side, held_back, stage: Stage::Begins });
    }

    /// Reports why the ends of a flow wait.
    #[inline(always)]
    fn tell_waits<O: Observer>(&self, id: FlowId, at: &mut At<'_, O>) {
        if at.observer.reads_waits() {
            at.tell(self.flows[id.index()].waits(at.now));
        }
    }

    /// Whether the packets of a flow take time at hosts.
    #[inline(always)]
    fn takes_time(&self, flow: FlowId) -> bool {
        !self.processes.is_empty() && self.flows[flow.index()].cost().is_some()
    }

    /// The host of an end: its station, or the AP in front of its server.
    fn host_of(&self, (id, side): FlowEnd) -> NodeId {
        let flow = &self.flows[id.index()];
        if side == flow.station_side() { flow.station() } else { self.homes[flow.station().index()] }
    }

    /// A packet reaches the socket of a process.
    #[cold]
    fn reaches_socket<O: Observer>(&mut self, mut packet: Packet<Body>, at: &mut At<'_, O>) {
        let Content { meta, body: Body::Quic(carried) } = &mut *packet else { unreachable!("only QUIC takes time") };
        let end = (meta.flow, self.flows[meta.flow.index()].side_reached_by(meta));
        let host = self.host_of(end);
        self.processes[host.index()].receive(end, carried.take(meta.ecn));
        self.spares.take_back(packet);
        self.work(host, at);
    }

    #[cold]
    fn timer_expires<O: Observer>(&mut self, end: FlowEnd, at: &mut At<'_, O>) {
        let host = self.host_of(end);
        self.processes[host.index()].expired.push(end);
        self.work(host, at);
    }

    /// An end may have to send once its process gets to it.
    #[cold]
    fn work_for<O: Observer>(&mut self, end: FlowEnd, at: &mut At<'_, O>) {
        let host = self.host_of(end);
        self.processes[host.index()].wake(end);
        self.work(host, at);
    }

    /// A process has finished its work.
    #[cold]
    fn is_free<O: Observer>(&mut self, host: NodeId, at: &mut At<'_, O>) {
        let (id, side) = match self.processes[host.index()].work.take() {
            None => return,
            Some(Work::Reads((id, side), datagram)) => {
                self.flows[id.index()].quic().arrive(at.now, side, datagram, at.observer);
                (id, side)
            }
            Some(Work::Sends((id, side))) => {
                self.flows[id.index()].quic().leaves(side);
                (id, side)
            }
        };
        // Data for a device is made when that has room.
        let process = &mut self.processes[host.index()];
        if self.flows[id.index()].is_held_back(side) {
            process.rest((id, side))
        } else {
            process.wake((id, side))
        }
        self.begin(id, side);
        self.work(host, at);
    }

    /// Lets a process begin its next work, if it is free and has any.
    fn work<O: Observer>(&mut self, host: NodeId, at: &mut At<'_, O>) {
        if self.processes[host.index()].work.is_some() {
            return;
        }
        for (id, side) in std::mem::take(&mut self.processes[host.index()].expired) {
            self.flows[id.index()].timer_fires(at.now, side, at.observer);
            self.roomy.push((id, side));
        }
        let costs = |flows: &[Flow], id: FlowId| flows[id.index()].cost().expect("it takes time here");
        loop {
            let flows = &self.flows;
            let (end, work) = match self.processes[host.index()].next(|id| costs(flows, id)) {
                None => return,
                Some(Next::Read(end, datagram)) => (end, Work::Reads(end, datagram)),
                Some(Next::Send((id, side))) => {
                    let makes = self.flows[id.index()].quic().make(at.now, side, at.observer);
                    self.arm_timer(id, side, at);
                    if !makes {
                        self.processes[host.index()].rest((id, side));
                        self.tell_waits(id, at);
                        continue;
                    }
                    ((id, side), Work::Sends((id, side)))
                }
            };
            self.processes[host.index()].work = Some(work);
            at.schedule(at.now + costs(&self.flows, end.0).datagram, FlowEvent::Free(host));
            return;
        }
    }

    /// Ensures an event no later than the earliest timer of this end.
    #[inline(always)]
    fn arm_timer<O: Observer>(&mut self, id: FlowId, side: Side, at: &mut At<'_, O>) {
        if let Some(due) = self.flows[id.index()].timer_to_arm(side) {
            at.schedule(due, FlowEvent::Timer(id, side));
        }
    }
}

impl Hosts<Body> for FlowHosts {
    type Event = FlowEvent;

    fn arrive<O: Observer>(&mut self, mut packet: Packet<Body>, at: &mut At<'_, O>) {
        let PacketMeta { flow, station, up, .. } = packet.meta;
        let delay = at.now.since(packet.body.sent_at());
        at.observer.observe(at.now, Record::PacketDelivered { station, up, delay });
        at.tell(Step::Arrived { flow });
        note_received(&packet, at);
        if self.takes_time(flow) {
            return self.reaches_socket(packet, at);
        }
        let this = &mut self.flows[flow.index()];
        let joins = this.joins(at.now, &packet);
        let side = this.arrive(at.now, &mut packet, at.observer);
        self.spares.take_back(packet);
        match joins {
            Joins::Not => self.begin(flow, side),
            Joins::First => at.schedule(at.now, FlowEvent::Offload(flow, side)),
            Joins::Before => {}
        }
    }

    fn handle<O: Observer>(&mut self, event: FlowEvent, at: &mut At<'_, O>) {
        let (id, side) = match event {
            FlowEvent::Starts(id) => (id, self.flows[id.index()].start(at.now)),
            FlowEvent::Application(id) => (id, self.flows[id.index()].application_offers(at.now)),
            FlowEvent::Free(host) => return self.is_free(host, at),
            FlowEvent::Timer(id, side) if self.takes_time(id) => {
                return self.timer_expires((id, side), at);
            }
            FlowEvent::Timer(id, side) => {
                self.flows[id.index()].timer_fires(at.now, side, at.observer);
                (id, side)
            }
            FlowEvent::Offload(id, side) => (id, side),
        };
        self.begin(id, side);
    }

    #[inline(always)]
    fn next<O: Observer>(&mut self, at: &mut At<'_, O>) -> Option<Order<Body>> {
        let turn = self.turn.as_mut()?;
        let flow = &mut self.flows[turn.flow.index()];
        if turn.stage == Stage::Begins {
            turn.stage = Stage::Sends;
            if let Some(due) = flow.application_at() {
                at.schedule(due, FlowEvent::Application(turn.flow));
            }
            if flow.wants() == Wants::Pull && !flow.is_up() {
                return Some(Order::Feed { ap: self.homes[flow.station().index()] });
            }
        }
        if turn.stage == Stage::Sends {
            if let Some(mut packet) = flow.next_packet(turn, &mut self.spares, at) {
                self.numbers.note_sent(&mut packet, at);
                return Some(Order::Send(packet));
            }
            turn.stage = Stage::HasSent;
        }
        if turn.stage == Stage::HasSent && turn.held_back {
            turn.stage = Stage::Ends;
            return Some(Order::Offer { station: flow.station(), tid: flow.tid() });
        }
        let Turn { flow: id, side, held_back, .. } = *turn;
        if !held_back && self.takes_time(id) {
            self.work_for((id, side), at);
        }
        let flow = &mut self.flows[id.index()];
        if let Some(due) = flow.timer_to_arm(side) {
            at.schedule(due, FlowEvent::Timer(id, side));
        }
        self.turn = None;
        self.tell_waits(id, at);
        None
    }

    #[inline(always)]
    fn resume(&mut self) -> bool {
        let Some((id, side)) = self.roomy.pop() else { return false };
        self.begin(id, side);
        true
    }

    fn pull<O: Observer>(
        &mut self,
        station: NodeId,
        category: Option<AccessCategory>,
        at: &mut At<'_, O>,
    ) -> Option<Packet<Body>> {
        let sources = self.sources[station.index()].len();
        for attempt in 0..sources {
            let place = (self.first[station.index()] + attempt) % sources;
            let id = self.sources[station.index()][place];
            let flow = &mut self.flows[id.index()];
            if category.is_some_and(|c| c != AccessCategory::of_tid(flow.tid())) {
                continue;
            }
            if let Some(mut packet) = flow.pull(at.now, &mut self.spares, at.observer) {
                self.first[station.index()] = place + 1;
                if flow.is_within_batch() {
                    self.roomy.push((id, Side::Sender));
                }
                at.tell(Step::Emitted { flow: id });
                self.numbers.note_sent(&mut packet, at);
                self.tell_waits(id, at);
                self.arm_timer(id, Side::Sender, at);
                return Some(packet);
            }
            if self.takes_time(id) {
                self.work_for((id, Side::Sender), at);
            }
        }
        None
    }

    fn is_saturated(&self, station: NodeId, category: Option<AccessCategory>) -> bool {
        let is_wanted = |flow: &Flow| category.is_none_or(|c| c == AccessCategory::of_tid(flow.tid()));
        let flows = self.sources[station.index()].iter().map(|id| &self.flows[id.index()]);
        flows.filter(|flow| is_wanted(flow)).any(Flow::is_saturated)
    }

    fn feed<O: Observer>(&mut self, ap: NodeId, at: &mut At<'_, O>) -> Option<Packet<Body>> {
        for _ in 0..self.saturated[ap.index()].len() {
            let id = self.saturated[ap.index()][0];
            self.saturated[ap.index()].rotate_left(1);
            if let Some(mut packet) = self.flows[id.index()].pull(at.now, &mut self.spares, at.observer) {
                at.tell(Step::Emitted { flow: id });
                self.numbers.note_sent(&mut packet, at);
                return Some(packet);
            }
        }
        None
    }

    #[inline]
    fn released<O: Observer>(&mut self, packet: &PacketMeta, refused: bool, at: &mut At<'_, O>) {
        let flow = &mut self.flows[packet.flow.index()];
        if flow.leaves_own_queue(at.now, packet, refused, at.observer) {
            self.roomy.push((packet.flow, flow.station_side()));
        }
    }

    #[inline]
    fn discarded(&mut self, packet: Packet<Body>) {
        self.spares.take_back(packet);
    }
}

impl Flow {
    /// The next packet of the end whose turn it is. A receiver known to have nothing more to send is not polled again.
    #[inline(always)]
    fn next_packet<O: Observer>(
        &mut self,
        turn: &mut Turn,
        spares: &mut Spares,
        at: &mut At<'_, O>,
    ) -> Option<Packet<Body>> {
        let mut packet = self.poll(at.now, turn.side, turn.held_back, spares, at.observer)?;
        self.classify(&mut packet.meta, false);
        at.tell(Step::Emitted { flow: turn.flow });
        if packet.meta.pure_ack {
            if turn.side == Side::Receiver && self.receiver_rests(at.now) {
                turn.stage = Stage::HasSent;
            }
        } else {
            if turn.side == Side::Receiver && self.quic_rests(packet.meta.bytes) {
                turn.stage = Stage::HasSent;
            }
            if packet.meta.up {
                self.enters_own_queue(&packet.meta);
            }
        }
        Some(packet)
    }

    /// Whether data of this side waits in its socket until the device pulls it.
    fn is_held_back(&self, side: Side) -> bool {
        side == Side::Sender && self.is_up() && (self.wants() == Wants::Pull || self.is_asked())
    }
}
