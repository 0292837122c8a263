//! The decision table: the row that applies to an ACK, and its effects.
//!
//! Pure: [`transition`] is stage 1 and [`sequel`] stage 3 of `docs/model/tcp-recovery.md` §5, row by row under the same
//! names; losses are looked for in between. `apply` carries both out. The law is the page's; it rests on RFC 6675 §5,
//! RFC 6582 §3.2, RFC 5682, RFC 4015, and recordings.

use super::Permission;
use super::facts::AckFacts;
use super::forward_rto::{Answer, Span, Step};
use super::spurious::UndoProof;
use lasthop_units::CaState;

/// The rows of stage 1 by phase (O: Open and Disorder, C: Cwr, R: Recovery, L: Loss); the first whose condition holds
/// applies. `una` is SND.UNA and `nxt` SND.NXT [RFC 9293 §3.3.1], `high` the RecoveryPoint [RFC 6675 §2]. *Hold*: no SACK
/// and `una = high`, so that the end waits for one more ACK [RFC 6582 §3.2].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// the last reduction, which is over, was spurious by DSACKs: undo [RFC 3708 §3, RFC 4015 §3]
    O1,
    /// nothing to repair
    O2,
    /// `una > high`: the reduction for a mark has taken its round trip [RFC 3168 §6.1.2]
    C1,
    /// it goes on
    C2,
    /// `una >= high`, spurious by time or by copies, hold: undo, and wait [RFC 3522 §3.2, RFC 3708 §3]
    R1,
    /// `una >= high`, spurious by time or by copies: undo, and open
    R2,
    /// `una >= high`, hold: wait [RFC 6582 §3.2]
    R3,
    /// `una >= high`: the recovery is over [RFC 6675 §5]
    R4,
    /// `una` advances and the hole was late, not lost, but another retransmission is in flight: wait [RFC 3522 §3.2]
    R5,
    /// the same with none in flight: undo, and take back the marks of loss [RFC 4015 §3]
    R6,
    /// each retransmission was reported as a duplicate: undo [RFC 3708 §3]
    R7,
    /// a partial ACK, a report or a duplicate: repair goes on, lost data first [RFC 6675 §5 (C), RFC 6582 §3.2]
    R8,
    /// `una` advances, spurious by time or by copies: undo the timeout [RFC 4015 §3]
    L1,
    /// F-RTO: an original arrived, so the timeout was spurious [RFC 5682 §3.1 (3b)]
    L2,
    /// `una >= high`: all data sent before the timeout has arrived
    L3,
    /// F-RTO, first step: `una` advances, and new data is sent to test the path [RFC 5682 §3.1 (2b)]
    L4,
    /// retransmission in slow start goes on [RFC 5681 §3.1]
    L5,
}

/// The state of the sender when an ACK is judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    /// Open, Disorder, Cwr, Recovery or Loss
    pub phase: CaState,
    /// `una`, `nxt` and `high` after this ACK
    pub span: Span,
    /// both ends use SACK [RFC 2018 §2]
    pub sack: bool,
    /// a retransmission is in flight: sent again, neither reported nor found lost
    pub resent_is_out: bool,
    /// unsent data waits, and the peer's window has room for it
    pub has_more: bool,
    /// whether the reduction was spurious, by time [RFC 3522 §3.2] and by copies [RFC 3708 §3]
    pub verdict: UndoProof,
    /// progress of F-RTO since the timeout [RFC 5682 §3.1]
    pub forward_rto: Step,
}

impl Standing {
    /// True if all data in flight when the reduction began is acknowledged. [RFC 6675 §5]
    fn is_over(&self) -> bool {
        self.span.una >= self.span.high
    }

    /// Without SACK the end waits for one more ACK: retransmissions may cause duplicates. [RFC 6582 §3.2]
    fn is_on_hold(&self) -> bool {
        !self.sack && self.span.una == self.span.high
    }
}

/// The phase after the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Same,
    /// nothing is being repaired
    Open,
    /// Disorder if a segment arrived out of order, is lost or was retransmitted; else Open
    Resting,
}

/// The effect on the reduction of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Window {
    /// it goes on, by PRR in Cwr and Recovery [RFC 6937 §3]
    Keep,
    /// it is complete: the window is ssthresh [RFC 6937 §3]
    End,
    /// the reduction is undone [RFC 4015 §3]
    Undo,
}

/// Change of the time for which RACK is more patient. [RFC 8985 §6.2 step 4]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    Same,
    /// for one recovery more, as a DSACK has shown that it was too short
    Longer,
    /// a recovery has ended, of the 16 for which a wider window lasts
    Shorter,
}

/// Change of the time of the first retransmission of an episode, Eifel's RetransmitTS. [RFC 3522 §3.2]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstCopy {
    Keep,
    Forget,
    /// unless a retransmission is still in flight
    ForgetIfDone,
}

/// Change of the number of duplicate ACKs that represent arrived segments; with SACK there are none. [RFC 5681 §3.2]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Duplicates {
    pub clear: bool,
    /// then this ACK counts as one
    pub count: bool,
}

/// Whether stage 2 looks for losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    Done,
    Search,
    /// the duplicates change between two searches
    SearchTwice,
}

/// The effects of a row: the right-hand side of the table. A value that it does not name stays.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transition {
    /// the row that applied
    pub row: Row,
    /// the phase after it
    pub next: Next,
    /// the reduction goes on, ends, or is undone
    pub window: Window,
    /// the hole was late, not lost: packets are reordered by at least its distance, which raises the degree
    pub was_late: bool,
    /// marks of loss are removed from the scoreboard
    pub nothing_is_lost: bool,
    /// the number of timeouts in a row is 0 again
    pub ends_timeouts: bool,
    /// F-RTO is off until another timeout
    pub ends_forward_rto: bool,
    /// recoveries for which RACK's window stays wider [RFC 8985 §6.2 step 4]
    pub patience: Patience,
    /// the time with which a later echo is compared [RFC 3522 §3.2]
    pub first_copy: FirstCopy,
    /// duplicates without SACK [RFC 5681 §3.2]
    pub duplicates: Duplicates,
    /// data that may be sent until the next ACK or timer: NextSeg, or new data first [RFC 6675 §4, RFC 5682 §3.1 (2b)]
    pub permission: Permission,
    /// whether losses are looked for now
    pub then: Then,
}

/// Stage 1: decides whether the reduction was spurious, and whether it is over.
pub(super) fn transition(standing: &Standing, facts: &AckFacts) -> Transition {
    match standing.phase {
        CaState::Open | CaState::Disorder => at_rest(standing, facts),
        CaState::Cwr => in_cwr(standing, facts),
        CaState::Recovery => in_recovery(standing, facts),
        CaState::Loss => in_loss(standing, facts),
    }
}

fn stay(row: Row) -> Transition {
    Transition {
        row,
        next: Next::Same,
        window: Window::Keep,
        was_late: false,
        nothing_is_lost: false,
        ends_timeouts: false,
        ends_forward_rto: false,
        patience: Patience::Same,
        first_copy: FirstCopy::Keep,
        duplicates: Duplicates::default(),
        permission: Permission::NewOnly,
        then: Then::Search,
    }
}

/// Outside repair an ACK that advances leaves no duplicate behind.
fn renewed(standing: &Standing, facts: &AckFacts) -> Duplicates {
    Duplicates { clear: !standing.sack && facts.advances, count: counts(standing, facts) }
}

fn counts(standing: &Standing, facts: &AckFacts) -> bool {
    !standing.sack && facts.is_duplicate()
}

fn at_rest(standing: &Standing, facts: &AckFacts) -> Transition {
    let is_open = standing.phase == CaState::Open;
    let same = Transition {
        first_copy: if is_open { FirstCopy::Forget } else { FirstCopy::Keep },
        duplicates: renewed(standing, facts),
        ..stay(Row::O2)
    };
    if standing.verdict.by_copies {
        return Transition { row: Row::O1, window: Window::Undo, patience: Patience::Longer, ..same };
    }
    same
}

/// Cwr lasts until data sent since is acknowledged, so that it takes a round trip even if nothing is sent.
fn in_cwr(standing: &Standing, facts: &AckFacts) -> Transition {
    let duplicates = renewed(standing, facts);
    if standing.span.una > standing.span.high {
        return Transition { next: Next::Open, window: Window::End, duplicates, ..stay(Row::C1) };
    }
    Transition { duplicates, ..stay(Row::C2) }
}

fn in_recovery(standing: &Standing, facts: &AckFacts) -> Transition {
    let verdict = standing.verdict;
    if standing.is_over() {
        return after_recovery(standing, facts);
    }
    if facts.advances && verdict.by_time {
        return by_late_arrival(standing);
    }
    if verdict.by_copies {
        return Transition {
            next: Next::Resting,
            window: Window::Undo,
            patience: Patience::Longer,
            first_copy: FirstCopy::ForgetIfDone,
            ..stay(Row::R7)
        };
    }
    let duplicates = Duplicates { clear: false, count: counts(standing, facts) };
    Transition { duplicates, permission: Permission::LostFirst, ..stay(Row::R8) }
}

fn after_recovery(standing: &Standing, facts: &AckFacts) -> Transition {
    let undoes = standing.verdict.by_evidence();
    let patience = if undoes { Patience::Same } else { Patience::Shorter };
    if standing.is_on_hold() {
        return Transition {
            window: if undoes { Window::Undo } else { Window::Keep },
            patience,
            first_copy: FirstCopy::ForgetIfDone,
            duplicates: Duplicates { clear: true, count: false },
            then: Then::Done,
            ..stay(if undoes { Row::R1 } else { Row::R3 })
        };
    }
    Transition {
        next: Next::Open,
        window: if undoes { Window::Undo } else { Window::End },
        patience,
        duplicates: Duplicates { clear: true, count: counts(standing, facts) },
        ..stay(if undoes { Row::R2 } else { Row::R4 })
    }
}

/// The hole is filled by its first copy. Nothing is undone while other retransmissions are in flight, whose answers
/// would look like new reordering.
fn by_late_arrival(standing: &Standing) -> Transition {
    let late = Transition { was_late: true, then: Then::Done, ..stay(Row::R5) };
    if standing.resent_is_out {
        return late;
    }
    Transition {
        row: Row::R6,
        next: Next::Resting,
        window: Window::Undo,
        nothing_is_lost: true,
        first_copy: FirstCopy::ForgetIfDone,
        ..late
    }
}

fn in_loss(standing: &Standing, facts: &AckFacts) -> Transition {
    let by_evidence = standing.verdict.by_evidence();
    let answer = standing.forward_rto.hear(facts, &standing.span, standing.has_more);
    if facts.advances && by_evidence {
        return for_nothing(Row::L1, standing, facts, standing.sack);
    }
    if answer == Answer::Spurious {
        return for_nothing(Row::L2, standing, facts, !standing.is_on_hold());
    }
    let ends_forward_rto = answer == Answer::GivenUp;
    if standing.is_over() {
        let (window, patience) =
            if by_evidence { (Window::Undo, Patience::Same) } else { (Window::Keep, Patience::Shorter) };
        let over = Transition { window, patience, ends_forward_rto, ..stay(Row::L3) };
        return opened(over, standing, facts, !standing.is_on_hold());
    }
    if answer == Answer::AskWithNewData {
        return Transition { permission: Permission::NewFirst, ..stay(Row::L4) };
    }
    // Duplicates of retransmitted data do not count; those of new data do.
    let count = counts(standing, facts) && standing.span.nxt > standing.span.high;
    Transition {
        ends_forward_rto,
        duplicates: Duplicates { clear: false, count },
        permission: Permission::LostFirst,
        ..stay(Row::L5)
    }
}

/// The timeout was spurious.
fn for_nothing(row: Row, standing: &Standing, facts: &AckFacts, opens: bool) -> Transition {
    let undone = Transition { window: Window::Undo, nothing_is_lost: true, ends_timeouts: true, ..stay(row) };
    opened(undone, standing, facts, opens)
}

/// Ends Loss, unless it waits for one more ACK.
fn opened(transition: Transition, standing: &Standing, facts: &AckFacts, opens: bool) -> Transition {
    if !opens {
        let first_copy = if standing.is_on_hold() { FirstCopy::ForgetIfDone } else { FirstCopy::Keep };
        return Transition { first_copy, ..transition };
    }
    let then = if standing.sack { Then::Search } else { Then::SearchTwice };
    Transition { next: Next::Open, duplicates: renewed(standing, facts), then, ..transition }
}

/// The decision of stage 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sequel {
    Nothing,
    /// Recovery begins
    Repair,
    /// marks are answered, and the phase follows the board
    Rest,
}

/// The findings of the search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// a segment counts as lost: by RACK, by the count of reports, or as the oldest without SACK [RFC 8985 §6.2, RFC 6675 §4,
    /// RFC 6582 §3.2]
    pub something_is_lost: bool,
    /// a retransmission was found lost
    pub resent_is_lost: bool,
}

/// Stage 3: `phase` is the present one, `row` that of stage 1, if an ACK is the occasion.
pub(super) fn sequel(phase: CaState, found: &Found, row: Option<Row>) -> Sequel {
    match phase {
        CaState::Recovery => Sequel::Nothing,
        CaState::Loss if found.resent_is_lost => Sequel::Repair,
        CaState::Loss => Sequel::Nothing,
        _ if found.something_is_lost => Sequel::Repair,
        // The reduction that the mark concerns has just been undone.
        _ if row == Some(Row::R7) => Sequel::Nothing,
        _ => Sequel::Rest,
    }
}

#[cfg(test)]
mod tests;
