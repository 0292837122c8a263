//! What goes out next, and what its going out changes.

use lasthop_units::{Duration, Time};

use super::super::scoreboard::Sent;
use super::super::{Choice, Sender};
use super::Permission;
use super::timer::Occasion;

/// From where a segment may come.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// what is lost and not sent again, the oldest first [RFC 6675 §4, NextSeg (1)]
    Lost,
    New,
}

impl Permission {
    /// In order of preference.
    fn sources(self) -> &'static [Source] {
        match self {
            Permission::LostFirst => &[Source::Lost, Source::New],
            Permission::NewFirst | Permission::NewOnly => &[Source::New],
        }
    }
}

impl Sender {
    /// The next segment: a probe, what is lost, new data.
    pub(in crate::send) fn choose_linux(&mut self, now: Time, may_send_new: bool) -> Option<Choice> {
        let choice = self.choose_next(now, may_send_new);
        let is_open = self.board.una() > 0;
        if is_open && (choice.is_some() || self.has_unsent() || !self.board.is_empty()) {
            self.note_hold(now, choice.is_some());
        }
        choice
    }

    fn choose_next(&mut self, now: Time, may_send_new: bool) -> Option<Choice> {
        if self.linux.probe.due {
            return Some(self.choose_probe(may_send_new));
        }
        let choice = self.first_of(self.linux.permission.sources(), now, may_send_new);
        if choice.is_some() || !self.gives_up_forward_rto() {
            return choice;
        }
        self.linux.forward_rto = false;
        self.linux.permission = Permission::LostFirst;
        self.first_of(self.linux.permission.sources(), now, may_send_new)
    }

    /// There is no new data with which F-RTO could ask.
    fn gives_up_forward_rto(&self) -> bool {
        self.linux.permission == Permission::NewFirst && self.board.nxt() == self.linux.high
    }

    fn first_of(&mut self, sources: &[Source], now: Time, may_send_new: bool) -> Option<Choice> {
        sources.iter().find_map(|source| match source {
            Source::Lost => self.choose_lost(),
            Source::New => self.choose_new_if_room(now, may_send_new),
        })
    }

    /// What is lost, as far as both windows allow; the peer takes the oldest whatever its window is.
    fn choose_lost(&mut self) -> Option<Choice> {
        if !self.window_has_room() {
            return None;
        }
        let lost = self.board.next_lost()?;
        let fits = lost.start < self.window.end || lost.start == self.board.una();
        fits.then_some(Choice::Again)
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
        let limited = !self.window_has_room();
        self.note_usage(limited);
        self.set_timer(now, Occasion::NewData { alone: self.board.count() == 1 });
    }

    fn after_retransmission(&mut self, now: Time, sent: &Sent) {
        self.linux.claim.note_copy(now);
        if self.board.is_head(sent) {
            self.set_timer(now, Occasion::OldestAgain);
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
