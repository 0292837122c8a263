//! The way of a frame to the medium: arrivals, and the slots that are counted.

use super::World;
use crate::twin::Countdown;
use crate::twin::node::Boundary;

impl World<'_> {
    /// Takes in new frames; returns the functions that may send theirs at once.
    pub(super) fn arrive(&mut self) -> Vec<(usize, usize)> {
        let mut at_once = Vec::new();
        for (node, which) in self.functions() {
            let function = &mut self.nodes[node].functions[which];
            if function.next_arrival != Some(self.now) {
                continue;
            }
            // MPDUs that have answered a trigger are there until they are acknowledged.
            let sent = function.agreement.as_ref().is_some_and(|of| !of.sending.is_empty());
            let had_none = !function.has_frame() && !function.holds && !sent;
            function.accept_arrival(self.now);
            self.sort_arrival(node, which);
            let function = &mut self.nodes[node].functions[which];
            if had_none {
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
    pub(super) fn functions(&self) -> Vec<(usize, usize)> {
        let of = |node: usize| (0..self.nodes[node].functions.len()).map(move |which| (node, which));
        (0..self.nodes.len()).flat_map(of).collect()
    }

    /// Draws a backoff for a frame that has just come, if nothing is left to count and the medium is busy.
    pub(super) fn wait_if_busy(&mut self, node: usize, which: usize) {
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
    pub(super) fn pass_boundaries(&mut self) -> Vec<(usize, usize)> {
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

    /// The boundary after the one that passes now.
    fn next_boundary(&self, node: usize, which: usize) -> Boundary {
        match self.nodes[node].functions[which].boundary {
            Some(Boundary { unnoticed: true, .. }) => self.nodes[node].first_boundary(self.config, which),
            _ => Boundary { at: self.now + self.config.slot_ns, first: false, unnoticed: false },
        }
    }

    /// Counts the slot that ends now; returns whether the node sends.
    fn pass_boundary(&mut self, node: usize, sensed: bool) -> bool {
        let function = &mut self.nodes[node].functions[0];
        let first = function.boundary.is_some_and(|b| b.first);
        if !first && (!sensed || self.config.countdown == Countdown::Bianchi) {
            function.counter = function.counter.saturating_sub(1);
        }
        let done = function.counter == 0;
        let next = self.next_boundary(node, 0);
        let function = &mut self.nodes[node].functions[0];
        function.boundary = (!sensed && !done).then_some(next);
        function.gave_up &= sensed || !done;
        !sensed && done && function.frame.is_some()
    }

    /// Counts the slot that begins now, or returns that the function sends, or does nothing.
    fn pass_boundary_of_edca(&mut self, node: usize, which: usize, sensed: bool) -> bool {
        let next = self.next_boundary(node, which);
        let function = &mut self.nodes[node].functions[which];
        function.boundary = (!sensed).then_some(next);
        let sends = !sensed && function.counter == 0 && function.has_frame();
        if !sensed {
            function.counter = function.counter.saturating_sub(1);
        }
        sends
    }
}
