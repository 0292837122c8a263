//! How the window falls to ssthresh: at once, by every second ACK, or in proportion to what arrives.
//!
//! Source: RFC 6937 §3.1 with the slow-start bound of draft-ietf-tcpm-prr-rfc6937bis §6.2; rate halving as in Linux
//! before 3.2.

use lasthop_units::Time;

use super::super::Sender;
use crate::config::WindowReduction;
use crate::congestion_control::{CongestionCause, CongestionEvent};
use crate::info::CaState as Phase;

/// A reduction of the window that is under way. All in segments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reduction {
    /// the window as it stands now
    pub cwnd: u32,
    /// the window when the reduction began
    prior: u32,
    /// delivered since [RFC 6937 §3, prr_delivered]
    delivered: u32,
    /// sent since [RFC 6937 §3, prr_out]
    pub out: u32,
    /// rate halving: an ACK that has not yet counted
    half: bool,
}

impl Sender {
    /// A reduction begins: ssthresh is set, and the window starts to fall.
    pub(super) fn begin_reduction(&mut self, now: Time, cause: CongestionCause) {
        self.linux.high = self.board.nxt();
        self.linux.probe.forget();
        let prior = self.cwnd_segments();
        let event = self.loss_event(now, cause, prior, false);
        let from = self.window_in_use(now, prior) as u32;
        self.linux.reduction = Reduction { cwnd: from, prior: from, ..Reduction::default() };
        self.control.on_congestion(&event);
        self.note_validated_loss(event.window);
        self.queue_cwr();
        if self.config.window_reduction == WindowReduction::AtOnce {
            self.linux.reduction.cwnd = self.ssthresh_segments();
        }
    }

    /// What a controller is told of a loss.
    pub(super) fn loss_event(&self, now: Time, cause: CongestionCause, cwnd: f64, repeated: bool) -> CongestionEvent {
        let flight_bytes = self.board.outstanding_bytes();
        let window = match self.config.decrease_from {
            crate::config::DecreaseFrom::Cwnd => cwnd,
            crate::config::DecreaseFrom::FlightSize => cwnd.min(flight_bytes as f64 / f64::from(self.mss)),
        };
        let window = self.window_in_use(now, window);
        let (snd_una, snd_nxt) = (self.board.una(), self.board.nxt());
        let total_lost = self.board.total_lost();
        CongestionEvent { now, cause, window, flight_bytes, repeated, snd_una, snd_nxt, total_lost }
    }

    fn ssthresh_segments(&self) -> u32 {
        self.control.ssthresh().min(f64::from(u32::MAX)) as u32
    }

    /// An ACK in the reduction: so many segments newly delivered, so many newly lost.
    pub(super) fn step_reduction(&mut self, delivered: u32, lost: u32, advances: bool) {
        match self.config.window_reduction {
            WindowReduction::AtOnce => {}
            WindowReduction::RateHalving => self.halve_rate(),
            WindowReduction::Prr => self.reduce_in_proportion(delivered, lost, advances),
        }
    }

    /// [RFC 6937 §3.1]
    fn reduce_in_proportion(&mut self, delivered: u32, lost: u32, advances: bool) {
        if delivered == 0 {
            return;
        }
        let flight = self.flight_segments();
        let ssthresh = self.ssthresh_segments();
        let prr = &mut self.linux.reduction;
        prr.delivered += delivered;
        let count = if flight > ssthresh {
            let share = (u64::from(ssthresh) * u64::from(prr.delivered)).div_ceil(u64::from(prr.prior.max(1)));
            share as i64 - i64::from(prr.out)
        } else {
            // All goes well if something was acknowledged and nothing more was lost.
            let bound = i64::from(prr.delivered) - i64::from(prr.out);
            let bound = bound.max(i64::from(delivered)) + i64::from(advances && lost == 0);
            bound.min(i64::from(ssthresh - flight))
        };
        // The first retransmission goes out whatever the window.
        let count = count.max(i64::from(prr.out == 0));
        prr.cwnd = (i64::from(flight) + count) as u32;
    }

    /// One segment less for every second ACK, and never more than one above what is in flight.
    fn halve_rate(&mut self) {
        let flight = self.flight_segments();
        let ssthresh = self.ssthresh_segments();
        let rate = &mut self.linux.reduction;
        rate.half = !rate.half;
        if !rate.half && rate.cwnd > ssthresh {
            rate.cwnd -= 1;
        }
        rate.cwnd = rate.cwnd.min(flight + 1);
    }

    /// The reduction is done: the window is ssthresh.
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
