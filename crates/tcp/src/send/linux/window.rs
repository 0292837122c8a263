//! The congestion window: its size in whole segments, its free part, and its reduction.

use lasthop_units::{CaState as Phase, Time};

use super::super::Sender;
use super::reduction::Reduction;
use crate::config::{DecreaseFrom, WindowReduction};
use crate::congestion_control::{CongestionCause, CongestionEvent, Moment, Prior};

impl Sender {
    /// Segments in flight, duplicates counted as arrived.
    pub fn flight_segments(&self) -> u32 {
        self.board.pipe_segments().saturating_sub(self.linux.duplicates)
    }

    /// Segments that have arrived above SND.UNA.
    pub fn sacked_segments(&self) -> u32 {
        self.board.reported_segments() + self.linux.duplicates
    }

    /// The congestion window in segments, as it stands during recovery too.
    pub fn cwnd_segments(&self) -> f64 {
        let stepwise = self.is_linux() && self.linux.reduces() && !self.control.owns_recovery();
        if stepwise { f64::from(self.linux.reduction.cwnd) } else { self.control.cwnd() }
    }

    /// True if the window has room for one more segment. Without limited transmit, segments that arrived out of order
    /// count as long as there may be no loss. [RFC 3042 §2]
    pub(in crate::send) fn window_has_room(&self) -> bool {
        let holds_back = !self.config.limited_transmit && matches!(self.linux.phase, Phase::Open | Phase::Disorder);
        let waiting = if holds_back { self.sacked_segments() } else { 0 };
        self.flight_segments() + waiting < self.linux.window
    }

    /// Takes over the window after each possible change.
    pub(in crate::send) fn settle_window(&mut self) {
        self.linux.window = self.cwnd_segments() as u32;
    }

    /// The ssthresh to remember: outside a reduction, the window reached counts too.
    pub(super) fn ssthresh_reached(&self) -> f64 {
        let ssthresh = self.control.ssthresh();
        if self.linux.reduces() { ssthresh } else { ssthresh.max((0.75 * self.cwnd_segments()).floor()) }
    }

    pub(super) fn prior(&self) -> Prior {
        Prior { cwnd: self.cwnd_segments(), ssthresh: self.ssthresh_reached() }
    }

    pub(super) fn at(&self, now: Time) -> Moment {
        self.moment(now)
    }

    /// Begins a reduction: ssthresh is set, and the window starts to fall.
    pub(super) fn begin_reduction(&mut self, now: Time, cause: CongestionCause) {
        self.linux.high = self.board.nxt();
        self.linux.probe.forget();
        let prior = self.cwnd_segments();
        let event = self.loss_event(now, cause, prior, false);
        let from = self.window_in_use(now, prior) as u32;
        let base = match self.config.window_reduction {
            WindowReduction::PrrRfc9937 => self.deliverable_segments(),
            _ => from,
        };
        self.linux.reduction = Reduction::from(from, base);
        self.control.on_congestion(&event);
        self.note_validated_loss(event.window);
        self.queue_cwr();
        if self.config.window_reduction == WindowReduction::AtOnce {
            self.linux.reduction.cwnd = self.ssthresh_segments();
        }
    }

    /// The segments in flight when a reduction begins, those that the ACK at hand delivers counted: all that the reduction can
    /// see delivered. [RFC 9937 §6, RecoverFS]
    fn deliverable_segments(&self) -> u32 {
        let delivered_now = (self.linux.rate.delivered - self.linux.delivered_before) as u32;
        self.board.count().saturating_sub(self.sacked_segments()) + delivered_now
    }

    /// The event by which a controller learns of a loss.
    pub(super) fn loss_event(&self, now: Time, cause: CongestionCause, cwnd: f64, repeated: bool) -> CongestionEvent {
        let flight_bytes = self.board.outstanding_bytes();
        let window = match self.config.decrease_from {
            DecreaseFrom::Cwnd => cwnd,
            DecreaseFrom::FlightSize => cwnd.min(flight_bytes as f64 / f64::from(self.mss)),
        };
        let window = self.window_in_use(now, window);
        let (snd_una, snd_nxt) = (self.board.una(), self.board.nxt());
        let total_lost = self.board.total_lost();
        CongestionEvent { now, cause, window, flight_bytes, repeated, snd_una, snd_nxt, total_lost }
    }

    fn ssthresh_segments(&self) -> u32 {
        self.control.ssthresh().min(f64::from(u32::MAX)) as u32
    }

    /// Takes a step of the reduction at an ACK: so many segments newly delivered, so many newly lost.
    pub(super) fn step_reduction(&mut self, delivered: u32, lost: u32, advances: bool) {
        match self.config.window_reduction {
            WindowReduction::AtOnce => {}
            WindowReduction::RateHalving => {
                let (flight, ssthresh) = (self.flight_segments(), self.ssthresh_segments());
                self.linux.reduction.halve_rate(flight, ssthresh);
            }
            WindowReduction::Prr | WindowReduction::PrrRfc9937 if delivered == 0 => {}
            WindowReduction::Prr | WindowReduction::PrrRfc9937 => {
                let (flight, ssthresh) = (self.flight_segments(), self.ssthresh_segments());
                self.linux.reduction.reduce_in_proportion(delivered, flight, ssthresh, advances && lost == 0);
            }
        }
    }

    /// Ends the reduction: the window is ssthresh.
    pub(super) fn end_reduction(&mut self, now: Time) {
        let cwnd = self.cwnd_segments();
        let at = self.at(now);
        let validated = self.window_after_recovery();
        self.control.on_recovery_exit(&at);
        if self.control.owns_recovery() {
            return;
        }
        let falls = self.linux.phase == Phase::Cwr || self.linux.claim.since.is_some();
        let target = validated.unwrap_or(if falls { self.control.ssthresh() } else { cwnd });
        if target.is_finite() {
            self.linux.reduction.cwnd = target as u32;
            self.control.set_window(target);
        }
    }
}
