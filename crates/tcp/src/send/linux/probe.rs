//! Tail loss probe: after two round trips of silence the last segment is sent again, or a new one, so that the ACK
//! tells what is missing.
//!
//! Source: RFC 8985 §7.

use lasthop_units::{Duration, Time};

use super::super::scoreboard::Sent;
use super::super::{Choice, Sender};
use super::facts::AckFacts;
use super::timer::{LEAST, Occasion};
use crate::info::CaState as Phase;

/// The tail loss probe that is due or in flight.
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
    pub fn is_out(&self) -> bool {
        self.high.is_some()
    }
    /// The probe ends there.
    pub fn ends_at(&self, offset: u64) -> bool {
        self.high == Some(offset)
    }
}

/// What an ACK tells of the probe that is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProbeOutcome {
    Continues,
    /// it was new data, or both copies arrived, or nothing more will be learned
    Ended,
    /// it has repaired a loss itself
    EndedRepaired,
}

impl TailProbe {
    /// [RFC 8985 §7.4.2]; `has_dsack`: the ACK has a DSACK of the probe.
    pub(super) fn verdict(&self, facts: &AckFacts, has_dsack: bool) -> ProbeOutcome {
        let Some(high) = self.high.filter(|&high| facts.ack >= high) else { return ProbeOutcome::Continues };
        let says_nothing = !facts.advances && !facts.carries && !facts.reports;
        if !self.again || has_dsack {
            ProbeOutcome::Ended
        } else if facts.ack > high {
            ProbeOutcome::EndedRepaired
        } else if says_nothing {
            ProbeOutcome::Ended
        } else {
            ProbeOutcome::Continues
        }
    }
}

impl Sender {
    /// How long to wait for an ACK before probing, if there may be a probe. [RFC 8985 §7.2, TLP_calc_PTO]
    pub(super) fn probe_wait(&self) -> Option<Duration> {
        let is_calm = matches!(self.linux.phase, Phase::Open | Phase::Cwr);
        if !self.config.tail_loss_probe || !self.sack || !is_calm {
            return None;
        }
        let Some(srtt) = self.rtt.srtt() else { return Some(self.config.initial_rto) };
        let may_be_delayed = self.board.count() == 1;
        Some(srtt * 2 + if may_be_delayed { self.config.min_rto } else { LEAST })
    }

    /// The probe: new data if the peer's window allows, the congestion window does not count; else the newest again.
    /// [RFC 8985 §7.3]
    pub(super) fn choose_probe(&mut self, may_send_new: bool) -> Choice {
        let new = if may_send_new && self.has_unsent() { self.choose_new() } else { None };
        new.unwrap_or(Choice::Probe)
    }

    /// A probe has gone out.
    pub(super) fn on_probe_sent(&mut self, now: Time, sent: &Sent) {
        self.linux.probe = TailProbe { high: Some(self.board.nxt()), again: sent.retransmitted, due: false };
        self.set_timer(now, Occasion::Probed);
    }

    /// An ACK while a probe is out: a loss that the probe itself repaired still counts. [RFC 8985 §7.4]
    pub(super) fn judge_probe(&mut self, facts: &AckFacts, has_dsack: bool) {
        match self.linux.probe.verdict(facts, has_dsack) {
            ProbeOutcome::Continues => {}
            ProbeOutcome::Ended => self.linux.probe.forget(),
            ProbeOutcome::EndedRepaired => self.conclude_from_probe(facts.now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Old data, sent again when 5000 was to be sent next.
    const AGAIN: TailProbe = TailProbe { high: Some(5000), again: true, due: false };

    fn ack(ack: u64) -> AckFacts {
        AckFacts { ack, ..AckFacts::silent() }
    }

    #[test]
    fn an_ack_of_something_sent_after_the_probe_shows_that_it_repaired_a_loss() {
        assert_eq!(AGAIN.verdict(&ack(6000), false), ProbeOutcome::EndedRepaired);
        assert_eq!(AGAIN.verdict(&ack(6000), true), ProbeOutcome::Ended, "both copies came");
        let new = TailProbe { again: false, ..AGAIN };
        assert_eq!(new.verdict(&ack(6000), false), ProbeOutcome::Ended);
    }

    #[test]
    fn the_ack_of_the_probe_itself_leaves_it_open_and_a_mere_duplicate_ends_it() {
        let advances = AckFacts { advances: true, carries: true, ..ack(5000) };
        assert_eq!(AGAIN.verdict(&advances, false), ProbeOutcome::Continues);
        assert_eq!(AGAIN.verdict(&ack(5000), false), ProbeOutcome::Ended);
        assert_eq!(AGAIN.verdict(&AckFacts { reports: true, ..ack(5000) }, false), ProbeOutcome::Continues);
        assert_eq!(AGAIN.verdict(&ack(4999), false), ProbeOutcome::Continues);
        assert_eq!(TailProbe::default().verdict(&ack(6000), false), ProbeOutcome::Continues);
    }
}
