//! Exchanges: what a node sends that has won the medium, what follows a SIFS later, and how it ends.

use super::World;
use crate::twin::Config;
use crate::twin::air::{Kind, Transmission};
use crate::twin::node::{Awaited, Pending};

impl World<'_> {
    /// Starts everything that is due now together: responses, and the attempts of `contenders`.
    pub(super) fn start(&mut self, contenders: Vec<(usize, usize)>) {
        let before = self.air.ongoing.len();
        for node in 0..self.nodes.len() {
            if let Some(pending) = self.nodes[node].pending.filter(|p| p.at == self.now) {
                self.nodes[node].pending = None;
                self.transmit(node, pending.kind, pending.to, pending.duration);
            }
        }
        let mut winners: Vec<usize> = Vec::new();
        for (node, which) in contenders {
            if winners.contains(&node) {
                self.outcome.internal_collisions[node] += 1;
                self.repeat(node, which, self.now);
                continue;
            }
            winners.push(node);
            let limit = self.nodes[node].functions[which].txop_limit_ns;
            self.nodes[node].active = which;
            self.nodes[node].txop_ends = (limit > 0).then_some(self.now + limit);
            if self.config.aggregation.is_some() {
                self.nodes[node].functions[which].holds = true;
                match self.nodes[node].access_point {
                    Some(_) => self.begin_with_users(),
                    None => self.begin(node),
                }
                continue;
            }
            let to = self.nodes[node].functions[which].frame.expect("who contends has a frame").to;
            let kind = if self.config.rts { Kind::Rts } else { Kind::Data };
            self.transmit(node, kind, to, self.duration_of_attempt(node));
        }
        if self.air.ongoing.len() > before {
            self.air.lock_receivers(self.config, self.now);
            self.air.spoil_receptions(self.config, self.now);
            self.air.settle_carrier(self.config, self.now);
            self.forget_unheard_responses();
            for node in 0..self.nodes.len() {
                let noticed = |t: &Transmission| t.start == self.now && (t.from == node || t.noticed[node]);
                if self.air.ongoing.iter().any(noticed) {
                    self.nodes[node].last_start = self.now;
                    self.nodes[node].turn_busy(self.config, self.now);
                }
            }
        }
        self.sense_energy(self.air.ongoing.len() > before);
    }

    /// An attempt is over at the start of a response that its sender does not notice.
    fn forget_unheard_responses(&mut self) {
        for t in self.air.ongoing.iter().filter(|t| t.start == self.now && matches!(t.kind, Kind::Cts | Kind::Ack)) {
            if let Some(awaited) = self.nodes[t.to].awaited.as_mut().filter(|_| !t.noticed[t.to]) {
                awaited.over = self.now;
            }
        }
    }

    /// Lets bursts make nodes busy, by themselves or with frames that begin; `settled`: nodes sense the medium as it is now.
    fn sense_energy(&mut self, settled: bool) {
        let Some(interferers) = &self.config.interferers else { return };
        if !settled && !interferers.begin(self.now) {
            return;
        }
        if !settled {
            self.recognise();
        }
        for node in 0..self.nodes.len() {
            if self.air.has_energy[node] {
                self.nodes[node].turn_busy(self.config, self.now);
            }
        }
    }

    fn duration_of_attempt(&self, node: usize) -> u64 {
        let c = self.config;
        if !c.rts {
            return self.duration_of_data(node, self.now);
        }
        c.sifs_ns + c.t_cts_ns + c.sifs_ns + self.length(node, Kind::Data) + c.sifs_ns + c.t_ack_ns
    }

    /// Duration of a data frame that is sent at `at`: to the end of its ACK, or of the next exchange if another frame waits
    /// and its exchange would end within the TXOP. [802.11-2020 §9.2.5.2 a]
    fn duration_of_data(&self, node: usize, at: u64) -> u64 {
        let (c, n) = (self.config, &self.nodes[node]);
        let exchange = self.length(node, Kind::Data) + c.sifs_ns + c.t_ack_ns;
        let follows = n.functions[n.active].waiting() > 0;
        let fits = n.txop_ends.is_some_and(|ends| at + 2 * exchange + c.sifs_ns <= ends);
        c.sifs_ns + c.t_ack_ns + if follows && fits { c.sifs_ns + exchange } else { 0 }
    }

    pub(super) fn transmit(&mut self, node: usize, kind: Kind, to: usize, duration: u64) {
        assert!(!self.air.is_sending(node), "a station never sends twice at once");
        let count = self.nodes.len();
        let end = self.now + self.length(node, kind);
        if matches!(kind, Kind::Cts | Kind::Ack)
            && let Some(awaited) = &mut self.nodes[to].awaited
        {
            awaited.over = end;
        }
        let n = &mut self.nodes[node];
        n.functions.iter_mut().for_each(|f| f.boundary = None);
        n.eifs = false;
        let active = &mut n.functions[n.active];
        if matches!(kind, Kind::Rts | Kind::Data) {
            active.newcomer = None;
        }
        let mut number = active.frame.map_or(0, |f| f.number);
        let mut mpdus = Vec::new();
        if let Some(agreement) = &active.agreement {
            number = agreement.start();
            let is_data = kind == Kind::Data;
            mpdus = agreement.sending.iter().filter(|_| is_data).map(|m| m.number).collect();
        }
        let answer = match kind {
            Kind::Rts => Some((Kind::Cts, self.config.cts_timeout())),
            Kind::Data if mpdus.is_empty() => Some((Kind::Ack, self.config.ack_timeout())),
            Kind::Data | Kind::BlockAckReq => Some((Kind::BlockAck, self.config.ack_timeout())),
            _ => None,
        };
        let awaited = answer.map(|(kind, after)| Awaited { kind, since: end, over: end, deadline: Some(end + after) });
        n.awaited = awaited.or(n.awaited);
        self.air.ongoing.push(Transmission {
            from: node,
            to,
            kind,
            start: self.now,
            end,
            duration,
            function: n.active,
            number,
            mpdus,
            parts: Vec::new(),
            unit: None,
            report: None,
            spoiled: vec![Vec::new(); count],
            missed: vec![false; count],
            locked: vec![false; count],
            noticed: vec![false; count],
            listened_since: vec![None; count],
            recognised: vec![false; count],
        });
        self.complete(node, kind);
    }

    fn length(&self, node: usize, kind: Kind) -> u64 {
        match kind {
            Kind::Rts => self.config.t_rts_ns,
            Kind::Cts => self.config.t_cts_ns,
            Kind::Ack => self.config.t_ack_ns,
            Kind::Data if self.config.aggregation.is_some() => self.aggregation().duration_ns(self.sending(node)),
            Kind::Data => self.nodes[node].config.t_data_ns.unwrap_or(self.config.t_data_ns),
            Kind::BlockAck => self.aggregation().t_block_ack_ns,
            Kind::BlockAckReq => self.aggregation().t_request_ns,
            Kind::CfEnd => self.aggregation().t_cf_end_ns,
            _ => self.nodes[node].owed.length_ns,
        }
    }

    /// Sends `kind` to the sender of `t` a SIFS after it.
    pub(super) fn respond(&mut self, node: usize, kind: Kind, t: &Transmission) {
        let at = t.end + self.config.sifs_ns;
        let used = self.config.sifs_ns + self.length(node, kind);
        let duration = match kind {
            Kind::Data if self.config.aggregation.is_some() => {
                self.reserves_until(node, at, self.length(node, kind)) - at - self.length(node, kind)
            }
            Kind::Data => self.duration_of_data(node, at),
            _ => t.duration.saturating_sub(used),
        };
        assert!(self.nodes[node].pending.is_none(), "one response at a time");
        self.nodes[node].pending = Some(Pending { at, kind, to: t.from, duration });
    }

    pub(super) fn succeed(&mut self, node: usize, at: u64) {
        self.outcome.attempts[node] += 1;
        self.nodes[node].awaited = None;
        self.finish_frame(node, self.nodes[node].active, at);
        if !self.go_on(node) {
            let active = self.nodes[node].active;
            self.nodes[node].functions[active].draw_backoff();
        }
    }

    /// Returns whether the next frame follows in the same TXOP.
    fn go_on(&mut self, node: usize) -> bool {
        let n = &self.nodes[node];
        let (Some(ends), Some(frame)) = (n.txop_ends, n.functions[n.active].frame) else { return false };
        let at = self.now + self.config.sifs_ns;
        if at + self.length(node, Kind::Data) + self.config.sifs_ns + self.config.t_ack_ns > ends {
            return false;
        }
        let duration = self.duration_of_data(node, at);
        self.nodes[node].pending = Some(Pending { at, kind: Kind::Data, to: frame.to, duration });
        true
    }

    pub(super) fn fail(&mut self, node: usize) {
        self.outcome.attempts[node] += 1;
        self.outcome.collided[node] += 1;
        let (now, n) = (self.now, &mut self.nodes[node]);
        let attempt_ended = n.awaited.take().expect("an attempt failed for want of a response").over;
        let active = n.active;
        for (which, function) in n.functions.iter_mut().enumerate().filter(|_| self.config.eifs) {
            function.not_before = if which == active { now } else { now + function.space_ns };
        }
        if self.nodes[node].access_point.is_some() {
            self.lose_users();
        } else if self.config.aggregation.is_some() {
            self.lose_ampdu(node);
        } else if !self.repeat(node, active, attempt_ended) {
            let function = &mut self.nodes[node].functions[active];
            function.gave_up = function.frame.is_none();
        }
        // It cannot know of a frame that began less than a slot ago, if it found the medium idle before.
        let was_idle = self.nodes[node].quiet_since <= self.nodes[node].idle_since;
        if was_idle && !self.is_sensed_at(node, self.now) {
            self.plan(node);
        }
    }

    /// Draws a backoff after a failure that was known at `at`, or would have been, for the frame or for the next;
    /// returns whether there is another attempt.
    fn repeat(&mut self, node: usize, function: usize, at: u64) -> bool {
        let again = self.nodes[node].functions[function].widen_window(self.config.retry_limit);
        if !again && self.config.aggregation.is_none() {
            self.outcome.drops[node] += 1;
            self.finish_frame(node, function, at);
        }
        self.nodes[node].functions[function].draw_backoff();
        again
    }

    /// Finishes a frame; the next is at the head from the end of the last attempt on.
    fn finish_frame(&mut self, node: usize, function: usize, since: u64) {
        let function = &mut self.nodes[node].functions[function];
        function.reset_window();
        function.take_next_frame(since);
    }
}

impl Config {
    /// Without EIFS a collider must be ready at DIFS: it decides at the time at which a response would be sensed.
    fn ack_timeout(&self) -> u64 {
        if self.eifs { self.ack_timeout_ns } else { self.sifs_ns + self.slot_ns }
    }

    fn cts_timeout(&self) -> u64 {
        if self.eifs { self.cts_timeout_ns } else { self.sifs_ns + self.slot_ns }
    }
}
