//! The retransmission timeout: the lost data, the new window, and whether the reduction can be undone.
//!
//! Two questions come first: does it reduce the window, and did it interrupt a repair? Their answers are of the time
//! before the timeout. Then come the groups of effects, since each reads those before it: the board, the claim, the
//! window, the degree of reordering, the phase, the timer.
//!
//! Source: `docs/model/tcp-recovery.md` §6.1, after RFC 6298 §5, RFC 5681 §3.1, RFC 8985 §6.3; F-RTO after RFC 5682.

use lasthop_units::{CaState as Phase, Time};

use super::super::Sender;
use super::timer::Occasion;
use super::{Linux, Permission};
use crate::config::LossDetection;
use crate::congestion_control::CongestionCause;

/// The state before a timeout on which the answers depend.
#[derive(Clone, Copy, Debug)]
struct Before {
    phase: Phase,
    una: u64,
    /// recovery point; of no meaning in Open and Disorder
    high: u64,
    /// timeouts in a row so far
    timeouts: u32,
}

/// The answers to the two questions of §6.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Answers {
    /// It is congestion of its own, and does not belong to the reduction under way. [RFC 5681 §3.1]
    reduces: bool,
    /// It did not interrupt a repair.
    is_fresh: bool,
}

impl Answers {
    fn of(before: &Before) -> Answers {
        let is_reduced = !matches!(before.phase, Phase::Open | Phase::Disorder);
        let is_over = before.high <= before.una;
        let made_progress = before.phase == Phase::Loss && before.timeouts == 0;
        Answers {
            reduces: !is_reduced || is_over || made_progress,
            is_fresh: !matches!(before.phase, Phase::Recovery | Phase::Loss),
        }
    }

    /// True if F-RTO may test this timeout, after so many in a row. As recorded, and not in RFC 5682 §2.1, it tests
    /// repeated ones, but none that interrupts a repair.
    fn may_be_tested(self, timeouts: u32) -> bool {
        self.is_fresh || timeouts > 0
    }
}

impl Sender {
    /// The purpose *retransmission* of §6.2 fell due: §6.1. [RFC 6298 §5.4 to §5.6]
    pub(super) fn on_retransmission_timeout(&mut self, now: Time) {
        if self.board.is_empty() {
            return;
        }
        let Linux { phase, high, timeouts, .. } = self.linux;
        let answers = Answers::of(&Before { phase, una: self.board.una(), high, timeouts });
        self.lose_overdue(now);
        if answers.reduces {
            self.claim_timeout();
        }
        self.collapse_window(now, !answers.reduces);
        self.doubt_reordering();
        self.begin_loss(answers);
        self.retransmit_later(now);
    }

    /// Marks the losses. With RACK, segments sent within the last round trip may still arrive. [RFC 8985 §6.3]
    fn lose_overdue(&mut self, now: Time) {
        self.linux.duplicates = 0;
        let spares_young = self.sack && self.config.loss_detection == LossDetection::Rack;
        let rtt = self.linux.rack.rtt;
        self.board.lose_after_timeout(|segment| !spares_young || segment.sent_at + rtt <= now);
    }

    /// Begins a claim to undo the reduction; marks that came before do not concern it.
    fn claim_timeout(&mut self) {
        self.linux.claim.prior = Some(self.prior());
        self.stake_claim();
    }

    /// The window takes one segment more than is still in flight. [RFC 5681 §3.1, loss window]
    fn collapse_window(&mut self, now: Time, repeated: bool) {
        let event = self.loss_event(now, CongestionCause::Timeout, self.cwnd_segments(), repeated);
        self.control.on_timeout(&event);
        self.forget_validation();
        let window = self.flight_segments() + 1;
        self.control.set_window(f64::from(window));
    }

    /// The presumed reordering was loss, if as many segments had arrived as usually show one.
    fn doubt_reordering(&mut self) {
        let threshold = self.config.duplicate_ack_threshold;
        let seemed_in_order = matches!(self.linux.phase, Phase::Open | Phase::Disorder);
        if seemed_in_order && self.sacked_segments() >= threshold {
            self.linux.reordering = self.linux.reordering.min(threshold);
        }
    }

    fn begin_loss(&mut self, answers: Answers) {
        self.linux.phase = Phase::Loss;
        self.linux.high = self.board.nxt();
        self.linux.probe.forget();
        self.queue_cwr();
        self.linux.forward_rto = self.config.forward_rto && answers.may_be_tested(self.linux.timeouts);
    }

    /// Lets the lost data out, and waits twice as long for its acknowledgement. [RFC 6298 §5.5, §5.6]
    fn retransmit_later(&mut self, now: Time) {
        self.linux.timeouts += 1;
        self.linux.permission = Permission::LostFirst;
        self.rtt.back_off();
        self.set_timer(now, Occasion::TimedOut);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A timeout in `phase`, after the first of the 9000 bytes in flight at the reduction were acknowledged.
    fn before(phase: Phase) -> Before {
        Before { phase, una: 2000, high: 9000, timeouts: 0 }
    }

    fn reduces(before: Before) -> bool {
        Answers::of(&before).reduces
    }

    #[test]
    fn without_a_reduction_under_way_a_timeout_reduces() {
        for phase in [Phase::Open, Phase::Disorder] {
            assert!(reduces(before(phase)), "{phase:?}: the recovery point has no meaning");
        }
    }

    #[test]
    fn a_timeout_within_a_reduction_belongs_to_it() {
        for phase in [Phase::Cwr, Phase::Recovery] {
            assert!(!reduces(before(phase)), "{phase:?}");
            assert!(!reduces(Before { una: 8999, ..before(phase) }), "{phase:?}");
        }
        assert!(!reduces(Before { timeouts: 1, ..before(Phase::Loss) }), "no progress since the last");
    }

    #[test]
    fn a_reduction_whose_data_is_acknowledged_does_not_cover_the_timeout() {
        for phase in [Phase::Cwr, Phase::Recovery, Phase::Loss] {
            assert!(reduces(Before { una: 9000, timeouts: 2, ..before(phase) }), "{phase:?}");
        }
    }

    #[test]
    fn progress_after_a_timeout_makes_the_next_one_reduce() {
        assert!(reduces(before(Phase::Loss)));
        assert!(!reduces(before(Phase::Recovery)), "in Recovery progress is usual");
    }

    #[test]
    fn a_timeout_is_fresh_unless_it_interrupts_a_repair() {
        for phase in [Phase::Open, Phase::Disorder, Phase::Cwr] {
            assert!(Answers::of(&before(phase)).is_fresh, "{phase:?}");
        }
        for phase in [Phase::Recovery, Phase::Loss] {
            assert!(!Answers::of(&before(phase)).is_fresh, "{phase:?}");
        }
    }

    #[test]
    fn forward_rto_tests_fresh_timeouts_and_repeated_ones() {
        let (fresh, late) = (Answers::of(&before(Phase::Open)), Answers::of(&before(Phase::Recovery)));
        assert!(fresh.may_be_tested(0));
        assert!(!late.may_be_tested(0) && late.may_be_tested(1));
    }
}
