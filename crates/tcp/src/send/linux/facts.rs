//! The facts of one ACK, in the terms of the decision table.
//!
//! Facts are taken after the scoreboard is updated; nothing here is a conclusion, and nothing changes afterwards.

use lasthop_units::Time;

use super::super::arriving::Acknowledgement;
use super::super::scoreboard::Delivered;
use super::dsack::Dsack;

/// The facts of one ACK: the columns of the decision table.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckFacts {
    pub now: Time,
    /// data sent from then on carries a later timestamp than the one echoed
    pub echo: Time,
    pub ack: u64,
    /// SND.UNA before the ACK
    pub prior_una: u64,
    /// the number is above SND.UNA
    pub advances: bool,
    /// a block reports some segment for the first time
    pub reports: bool,
    /// there is payload, SYN or FIN, another window size, or a whole segment acknowledged
    pub carries: bool,
    /// the first block is a DSACK
    pub repeats: bool,
    /// packets were marked
    pub marked: bool,
    /// end of the lowest segment delivered now that was sent once, as far as that is certain
    pub original_end: Option<u64>,
}

/// The sources of an ACK's facts, beside the ACK itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence<'a> {
    pub delivered: &'a Delivered,
    pub dsack: Option<&'a Dsack>,
    pub prior_una: u64,
    /// segments that the blocks put on the board
    pub reported: u32,
    pub window_changes: bool,
    pub marked: bool,
    pub sack: bool,
}

impl AckFacts {
    pub fn of(ack: &Acknowledgement, from: &Evidence) -> AckFacts {
        // Without SACK it is unknown which of the two copies arrived.
        let is_certain = from.sack || !from.delivered.acked_retransmitted;
        AckFacts {
            advances: ack.ack > from.prior_una,
            reports: from.reported > 0,
            carries: !ack.is_pure || from.window_changes || from.delivered.segments > 0,
            marked: from.marked,
            original_end: from.delivered.original_end.filter(|_| is_certain),
            ..AckFacts::of_dsack(ack, from.prior_una, from.dsack)
        }
    }

    /// The facts of an ACK with nothing in flight: only a DSACK matters.
    pub fn of_dsack(ack: &Acknowledgement, una: u64, dsack: Option<&Dsack>) -> AckFacts {
        AckFacts {
            now: ack.now,
            echo: ack.echo_ends,
            ack: ack.ack,
            prior_una: una,
            advances: false,
            reports: false,
            carries: false,
            repeats: dsack.is_some(),
            marked: false,
            original_end: None,
        }
    }

    /// True for a duplicate ACK that a connection without SACK counts. [RFC 5681 §2]
    pub fn is_duplicate(&self) -> bool {
        !self.advances && !self.carries && !self.repeats
    }

    /// True if it reports only data that arrived in order, or that the peer goes on.
    pub fn is_plain_progress(&self) -> bool {
        self.carries && !self.reports && !self.marked && !self.repeats
    }

    /// True if it delivers data that was in flight at `high` and was sent once.
    pub fn has_originals(&self, high: u64) -> bool {
        self.original_end.is_some_and(|end| end <= high)
    }
}

#[cfg(test)]
impl AckFacts {
    /// The facts of an ACK that only repeats the number.
    pub fn silent() -> AckFacts {
        AckFacts {
            now: Time::ZERO,
            echo: Time::NEVER,
            ack: 0,
            prior_una: 0,
            advances: false,
            reports: false,
            carries: false,
            repeats: false,
            marked: false,
            original_end: None,
        }
    }
}
