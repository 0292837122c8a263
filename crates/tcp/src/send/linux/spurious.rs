//! Detection of spurious reductions: the facts that must be remembered, and the evidence.
//!
//! By time: the ACK answers data sent before the first retransmission [RFC 3522 §3.2]. By copies: all retransmitted
//! data has arrived twice [RFC 3708 §3]. `transition` has the consequences; the third detector is `forward_rto`.

use lasthop_units::Time;

use crate::congestion_control::Prior;

/// Facts that are remembered so that a reduction can be undone.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Claim {
    /// SND.UNA when a recovery or timeout began that reduced; `None`: nothing to undo
    pub since: Option<u64>,
    /// retransmissions that no DSACK has answered; `None`: not known
    pub copies: Option<u32>,
    /// window and ssthresh to restore
    pub prior: Option<Prior>,
    /// time of the first retransmission
    pub first_copy: Option<Time>,
}

/// Evidence against the reduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UndoProof {
    pub by_time: bool,
    pub by_copies: bool,
}

impl UndoProof {
    pub fn by_evidence(self) -> bool {
        self.by_time || self.by_copies
    }
}

impl Claim {
    /// Begins a claim at a reduction, with so many copies in the network.
    pub fn stake(&mut self, una: u64, copies: u32) {
        self.since = Some(una);
        self.copies = Some(copies).filter(|&copies| copies > 0);
    }

    /// Notes a retransmission that is not a probe.
    pub fn note_copy(&mut self, now: Time) {
        self.copies = Some(self.copies.unwrap_or(0) + 1);
        self.first_copy = self.first_copy.or(Some(now));
    }

    /// Takes in a DSACK of so many segments that ends at `end`. [RFC 3708 §3]
    pub fn hear_of_copies(&mut self, end: u64, segments: u32) {
        if self.since.is_some_and(|since| end > since) {
            self.copies = self.copies.map(|copies| copies.saturating_sub(segments));
        }
    }

    /// The evidence of an ACK whose timestamp is that of data sent before `echo`. A retransmission sent at that very
    /// time has not caused it. [RFC 3522 §3.2, RFC 3708 §3]
    pub(super) fn verdict(&self, echo: Time) -> UndoProof {
        let stands = self.since.is_some();
        UndoProof {
            by_time: stands && self.first_copy.is_some_and(|first| first >= echo),
            by_copies: stands && self.copies == Some(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use lasthop_units::Duration;

    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    fn staked() -> Claim {
        let mut claim = Claim::default();
        claim.stake(1000, 0);
        claim
    }

    #[test]
    fn an_echo_from_before_the_first_retransmission_speaks_for_all_of_them() {
        let mut claim = staked();
        claim.note_copy(at(50));
        claim.note_copy(at(90));
        assert!(claim.verdict(at(50)).by_time, "equality counts");
        assert!(!claim.verdict(at(51)).by_time);
        assert!(!claim.verdict(Time::NEVER).by_time, "no timestamps");
    }

    #[test]
    fn copies_must_be_known_and_all_be_answered() {
        let mut claim = staked();
        assert!(!claim.verdict(Time::NEVER).by_copies, "not known is not none");
        claim.note_copy(at(50));
        claim.note_copy(at(60));
        claim.hear_of_copies(1000, 1);
        assert_eq!(claim.copies, Some(2), "it ends where the claim begins");
        claim.hear_of_copies(2000, 1);
        assert!(!claim.verdict(Time::NEVER).by_copies);
        claim.hear_of_copies(3000, 2);
        assert!(claim.verdict(Time::NEVER).by_copies);
    }

    #[test]
    fn without_a_claim_nothing_is_taken_back() {
        let mut claim = staked();
        claim.note_copy(at(50));
        claim.hear_of_copies(2000, 1);
        claim.since = None;
        assert_eq!(claim.verdict(at(50)), UndoProof::default());
    }
}
