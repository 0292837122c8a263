//! Application of transitions: the one place that changes the phase for an ACK, a timer or a mark.
//!
//! Within a step the order follows the reads of each part: the board comes before the window, the window is handled in
//! the old phase, and the new phase is read off the board.

use lasthop_units::{Duration, Time};

use super::super::Sender;
use super::facts::AckFacts;
use super::forward_rto::{Span, Step};
use super::spurious::UndoProof;
use super::transition::{Duplicates, FirstCopy, Found, Next, Patience, Sequel, Standing, Then, Transition, Window};
use super::transition::{sequel, transition};
use super::{Permission, Phase};
use crate::config::{LocalDrop, LossDetection};
use crate::congestion_control::{CongestionCause, Prior};

/// The outcome of an ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Conclusion {
    pub begins_recovery: bool,
    /// time for which RACK waits for late segments
    pub waits: Option<Duration>,
}

impl Sender {
    /// Concludes from an ACK that the board has taken in: verdict, search, and repair or rest.
    pub(super) fn conclude(&mut self, facts: &AckFacts) -> Conclusion {
        // Open stays as it is (recorded). Rest would take a tail probe in flight for disorder.
        if self.linux.phase == Phase::Open && facts.is_plain_progress() {
            return Conclusion::default();
        }
        if facts.marked {
            self.linux.claim.prior = None;
        }
        let step = transition(&self.standing(facts), facts);
        self.carry_out(&step, facts);
        if step.then == Then::Done {
            return Conclusion::default();
        }
        let resent = self.board.resent_segments();
        let waits = self.search(&step, facts);
        let resent_is_lost = self.board.resent_segments() < resent;
        let found = Found { something_is_lost: self.something_is_lost(), resent_is_lost };
        let sequel = sequel(self.linux.phase, &found, Some(step.row));
        match sequel {
            Sequel::Nothing => {}
            Sequel::Repair => self.begin_recovery(facts.now, facts.marked),
            Sequel::Rest => self.rest(facts),
        }
        Conclusion { begins_recovery: sequel == Sequel::Repair, waits }
    }

    fn standing(&self, facts: &AckFacts) -> Standing {
        let span = Span { una: self.board.una(), nxt: self.board.nxt(), high: self.linux.high };
        let verdict = if self.config.undo { self.linux.claim.verdict(facts.echo) } else { UndoProof::default() };
        Standing {
            phase: self.linux.phase,
            sack: self.sack,
            resent_is_out: self.board.resent_segments() > 0,
            has_more: self.has_unsent() && self.window.end > span.nxt,
            verdict,
            forward_rto: Step::of(self.linux.forward_rto, &span),
            span,
        }
    }

    fn carry_out(&mut self, step: &Transition, facts: &AckFacts) {
        if step.was_late {
            self.note_reordering(facts.prior_una);
        }
        if step.nothing_is_lost {
            self.board.unlose_all();
        }
        match step.window {
            Window::Keep => {}
            Window::End => self.end_reduction(facts.now),
            Window::Undo => self.undo(facts.now),
        }
        self.linux.forward_rto &= !step.ends_forward_rto;
        if step.ends_timeouts {
            self.linux.timeouts = 0;
        }
        match step.patience {
            Patience::Same => {}
            Patience::Longer => self.linux.rack.last_longer(),
            Patience::Shorter => self.linux.rack.last_shorter(),
        }
        if step.then != Then::SearchTwice {
            self.change_duplicates(step.duplicates);
        }
        match step.first_copy {
            FirstCopy::Keep => {}
            FirstCopy::Forget => self.linux.claim.first_copy = None,
            FirstCopy::ForgetIfDone => self.forget_first_copy(),
        }
        self.linux.phase = match step.next {
            Next::Same => self.linux.phase,
            Next::Open => Phase::Open,
            Next::Resting => self.resting_phase(),
        };
        self.linux.permission = step.permission;
    }

    fn change_duplicates(&mut self, change: Duplicates) {
        if change.clear {
            self.linux.duplicates = 0;
        }
        if change.count {
            self.count_duplicate();
        }
    }

    /// Stage 2. After Loss the first search goes by the duplicates left from Loss.
    fn search(&mut self, step: &Transition, facts: &AckFacts) -> Option<Duration> {
        let waits = self.detect_losses(facts.now, facts.advances);
        if step.then == Then::SearchTwice {
            self.change_duplicates(step.duplicates);
            return self.detect_losses(facts.now, facts.advances);
        }
        waits
    }

    /// True if something is lost. Outside repair enough SACKed segments mark the oldest as lost. [RFC 6675 §5]
    fn something_is_lost(&mut self) -> bool {
        let rests = !matches!(self.linux.phase, Phase::Recovery | Phase::Loss);
        let counts = self.sack && self.config.loss_detection == LossDetection::Count;
        if rests && counts && self.board.lost_segments() == 0 && self.board.reported_segments() >= self.linux.reordering
        {
            self.board.lose_head();
        }
        self.board.lost_segments() > 0
    }

    /// True if a retransmission is in flight.
    fn repeated_is_out(&self) -> bool {
        self.board.resent_segments() > 0 || self.board.head().is_some_and(|head| head.retransmitted)
    }

    fn resting_phase(&self) -> Phase {
        let is_in_order = self.sacked_segments() + self.board.lost_segments() == 0;
        if is_in_order && !self.repeated_is_out() { Phase::Open } else { Phase::Disorder }
    }

    fn forget_first_copy(&mut self) {
        if !self.repeated_is_out() {
            self.linux.claim.first_copy = None;
        }
    }

    fn rest(&mut self, facts: &AckFacts) {
        self.forget_first_copy();
        if facts.marked {
            self.enter_cwr(facts.now);
        }
        if self.linux.phase != Phase::Cwr {
            self.linux.phase = self.resting_phase();
        }
    }

    /// Shrinks the window for a mark, unless a loss shrinks it or segments arrived out of order. [RFC 3168 §6.1.2]
    fn enter_cwr(&mut self, now: Time) {
        if !matches!(self.linux.phase, Phase::Open | Phase::Disorder) {
            return;
        }
        self.linux.claim.since = None;
        self.linux.claim.prior = None;
        self.begin_reduction(now, CongestionCause::Ecn);
        self.linux.phase = Phase::Cwr;
    }

    /// Reacts to a packet refused by the queue of the own host, as to a mark.
    pub fn on_local_drop(&mut self, now: Time) {
        if self.is_linux() && self.config.local_drop == LocalDrop::Cwr {
            self.enter_cwr(now);
        }
    }

    /// Begins to repair losses. From Cwr the reduction under way goes on; any other begins now, and can be undone
    /// unless marks confirm it.
    fn begin_recovery(&mut self, now: Time, marked: bool) {
        self.stake_claim();
        self.linux.claim.prior = None;
        if self.linux.phase != Phase::Cwr {
            self.linux.claim.prior = Some(self.prior()).filter(|_| !marked);
            self.begin_reduction(now, CongestionCause::Loss);
        }
        self.linux.phase = Phase::Recovery;
        self.linux.permission = Permission::LostFirst;
    }

    /// Counts the copies in the network before a reduction. [RFC 3708 §3]
    pub(super) fn stake_claim(&mut self) {
        let copies = self.board.resent_segments() + u32::from(self.linux.probe.was_again());
        self.linux.claim.stake(self.board.una(), copies);
    }

    /// The reordering timer has found a loss: repair begins as by an ACK. The timer also stands for an ACK of one
    /// segment, so that the first retransmission can leave at once. [RFC 6937 §3]
    pub(super) fn conclude_from_timer(&mut self, now: Time) -> bool {
        let found = Found { something_is_lost: true, resent_is_lost: true };
        let begins = sequel(self.linux.phase, &found, None) == Sequel::Repair;
        if begins {
            self.begin_recovery(now, false);
            if !self.control.owns_recovery() {
                self.step_reduction(1, 0, false);
            }
        }
        self.linux.permission = Permission::LostFirst;
        begins
    }

    /// A tail probe has repaired a loss: a reduction begins and ends with this ACK. [RFC 8985 §7.4]
    pub(super) fn conclude_from_probe(&mut self, now: Time) {
        self.begin_reduction(now, CongestionCause::Loss);
        self.linux.phase = Phase::Cwr;
        self.end_reduction(now);
        self.linux.phase = self.resting_phase();
    }

    /// Undoes a spurious reduction. [RFC 4015 §3]
    fn undo(&mut self, now: Time) {
        self.forget_validation();
        let stands = self.cwnd_segments();
        let at = self.at(now);
        match self.linux.claim.prior {
            Some(Prior { cwnd, ssthresh }) => {
                self.control.on_spurious(&at, &Prior { cwnd: cwnd.max(stands), ssthresh });
            }
            None => {
                self.control.on_recovery_exit(&at);
                self.control.set_window(stands);
            }
        }
        self.linux.reduction.cwnd = self.control.cwnd() as u32;
        // No reduction is undone twice.
        self.linux.claim.since = None;
        self.linux.rack.advanced = true;
    }
}
