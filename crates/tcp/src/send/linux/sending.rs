//! What goes out next, and what its going out changes.

use lasthop_units::{Duration, Time};

use super::super::scoreboard::Sent;
use super::super::{Choice, Sender};
use super::{Pending, Sends};

impl Sender {
    /// The next segment: a probe, what is lost, new data.
    pub(in crate::send) fn choose_linux(&mut self, now: Time, may_send_new: bool) -> Option<Choice> {
        let choice = self.choose_next(now, may_send_new);
        let is_open = self.board.una() > 0;
        if choice.is_some() && is_open {
            self.linux.chronograph.go_on(now);
        } else if is_open && (self.has_unsent() || !self.board.is_empty()) {
            self.note_hold(now);
        }
        choice
    }

    fn choose_next(&mut self, now: Time, may_send_new: bool) -> Option<Choice> {
        if self.linux.probe.due {
            return Some(self.choose_probe(may_send_new));
        }
        if self.linux.sends == Sends::NewFirst {
            if let Some(new) = self.choose_new_if_room(now, may_send_new) {
                return Some(new);
            }
            if self.board.nxt() > self.linux.high {
                return None;
            }
            self.linux.forward_rto = false;
            self.linux.sends = Sends::LostFirst;
        }
        if self.linux.sends == Sends::LostFirst
            && self.window_has_room()
            && let Some(lost) = self.board.next_lost()
            && (lost.start < self.window.end || lost.start == self.board.una())
        {
            return Some(Choice::Again);
        }
        self.choose_new_if_room(now, may_send_new)
    }

    fn choose_new_if_room(&mut self, now: Time, may_send_new: bool) -> Option<Choice> {
        if !may_send_new || !self.has_unsent() {
            return None;
        }
        if !self.window_has_room() {
            self.note_usage(true);
            // A FIN alone does not wait for the window.
            return self.choose_new().filter(|new| matches!(new, Choice::New { payload: 0, .. }));
        }
        let new = self.choose_new()?;
        (!self.defers(now)).then_some(new)
    }

    /// New data for a probe, if the peer's window has room for it. [RFC 8985 §7.3]
    pub(super) fn choose_new_forced(&self) -> Option<Choice> {
        self.choose_new()
    }

    pub(super) fn note_usage(&mut self, limited: bool) {
        let (una, nxt, out) = (self.board.una(), self.board.nxt(), self.board.count());
        self.linux.usage.note(una, nxt, out, limited);
    }

    /// A segment has gone out.
    pub(in crate::send) fn after_send(&mut self, now: Time, choice: Choice, sent: &Sent) {
        self.pace(now, sent);
        if self.linux.reduces() && choice != Choice::Probe {
            self.linux.reduction.out += 1;
        }
        if self.linux.probe.due {
            return self.on_probe_sent(now, sent);
        }
        match choice {
            Choice::New { .. } => self.after_new(now),
            _ => self.after_retransmission(now, sent),
        }
    }

    fn after_new(&mut self, now: Time) {
        self.linux.released = self.linux.released.saturating_sub(1);
        let was_empty = self.board.count() == 1;
        if was_empty || self.linux.pending == Pending::Probe {
            self.rearm_timer(now);
        }
        let limited = !self.window_has_room();
        self.note_usage(limited);
        self.schedule_probe(now, false);
    }

    fn after_retransmission(&mut self, now: Time, sent: &Sent) {
        self.note_retransmission(now);
        if self.board.is_head(sent) && self.linux.pending != Pending::Reordering {
            let rto = self.rtt.rto();
            self.set_timer(now, Pending::Retransmit, rto);
        }
    }

    /// Nothing is left to send: if the window would let more out, the application is the limit.
    pub fn on_nothing_to_send(&mut self) {
        if self.is_linux() && !self.has_unsent() && self.window_has_room() && self.board.lost_segments() == 0 {
            let flight = self.flight_segments();
            self.linux.rate.limit_by_application(flight);
        }
    }

    /// The window with which to go on after a pause: halved for each timeout that passed, not below `least`.
    pub(in crate::send) fn window_after_pause(&self, pause: Duration, least: f64) -> f64 {
        let rto = self.rtt.rto();
        let mut window = self.control.cwnd();
        let mut left = pause.saturating_sub(rto);
        while left > Duration::ZERO && window > least {
            window = (window / 2.0).floor();
            left = left.saturating_sub(rto);
        }
        window.max(least)
    }
}
