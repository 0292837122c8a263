//! What state an acknowledgement leads to.
//!
//! Source: RFC 6675 §5, RFC 6582 §3.2, RFC 5682 §3; the order of the steps as Linux has it.

use lasthop_units::Time;

use super::super::Sender;
use super::super::acknowledgement::Acknowledgement;
use super::Sends;
use crate::config::{LocalDrop, LossDetection};
use crate::congestion_control::CongestionCause;
use crate::info::CaState;

/// What an acknowledgement has brought, for the state machine.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct News {
    /// SND.UNA before
    pub prior_una: u64,
    /// SND.UNA has moved
    pub advances: bool,
    /// new data was reported by SACK
    pub reports: bool,
    /// data sent once, before the present state began, has arrived
    pub originals: bool,
    /// a duplicate ACK in the sense of RFC 5681 §2
    pub duplicate: bool,
    /// the peer has seen congestion marks
    pub ece: bool,
    /// RACK waits for what may yet come
    pub waits: bool,
}

impl Sender {
    pub(super) fn set_state(&mut self, state: CaState) {
        self.linux.state = state;
    }

    /// See the module. True if recovery begins.
    pub(super) fn react(&mut self, ack: &Acknowledgement, news: &mut News) -> bool {
        if news.ece {
            self.linux.undo.prior = None;
        }
        if self.ends_state(ack) {
            return false;
        }
        match self.linux.state {
            CaState::Recovery => self.react_in_recovery(ack, news),
            CaState::Loss => self.react_in_loss(ack, news),
            _ => self.react_otherwise(ack, news),
        }
    }

    /// What was out when the state began is acknowledged. True if there is no more to do.
    fn ends_state(&mut self, ack: &Acknowledgement) -> bool {
        match self.linux.state {
            CaState::Open => self.linux.undo.first_resent = None,
            CaState::Cwr if self.board.una() > self.linux.high => {
                self.end_reduction(ack.now);
                self.set_state(CaState::Open);
            }
            CaState::Recovery if self.board.una() >= self.linux.high => {
                if !self.sack {
                    self.linux.duplicates = 0;
                }
                let undone = self.linux.undo.marker;
                let (state, cwnd) = (self.linux.state, self.cwnd_segments());
                if self.try_undo_recovery(ack) {
                    return true;
                }
                // Undone: the window is back already.
                let was_undone = undone.is_some() && self.linux.undo.marker.is_none();
                if !was_undone {
                    self.linux.state = state;
                    self.linux.reduction.cwnd = cwnd as u32;
                    self.end_reduction(ack.now);
                    self.set_state(CaState::Open);
                }
            }
            _ => {}
        }
        false
    }

    fn react_in_recovery(&mut self, ack: &Acknowledgement, news: &mut News) -> bool {
        if !news.advances {
            self.count_duplicate(news.duplicate);
        } else if self.try_undo_partial(ack, news.prior_una) {
            return false;
        }
        if self.try_undo_dsack(ack.now) {
            self.try_to_open(ack.now, news);
        }
        self.look_for_losses(ack.now, news);
        if self.linux.state != CaState::Recovery {
            // The reduction was taken back; if something is lost all the same, another begins.
            let due = self.is_time_to_recover();
            if due {
                self.enter_recovery(ack.now, news.ece);
                self.linux.sends = Sends::LostFirst;
            }
            return due;
        }
        self.linux.sends = Sends::LostFirst;
        false
    }

    fn react_in_loss(&mut self, ack: &Acknowledgement, news: &mut News) -> bool {
        self.forward_recovery(ack, news);
        let resent_again = self.look_for_losses(ack.now, news);
        if self.linux.state == CaState::Open || resent_again {
            return self.react_otherwise(ack, news);
        }
        false
    }

    fn react_otherwise(&mut self, ack: &Acknowledgement, news: &mut News) -> bool {
        if !self.sack {
            if news.advances {
                self.linux.duplicates = 0;
            }
            self.count_duplicate(news.duplicate);
        }
        if matches!(self.linux.state, CaState::Open | CaState::Disorder) {
            self.try_undo_dsack(ack.now);
        }
        self.look_for_losses(ack.now, news);
        self.recover_if_due(ack.now, news)
    }

    /// Begins recovery if something is lost.
    fn recover_if_due(&mut self, now: Time, news: &News) -> bool {
        if !self.is_time_to_recover() {
            self.try_to_open(now, news);
            return false;
        }
        self.enter_recovery(now, news.ece);
        self.linux.sends = Sends::LostFirst;
        true
    }

    /// True if a retransmission was found lost.
    fn look_for_losses(&mut self, now: Time, news: &mut News) -> bool {
        let before = self.board.resent_segments();
        news.waits |= self.detect_losses(now, news.advances);
        self.board.resent_segments() < before
    }

    fn is_time_to_recover(&mut self) -> bool {
        if self.board.lost_segments() > 0 {
            return true;
        }
        let by_count = self.sack && self.config.loss_detection == LossDetection::Count;
        let due = by_count && self.sacked_segments() >= self.linux.reordering;
        if due {
            self.board.lose_head();
        }
        due
    }

    /// Without SACK a duplicate ACK stands for a segment that has arrived. [RFC 5681 §2]
    fn count_duplicate(&mut self, duplicate: bool) {
        if self.sack || !duplicate {
            return;
        }
        // At least the segment that is missing has not arrived.
        let missing = self.board.lost_segments().max(1);
        let most = self.board.count().saturating_sub(missing);
        if self.linux.duplicates < most {
            self.linux.duplicates += 1;
            self.linux.rate.delivered += 1;
        } else if self.linux.duplicates + 1 > most && self.board.count() > 0 {
            self.linux.reordering = self.linux.reordering.max(self.board.count().min(300));
            self.linux.reordering_seen += 1;
        }
    }

    /// Without SACK: one of the segments acknowledged filled the hole, the others had caused duplicate ACKs.
    pub(super) fn forget_duplicates(&mut self, acked: u32) {
        if acked == 0 {
            return;
        }
        self.linux.rate.delivered += u64::from(acked.saturating_sub(self.linux.duplicates).max(1));
        self.linux.duplicates = self.linux.duplicates.saturating_sub(acked - 1);
    }

    fn try_to_open(&mut self, now: Time, news: &News) {
        if !self.any_resent() {
            self.linux.undo.first_resent = None;
        }
        if news.ece {
            self.enter_cwr(now);
        }
        if self.linux.state != CaState::Cwr {
            self.keep_open();
        }
    }

    /// Open, or Disorder while something is out of order.
    pub(super) fn keep_open(&mut self) {
        let disorder = self.sacked_segments() + self.board.lost_segments() > 0 || self.any_resent();
        let state = if disorder { CaState::Disorder } else { CaState::Open };
        if state != self.linux.state {
            self.linux.high = self.board.nxt();
            self.set_state(state);
        }
    }

    /// A congestion mark, or what stands for one: the window falls, nothing is sent again. [RFC 3168 §6.1.2]
    fn enter_cwr(&mut self, now: Time) {
        if matches!(self.linux.state, CaState::Open | CaState::Disorder) {
            self.linux.undo.marker = None;
            self.linux.undo.prior = None;
            self.begin_reduction(now, CongestionCause::Ecn);
            self.set_state(CaState::Cwr);
        }
    }

    /// The queue of the own host has refused a packet.
    pub fn on_local_drop(&mut self, now: Time) {
        if self.is_linux() && self.config.local_drop == LocalDrop::Cwr {
            self.enter_cwr(now);
        }
    }

    pub(super) fn enter_recovery(&mut self, now: Time, ece: bool) {
        self.begin_undo();
        let prior = self.prior();
        if !self.linux.reduces() {
            self.linux.undo.prior = (!ece).then_some(prior);
            self.begin_reduction(now, CongestionCause::Loss);
        } else {
            self.linux.undo.prior = None;
        }
        self.set_state(CaState::Recovery);
    }

    /// After a timeout: was it for nothing? What may be sent? [RFC 5682 §2.1, §3.1]
    fn forward_recovery(&mut self, ack: &Acknowledgement, news: &News) {
        let recovered = self.board.una() >= self.linux.high;
        self.linux.sends = Sends::NewOnly;
        if news.advances && self.try_undo_loss(ack, false) {
            return;
        }
        if self.linux.forward_rto {
            // Step 3b: data that was never sent again has arrived.
            if news.originals && self.try_undo_loss(ack, true) {
                return;
            }
            if self.board.nxt() > self.linux.high {
                // Step 3a: new data was sent, and the old is still missing.
                if news.reports || news.duplicate {
                    self.linux.forward_rto = false;
                }
            } else if news.advances && !recovered {
                self.linux.high = self.board.nxt();
                if self.has_unsent() && self.window.end > self.board.nxt() {
                    self.linux.sends = Sends::NewFirst;
                    return;
                }
                self.linux.forward_rto = false;
            }
        }
        if recovered {
            self.try_undo_recovery(ack);
            return;
        }
        if !self.sack {
            if self.board.nxt() > self.linux.high {
                self.count_duplicate(news.duplicate);
            } else if news.advances {
                self.linux.duplicates = 0;
            }
        }
        self.linux.sends = Sends::LostFirst;
    }
}
