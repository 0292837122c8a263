//! One timer, for three purposes: a probe, the end of the reordering window, a timeout.
//!
//! Source: RFC 6298 §5, RFC 8985 §8; a timeout as in Linux, where what was sent within the last round trip is not
//! lost yet.

use lasthop_units::{Duration, Time};

use super::super::Sender;
use super::{Sends, probe};
use crate::config::LossDetection;
use crate::congestion_control::CongestionCause;
use crate::counters::Counters;
use crate::info::CaState;

/// What the timer is set for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pending {
    #[default]
    None,
    /// retransmission timeout
    Retransmit,
    /// tail loss probe
    Probe,
    /// end of the reordering window
    Reordering,
}

impl Sender {
    pub(super) fn set_timer(&mut self, now: Time, pending: Pending, wait: Duration) {
        self.linux.pending = pending;
        self.linux.deadline = self.timer_expiry(now, wait.min(self.config.max_rto));
    }

    /// When a timer goes off that is set now. Hosts tick each in its own phase, which their first number stands for.
    pub fn timer_expiry(&self, now: Time, wait: Duration) -> Time {
        if self.is_linux() { self.rtt.expiry(now, wait) } else { now + wait }
    }

    pub(super) fn set_reordering_timer(&mut self, now: Time, wait: Duration) {
        let rto = self.rtt.rto();
        self.set_timer(now, Pending::Reordering, (wait + probe::LEAST).min(rto));
    }

    pub(super) fn stop_timer(&mut self) {
        self.linux.pending = Pending::None;
        self.linux.deadline = Time::NEVER;
    }

    /// How far away the timeout of the oldest segment is.
    pub(super) fn timeout_left(&self, now: Time) -> Duration {
        let sent_at = self.board.head().map_or(now, |head| head.sent_at);
        let due = sent_at + self.rtt.rto();
        if due > now { due.since(now) } else { Duration::ZERO }
    }

    /// Sets the retransmission timer; the time since the oldest was sent counts where another timer was in between.
    pub(super) fn rearm_timer(&mut self, now: Time) {
        if self.board.is_empty() {
            return self.stop_timer();
        }
        let in_between = matches!(self.linux.pending, Pending::Probe | Pending::Reordering);
        let wait = if in_between { self.timeout_left(now).max(Duration::from_micros(1)) } else { self.rtt.rto() };
        self.set_timer(now, Pending::Retransmit, wait);
    }

    /// An ACK brought something: a probe timer, or the whole timeout again. [RFC 6298 §5.3]
    pub(super) fn restart_timer(&mut self, now: Time) {
        if !self.schedule_probe(now, true) {
            self.rearm_timer(now);
        }
    }

    /// The timer has expired.
    pub fn on_timer(&mut self, now: Time, counters: &mut Counters) {
        let pending = core::mem::take(&mut self.linux.pending);
        self.linux.deadline = Time::NEVER;
        match pending {
            Pending::None => {}
            Pending::Probe => {
                self.linux.pending = pending;
                self.on_probe_timeout(now);
            }
            Pending::Reordering => {
                self.linux.pending = pending;
                let before = self.linux.state;
                self.on_reordering_timeout(now);
                let enters = self.linux.state == CaState::Recovery && before != CaState::Recovery;
                counters.fast_retransmits += u64::from(enters);
            }
            Pending::Retransmit => {
                counters.timeouts += 1;
                self.on_retransmission_timeout(now);
            }
        }
        self.settle_window();
    }

    /// [RFC 6298 §5.4-5.6, RFC 5681 §3.1, RFC 5682 §3.1 step 1]
    fn on_retransmission_timeout(&mut self, now: Time) {
        if self.board.is_empty() {
            return;
        }
        self.enter_loss(now);
        self.linux.timeouts += 1;
        self.linux.sends = Sends::LostFirst;
        self.rtt.back_off();
        let rto = self.rtt.rto();
        self.set_timer(now, Pending::Retransmit, rto);
    }

    fn enter_loss(&mut self, now: Time) {
        let state = self.linux.state;
        let is_new = !matches!(state, CaState::Recovery | CaState::Loss);
        self.lose_after_timeout(now);
        let reduces_anew = matches!(state, CaState::Open | CaState::Disorder)
            || self.linux.high <= self.board.una()
            || (state == CaState::Loss && self.linux.timeouts == 0);
        let cwnd = self.cwnd_segments();
        if reduces_anew {
            self.linux.undo.prior = Some(self.prior());
            self.begin_undo();
        }
        let event = self.loss_event(now, CongestionCause::Timeout, cwnd, !reduces_anew);
        self.control.on_timeout(&event);
        self.forget_validation();
        self.control.set_window(f64::from(self.flight_segments() + 1));
        if is_new && state != CaState::Cwr && self.sacked_segments() >= self.config.duplicate_ack_threshold {
            self.linux.reordering = self.linux.reordering.min(self.config.duplicate_ack_threshold);
        }
        self.linux.state = CaState::Loss;
        self.linux.high = self.board.nxt();
        self.linux.probe.forget();
        self.queue_cwr();
        self.linux.forward_rto = self.config.forward_rto && (is_new || self.linux.timeouts > 0);
    }

    fn lose_after_timeout(&mut self, now: Time) {
        self.linux.duplicates = 0;
        let by_time = self.sack && self.config.loss_detection == LossDetection::Rack;
        let patience = self.linux.rack.rtt;
        self.board.lose_after_timeout(|sent| !by_time || sent.sent_at + patience <= now);
    }
}
