//! F-RTO: new data tests whether a timeout was spurious. [RFC 5682]
//!
//! ```text
//!   timeout        new data goes out
//!  ─────────► First ───────────────► Second ── still a hole ──► Off
//!               │ an original comes    │ an original comes
//!               └───────► spurious ◄───┘
//! ```
//! The steps are told apart by the data sent, not by memory. The same rules apply with SACK and without [RFC 5682 §2.1,
//! §3.1]. Recorded, and not in the RFC: repeated timeouts arm it, one within fast recovery does not; an original may
//! come at the first step; a duplicate at the first step does not end it; as much new data leaves as the window allows.

use super::facts::AckFacts;

/// Progress of F-RTO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Step {
    /// it has been given up, or was never tried
    #[default]
    Off,
    /// no new data has been sent since the timeout
    First,
    /// new data is in flight
    Second,
}

/// Conclusion from an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// the timeout was spurious [RFC 5682 §3.1 (3b)]
    Spurious,
    /// new data leaves instead of old [RFC 5682 §3.1 (2b)]
    AskWithNewData,
    /// F-RTO ends: the timeout was right, or there is no data for the test
    GivenUp,
    Nothing,
}

/// The present sequence numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub una: u64,
    pub nxt: u64,
    /// SND.NXT at the timeout
    pub high: u64,
}

impl Step {
    pub fn of(is_armed: bool, span: &Span) -> Step {
        match is_armed {
            false => Step::Off,
            true if span.nxt > span.high => Step::Second,
            true => Step::First,
        }
    }

    /// Takes in an ACK; `more`: new data could leave.
    pub fn hear(self, facts: &AckFacts, span: &Span, more: bool) -> Answer {
        let is_partial = facts.advances && span.una < span.high;
        match self {
            Step::Off => Answer::Nothing,
            _ if facts.has_originals(span.high) => Answer::Spurious,
            Step::First if is_partial && more => Answer::AskWithNewData,
            Step::First if is_partial => Answer::GivenUp,
            Step::Second if facts.reports || facts.is_duplicate() => Answer::GivenUp,
            Step::First | Step::Second => Answer::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Span = Span { una: 2000, nxt: 9000, high: 9000 };
    const SECOND: Span = Span { una: 2000, nxt: 10_000, high: 9000 };

    fn hear(span: Span, facts: AckFacts, more: bool) -> Answer {
        Step::of(true, &span).hear(&facts, &span, more)
    }

    #[test]
    fn step_is_the_data_sent_so_far() {
        assert_eq!(Step::of(false, &SECOND), Step::Off);
        assert_eq!(Step::of(true, &FIRST), Step::First);
        assert_eq!(Step::of(true, &SECOND), Step::Second);
    }

    #[test]
    fn an_original_from_before_the_timeout_is_an_answer_at_either_step() {
        let late = AckFacts { advances: true, original_end: Some(9000), ..AckFacts::silent() };
        let new = AckFacts { reports: true, original_end: Some(9001), ..AckFacts::silent() };
        assert_eq!(hear(FIRST, late, true), Answer::Spurious);
        assert_eq!(hear(SECOND, late, true), Answer::Spurious);
        assert_eq!(hear(SECOND, new, true), Answer::GivenUp, "new data arrived and old did not");
    }

    #[test]
    fn the_first_partial_ack_asks_with_new_data_if_there_is_any() {
        let partial = AckFacts { advances: true, carries: true, ..AckFacts::silent() };
        assert_eq!(hear(FIRST, partial, true), Answer::AskWithNewData);
        assert_eq!(hear(FIRST, partial, false), Answer::GivenUp);
        assert_eq!(hear(Span { una: 9000, ..FIRST }, partial, true), Answer::Nothing);
        assert_eq!(hear(SECOND, partial, true), Answer::Nothing);
    }

    #[test]
    fn a_duplicate_ends_it_only_once_new_data_is_out() {
        assert_eq!(hear(FIRST, AckFacts::silent(), true), Answer::Nothing);
        assert_eq!(hear(SECOND, AckFacts::silent(), true), Answer::GivenUp);
        assert_eq!(hear(SECOND, AckFacts { repeats: true, ..AckFacts::silent() }, true), Answer::Nothing);
    }
}
