//! Was a reduction for nothing? Then it is taken back.
//!
//! Source: by timestamps, an ACK that echoes a time before the first retransmission answers the original
//! [RFC 3522 §3.2]; by DSACK, every retransmission arrived twice [RFC 3708 §3]; the answer [RFC 4015 §3].

use lasthop_units::Time;

use super::super::Sender;
use super::super::acknowledgement::Acknowledgement;
use crate::congestion_control::Prior;
use crate::info::CaState;

/// What a reduction can be taken back to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Undo {
    /// SND.UNA at the reduction; `None`: there is nothing to take back
    pub marker: Option<u64>,
    /// retransmissions of which no DSACK tells yet; `None` before the first
    pub retransmissions: Option<u32>,
    /// `None` where a congestion mark was the reason
    pub prior: Option<Prior>,
    /// when the first retransmission was sent
    pub first_resent: Option<Time>,
}

impl Sender {
    /// A reduction begins that may turn out to be for nothing.
    pub(super) fn begin_undo(&mut self) {
        let in_flight = self.board.resent_segments() + u32::from(self.linux.probe.was_again());
        self.linux.undo.marker = Some(self.board.una());
        self.linux.undo.retransmissions = (in_flight > 0).then_some(in_flight);
    }

    /// A retransmission goes out.
    pub(super) fn note_retransmission(&mut self, now: Time) {
        let undo = &mut self.linux.undo;
        undo.first_resent = undo.first_resent.or(Some(now));
        undo.retransmissions = Some(undo.retransmissions.unwrap_or(0) + 1);
    }

    /// The ACK echoes a time before the first retransmission. [RFC 3522 §3.2]
    fn answers_original(&self, ack: &Acknowledgement) -> bool {
        self.linux.undo.first_resent.is_some_and(|resent| resent >= ack.echo_ends)
    }

    fn may_undo(&self, ack: &Acknowledgement) -> bool {
        let undo = &self.linux.undo;
        self.config.undo && undo.marker.is_some() && (undo.retransmissions == Some(0) || self.answers_original(ack))
    }

    /// Any segment that has been sent again is still out.
    pub(super) fn any_resent(&self) -> bool {
        self.board.resent_segments() > 0 || self.board.head().is_some_and(|head| head.retransmitted)
    }

    /// Takes the reduction back. [RFC 4015 §3]
    fn take_back(&mut self, now: Time, nothing_is_lost: bool) {
        if nothing_is_lost {
            self.board.unlose_all();
        }
        self.forget_validation();
        let cwnd = self.cwnd_segments();
        let at = self.at(now);
        match self.linux.undo.prior {
            Some(prior) => self.control.on_spurious(&at, &Prior { cwnd: prior.cwnd.max(cwnd), ..prior }),
            None => {
                self.control.on_recovery_exit(&at);
                self.control.set_window(cwnd);
            }
        }
        self.linux.reduction.cwnd = self.control.cwnd() as u32;
        self.linux.undo.marker = None;
        self.linux.rack.advanced = true;
        self.spurious += 1;
    }

    /// All that was out is acknowledged. True if, without SACK, the state is kept until something newer is.
    pub(super) fn try_undo_recovery(&mut self, ack: &Acknowledgement) -> bool {
        if self.may_undo(ack) {
            self.take_back(ack.now, false);
        } else if self.linux.rack.persist > 0 {
            self.linux.rack.persist -= 1;
        }
        if self.keeps_state_without_sack() {
            return true;
        }
        self.set_state(CaState::Open);
        false
    }

    /// Duplicate ACKs that the retransmissions caused are not to start another recovery. [RFC 6582 §3.2 (2)]
    fn keeps_state_without_sack(&mut self) -> bool {
        let keeps = !self.sack && self.board.una() == self.linux.high;
        if keeps && !self.any_resent() {
            self.linux.undo.first_resent = None;
        }
        keeps
    }

    /// Every retransmission arrived twice. [RFC 3708 §3]
    pub(super) fn try_undo_dsack(&mut self, now: Time) -> bool {
        let undo = &self.linux.undo;
        let holds = self.config.undo && undo.marker.is_some() && undo.retransmissions == Some(0);
        if holds {
            self.linux.rack.last_longer();
            self.take_back(now, false);
        }
        holds
    }

    /// A partial ACK answers an original: the hole was reordering. True if it was.
    pub(super) fn try_undo_partial(&mut self, ack: &Acknowledgement, prior_una: u64) -> bool {
        let holds = self.config.undo && self.linux.undo.marker.is_some() && self.answers_original(ack);
        if !holds {
            return false;
        }
        self.note_reordering(prior_una);
        if self.board.resent_segments() > 0 {
            return true;
        }
        if !self.any_resent() {
            self.linux.undo.first_resent = None;
        }
        self.take_back(ack.now, true);
        self.keep_open();
        true
    }

    /// The timeout was for nothing. True if it was.
    pub(super) fn try_undo_loss(&mut self, ack: &Acknowledgement, by_forward_rto: bool) -> bool {
        let holds = by_forward_rto || self.may_undo(ack);
        if !holds {
            return false;
        }
        self.take_back(ack.now, true);
        self.linux.timeouts = 0;
        if !self.keeps_state_without_sack() && (by_forward_rto || self.sack) {
            self.set_state(CaState::Open);
        }
        true
    }
}
