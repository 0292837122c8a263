//! Tail loss probe: after two round trips of silence the last segment is sent again, or a new one, so that the ACK
//! tells what is missing.
//!
//! Source: RFC 8985 §7.

use lasthop_units::{Duration, Time};

use super::super::scoreboard::Sent;
use super::super::{Choice, Sender};
use super::Pending;
use crate::congestion_control::CongestionCause;
use crate::info::CaState;

/// What the timer of the smallest probe wait adds, in place of a delayed ACK's wait (`TCP_TIMEOUT_MIN_US`).
pub(super) const LEAST: Duration = Duration::from_millis(2);

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TailProbe {
    /// SND.NXT after the probe that is out [RFC 8985 §7.1, TLP.end_seq]
    high: Option<u64>,
    /// the probe was old data
    again: bool,
    /// the timer has asked for one
    pub due: bool,
}

impl TailProbe {
    pub fn forget(&mut self) {
        self.high = None;
    }
    pub fn was_again(&self) -> bool {
        self.high.is_some() && self.again
    }
    /// The probe ends there.
    pub fn ends_at(&self, offset: u64) -> bool {
        self.high == Some(offset)
    }
}

/// What an ACK says that matters to a probe.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProbeAnswer {
    pub ack: u64,
    /// a DSACK of the probe itself
    pub dsack: bool,
    /// nothing but a repeated acknowledgement
    pub plain_duplicate: bool,
}

impl Sender {
    /// How long to wait for an ACK before probing. [RFC 8985 §7.2, TLP_calc_PTO]
    fn probe_wait(&self) -> Duration {
        let Some(srtt) = self.rtt.srtt() else { return self.config.initial_rto };
        let may_be_delayed = self.board.count() == 1;
        srtt * 2 + if may_be_delayed { self.config.min_rto } else { LEAST }
    }

    /// Sets the probe timer if there may be a probe. [RFC 8985 §7.2]
    pub(super) fn schedule_probe(&mut self, now: Time, advances: bool) -> bool {
        let allowed = self.config.tail_loss_probe
            && self.sack
            && !self.board.is_empty()
            && matches!(self.linux.state, CaState::Open | CaState::Cwr);
        if !allowed {
            return false;
        }
        let timeout = if advances { self.rtt.rto() } else { self.timeout_left(now) };
        let wait = self.probe_wait();
        let wait = if timeout > Duration::ZERO { wait.min(timeout) } else { wait };
        self.set_timer(now, Pending::Probe, wait);
        true
    }

    /// The timer has expired: a probe is to go out, unless one is out. [RFC 8985 §7.3, TLP_send_probe]
    pub(super) fn on_probe_timeout(&mut self, now: Time) {
        if self.linux.probe.high.is_some() {
            self.rearm_timer(now);
        } else {
            self.linux.probe.due = true;
        }
    }

    /// The probe: new data if the peer's window allows, the congestion window does not count; else the newest again.
    pub(super) fn choose_probe(&mut self, may_send_new: bool) -> Choice {
        let new = if may_send_new && self.has_unsent() { self.choose_new_forced() } else { None };
        new.unwrap_or(Choice::Probe)
    }

    /// A probe has gone out.
    pub(super) fn on_probe_sent(&mut self, now: Time, sent: &Sent) {
        self.linux.probe = TailProbe { high: Some(self.board.nxt()), again: sent.retransmitted, due: false };
        self.linux.pending = Pending::None;
        self.rearm_timer(now);
        self.tail_probes += 1;
    }

    /// An ACK while a probe is out: a loss that the probe itself repaired still counts. [RFC 8985 §7.4]
    pub(super) fn judge_probe(&mut self, now: Time, answer: &ProbeAnswer) {
        let Some(high) = self.linux.probe.high else { return };
        if answer.ack < high {
            return;
        }
        if !self.linux.probe.again || answer.dsack {
            self.linux.probe.forget();
        } else if answer.ack > high {
            self.begin_reduction(now, CongestionCause::Loss);
            self.linux.state = CaState::Cwr;
            self.end_reduction(now);
            self.keep_open();
        } else if answer.plain_duplicate {
            self.linux.probe.forget();
        }
    }
}
