//! The retransmission timeout: the lost data, the new window, and whether the reduction can be undone.
//!
//! Source: RFC 6298 §5, RFC 5681 §3.1, RFC 8985 §6.3; F-RTO after RFC 5682.

use lasthop_units::Time;

use super::super::Sender;
use super::timer::Occasion;
use super::{Permission, Phase};
use crate::config::LossDetection;
use crate::congestion_control::CongestionCause;

/// The kind of a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    /// it is not part of a reduction under way: ssthresh and the claim are new [RFC 5681 §3.1]
    reduces: bool,
    /// F-RTO tests whether it was spurious
    asks: bool,
}

fn kind(phase: Phase, all_acked: bool, timeouts: u32) -> Kind {
    let (at_rest, in_loss) = (matches!(phase, Phase::Open | Phase::Disorder), phase == Phase::Loss);
    let is_fresh = at_rest || phase == Phase::Cwr;
    Kind {
        // An ACK that advances sets the count to 0: progress in Loss.
        reduces: at_rest || all_acked || (in_loss && timeouts == 0),
        // Recorded: a repeated timeout arms F-RTO, one within recovery does not. [RFC 5682 §2.1]
        asks: is_fresh || timeouts > 0,
    }
}

impl Sender {
    pub(super) fn enter_loss(&mut self, now: Time) {
        if self.board.is_empty() {
            return;
        }
        let phase = self.linux.phase;
        let Kind { reduces, asks } = kind(phase, self.linux.high <= self.board.una(), self.linux.timeouts);
        self.lose_what_is_late(now);
        if reduces {
            self.linux.claim.prior = Some(self.prior());
            self.stake_claim();
        }
        self.restart_window(now, !reduces);
        self.doubt_reordering();
        self.linux.phase = Phase::Loss;
        self.linux.high = self.board.nxt();
        self.linux.probe.forget();
        self.queue_cwr();
        self.linux.forward_rto = self.config.forward_rto && asks;
        self.linux.timeouts += 1;
        self.linux.permission = Permission::LostFirst;
        self.rtt.back_off();
        self.set_timer(now, Occasion::TimedOut);
    }

    /// Marks the oldest segment as lost, and with RACK the segments sent an RTT ago; by the other rules all
    /// that are not SACKed. [RFC 8985 §6.3]
    fn lose_what_is_late(&mut self, now: Time) {
        self.linux.duplicates = 0;
        let by_time = self.sack && self.config.loss_detection == LossDetection::Rack;
        let rtt = self.linux.rack.rtt;
        self.board.lose_after_timeout(|segment| !by_time || segment.sent_at + rtt <= now);
    }

    /// Sets the window to the data still in flight and one segment.
    fn restart_window(&mut self, now: Time, repeated: bool) {
        let window = self.cwnd_segments();
        let event = self.loss_event(now, CongestionCause::Timeout, window, repeated);
        self.control.on_timeout(&event);
        self.forget_validation();
        self.control.set_window(f64::from(self.flight_segments() + 1));
    }

    /// Lowers the degree of reordering if it has held back a fast retransmit: enough segments had arrived, so
    /// that was loss.
    fn doubt_reordering(&mut self) {
        let threshold = self.config.duplicate_ack_threshold;
        let was_held_back = matches!(self.linux.phase, Phase::Open | Phase::Disorder);
        if was_held_back && self.sacked_segments() >= threshold {
            self.linux.reordering = self.linux.reordering.min(threshold);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_reduces_unless_a_reduction_for_the_same_data_is_under_way() {
        assert!(kind(Phase::Open, true, 0).reduces);
        assert!(kind(Phase::Disorder, false, 0).reduces);
        assert!(!kind(Phase::Cwr, false, 0).reduces);
        assert!(!kind(Phase::Recovery, false, 0).reduces);
        assert!(kind(Phase::Recovery, true, 0).reduces, "all that it was about is acknowledged");
        assert!(!kind(Phase::Loss, false, 1).reduces, "repeated");
        assert!(kind(Phase::Loss, false, 0).reduces, "there was progress since");
    }

    #[test]
    fn f_rto_asks_after_a_fresh_timeout_and_after_repeated_ones() {
        assert!(kind(Phase::Open, true, 0).asks);
        assert!(kind(Phase::Cwr, false, 0).asks);
        assert!(!kind(Phase::Recovery, false, 0).asks);
        assert!(!kind(Phase::Loss, false, 0).asks);
        assert!(kind(Phase::Loss, false, 1).asks);
    }
}
