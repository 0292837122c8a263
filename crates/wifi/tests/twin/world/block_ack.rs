//! A-MPDUs and BlockAckReqs in exchanges and TXOPs.

use super::World;
use crate::twin::air::{Kind, Transmission};
use crate::twin::ampdu::{Aggregation, Agreement};
use crate::twin::node::{Function, Pending};

impl World<'_> {
    pub(super) fn aggregation(&self) -> &Aggregation {
        self.config.aggregation.as_ref().expect("there are agreements")
    }

    fn active(&self, node: usize) -> (&Function, &Agreement) {
        let function = &self.nodes[node].functions[self.nodes[node].active];
        (function, function.agreement.as_ref().expect("it sends A-MPDUs"))
    }

    /// MPDUs on the air or announced.
    pub(super) fn sending(&self, node: usize) -> usize {
        self.active(node).1.sending.len()
    }

    fn agreement(&mut self, node: usize) -> &mut Agreement {
        let n = &mut self.nodes[node];
        n.functions[n.active].agreement.as_mut().expect("it sends A-MPDUs")
    }

    /// Begins the exchange of a winner: a BlockAckReq if one is due, otherwise an A-MPDU or the RTS before it.
    pub(super) fn begin(&mut self, node: usize) {
        let (c, now) = (self.config, self.now);
        let (function, agreement) = self.active(node);
        let (to, waiting) = (function.peers[0], function.waiting());
        if agreement.request_due {
            let duration = self.reserves_until(node, now, self.aggregation().t_request_ns) - now;
            return self.transmit(node, Kind::BlockAckReq, to, duration - self.aggregation().t_request_ns);
        }
        let plain = agreement.count(self.aggregation(), waiting, self.room(node, now)).max(1);
        let rts = c.rts && self.aggregation().bytes(plain) > self.aggregation().rts_over_bytes;
        let at = if rts { now + c.t_rts_ns + c.sifs_ns + c.t_cts_ns + c.sifs_ns } else { now };
        let length = self.compose(node, self.room(node, at), true);
        if rts {
            let until = self.at_least_limit(node, at + length + c.sifs_ns + self.aggregation().t_block_ack_ns);
            self.transmit(node, Kind::Rts, to, until - now - c.t_rts_ns);
        } else {
            let until = self.reserves_until(node, at, length);
            self.transmit(node, Kind::Data, to, until - at - length);
        }
    }

    /// Makes the next A-MPDU; returns its duration, zero if nothing fits.
    fn compose(&mut self, node: usize, longest_ns: u64, must: bool) -> u64 {
        let limits = self.config.aggregation.as_ref().expect("there are agreements");
        let n = &mut self.nodes[node];
        let function = &mut n.functions[n.active];
        let waiting = function.waiting();
        let agreement = function.agreement.as_mut().expect("it sends A-MPDUs");
        let taken = agreement.compose(limits, waiting, longest_ns, must);
        function.queue.drain(..function.queue.len().min(taken as usize));
        self.nodes[node].report = self.report(node);
        let mpdus = self.sending(node);
        if mpdus == 0 { 0 } else { limits.duration_ns(mpdus) }
    }

    /// The longest A-MPDU that may begin at `at` in the TXOP of `node`.
    fn room(&self, node: usize, at: u64) -> u64 {
        let after = self.config.sifs_ns + self.aggregation().t_block_ack_ns;
        self.nodes[node].txop_ends.map_or(u64::MAX, |ends| ends.saturating_sub(at + after))
    }

    /// End of the reservation of an A-MPDU or BlockAckReq of `length` that is sent at `at`: its BlockAck, or that of the next
    /// exchange if another A-MPDU fits. [802.11-2020 §9.2.5.2 a]
    pub(super) fn reserves_until(&self, node: usize, at: u64, length: u64) -> u64 {
        let (c, limits) = (self.config, self.aggregation());
        let answered = at + length + c.sifs_ns + limits.t_block_ack_ns;
        let (function, agreement) = self.active(node);
        if function.txop_limit_ns == 0 || limits.multiple_protection {
            return self.at_least_limit(node, answered);
        }
        let next = answered + c.sifs_ns;
        match agreement.count(limits, function.waiting(), self.room(node, next)) {
            0 => answered,
            mpdus => next + limits.duration_ns(mpdus) + c.sifs_ns + limits.t_block_ack_ns,
        }
    }

    /// `until`, or with multiple protection the end of the TXOP limit if that is later.
    fn at_least_limit(&self, node: usize, until: u64) -> u64 {
        let ends = self.nodes[node].txop_ends.filter(|_| self.aggregation().multiple_protection);
        ends.map_or(until, |ends| until.max(ends))
    }

    /// Fills the room of the TXOP; returns false if nothing is sent.
    pub(super) fn go_on_with_ampdu(&mut self, node: usize) -> bool {
        let Some(ends) = self.nodes[node].txop_ends else { return false };
        let (at, request, to) =
            (self.now + self.config.sifs_ns, self.aggregation().t_request_ns, self.active(node).0.peers[0]);
        let (kind, length) = match self.active(node).1.request_due {
            true if request <= self.room(node, at) => (Kind::BlockAckReq, request),
            true => (Kind::BlockAckReq, 0),
            false => (Kind::Data, self.compose(node, self.room(node, at), false)),
        };
        if length > 0 {
            let duration = self.reserves_until(node, at, length) - at - length;
            self.nodes[node].pending = Some(Pending { at, kind, to, duration });
            return true;
        }
        let t_cf_end = self.aggregation().t_cf_end_ns;
        let truncates = self.aggregation().multiple_protection && at + t_cf_end <= ends;
        if truncates {
            self.nodes[node].pending = Some(Pending { at, kind: Kind::CfEnd, to: usize::MAX, duration: 0 });
        }
        truncates
    }

    /// Takes in the MPDUs of an A-MPDU that `node` has decoded.
    pub(super) fn take_in(&mut self, node: usize, t: &Transmission, decoded: &[bool]) {
        let window = self.aggregation().window;
        for (&number, _) in t.mpdus.iter().zip(decoded).filter(|(_, decoded)| **decoded) {
            let recipient = &mut self.nodes[node].recipients[t.from][t.function];
            recipient.take(self.now, number);
            let passed = recipient.pass(window);
            self.pass_on(t.from, node, passed);
        }
    }

    /// Passes on packets of `from` at `at`. Those of an access point with several users are numbered for all of them in turn.
    pub(super) fn pass_on(&mut self, from: usize, at: usize, passed: Vec<u64>) {
        self.outcome.delivered[from] += passed.len() as u64;
        let stations = self.nodes.len() as u64 - 1;
        let is_shared = self.nodes[from].access_point.is_some();
        let number = |n: u64| if is_shared { n * stations + at as u64 - 1 } else { n };
        self.outcome.arrived.extend(passed.into_iter().map(|n| (self.now, number(n) as u32)));
    }

    /// Gives up MPDUs for which recipients have waited too long.
    pub(super) fn give_up_missing(&mut self) {
        let Some(limits) = &self.config.aggregation else { return };
        for node in 0..self.nodes.len() {
            for (from, which) in self.functions() {
                let passed = self.nodes[node].recipients[from][which].give_up(self.now, limits.reorder_timeout_ns);
                self.pass_on(from, node, passed);
            }
        }
    }

    /// Handles a BlockAck of `from`.
    pub(super) fn acknowledge(&mut self, node: usize, from: usize) {
        let active = self.nodes[node].active;
        let recipient = self.nodes[from].recipients[node][active].clone();
        let sent = self.agreement(node).sending.len() as u32;
        let limit = self.config.retry_limit;
        let now = self.now;
        let acknowledged = self.agreement(node).acknowledge(now, &recipient, limit);
        if sent > 0 {
            self.outcome.acknowledged[node].push((sent, acknowledged));
        }
        self.nodes[node].functions[active].reset_window();
        if !self.go_on_with_ampdu(node) {
            self.end_txop(node);
        }
    }

    pub(super) fn end_txop(&mut self, node: usize) {
        if node == 0 {
            self.take_back();
        }
        let active = self.nodes[node].active;
        self.nodes[node].functions[active].holds = false;
        self.nodes[node].functions[active].draw_backoff();
    }

    /// Handles an A-MPDU, the RTS before it or a BlockAckReq that was not answered.
    pub(super) fn lose_ampdu(&mut self, node: usize) {
        let (active, limit) = (self.nodes[node].active, self.config.retry_limit);
        let sent = self.agreement(node).sending.len() as u32;
        if sent > 0 {
            self.outcome.acknowledged[node].push((sent, 0));
        }
        let now = self.now;
        self.agreement(node).count_failure(now, limit);
        self.nodes[node].functions[active].widen_window(limit);
        self.end_txop(node);
    }
}
