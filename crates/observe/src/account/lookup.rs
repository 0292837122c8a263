//! Lookups of the medium when flows stop waiting: the link between the books of flows and the logs of the medium.

use lasthop_units::Duration;

use super::Account;
use super::exchange::{Booking, Exchange};
use super::flow::{Doing, take_out};
use super::medium_log::{FREE, MediumLog, Taken, look_up_both};
use super::row::Row;
use crate::{FlowId, NodeId};

/// The number of segments in a log after which all its listeners look them up.
const KEPT: usize = 1024;

impl Account {
    /// After the first PPDU that not all nodes notice, each node has a log of its own.
    pub(super) fn listen_apart(&mut self) {
        let since = self.started;
        self.logs = self.nodes.iter().map(|_| MediumLog::new(since, false)).collect();
        self.listeners = vec![Vec::new(); self.nodes.len()];
        for (id, flow) in (0..).map(FlowId).zip(&mut self.flows) {
            flow.logs = flow.ends.map(|node| node.0);
            flow.ends.iter().for_each(|node| self.listeners[node.index()].push(id));
        }
        (0..self.flows.len() as u32).map(FlowId).for_each(|flow| self.decide(flow));
    }

    /// Nodes notice an exchange, by their bits from `first` on.
    pub(super) fn notice(&mut self, initiator: NodeId, first: NodeId, nodes: u64) {
        let (word, shift) = (first.index() / 64, first.0 % 64);
        self.notice_word(initiator, word, nodes << shift);
        if shift > 0 {
            self.notice_word(initiator, word + 1, nodes >> (64 - shift));
        }
    }

    fn notice_word(&mut self, initiator: NodeId, word: usize, nodes: u64) {
        let nodes = if self.has_moves { self.of_channel(initiator, word, nodes) } else { nodes };
        if nodes == 0 {
            return;
        }
        let mut fresh = self.exchanges[initiator.index()].notice(word, nodes);
        while fresh != 0 {
            self.hear(64 * word + fresh.trailing_zeros() as usize, initiator);
            fresh &= fresh - 1;
        }
    }

    /// An exchange is noticed: it has the medium, unless an earlier one has it.
    pub(super) fn hear(&mut self, log: usize, initiator: NodeId) {
        let number = self.exchanges[initiator.index()].number;
        if !self.logs[log].yields_to(number) {
            return;
        }
        let holder = self.logs[log].holder();
        let code = if holder.is_none() { Some(FREE) } else { None };
        let position = self.logs[log].turn(self.now, code, Some((initiator, number)));
        if let (Some(holder), Some(position)) = (holder, position) {
            self.exchanges[holder.index()].segments.push((log as u32, position));
        }
        self.keep_short(log);
    }

    /// Nodes that noticed an exchange now over turn to the next holder of the medium.
    fn next_holder(&mut self, initiator: NodeId, channel: usize, code: u32) {
        if self.apart != Some(true) {
            return self.hear_end(channel, initiator, channel, code);
        }
        for word in 0..self.exchanges[initiator.index()].noticed.len() {
            let mut nodes = self.exchanges[initiator.index()].noticed[word];
            while nodes != 0 {
                self.hear_end(64 * word + nodes.trailing_zeros() as usize, initiator, channel, code);
                nodes &= nodes - 1;
            }
        }
        while let Some((log, position)) = self.exchanges[initiator.index()].segments.pop() {
            self.logs[log as usize].resolve(position, code);
        }
    }

    fn hear_end(&mut self, log: usize, initiator: NodeId, channel: usize, code: u32) {
        if self.logs[log].holder() != Some(initiator) {
            return;
        }
        let is_apart = self.apart == Some(true);
        let hears = |node: &&NodeId| !is_apart || self.exchanges[node.index()].is_noticed_by(NodeId(log as u32));
        let next = self.channels[channel].order.iter().find(hears);
        let next = next.map(|node| (*node, self.exchanges[node.index()].number));
        self.logs[log].turn(self.now, Some(code), next);
        self.keep_short(log);
    }

    /// Lets all listeners look up a log that has become long.
    #[inline(always)]
    fn keep_short(&mut self, log: usize) {
        let length = self.logs[log].length();
        if length >= KEPT && length >= self.listeners[log].len() {
            self.shorten(log);
        }
    }

    #[cold]
    fn shorten(&mut self, log: usize) {
        for place in 0..self.listeners[log].len() {
            self.look_up(self.listeners[log][place]);
        }
        self.logs[log].forget();
    }

    pub(super) fn look_up_all(&mut self) {
        for flow in 0..self.flows.len() {
            self.look_up(FlowId(flow as u32));
        }
    }

    /// Changes the state of the flow.
    pub(super) fn change(&mut self, id: FlowId, does: Doing) {
        self.book(id);
        self.look_up(id);
        let flow = &mut self.flows[id.index()];
        let in_own = &mut self.channels[flow.channel as usize].in_own;
        match (flow.doing, does) {
            (Doing::Own(_), Doing::Own(_)) => {}
            (Doing::Own(_), _) => take_out(in_own, &id),
            (_, Doing::Own(_)) => in_own.push(id),
            _ => {}
        }
        flow.doing = does;
        if let Some(side) = does.queue()
            && flow.aggregates[side]
        {
            flow.list(side, id, &mut self.undecided);
        }
        if flow.regret > 2 * self.rivals.codes() + 16 {
            self.assume_another(id);
        }
    }

    /// Books the time of a flow up to now, if the holder of the medium does not matter.
    fn book(&mut self, id: FlowId) {
        let flow = &mut self.flows[id.index()];
        let spent = self.now.since(flow.since);
        flow.since = self.now;
        match flow.doing {
            Doing::Term(term) => flow.add_term(term, spent),
            Doing::Wire(wire) => flow.add_wire(wire, spent),
            Doing::Own(initiator) if spent > Duration::ZERO => {
                self.exchanges[initiator.index()].booked.push((id, Booking::Own, spent));
            }
            Doing::Own(_) | Doing::Head(_) | Doing::Held | Doing::Queued(_) | Doing::QueuedHeld => {}
        }
    }

    /// Books the time of flows in exchanges of their own on a channel.
    fn book_own(&mut self, channel: usize) {
        for place in 0..self.channels[channel].in_own.len() {
            self.book(self.channels[channel].in_own[place]);
        }
    }

    /// Books the time of a flow up to now by holder of the medium.
    pub(super) fn look_up(&mut self, id: FlowId) {
        let row = self.flows[id.index()].row();
        self.look_up_into(id, row, row);
    }

    /// The same; `row`: the row of known holders, `later`: the row of exchanges in progress, known when they end.
    fn look_up_into(&mut self, id: FlowId, row: Option<Row>, later: Option<Row>) {
        let flow = &mut self.flows[id.index()];
        if let Some(side) = flow.doing.queue()
            && self.logs[flow.logs[side] as usize].was_free_since(flow.looked_up.1[side])
        {
            flow.see_free(side, row);
        }
        if row == flow.assumed {
            if later != row {
                self.correct_present(id, later);
            }
            let flow = &mut self.flows[id.index()];
            flow.regret = flow.regret.saturating_sub(self.logs[flow.logs[0] as usize].passed(flow.looked_up.1[0]));
        } else if !self.take_one_away(id, row) {
            let read = self.read_log(id, row, later);
            let flow = &mut self.flows[id.index()];
            flow.regret += read;
            flow.leaning = row;
        }
        self.mark(id);
    }

    /// Corrects the assumption for a flow that was in its own exchange, if no other had the medium: the usual case.
    #[inline(always)]
    fn take_one_away(&mut self, id: FlowId, row: Option<Row>) -> bool {
        let flow = &mut self.flows[id.index()];
        let (None, Some(assumed)) = (row, flow.assumed) else { return false };
        let (since, [mark, _]) = flow.looked_up;
        let Some(code) = self.logs[flow.logs[0] as usize].only_one_since(mark, self.now) else { return false };
        flow.take_away(assumed, code, self.now.since(since));
        (flow.regret, flow.leaning) = (flow.regret + 2, None);
        true
    }

    /// Reads the logs of a flow from its last position on. Returns the number of segments.
    fn read_log(&mut self, id: FlowId, row: Option<Row>, later: Option<Row>) -> usize {
        let codes = self.rivals.codes();
        let Account { now, flows, logs, exchanges, .. } = self;
        let flow = &mut flows[id.index()];
        let (doing, assumed, (since, marks)) = (flow.doing, flow.assumed, flow.looked_up);
        let side = usize::from(matches!(doing, Doing::Head([false, true]) | Doing::Queued(1)));
        let logs = flow.logs.map(|log| &logs[log as usize]);
        let [to, from] = flow.two_rows(row, assumed, codes);
        let mut reading = Reading { to, from, id, later, assumed, exchanges };
        if doing == Doing::Head([true, true]) {
            look_up_both(logs, since, marks, *now).for_each(|(taken, nanos)| reading.add(taken, nanos));
        } else {
            logs[side].look_up(since, marks[side], *now, |taken, nanos| reading.add(taken, nanos));
        }
        1 + logs[side].passed(marks[side])
    }

    /// The assumption for a flow is right, except for the exchange in progress.
    fn correct_present(&mut self, id: FlowId, later: Option<Row>) {
        let flow = &self.flows[id.index()];
        let log = &self.logs[flow.logs[0] as usize];
        let spent = self.now.since(log.since().max(flow.looked_up.0));
        let Some(holder) = log.holder().filter(|_| spent > Duration::ZERO) else { return };
        let booked = &mut self.exchanges[holder.index()].booked;
        booked.extend(later.map(|row| (id, Booking::To(row), spent)));
        booked.extend(flow.assumed.map(|row| (id, Booking::From(row), spent)));
    }

    fn mark(&mut self, id: FlowId) {
        let flow = &mut self.flows[id.index()];
        let mark = self.logs[flow.logs[0] as usize].mark();
        let marks = if flow.shares_log() { [mark; 2] } else { [mark, self.logs[flow.logs[1] as usize].mark()] };
        flow.looked_up = (self.now, marks);
    }

    /// Changes the row assumed for a flow to the one with most of its time so far; called while the medium is free.
    fn assume_another(&mut self, id: FlowId) {
        let flow = &mut self.flows[id.index()];
        let log = &self.logs[flow.logs[0] as usize];
        let row = flow.leaning.filter(|row| !row.is_undecided());
        match log.clocks() {
            Some(_) if log.holder().is_some() => {}
            Some(clocks) if row != flow.assumed => flow.assume(row, clocks, self.now.since(log.since())),
            _ => flow.regret = 0,
        }
    }

    /// A node that makes A-MPDUs has made one: for flows with packets in it, time in its queue was time at its head.
    ///
    /// The exchange is the one of `initiator`: another node, if a trigger has asked for the A-MPDU.
    pub(super) fn choose_heads(&mut self, node: NodeId, initiator: NodeId, channel: usize) {
        if !self.nodes[node.index()].aggregates {
            return;
        }
        self.book_own(channel);
        let mut waiting = std::mem::take(&mut self.undecided[node.index()]);
        waiting.retain(|&id| {
            let was_head = self.exchanges[initiator.index()].carries(id);
            let flow = &self.flows[id.index()];
            let side = flow.side(node);
            let in_queue = flow.doing.queue() == Some(side);
            if in_queue {
                let head = if flow.doing == Doing::QueuedHeld { Row::HELD } else { Row::HEAD };
                let (row, later) = (if was_head { head } else { Row::QUEUES[side] }, flow.row());
                self.look_up_into(id, Some(row), later);
            }
            let flow = &mut self.flows[id.index()];
            flow.settle_heads(side, was_head);
            flow.listed[side] = in_queue;
            in_queue
        });
        self.undecided[node.index()] = waiting;
    }

    /// An exchange is over: its effect on each flow is known.
    pub(super) fn finish(&mut self, initiator: NodeId) {
        let exchange = &mut self.exchanges[initiator.index()];
        let channel = exchange.channel as usize;
        self.book_own(channel);
        let exchange = &mut self.exchanges[initiator.index()];
        exchange.in_progress = false;
        let code = self.rivals.code(exchange.rival());
        self.channels[channel].exchange_ends(self.now, initiator);
        self.next_holder(initiator, channel, code);
        let exchange = &self.exchanges[initiator.index()];
        for &(id, booking, spent) in &exchange.booked {
            let flow = &mut self.flows[id.index()];
            match booking {
                Booking::Own => exchange.settle_own(self.now, id, spent, code as usize, flow),
                Booking::From(row) => flow.take_away(row, code as usize, spent),
                Booking::To(row) => {
                    flow.add(row, code as usize, spent);
                    if let Some(side) = row.undecided_side() {
                        flow.list(side, id, &mut self.undecided);
                    }
                }
            }
        }
        for place in 0..self.exchanges[initiator.index()].carried.len() {
            let (id, ..) = self.exchanges[initiator.index()].carried[place];
            self.flows[id.index()].is_carried_no_more(initiator);
            self.decide(id);
        }
    }

    /// Books the remaining time.
    pub(super) fn close_flows(&mut self) {
        for log in &mut self.logs {
            log.turn(self.now, Some(FREE), None);
        }
        for place in 0..self.flows.len() {
            let id = FlowId(place as u32);
            self.book(id);
            self.look_up(id);
            let flow = &mut self.flows[place];
            if let Some(clocks) = self.logs[flow.logs[0] as usize].clocks() {
                flow.assume(None, clocks, Duration::ZERO);
            }
        }
    }
}

/// The state of reading a log into the book of a flow.
struct Reading<'a> {
    /// Nanoseconds by code; empty if there is no row.
    to: &'a mut [u64],
    from: &'a mut [u64],
    id: FlowId,
    later: Option<Row>,
    assumed: Option<Row>,
    exchanges: &'a mut [Exchange],
}

impl Reading<'_> {
    #[inline(always)]
    fn add(&mut self, taken: Taken, nanos: u64) {
        match taken.by() {
            Ok(code) => {
                if let Some(cell) = self.to.get_mut(code) {
                    *cell = cell.wrapping_add(nanos);
                }
                if let Some(cell) = self.from.get_mut(code) {
                    *cell = cell.wrapping_sub(nanos);
                }
            }
            Err(initiator) if nanos > 0 => self.add_later(initiator, Duration::from_nanos(nanos)),
            Err(_) => {}
        }
    }

    fn add_later(&mut self, initiator: NodeId, spent: Duration) {
        let booked = &mut self.exchanges[initiator.index()].booked;
        booked.extend(self.later.map(|row| (self.id, Booking::To(row), spent)));
        booked.extend(self.assumed.map(|row| (self.id, Booking::From(row), spent)));
    }
}
