//! The choice of the next segment, and the changes when it is sent.

use lasthop_units::{Duration, Time};

use super::super::scoreboard::Sent;
use super::super::{Choice, Sender};
use super::timer::Occasion;
use super::{Linux, Permission};

impl Sender {
    /// The next segment: a probe, a lost one, new data.
    pub(in crate::send) fn choose_linux(&mut self, now: Time, may_send_new: bool) -> Option<Choice> {
        let has_new = self.has_unsent();
        if self.is_at_rest(may_send_new && has_new) {
            debug_assert!(self.choose_next(now, may_send_new).is_none(), "at rest, with something to send");
            if self.board.una() > 0 && (has_new || !self.board.is_empty()) {
                self.note_hold(now, false);
            }
            return None;
        }
        let choice = self.choose_next(now, may_send_new);
        let is_open = self.board.una() > 0;
        if is_open && (choice.is_some() || has_new || !self.board.is_empty()) {
            self.note_hold(now, choice.is_some());
        }
        choice
    }

    /// True if nothing is lost, nothing is new and no probe is due, so that the windows do not matter.
    fn is_at_rest(&self, has_new: bool) -> bool {
        let Linux { probe, permission, .. } = &self.linux;
        !has_new && !self.board.has_to_resend() && !probe.due && *permission != Permission::NewFirst
    }

    #[inline(always)]
    fn choose_next(&mut self, now: Time, may_send_new: bool) -> Option<Choice> {
        if self.linux.probe.due {
            return Some(self.choose_probe(may_send_new));
        }
        let choice = self.choose_permitted(now, may_send_new);
        if choice.is_some() || !self.gives_up_forward_rto() {
            return choice;
        }
        self.choose_after_forward_rto(now, may_send_new)
    }

    /// The test of F-RTO ends: lost data comes first.
    #[cold]
    #[inline(never)]
    fn choose_after_forward_rto(&mut self, now: Time, may_send_new: bool) -> Option<Choice> {
        self.linux.forward_rto = false;
        self.linux.permission = Permission::LostFirst;
        self.choose_permitted(now, may_send_new)
    }

    /// True if there is no new data for the test of F-RTO.
    fn gives_up_forward_rto(&self) -> bool {
        self.linux.permission == Permission::NewFirst && self.board.nxt() == self.linux.high
    }

    /// Data that is lost and not retransmitted, the oldest first, if that is permitted; then new data. [RFC
    /// 6675 §4, NextSeg (1) and (2)]
    #[inline(always)]
    fn choose_permitted(&mut self, now: Time, may_send_new: bool) -> Option<Choice> {
        let has_room = self.window_has_room();
        if has_room
            && self.linux.permission == Permission::LostFirst
            && let Some(again) = self.choose_lost()
        {
            return Some(again);
        }
        self.choose_new_if_room(now, may_send_new, has_room)
    }

    /// Lost data, as far as the peer's window allows, which takes the oldest in any case.
    fn choose_lost(&mut self) -> Option<Choice> {
        let lost = self.board.next_lost()?;
        let fits = lost.start < self.window.end || lost.start == self.board.una();
        fits.then_some(Choice::Again)
    }

    #[inline(always)]
    fn choose_new_if_room(&mut self, now: Time, may_send_new: bool, has_room: bool) -> Option<Choice> {
        if !may_send_new || !self.has_unsent() {
            return None;
        }
        if !has_room {
            self.note_usage(true);
            return self.choose_fin_alone();
        }
        let new = self.choose_whole()?;
        (!self.defers(now)).then_some(new)
    }

    /// A FIN alone, which does not wait for the window.
    fn choose_fin_alone(&self) -> Option<Choice> {
        if !self.owes_fin() {
            return None;
        }
        self.choose_whole_elsewhere().filter(|new| matches!(new, Choice::New { payload: 0, .. }))
    }

    /// [`choose_whole`](Self::choose_whole) for rare callers, out of line.
    #[cold]
    #[inline(never)]
    pub(super) fn choose_whole_elsewhere(&self) -> Option<Choice> {
        self.choose_whole()
    }

    /// New data, where the congestion window lets out a segment however large it is.
    #[inline(always)]
    fn choose_whole(&self) -> Option<Choice> {
        self.choose_new(|_| u64::MAX)
    }

    pub(super) fn note_usage(&mut self, limited: bool) {
        let (una, nxt, out) = (self.board.una(), self.board.nxt(), self.board.count());
        self.linux.usage.note(una, nxt, out, limited);
    }

    /// Takes note of a segment sent.
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
        self.set_timer_after_new(now);
    }

    fn after_retransmission(&mut self, now: Time, sent: &Sent) {
        self.linux.claim.note_copy(now);
        if self.board.is_head(sent) {
            self.set_timer(now, Occasion::OldestAgain);
        }
    }

    /// Takes note that no data is left: if the window has room, the application is the limit.
    pub fn on_nothing_to_send(&mut self) {
        if self.is_linux() && !self.has_unsent() && self.window_has_room() && self.board.lost_segments() == 0 {
            let flight = self.flight_segments();
            self.linux.rate.limit_by_application(flight);
        }
    }

    /// The window after a pause: halved for each timeout that passed, not below `least`.
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
