//! The time of each flow and of each channel: an account in exclusive terms that add up to all of it.
//!
//! At every instant a flow is in one state, the first of these that applies:
//!
//! 1. an exchange that carries its packets is in progress: booked when its outcome is known (`exchange`);
//! 2. a packet of it is at the head of a MAC: another exchange has the medium, or backoff and inter-frame spaces run;
//! 3. a packet of it waits in a queue, while the medium is taken or free;
//! 4. packets of it are on a wire, or at a receiver that withholds its ACK: the sender's reason to wait names the term;
//! 5. no packet of it is anywhere and something awaits an answer: only a timer can continue;
//! 6. its application has nothing to send.
//!
//! The flows of an A-MPDU are known only when the medium is won. If a node makes A-MPDUs, time in its queue is kept
//! separate until then: for flows in the A-MPDU it was time at the head, for others time in a queue.
//!
//! A channel is idle, or only interferers are on the air, or a node with packets contends, or there is a space within an exchange, or a PPDU is on the air;
//! of overlapping PPDUs the earliest counts, by its outcome (`channel`).
//!
//! The holder of the medium is one log for all nodes that notice the same (`medium_log`). A flow that stops waiting looks up
//! the holders since it began; so a PPDU costs the same however many flows wait for it.
//!
//! An account reads [`Step`]s, which are computed for it alone. It changes nothing.

mod announced;
mod balance;
mod channel;
mod exchange;
mod flow;
mod lookup;
mod medium_log;
mod moved;
mod row;
mod start;
mod term;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod twin;

use lasthop_units::Time;

use crate::{End, FlowId, Hold, NodeId, Observer, Outcome, QueueLayer, Record, Step, Watcher};
use announced::Announcements;
pub use balance::{Balance, ChannelBalance, Fate, FlowBalance, Kind, NodeAirtime, QueueTime, Traffic};
use channel::ChannelBook;
use exchange::Exchange;
use flow::FlowBook;
use medium_log::{MediumLog, Rivals};
pub use term::{Place, Rival, Term};

/// A flow between a station and its AP.
#[derive(Clone, Copy, Debug)]
pub struct FlowEnds {
    /// the station
    pub station: NodeId,
    /// its AP
    pub ap: NodeId,
    /// the channel access function of the station that carries its packets, the one with the highest priority first
    pub function: u32,
}

/// A node of the wireless side.
#[derive(Clone, Copy, Debug)]
pub struct NodeFacts {
    /// its channel, counted from 0
    pub channel: u32,
    /// whether it makes A-MPDUs, so that it chooses what to send after it has won the medium
    pub aggregates: bool,
}

/// The books of all flows and channels of a run.
#[derive(Clone)]
pub struct Account {
    now: Time,
    started: Time,
    nodes: Vec<NodeFacts>,
    flows: Vec<FlowBook>,
    channels: Vec<ChannelBook>,
    /// By initiator.
    exchanges: Vec<Exchange>,
    begun: u32,
    rivals: Rivals,
    /// One for each channel, or for each node, if nodes notice different things or may move.
    logs: Vec<MediumLog>,
    /// The flows that use each of these.
    listeners: Vec<Vec<FlowId>>,
    /// Whether some PPDU was noticed by some nodes only; unknown before the first.
    apart: Option<bool>,
    /// Whether a node has moved to another channel.
    has_moves: bool,
    /// For each node that makes A-MPDUs, flows whose time depends on its next choice.
    undecided: Vec<Vec<FlowId>>,
    announced: Announcements,
}

impl Account {
    /// Books of `flows` between `nodes` on this many channels.
    pub fn new(flows: &[FlowEnds], nodes: &[NodeFacts], channels: usize) -> Account {
        let logs: Vec<MediumLog> = (0..channels).map(|_| MediumLog::new(Time::ZERO, true)).collect();
        let mut listeners = vec![Vec::new(); channels];
        let mut books = Vec::with_capacity(flows.len());
        for (id, flow) in (0..).map(FlowId).zip(flows) {
            let (ends, channel) = ([flow.station, flow.ap], nodes[flow.ap.index()].channel);
            let aggregates = ends.map(|node| nodes[node.index()].aggregates);
            books.push(FlowBook::new(ends, flow.function, aggregates, channel, logs[channel as usize].mark()));
            listeners[channel as usize].push(id);
        }
        Account {
            now: Time::ZERO,
            started: Time::ZERO,
            nodes: nodes.to_vec(),
            flows: books,
            channels: (0..channels).map(|_| ChannelBook::new(nodes.len())).collect(),
            exchanges: nodes.iter().map(|_| Exchange::none()).collect(),
            begun: 0,
            rivals: Rivals::default(),
            logs,
            listeners,
            apart: None,
            has_moves: false,
            undecided: vec![Vec::new(); nodes.len()],
            announced: Announcements::none(),
        }
    }

    /// Applies announcements for times up to `at`, and moves the time forward.
    #[inline(always)]
    fn catch_up(&mut self, at: Time) {
        while self.announced.has_come(at) {
            self.begin_announced();
        }
        // A TXOP announces steps a SIFS ahead: until then time stands still.
        self.now = self.now.max(at);
    }

    /// Books the time of a flow, if its state changes now.
    #[inline(always)]
    fn decide(&mut self, flow: FlowId) {
        let book = &self.flows[flow.index()];
        let does = book.does_now();
        if does != book.doing {
            self.change(flow, does);
        }
    }

    /// Passes an event to the book of a flow.
    #[inline(always)]
    fn tell(&mut self, at: Time, flow: FlowId, tell: impl FnOnce(&mut FlowBook)) {
        self.catch_up(at);
        let book = &mut self.flows[flow.index()];
        let before = book.places();
        tell(book);
        if flow::may_do_another(before, book.places()) {
            self.decide(flow);
        }
    }

    #[inline(never)]
    fn emitted(&mut self, at: Time, flow: FlowId) {
        self.tell(at, flow, FlowBook::emitted);
    }

    #[inline(never)]
    fn arrived(&mut self, at: Time, flow: FlowId) {
        self.tell(at, flow, FlowBook::arrived);
    }

    #[inline(never)]
    fn enters(&mut self, at: Time, flow: FlowId, node: NodeId, tcp_ack: bool) {
        self.tell(at, flow, |book| book.enters(node, tcp_ack));
        let channel = self.nodes[node.index()].channel as usize;
        self.channels[channel].wants_more(self.now);
    }

    #[inline(never)]
    fn taken(&mut self, at: Time, flow: FlowId, node: NodeId) {
        self.tell(at, flow, |book| book.taken(node));
    }

    #[inline(never)]
    fn leaves(&mut self, at: Time, flow: FlowId, node: NodeId) {
        self.tell(at, flow, |book| book.leaves(node));
        self.wants_less(node);
    }

    #[inline(never)]
    fn wire_enters(&mut self, at: Time, flow: FlowId, up: bool) {
        self.tell(at, flow, |book| book.wire_enters(up));
    }

    #[inline(never)]
    fn wire_taken(&mut self, at: Time, flow: FlowId, up: bool) {
        self.tell(at, flow, |book| book.wire_taken(up));
    }

    #[inline(never)]
    fn waits(&mut self, at: Time, flow: FlowId, (hold, awaits_answer, withholds_ack): (Hold, bool, bool)) {
        self.tell(at, flow, |book| {
            (book.hold, book.awaits_answer, book.withholds_ack) = (hold, awaits_answer, withholds_ack);
        });
    }

    #[inline(never)]
    fn dropped(&mut self, at: Time, flow: FlowId, node: NodeId, layer: QueueLayer, (tcp_ack, arrived): (bool, bool)) {
        self.tell(at, flow, |book| book.dropped(node, layer, tcp_ack, arrived));
        if layer == QueueLayer::Interface {
            self.wants_less(node);
        }
    }

    #[cold]
    fn burst(&mut self, at: Time, channel: u32, begins: bool) {
        self.catch_up(at);
        self.knows(channel);
        self.channels[channel as usize].burst(self.now, begins);
    }

    #[inline(never)]
    fn attempted(&mut self, at: Time, node: NodeId, outcome: Outcome) {
        self.catch_up(at);
        let exchange = &mut self.exchanges[node.index()];
        if exchange.in_progress {
            exchange.outcome = Some(outcome);
        }
    }

    #[inline(never)]
    fn recognised(&mut self, at: Time, initiator: NodeId, by: NodeId) {
        self.catch_up(at);
        if self.exchanges[initiator.index()].in_progress {
            self.notice(initiator, by, 1);
        }
    }

    /// A function of a node may not contend, or may again.
    #[cold]
    fn holds(&mut self, at: Time, node: NodeId, function: u32, held: bool) {
        self.catch_up(at);
        for id in (0..self.flows.len() as u32).map(FlowId) {
            let flow = &mut self.flows[id.index()];
            if flow.ends[0] == node && flow.function == function {
                flow.held = held;
                self.decide(id);
            }
        }
    }

    #[inline(never)]
    fn ended(&mut self, at: Time, end: &End) {
        self.catch_up(at);
        let exchange = &mut self.exchanges[end.initiator.index()];
        if !exchange.in_progress {
            return;
        }
        exchange.note_end(end);
        let is_over = exchange.is_over(end);
        self.channels[exchange.channel as usize].end(self.now, end, exchange);
        if is_over {
            self.finish(end.initiator);
        }
    }

    #[inline(always)]
    fn wants_less(&mut self, node: NodeId) {
        let channel = self.nodes[node.index()].channel as usize;
        self.channels[channel].wants_less(self.now);
    }

    /// Where a step is emitted its kind is known, so that this compiles to one call.
    #[inline(always)]
    fn take(&mut self, at: Time, step: Step) {
        match step {
            Step::Emitted { flow } => self.emitted(at, flow),
            Step::Arrived { flow } => self.arrived(at, flow),
            Step::Enters { node, flow, tcp_ack } => self.enters(at, flow, node, tcp_ack),
            Step::Taken { node, flow } => self.taken(at, flow, node),
            Step::Leaves { node, flow } => self.leaves(at, flow, node),
            Step::WireEnters { flow, up } => self.wire_enters(at, flow, up),
            Step::WireTaken { flow, up } => self.wire_taken(at, flow, up),
            Step::Waits { flow, hold, awaits_answer, withholds_ack } => {
                self.waits(at, flow, (hold, awaits_answer, withholds_ack));
            }
            Step::Start(start) => self.announced.add(at, start),
            Step::Carries { .. } | Step::Noticed { .. } => self.announced.add_to_last(step),
            Step::End(end) => self.ended(at, &end),
            Step::Held { node, function, held } => self.holds(at, node, function, held),
            Step::Recognised { initiator, by } => self.recognised(at, initiator, by),
            Step::Moved { node, channel } => self.moved(at, node, channel),
        }
    }
}

impl Observer for Account {
    const READS_STEPS: bool = true;

    #[inline(always)]
    fn observe(&mut self, at: Time, record: Record) {
        match record {
            Record::Step(step) => self.take(at, step),
            Record::Interferer { channel, begins } => self.burst(at, channel, begins),
            Record::Attempt { node, outcome, .. } => self.attempted(at, node, outcome),
            Record::Dropped { node, flow, layer, tcp_ack, arrived, .. } => {
                self.dropped(at, flow, node, layer, (tcp_ack, arrived));
            }
            _ => {}
        }
    }
}

impl Watcher for Account {
    fn start(&mut self, now: Time) {
        self.catch_up(now);
        self.started = self.now;
        self.look_up_all();
        self.exchanges.iter_mut().for_each(|exchange| exchange.booked.clear());
        self.logs.iter_mut().for_each(|log| log.start(self.now));
        self.flows.iter_mut().for_each(|flow| flow.start(self.now));
        self.channels.iter_mut().for_each(|channel| channel.start(self.now));
    }
}

impl Account {
    /// Closes the books and returns the balance up to `now`.
    pub fn close(mut self, now: Time) -> Balance {
        self.catch_up(now);
        for channel in 0..self.channels.len() {
            while let Some(&initiator) = self.channels[channel].order.first() {
                self.finish(initiator);
            }
        }
        self.close_flows();
        let covered = self.now.since(self.started);
        let rivals = &self.rivals;
        let flows: Vec<FlowBalance> = self.flows.into_iter().map(|flow| flow.close(rivals)).collect();
        let channels: Vec<ChannelBalance> = self.channels.into_iter().map(|c| c.close(self.now)).collect();
        let balance = Balance { covered, flows, channels };
        balance.check();
        balance
    }
}
