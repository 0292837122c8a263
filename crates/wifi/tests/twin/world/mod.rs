//! The loop: it finds the next instant, then visits every node.

mod block_ack;
mod contention;
mod exchange;
mod users;

use super::air::{Air, Kind, Transmission};
use super::node::{Awaited, Node};
use super::{Config, Outcome, Source};

pub struct World<'a> {
    config: &'a Config,
    now: u64,
    air: Air,
    nodes: Vec<Node>,
    outcome: Outcome,
}

impl<'a> World<'a> {
    pub fn new(config: &'a Config, seed: u64) -> Self {
        let count = config.nodes.len();
        assert!(config.hears.iter().all(|row| row.len() == count) && config.hears.len() == count);
        let nodes: Vec<Node> = (0..count).map(|i| Node::new(config, i, seed)).collect();
        let zeros = vec![0; count];
        let outcome = Outcome {
            elapsed_ns: 0,
            delivered: zeros.clone(),
            attempts: zeros.clone(),
            collided: zeros.clone(),
            drops: zeros.clone(),
            delays_ns: vec![Vec::new(); count],
            internal_collisions: zeros,
            acknowledged: vec![Vec::new(); count],
            ..Outcome::default()
        };
        let mut world = World { config, now: 0, air: Air::default(), nodes, outcome };
        world.refresh_wants();
        (0..count).for_each(|node| world.plan(node));
        world
    }

    pub fn run_until(&mut self, end: u64) {
        loop {
            let next = self.next_instant();
            assert!(next >= self.now, "time never goes back");
            if next > end {
                return;
            }
            self.now = next;
            self.give_up_missing();
            self.end_transmissions();
            self.end_bursts();
            self.recognise();
            self.end_mu_edca();
            self.end_navs();
            self.give_up_responses();
            let mut starting = self.arrive();
            self.request_access();
            starting.extend(self.pass_boundaries());
            self.start(starting);
        }
    }

    pub fn into_outcome(mut self, duration: u64) -> Outcome {
        for (node, drops) in self.nodes.iter().zip(&mut self.outcome.drops) {
            *drops += node.functions.iter().filter_map(|f| f.agreement.as_ref()).map(|a| a.given_up).sum::<u64>();
        }
        self.outcome.elapsed_ns = duration;
        self.outcome
    }

    fn next_instant(&self) -> u64 {
        let in_the_air = self.air.ongoing.iter().map(|t| t.end);
        let at_nodes = self.nodes.iter().flat_map(|node| {
            [node.pending.map(|p| p.at), node.awaited.and_then(|a| a.deadline), node.nav_check.map(|(at, _)| at)]
        });
        let with_users = self
            .nodes
            .iter()
            .flat_map(|node| [node.mu_edca_until, node.access_point.as_ref().and_then(|ap| ap.next_request)]);
        let functions = self.nodes.iter().flat_map(|node| &node.functions);
        let at_functions = functions.flat_map(|f| [f.boundary.map(|b| b.at), f.next_arrival]);
        let gaps = self.nodes.iter().flat_map(|node| node.recipients.iter().flatten());
        let timeout = self.config.aggregation.as_ref().map_or(0, |a| a.reorder_timeout_ns);
        let given_up = gaps.filter_map(|r| r.gives_up_at(timeout));
        let bursts = self.config.interferers.as_ref().and_then(|of| of.next_change(self.now)).into_iter();
        let recognition = self.air.next_recognition(self.config).into_iter();
        in_the_air
            .chain(given_up)
            .chain(recognition)
            .chain(bursts)
            .chain(at_nodes.chain(at_functions).chain(with_users).flatten())
            .min()
            .unwrap_or(u64::MAX)
    }

    /// Makes a node busy by frames under way whose beginning it has missed. They end its wait for a response: the wait
    /// is over when they end.
    fn recognise(&mut self) {
        for node in self.air.settle_carrier(self.config, self.now) {
            self.nodes[node].turn_busy(self.config, self.now);
            if let Some(awaited) = &mut self.nodes[node].awaited {
                awaited.deadline = None;
            }
        }
    }

    // ---- Ends ----

    fn end_transmissions(&mut self) {
        let now = self.now;
        if self.air.ongoing.iter().all(|t| t.end != now) {
            return self.judge_candidates(&[]);
        }
        let (mut ended, ongoing): (Vec<_>, Vec<_>) = self.air.ongoing.drain(..).partition(|t| t.end == now);
        self.air.ongoing = ongoing;
        self.air.spoil_receptions(self.config, now);
        // Among frames that end together a good one has the last word on EIFS.
        for good in [false, true] {
            for t in &ended {
                for node in 0..self.nodes.len() {
                    let heard = node != t.from && self.config.hears[node][t.from] && !t.missed[node];
                    if !heard {
                        continue;
                    }
                    let decoded = t.decoded(self.config, node);
                    if decoded.contains(&true) == good {
                        self.receive(node, t, &decoded);
                    }
                }
            }
        }
        let is_answer =
            |t: &Transmission| t.kind.is_triggered() && !t.missed[t.to] && t.decoded(self.config, t.to).contains(&true);
        if ended.iter().any(is_answer) {
            self.after_answers();
        }
        self.recognise();
        let heard_out: Vec<usize> =
            (0..self.nodes.len()).filter(|&node| ended.iter().any(|t| self.is_candidate(node, t))).collect();
        for t in ended.drain(..) {
            self.outcome.report(self.config, &t);
            match t.kind {
                Kind::CfEnd => self.end_txop(t.from),
                Kind::MultiAck => self.end_exchange(),
                _ => {}
            }
            for node in 0..self.nodes.len() {
                if node == t.from || t.noticed[node] {
                    self.nodes[node].quiet_since = self.now;
                    self.turn_idle(node);
                }
            }
        }
        self.judge_candidates(&heard_out);
    }

    /// Ends bursts: nodes that sense no energy any more are idle, also for want of a frame that added to it.
    fn end_bursts(&mut self) {
        let Some(interferers) = &self.config.interferers else { return };
        if interferers.end(self.now) {
            self.recognise();
        }
        for node in 0..self.nodes.len() {
            let goes_on = self.air.is_busy_at(node) || self.air.is_sending(node);
            if self.nodes[node].is_busy && !goes_on {
                self.nodes[node].quiet_since = self.now;
                self.turn_idle(node);
            }
        }
    }

    /// Returns whether `node` has noticed by `at` that a frame is in the air: carrier sense takes a slot.
    fn is_sensed_at(&self, node: usize, at: u64) -> bool {
        self.nodes[node].is_busy && self.nodes[node].busy_since + self.config.slot_ns <= at
    }

    /// Handles the end of all frames that `node` hears: it counts slots from here, or from the end of its NAV.
    fn turn_idle(&mut self, node: usize) {
        if self.air.is_busy_at(node) || self.air.is_sending(node) {
            return;
        }
        let n = &mut self.nodes[node];
        n.is_busy = false;
        n.idle_since = self.now.max(n.nav_until);
        for function in &mut n.functions {
            let known_at = n.busy_since + self.config.slot_ns;
            match &mut function.boundary {
                Some(boundary) if boundary.at >= self.now && boundary.at < known_at && !boundary.unnoticed => {
                    boundary.unnoticed = true;
                }
                Some(boundary) if boundary.at >= self.now && boundary.unnoticed => {}
                boundary => {
                    *boundary = None;
                    if let Some(backoff) = function.newcomer.take() {
                        function.counter = backoff;
                    }
                }
            }
        }
        self.plan_rest(node);
    }

    /// Computes the first boundaries of functions that have none to pass before.
    fn plan_rest(&mut self, node: usize) {
        let kept: Vec<_> = self.nodes[node].functions.iter().map(|function| function.boundary).collect();
        self.plan(node);
        for (function, kept) in self.nodes[node].functions.iter_mut().zip(kept) {
            function.boundary = kept.or(function.boundary);
        }
    }

    /// Computes the first boundaries, unless an exchange is under way.
    fn plan(&mut self, node: usize) {
        let contends = self.nodes[node].awaited.is_none() && self.nodes[node].pending.is_none();
        for function in 0..self.nodes[node].functions.len() {
            let is_held = self.is_held(node, function);
            let n = &mut self.nodes[node];
            let is_used = n.functions[function].source != Source::Silent || n.functions[function].wants.is_some();
            let counts = contends && is_used && !is_held;
            n.functions[function].boundary = counts.then(|| n.first_boundary(self.config, function));
        }
    }

    fn receive(&mut self, node: usize, t: &Transmission, decoded: &[bool]) {
        let n = &mut self.nodes[node];
        if !decoded.contains(&true) {
            n.eifs = n.eifs || (self.config.eifs && t.locked[node]);
            return;
        }
        n.eifs = false;
        if t.kind == Kind::CfEnd {
            (n.nav_until, n.nav_check) = (self.now, None);
            return;
        }
        let is_named = t.parts.iter().any(|part| part.0 == node);
        let is_own = t.to == node || is_named && t.kind == Kind::Mu;
        if is_named {
            self.receive_for_several(node, t);
        } else if is_own {
            self.receive_own(node, t, decoded);
        }
        let n = &mut self.nodes[node];
        if !is_own && t.end + t.duration > n.nav_until {
            n.nav_until = t.end + t.duration;
            n.nav_holder = if t.kind.is_answer() { t.to } else { t.from };
            let timeout = self.config.nav_timeout_ns.filter(|_| t.kind == Kind::Rts);
            n.nav_check = timeout.map(|after| (t.end + after, t.end));
        }
    }

    fn receive_own(&mut self, node: usize, t: &Transmission, decoded: &[bool]) {
        let is_awaited = self.nodes[node].awaited.is_some_and(|a| a.kind == t.kind);
        match t.kind {
            Kind::Rts if self.nodes[node].nav_until <= self.now || self.nodes[node].nav_holder == t.from => {
                self.respond(node, Kind::Cts, t)
            }
            Kind::TbAck | Kind::TbNull | Kind::TbData => self.receive_answer(t),
            Kind::Data if !t.mpdus.is_empty() => {
                if self.nodes[node].access_point.is_some() {
                    self.take_report(t);
                }
                self.take_in(node, t, decoded);
                self.respond(node, Kind::BlockAck, t);
            }
            Kind::BlockAckReq => {
                let passed = self.nodes[node].recipients[t.from][t.function].move_to(t.number);
                self.pass_on(t.from, node, passed);
                self.respond(node, Kind::BlockAck, t);
            }
            Kind::Data => {
                self.deliver(node, t);
                self.respond(node, Kind::Ack, t);
            }
            Kind::Cts if is_awaited => {
                self.nodes[node].awaited = None;
                self.respond(node, Kind::Data, t);
            }
            Kind::Ack if is_awaited => self.succeed(node, t.end),
            Kind::BlockAck if is_awaited && self.is_asked_in_turn(node) => self.take_block_ack(t.from),
            Kind::BlockAck if is_awaited => {
                self.nodes[node].awaited = None;
                self.acknowledge(node, t.from);
            }
            Kind::Rts | Kind::Cts | Kind::Ack | Kind::BlockAck | Kind::CfEnd => {}
            Kind::Mu | Kind::MuBar | Kind::Bsrp | Kind::Trigger | Kind::MultiAck => {}
        }
    }

    fn deliver(&mut self, node: usize, t: &Transmission) {
        if self.nodes[node].last_received[t.from][t.function] == Some(t.number) {
            return;
        }
        self.nodes[node].last_received[t.from][t.function] = Some(t.number);
        let frame = self.nodes[t.from].functions[t.function].frame.expect("who sends data has a frame");
        self.outcome.delivered[t.from] += 1;
        self.outcome.delays_ns[t.from].push(t.end - frame.head_since);
    }

    /// Gives up responses at their deadline, or at the end of a frame that may still prove to be one.
    fn give_up_responses(&mut self) {
        for node in 0..self.nodes.len() {
            let Some(awaited) = self.nodes[node].awaited.filter(|a| a.deadline == Some(self.now)) else {
                continue;
            };
            if self.air.may_be_response(self.config, node, awaited.since) {
                self.nodes[node].awaited = Some(Awaited { deadline: None, ..awaited });
            } else {
                self.fail(node);
            }
        }
    }

    /// Whether `node` took `t` for the response that it awaits, and still awaits it.
    fn is_candidate(&self, node: usize, t: &Transmission) -> bool {
        let awaited = self.nodes[node].awaited;
        awaited.is_some_and(|a| t.may_be_response(self.config, node, a.since))
    }

    /// Gives up responses at the end of a frame that has proved to be another one, even before the deadline.
    /// [802.11-2020 §10.3.2.11]
    fn judge_candidates(&mut self, heard_out: &[usize]) {
        for node in 0..self.nodes.len() {
            let has_ended = |deadline: Option<u64>| deadline.is_none() || heard_out.contains(&node);
            let Some(awaited) = self.nodes[node].awaited.filter(|a| has_ended(a.deadline)) else {
                continue;
            };
            if !self.air.may_be_response(self.config, node, awaited.since) {
                self.fail(node);
            }
        }
    }

    /// Ends a NAV set by an RTS early if nothing was heard since.
    fn end_navs(&mut self) {
        for node in 0..self.nodes.len() {
            let Some((_, rts_end)) = self.nodes[node].nav_check.filter(|(at, _)| *at == self.now) else {
                continue;
            };
            self.nodes[node].nav_check = None;
            if self.nodes[node].last_start < rts_end && self.nodes[node].nav_until > self.now {
                self.nodes[node].nav_until = self.now;
                self.turn_idle(node);
            }
        }
    }
}
