//! The loop: it finds the next instant, then visits every node.

use super::air::{Air, Kind, Transmission};
use super::node::{Awaited, Boundary, Node, Pending};
use super::{Config, Countdown, Outcome};

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
            ppdus: Vec::new(),
        };
        let mut world = World { config, now: 0, air: Air::default(), nodes, outcome };
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
            self.end_transmissions();
            self.recognise();
            self.end_navs();
            self.give_up_responses();
            let mut starting = self.arrive();
            starting.extend(self.pass_boundaries());
            self.start(starting);
        }
    }

    pub fn into_outcome(mut self, duration: u64) -> Outcome {
        self.outcome.elapsed_ns = duration;
        self.outcome
    }

    fn next_instant(&self) -> u64 {
        let in_the_air = self.air.ongoing.iter().map(|t| t.end);
        let at_nodes = self.nodes.iter().flat_map(|node| {
            [node.pending.map(|p| p.at), node.awaited.and_then(|a| a.deadline), node.nav_check.map(|(at, _)| at)]
        });
        let functions = self.nodes.iter().flat_map(|node| &node.functions);
        let at_functions = functions.flat_map(|f| [f.boundary.map(|b| b.at), f.next_arrival]);
        let recognition = self.air.next_recognition(self.config).into_iter();
        in_the_air.chain(recognition).chain(at_nodes.chain(at_functions).flatten()).min().unwrap_or(u64::MAX)
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
        let (mut ended, ongoing): (Vec<_>, Vec<_>) = self.air.ongoing.drain(..).partition(|t| t.end == now);
        self.air.ongoing = ongoing;
        // Among frames that end together a good one has the last word on EIFS.
        for good in [false, true] {
            for t in &ended {
                for node in 0..self.nodes.len() {
                    let heard = node != t.from && self.config.hears[node][t.from] && !t.missed[node];
                    if heard && t.clear[node] == good {
                        self.receive(node, t);
                    }
                }
            }
        }
        self.recognise();
        for t in ended.drain(..) {
            self.outcome.ppdus.push((t.start, t.end, t.from as u32));
            for node in 0..self.nodes.len() {
                if node == t.from || t.noticed[node] {
                    self.nodes[node].quiet_since = self.now;
                    self.turn_idle(node);
                }
            }
        }
        self.judge_late_responses();
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
            if let Some(backoff) = function.newcomer.take() {
                function.counter = backoff;
            }
        }
        self.plan(node);
    }

    /// Computes the first boundaries, unless an exchange is under way.
    fn plan(&mut self, node: usize) {
        let n = &mut self.nodes[node];
        let contends = n.awaited.is_none() && n.pending.is_none();
        for function in 0..n.functions.len() {
            n.functions[function].boundary = contends.then(|| n.first_boundary(self.config, function));
        }
    }

    fn receive(&mut self, node: usize, t: &Transmission) {
        let n = &mut self.nodes[node];
        if !t.clear[node] {
            n.eifs = n.eifs || (self.config.eifs && t.locked[node]);
            return;
        }
        n.eifs = false;
        if t.to == node {
            self.receive_own(node, t);
        } else if t.end + t.duration > n.nav_until {
            n.nav_until = t.end + t.duration;
            n.nav_holder = if matches!(t.kind, Kind::Rts | Kind::Data) { t.from } else { t.to };
            let timeout = self.config.nav_timeout_ns.filter(|_| t.kind == Kind::Rts);
            n.nav_check = timeout.map(|after| (t.end + after, t.end));
        }
    }

    fn receive_own(&mut self, node: usize, t: &Transmission) {
        let awaited = self.nodes[node].awaited.map(|a| a.kind);
        match t.kind {
            Kind::Rts if self.nodes[node].nav_until <= self.now || self.nodes[node].nav_holder == t.from => {
                self.respond(node, Kind::Cts, t)
            }
            Kind::Rts => {}
            Kind::Data => {
                self.deliver(node, t);
                self.respond(node, Kind::Ack, t);
            }
            Kind::Cts if awaited == Some(Kind::Cts) => {
                self.nodes[node].awaited = None;
                self.respond(node, Kind::Data, t);
            }
            Kind::Ack if awaited == Some(Kind::Ack) => self.succeed(node, t.end),
            Kind::Cts | Kind::Ack => {}
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

    /// Sends `kind` to the sender of `t` a SIFS after it.
    fn respond(&mut self, node: usize, kind: Kind, t: &Transmission) {
        let at = t.end + self.config.sifs_ns;
        let used = self.config.sifs_ns + self.length(node, kind);
        let duration =
            if kind == Kind::Data { self.duration_of_data(node, at) } else { t.duration.saturating_sub(used) };
        assert!(self.nodes[node].pending.is_none(), "one response at a time");
        self.nodes[node].pending = Some(Pending { at, kind, to: t.from, duration });
    }

    // ---- Ends of attempts ----

    fn succeed(&mut self, node: usize, at: u64) {
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

    fn fail(&mut self, node: usize) {
        self.outcome.attempts[node] += 1;
        self.outcome.collided[node] += 1;
        let (now, n) = (self.now, &mut self.nodes[node]);
        let attempt_ended = n.awaited.take().expect("an attempt failed for want of a response").over;
        let active = n.active;
        for (which, function) in n.functions.iter_mut().enumerate().filter(|_| self.config.eifs) {
            function.not_before = if which == active { now } else { now + function.space_ns };
        }
        if !self.repeat(node, active, attempt_ended) {
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
        let again = self.config.retry_limit != Some(self.nodes[node].functions[function].retries);
        if again {
            let function = &mut self.nodes[node].functions[function];
            function.retries += 1;
            function.double_window();
        } else {
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

    fn judge_late_responses(&mut self) {
        for node in 0..self.nodes.len() {
            let Some(awaited) = self.nodes[node].awaited.filter(|a| a.deadline.is_none()) else {
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

    // ---- Starts ----

    /// Takes in new frames; returns the functions that may send theirs at once.
    fn arrive(&mut self) -> Vec<(usize, usize)> {
        let mut at_once = Vec::new();
        for (node, which) in self.functions() {
            let function = &mut self.nodes[node].functions[which];
            if function.next_arrival != Some(self.now) {
                continue;
            }
            function.accept_arrival(self.now);
            if function.frame.is_none() {
                function.take_next_frame(self.now);
                if function.edca {
                    self.wait_if_busy(node, which);
                } else if self.goes_at_once(node) {
                    at_once.push((node, which));
                }
            }
        }
        at_once
    }

    /// All functions of all nodes.
    fn functions(&self) -> Vec<(usize, usize)> {
        let of = |node: usize| (0..self.nodes[node].functions.len()).map(move |which| (node, which));
        (0..self.nodes.len()).flat_map(of).collect()
    }

    /// Draws a backoff for a frame that has just come, if nothing is left to count and the medium is busy.
    fn wait_if_busy(&mut self, node: usize, which: usize) {
        let sensed = self.is_sensed_at(node, self.now) || self.air.is_sending(node);
        let n = &mut self.nodes[node];
        let goes_on = n.quiet_since > 0 && self.now < n.quiet_since + self.config.sifs_ns;
        let busy = sensed || goes_on || n.nav_until > self.now || n.pending.is_some() || n.awaited.is_some();
        if busy && n.functions[which].counter == 0 {
            n.functions[which].draw_backoff();
        }
    }

    /// Returns whether a frame that arrives at an empty queue is sent now. Draws a backoff if it must wait.
    fn goes_at_once(&mut self, node: usize) -> bool {
        if self.nodes[node].functions[0].gave_up {
            return false;
        }
        let sensed = self.is_sensed_at(node, self.now) || self.air.is_sending(node);
        let is_reached = |b: &Boundary| !self.is_sensed_at(node, b.at);
        let reaches_next = self.nodes[node].functions[0].boundary.as_ref().is_some_and(is_reached);
        let unnoticed = !sensed && self.air.is_busy_at(node);
        let has_waited = self.nodes[node].has_waited(self.config, 0, self.now);
        let n = &mut self.nodes[node];
        let busy = sensed || n.nav_until > self.now || n.pending.is_some();
        let f = &mut n.functions[0];
        let is_first = f.boundary.is_some_and(|b| b.first);
        if unnoticed && reaches_next && !is_first && f.counter == 1 {
            (f.counter, f.boundary) = (0, None);
        }
        if f.counter == 0 && busy {
            f.draw_backoff();
            return false;
        }
        let waits = f.boundary.is_some_and(|b| b.at > self.now);
        let at_once = f.counter == 0 && !waits && has_waited;
        if f.counter == 0 && !at_once && !(unnoticed && reaches_next) {
            f.enter_without_backoff();
        }
        if at_once {
            f.boundary = None;
        }
        at_once
    }

    /// Counts the slot that ends now at each function; returns those that send.
    fn pass_boundaries(&mut self) -> Vec<(usize, usize)> {
        let mut starting = Vec::new();
        for (node, which) in self.functions() {
            if self.nodes[node].functions[which].boundary.is_none_or(|b| b.at != self.now) {
                continue;
            }
            let sensed = self.is_sensed_at(node, self.now);
            let sends = match self.nodes[node].functions[which].edca {
                true => self.pass_boundary_of_edca(node, which, sensed),
                false => self.pass_boundary(node, sensed),
            };
            if sends {
                starting.push((node, which));
            }
        }
        starting
    }

    /// Counts the slot that ends now; returns whether the node sends.
    fn pass_boundary(&mut self, node: usize, sensed: bool) -> bool {
        let function = &mut self.nodes[node].functions[0];
        let first = function.boundary.is_some_and(|b| b.first);
        if !first && (!sensed || self.config.countdown == Countdown::Bianchi) {
            function.counter = function.counter.saturating_sub(1);
        }
        let done = function.counter == 0;
        let next = Boundary { at: self.now + self.config.slot_ns, first: false };
        function.boundary = (!sensed && !done).then_some(next);
        function.gave_up &= sensed || !done;
        !sensed && done && function.frame.is_some()
    }

    /// Counts the slot that begins now, or returns that the function sends, or does nothing.
    fn pass_boundary_of_edca(&mut self, node: usize, which: usize, sensed: bool) -> bool {
        let function = &mut self.nodes[node].functions[which];
        let next = Boundary { at: self.now + self.config.slot_ns, first: false };
        function.boundary = (!sensed).then_some(next);
        let sends = !sensed && function.counter == 0 && function.frame.is_some();
        if !sensed {
            function.counter = function.counter.saturating_sub(1);
        }
        sends
    }

    /// Starts everything that is due now together: responses, and the attempts of `contenders`.
    fn start(&mut self, contenders: Vec<(usize, usize)>) {
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
            let to = self.nodes[node].functions[which].frame.expect("who contends has a frame").to;
            let kind = if self.config.rts { Kind::Rts } else { Kind::Data };
            self.transmit(node, kind, to, self.duration_of_attempt(node));
        }
        if self.air.ongoing.len() > before {
            self.air.spoil_receptions(self.config, self.now);
            self.air.settle_carrier(self.config, self.now);
            for node in 0..self.nodes.len() {
                let noticed = |t: &Transmission| t.start == self.now && (t.from == node || t.noticed[node]);
                if self.air.ongoing.iter().any(noticed) {
                    self.nodes[node].last_start = self.now;
                    self.nodes[node].turn_busy(self.config, self.now);
                }
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
        let follows = n.functions[n.active].has_another();
        let fits = n.txop_ends.is_some_and(|ends| at + 2 * exchange + c.sifs_ns <= ends);
        c.sifs_ns + c.t_ack_ns + if follows && fits { c.sifs_ns + exchange } else { 0 }
    }

    fn transmit(&mut self, node: usize, kind: Kind, to: usize, duration: u64) {
        assert!(!self.air.is_sending(node), "a station never sends twice at once");
        let count = self.nodes.len();
        let end = self.now + self.length(node, kind);
        if let (Kind::Cts | Kind::Ack, Some(awaited)) = (kind, &mut self.nodes[to].awaited) {
            awaited.over = end;
        }
        let n = &mut self.nodes[node];
        n.functions.iter_mut().for_each(|f| f.boundary = None);
        n.eifs = false;
        let active = &mut n.functions[n.active];
        if matches!(kind, Kind::Rts | Kind::Data) {
            active.newcomer = None;
        }
        let number = active.frame.map_or(0, |f| f.number);
        n.awaited = match kind {
            Kind::Rts => Some(Awaited {
                kind: Kind::Cts,
                since: end,
                over: end,
                deadline: Some(end + self.config.cts_timeout()),
            }),
            Kind::Data => Some(Awaited {
                kind: Kind::Ack,
                since: end,
                over: end,
                deadline: Some(end + self.config.ack_timeout()),
            }),
            Kind::Cts | Kind::Ack => n.awaited,
        };
        self.air.ongoing.push(Transmission {
            from: node,
            to,
            kind,
            start: self.now,
            end,
            duration,
            function: n.active,
            number,
            clear: vec![true; count],
            missed: vec![false; count],
            locked: vec![false; count],
            noticed: vec![false; count],
            listened_since: vec![None; count],
            recognised: vec![false; count],
        });
    }

    fn length(&self, node: usize, kind: Kind) -> u64 {
        match kind {
            Kind::Rts => self.config.t_rts_ns,
            Kind::Cts => self.config.t_cts_ns,
            Kind::Data => self.nodes[node].config.t_data_ns.unwrap_or(self.config.t_data_ns),
            Kind::Ack => self.config.t_ack_ns,
        }
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
