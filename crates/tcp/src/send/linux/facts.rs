//! What one ACK says, as the decision table asks for it.
//!
//! Facts are taken once the scoreboard has been told; nothing here is a conclusion, and nothing changes afterwards.

use lasthop_units::Time;

use super::super::arriving::Acknowledgement;
use super::super::scoreboard::Delivered;
use super::dsack::Dsack;

/// What one ACK says: the columns of the decision table.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckFacts {
    pub now: Time,
    /// what was sent from then on carries a later timestamp than the one echoed
    pub echo: Time,
    pub ack: u64,
    /// SND.UNA as it was before
    pub prior_una: u64,
    /// the number is above SND.UNA
    pub advances: bool,
    /// a block says of some segment for the first time that it arrived
    pub reports: bool,
    /// there is payload, SYN or FIN, another size of the window, or a whole segment acknowledged
    pub carries: bool,
    /// the first block is a DSACK
    pub repeats: bool,
    /// packets were marked
    pub marked: bool,
    /// where the lowest segment ends that is delivered now and was sent once, as far as that is certain
    pub original_end: Option<u64>,
}

/// What the facts of an ACK are taken from, beside the ACK itself.
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
        // Without SACK nothing tells which of the two copies came.
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

    /// Nothing is out: only a DSACK still tells something.
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

    /// A duplicate ACK, of which one without SACK makes use. [RFC 5681 §2]
    pub fn is_duplicate(&self) -> bool {
        !self.advances && !self.carries && !self.repeats
    }

    /// It says nothing but that data arrived in order, or that the peer goes on.
    pub fn is_plain_progress(&self) -> bool {
        self.carries && !self.reports && !self.marked && !self.repeats
    }

    /// It delivers what was out at `high` and was sent once.
    pub fn has_originals(&self, high: u64) -> bool {
        self.original_end.is_some_and(|end| end <= high)
    }
}

#[cfg(test)]
impl AckFacts {
    /// Of an ACK that says nothing but the number once more.
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
