//! Tail loss probe: after two round trips of silence the last segment is retransmitted, or a new one sent, so that
//! the ACK shows losses.
//!
//! Source: RFC 8985 §7.

use super::facts::AckFacts;

/// The tail loss probe that is due or in flight.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TailProbe {
    /// SND.NXT after the probe in flight [RFC 8985 §7.1, TLP.end_seq]
    pub high: Option<u64>,
    /// the probe was old data
    pub again: bool,
    /// the timer has requested one
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
    /// True if the probe ends at `offset`.
    pub fn ends_at(&self, offset: u64) -> bool {
        self.high == Some(offset)
    }
}

/// The answer of an ACK to the probe in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProbeOutcome {
    Continues,
    /// it was new data, or both copies arrived, or no more can be learned
    Ended,
    /// the probe itself has repaired a loss
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Old data, retransmitted when 5000 was to be sent next.
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
