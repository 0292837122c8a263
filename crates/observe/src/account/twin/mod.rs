//! The account in textbook form: each step updates the state of every flow that may change, and the holder of the
//! medium is searched among all exchanges in progress.

mod channel;
mod exchange;
mod flow;

use std::collections::VecDeque;

use lasthop_units::{Duration, Time};

use super::{Balance, ChannelBalance, FlowBalance, FlowEnds, NodeFacts};
use crate::{FlowId, NodeId, Observer, Payload, QueueLayer, Record, Start, Step, Watcher};
use channel::ChannelBook;
use exchange::{Class, Exchange};
use flow::{Doing, FlowBook};

/// The books of all flows and channels of a run.
pub(super) struct Twin {
    now: Time,
    started: Time,
    nodes: Vec<NodeFacts>,
    flows: Vec<FlowBook>,
    channels: Vec<ChannelBook>,
    /// In the order of starts.
    exchanges: Vec<Exchange>,
    next_id: u32,
    /// PPDUs that will follow a SIFS later, with their steps, in the order of time.
    announced: VecDeque<(Time, Step)>,
}

impl Twin {
    /// Books of `flows` between `nodes` on this many channels.
    pub fn new(flows: &[FlowEnds], nodes: &[NodeFacts], channels: usize) -> Twin {
        let channel_of = |flow: &FlowEnds| nodes[flow.ap.index()].channel;
        let of = |channel: u32| {
            let ids = (0..).map(FlowId).zip(flows);
            ChannelBook::new(ids.filter(|(_, f)| channel_of(f) == channel).map(|(id, _)| id).collect(), nodes.len())
        };
        let book = |ends: &FlowEnds| {
            let function = ends.function;
            let ends = [ends.station, ends.ap];
            FlowBook::new(ends, function, ends.map(|node| nodes[node.index()].aggregates))
        };
        Twin {
            now: Time::ZERO,
            started: Time::ZERO,
            nodes: nodes.to_vec(),
            flows: flows.iter().map(book).collect(),
            channels: (0..channels as u32).map(of).collect(),
            exchanges: Vec::new(),
            next_id: 0,
            announced: VecDeque::new(),
        }
    }

    /// Applies announcements for times up to `at`, and moves the time forward.
    fn catch_up(&mut self, at: Time) {
        while let Some((start_at, step)) = take_front(&mut self.announced, |start_at, _| start_at <= at) {
            self.now = self.now.max(start_at);
            let Step::Start(start) = step else { unreachable!("what a PPDU carries follows it") };
            self.begin(&start);
        }
        // A TXOP announces steps a SIFS ahead: until then time stands still.
        self.now = self.now.max(at);
    }

    fn announce(&mut self, at: Time, step: Step) {
        let place = self.announced.partition_point(|(known, _)| *known <= at);
        self.announced.insert(place, (at, step));
    }

    /// A PPDU starts; its content and the nodes that notice it are next in the list.
    fn begin(&mut self, start: &Start) {
        let place = match self.exchanges.iter().position(|e| e.initiator == start.initiator) {
            Some(place) => place,
            None => self.open(start),
        };
        let exchange = &mut self.exchanges[place];
        exchange.add(start);
        let known = exchange.carried.len();
        while let Some((_, step)) = take_front(&mut self.announced, |_, step| !matches!(step, Step::Start(_))) {
            match step {
                Step::Carries { flow, data_bytes, ack_bytes, .. } => {
                    if exchange.carry(flow, data_bytes, ack_bytes) {
                        self.flows[flow.index()].own.push(exchange.id);
                    }
                }
                Step::Noticed { first, nodes, .. } => {
                    let by = |node: &usize| {
                        *node >= first.index()
                            && *node < first.index() + 64
                            && nodes >> (*node - first.index()) & 1 == 1
                    };
                    let is_there = |node: &usize| self.nodes[*node].channel == exchange.channel;
                    (0..self.nodes.len())
                        .filter(|node| by(node) && is_there(node))
                        .for_each(|node| exchange.noticed[node] = true);
                }
                _ => unreachable!("only these follow the start of a PPDU"),
            }
        }
        let channel = start.channel as usize;
        let (opened, initiator) = (exchange.began == self.now, exchange.initiator);
        let triggered = start.payload == Payload::Packets && start.node != initiator;
        let fresh: Vec<FlowId> = exchange.carried.iter().skip(known).map(|(flow, ..)| *flow).collect();
        self.channels[channel].begin(self.now, start);
        if opened {
            self.settle_heads(initiator, place);
        }
        for flow in fresh.into_iter().filter(|_| triggered) {
            self.settle_heads(self.flows[flow.index()].station(), place);
        }
        self.decide_all(channel);
    }

    fn open(&mut self, start: &Start) -> usize {
        self.exchanges.push(Exchange::new(self.next_id, self.now, start, self.nodes.len()));
        self.channels[start.channel as usize].exchange_begins(self.now);
        self.next_id = self.next_id.wrapping_add(1);
        self.exchanges.len() - 1
    }

    /// A node that makes A-MPDUs has made one: for flows with packets in it, time in its queue was time at its head.
    fn settle_heads(&mut self, node: NodeId, place: usize) {
        let channel = self.exchanges[place].channel as usize;
        if !self.nodes[node.index()].aggregates {
            return;
        }
        self.book_all(channel);
        let exchange = &self.exchanges[place];
        for &flow in &self.channels[channel].flows {
            self.flows[flow.index()].settle_heads(node, exchange.carries(flow));
        }
    }

    fn book_all(&mut self, channel: usize) {
        let flows = std::mem::take(&mut self.channels[channel].flows);
        flows.iter().for_each(|flow| self.book(*flow));
        self.channels[channel].flows = flows;
    }

    fn decide_all(&mut self, channel: usize) {
        let flows = std::mem::take(&mut self.channels[channel].flows);
        flows.iter().for_each(|flow| self.decide(*flow));
        self.channels[channel].flows = flows;
    }

    /// Books the time of a flow, if its state changes now.
    fn decide(&mut self, flow: FlowId) {
        let doing = self.flows[flow.index()].state(|node| self.taken_by(node));
        if doing != self.flows[flow.index()].doing {
            self.book(flow);
            self.flows[flow.index()].doing = doing;
        }
    }

    /// The exchange that has the medium, as `node` notices it.
    fn taken_by(&self, node: NodeId) -> Option<u32> {
        let channel = self.nodes[node.index()].channel;
        self.exchanges.iter().find(|e| e.is_noticed_by(node, channel)).map(|e| e.id)
    }

    /// Books the time of a flow up to now.
    fn book(&mut self, flow: FlowId) {
        let book = &mut self.flows[flow.index()];
        let spent = self.now.since(book.since);
        book.since = self.now;
        let (id, class) = match book.doing {
            Doing::Term(term) => return book.add(term, spent),
            Doing::Queued(place, held) => return book.add_queued(place, held, None, spent),
            Doing::Own(id) => (id, Class::Own),
            Doing::Behind(id) => (id, Class::Behind),
            Doing::QueuedBehind(place, held, id) => (id, Class::Queued(place, held)),
        };
        if spent > Duration::ZERO {
            let exchange = self.exchanges.iter_mut().find(|e| e.id == id).expect("it is booked before it ends");
            exchange.booked.push((flow, class, spent));
        }
    }

    /// An exchange is over: its effect on each flow is known.
    fn finish(&mut self, initiator: NodeId) {
        let Some(place) = self.exchanges.iter().position(|e| e.initiator == initiator) else { return };
        let channel = self.exchanges[place].channel as usize;
        self.book_all(channel);
        // Flows of a BSS that is about to move may still notice it.
        let id = self.exchanges[place].id;
        let behind = |flow: &FlowId| match self.flows[flow.index()].doing {
            Doing::Behind(other) | Doing::QueuedBehind(_, _, other) => other == id,
            _ => false,
        };
        let behind: Vec<FlowId> = (0..self.flows.len() as u32).map(FlowId).filter(behind).collect();
        behind.iter().for_each(|flow| self.book(*flow));
        let exchange = self.exchanges.remove(place);
        for &(flow, ..) in &exchange.carried {
            self.flows[flow.index()].own.retain(|id| *id != exchange.id);
        }
        exchange.settle(self.now, &mut self.flows);
        self.channels[channel].exchange_ends(self.now);
        self.decide_all(channel);
        behind.iter().for_each(|flow| self.decide(*flow));
    }

    /// Handles a record that is not announced ahead.
    fn take(&mut self, at: Time, record: &Record) {
        self.catch_up(at);
        match *record {
            Record::Attempt { node, outcome, .. } => {
                if let Some(exchange) = self.exchanges.iter_mut().find(|e| e.initiator == node) {
                    exchange.outcome = Some(outcome);
                }
            }
            Record::Dropped { node, flow, layer, tcp_ack, arrived, .. } => {
                let book = &mut self.flows[flow.index()];
                book.dropped(node, layer, tcp_ack, arrived);
                if layer == QueueLayer::Interface {
                    self.wants_less(node);
                }
                self.decide(flow);
            }
            Record::Step(step) => self.take_step(&step),
            _ => {}
        }
    }

    fn take_step(&mut self, step: &Step) {
        match *step {
            Step::Emitted { flow } => self.flows[flow.index()].emitted(),
            Step::Arrived { flow } => self.flows[flow.index()].arrived(),
            Step::Enters { node, flow, tcp_ack } => {
                self.flows[flow.index()].enters(node, tcp_ack);
                let channel = self.nodes[node.index()].channel as usize;
                self.channels[channel].wants_more(self.now);
            }
            Step::Taken { node, flow } => self.flows[flow.index()].taken(node),
            Step::Leaves { node, flow } => {
                self.flows[flow.index()].leaves(node);
                self.wants_less(node);
            }
            Step::WireEnters { flow, up } => self.flows[flow.index()].wire_enters(up),
            Step::WireTaken { flow, up } => self.flows[flow.index()].wire_taken(up),
            Step::Waits { flow, hold, awaits_answer, withholds_ack } => {
                let book = &mut self.flows[flow.index()];
                (book.hold, book.awaits_answer, book.withholds_ack) = (hold, awaits_answer, withholds_ack);
            }
            Step::End(end) => {
                let Some(exchange) = self.exchanges.iter_mut().find(|e| e.initiator == end.initiator) else { return };
                exchange.note_end(&end);
                let (channel, is_over) = (exchange.channel as usize, exchange.is_over(&end));
                self.channels[channel].end(self.now, &end, exchange);
                if is_over {
                    self.finish(end.initiator);
                }
                return;
            }
            Step::Recognised { initiator, by } => {
                let Some(exchange) = self.exchanges.iter_mut().find(|e| e.initiator == initiator) else { return };
                exchange.noticed[by.index()] = true;
                let channel = exchange.channel as usize;
                return self.decide_all(channel);
            }
            Step::Held { node, function, held } => {
                for flow in (0..self.flows.len() as u32).map(FlowId) {
                    if self.flows[flow.index()].is_held(node, function, held) {
                        self.decide(flow);
                    }
                }
                return;
            }
            Step::Moved { node, channel } => return self.moved(node, channel),
            Step::Start(_) | Step::Carries { .. } | Step::Noticed { .. } => unreachable!("they are announced"),
        }
        self.decide(step.flow().expect("the rest is about a flow"));
    }

    /// A node is on another channel: exchanges of its own are over, and it no longer notices the old channel's.
    fn moved(&mut self, node: NodeId, channel: u32) {
        self.finish(node);
        while let Some(id) =
            self.flows.iter().filter(|flow| flow.is_of_ap(node)).find_map(|flow| flow.own.first().copied())
        {
            let initiator = self.exchanges.iter().find(|e| e.id == id).expect("it is in progress").initiator;
            self.finish(initiator);
        }
        let old = std::mem::replace(&mut self.nodes[node.index()].channel, channel) as usize;
        let (started, count) = (self.started, self.nodes.len());
        self.channels.resize_with(self.channels.len().max(channel as usize + 1), || {
            let mut book = ChannelBook::new(Vec::new(), count);
            book.start(started);
            book
        });
        self.exchanges.iter_mut().filter(|e| e.channel as usize == old).for_each(|e| e.noticed[node.index()] = false);
        for id in (0..self.flows.len() as u32).map(FlowId) {
            let flow = &self.flows[id.index()];
            let (is_of, is_of_ap, held) = (flow.is_of(node), flow.is_of_ap(node), flow.held_at(node));
            if is_of_ap {
                self.channels[old].flows.retain(|other| *other != id);
                self.channels[channel as usize].flows.push(id);
            }
            if is_of {
                (0..held).for_each(|_| self.channels[old].wants_less(self.now));
                (0..held).for_each(|_| self.channels[channel as usize].wants_more(self.now));
                self.decide(id);
            }
        }
    }

    fn wants_less(&mut self, node: NodeId) {
        let channel = self.nodes[node.index()].channel as usize;
        self.channels[channel].wants_less(self.now);
    }
}

/// Removes the first announcement, if it is `wanted`.
fn take_front(announced: &mut VecDeque<(Time, Step)>, wanted: impl Fn(Time, &Step) -> bool) -> Option<(Time, Step)> {
    announced.front().filter(|(at, step)| wanted(*at, step))?;
    announced.pop_front()
}

impl Step {
    /// The flow of the step.
    fn flow(&self) -> Option<FlowId> {
        match *self {
            Step::Emitted { flow }
            | Step::Arrived { flow }
            | Step::Enters { flow, .. }
            | Step::Taken { flow, .. }
            | Step::Leaves { flow, .. }
            | Step::WireEnters { flow, .. }
            | Step::WireTaken { flow, .. }
            | Step::Waits { flow, .. }
            | Step::Carries { flow, .. } => Some(flow),
            Step::Start(_) | Step::Noticed { .. } | Step::Recognised { .. } => None,
            Step::Held { .. } | Step::Moved { .. } | Step::End(_) => None,
        }
    }
}

impl Observer for Twin {
    const READS_STEPS: bool = true;

    #[inline(always)]
    fn observe(&mut self, at: Time, record: Record) {
        match record {
            Record::Step(step @ (Step::Start(_) | Step::Carries { .. } | Step::Noticed { .. })) => {
                self.announce(at, step);
            }
            Record::Step(_) | Record::Attempt { .. } | Record::Dropped { .. } => self.take(at, &record),
            _ => {}
        }
    }
}

impl Watcher for Twin {
    fn start(&mut self, now: Time) {
        self.catch_up(now);
        self.started = self.now;
        for exchange in &mut self.exchanges {
            exchange.booked.clear();
        }
        for flow in &mut self.flows {
            flow.start(self.now);
        }
        for channel in &mut self.channels {
            channel.start(self.now);
        }
    }
}

impl Twin {
    /// Closes the books and returns the balance up to `now`.
    pub fn close(mut self, now: Time) -> Balance {
        self.catch_up(now);
        while let Some(initiator) = self.exchanges.first().map(|e| e.initiator) {
            self.finish(initiator);
        }
        (0..self.flows.len() as u32).map(FlowId).for_each(|flow| self.book(flow));
        let covered = self.now.since(self.started);
        let flows: Vec<FlowBalance> = self.flows.into_iter().map(FlowBook::close).collect();
        let channels: Vec<ChannelBalance> = self.channels.into_iter().map(|c| c.close(self.now)).collect();
        let balance = Balance { covered, flows, channels };
        balance.check();
        balance
    }
}
