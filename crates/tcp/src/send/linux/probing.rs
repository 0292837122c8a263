//! The time of a tail loss probe, and the consequences of its answer. [RFC 8985 §7]

use lasthop_units::{CaState as Phase, Duration, Time};

use super::super::scoreboard::Sent;
use super::super::{Choice, Sender};
use super::facts::AckFacts;
use super::probe::{ProbeOutcome, TailProbe};
use super::timer::{LEAST, Occasion};

impl Sender {
    /// Time to wait for an ACK before probing, if a probe is allowed. [RFC 8985 §7.2, TLP_calc_PTO]
    pub(super) fn probe_wait(&self) -> Option<Duration> {
        let is_calm = matches!(self.linux.phase, Phase::Open | Phase::Cwr);
        if !self.config.tail_loss_probe || !self.sack || !is_calm {
            return None;
        }
        let Some(srtt) = self.rtt.srtt() else { return Some(self.config.initial_rto) };
        let may_be_delayed = self.board.count() == 1;
        Some(srtt * 2 + if may_be_delayed { self.config.min_rto } else { LEAST })
    }

    /// The probe: new data if the peer's window allows, whatever the congestion window; else the newest segment
    /// again. [RFC 8985 §7.3]
    pub(super) fn choose_probe(&mut self, may_send_new: bool) -> Choice {
        let new = if may_send_new && self.has_unsent() { self.choose_whole_elsewhere() } else { None };
        new.unwrap_or(Choice::Probe)
    }

    /// Takes note of a probe sent.
    pub(super) fn on_probe_sent(&mut self, now: Time, sent: &Sent) {
        self.linux.probe = TailProbe { high: Some(self.board.nxt()), again: sent.retransmitted, due: false };
        self.set_timer(now, Occasion::Probed);
    }

    /// Judges an ACK while a probe is in flight: a loss that the probe itself repaired still counts. [RFC 8985 §7.4]
    pub(super) fn judge_probe(&mut self, facts: &AckFacts, has_dsack: bool) {
        match self.linux.probe.verdict(facts, has_dsack) {
            ProbeOutcome::Continues => {}
            ProbeOutcome::Ended => self.linux.probe.forget(),
            ProbeOutcome::EndedRepaired => self.conclude_from_probe(facts.now),
        }
    }
}
