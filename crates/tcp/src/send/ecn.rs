//! The sender's answer to marks.
//!
//! Data that is sent for the first time may be marked, nothing else [RFC 3168 §6.1.4, §6.1.5]. Marks shrink the window
//! once in a window of data, and the next new data says so by CWR [RFC 3168 §6.1.2]. A loss counts as well.
//! With accurate feedback CWR has no such meaning, and the ACE field tells how many packets were marked [RFC 9768
//! §3.2.2.5.2]; it wraps at 8, so that an ACK of more segments than that is read as the largest number of marks that
//! fits: the safe reading of [RFC 9768 §A.2.1].

use lasthop_units::Ecn;

use super::{Phase, Sender};
use crate::congestion_control::CongestionCause;
use crate::ecn::{Feedback, ace, handshake_code};
use crate::segment::Flags;

/// Where the counter of marked packets begins. [RFC 9768 §3.2.1]
const FIRST_COUNT: u8 = 5;
/// The ACE field wraps here.
const WRAP: u32 = 8;

/// What the sender knows of marks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    feedback: Feedback,
    /// the ECN field of new data
    codepoint: Ecn,
    /// that of data sent again
    codepoint_again: Ecn,
    /// the ACE field seen last
    count: u8,
    /// the peer's answer to the own SYN+ACK is to come, whose ACE field is no count
    awaits_handshake: bool,
    /// the next new data says that the window shrank
    owes_cwr: bool,
    /// marks of data before this offset were answered
    answered_below: u64,
}

impl Marks {
    /// Segments that were marked, of `segments` newly delivered.
    fn read(&mut self, flags: Flags, segments: u32) -> u32 {
        if flags.contains(Flags::SYN) {
            return 0;
        }
        if core::mem::take(&mut self.awaits_handshake) {
            // The SYN+ACK arrived with a mark. [RFC 9768 §3.2.2.1, table 4]
            self.count = FIRST_COUNT + u8::from(ace(flags) == handshake_code(Ecn::Ce));
            return 0;
        }
        match self.feedback {
            Feedback::Off => 0,
            Feedback::Classic if flags.contains(Flags::ECE) => segments.max(1),
            Feedback::Classic => 0,
            Feedback::Accurate => {
                let seen = core::mem::replace(&mut self.count, ace(flags));
                let least = u32::from(ace(flags).wrapping_sub(seen) & 0b111);
                if segments < WRAP { least } else { segments - (segments - least) % WRAP }
            }
        }
    }
}

impl Sender {
    /// What the SYNs have settled; `is_passive` if the peer's came first.
    pub fn negotiate_ecn(&mut self, feedback: Feedback, is_passive: bool) {
        let needs = self.needs();
        let codepoint = match feedback {
            Feedback::Off => Ecn::NotEct,
            _ if needs.is_scalable => Ecn::Ect1,
            _ => Ecn::Ect0,
        };
        let codepoint_again = if needs.lives_on_marks() { codepoint } else { Ecn::NotEct };
        let awaits_handshake = is_passive && feedback == Feedback::Accurate;
        self.marks =
            Marks { feedback, codepoint, codepoint_again, count: FIRST_COUNT, awaits_handshake, ..Marks::default() };
    }

    /// The ECN field and flags of data that goes out. What is sent again is not ECN-capable [RFC 3168 §6.1.5], but with a
    /// controller that lives on marks it is, as in Linux: a queue that marks all the others would drop it again and again.
    pub fn mark_data(&mut self, is_new: bool) -> (Ecn, Flags) {
        if !is_new {
            return (self.marks.codepoint_again, Flags::NONE);
        }
        let owes = core::mem::take(&mut self.marks.owes_cwr);
        (self.marks.codepoint, if owes { Flags::CWR } else { Flags::NONE })
    }

    /// The window shrinks, whatever for: the peer is to be told. [RFC 3168 §6.1.2]
    pub(super) fn queue_cwr(&mut self) {
        self.marks.owes_cwr = self.marks.feedback == Feedback::Classic;
        self.marks.answered_below = self.board.nxt();
    }

    /// Reads what an ACK of `segments` newly delivered says of marks: how many of them were.
    pub(super) fn read_marks(&mut self, flags: Flags, segments: u32) -> u32 {
        self.marks.read(flags, segments)
    }

    /// Marks arrived with an ACK of all below `ack`: once in a window of data the window shrinks. [RFC 3168 §6.1.2]
    pub(super) fn answer_marks(&mut self, now: lasthop_units::Time, marked: u32, ack: u64) {
        let is_new = marked > 0 && ack > self.marks.answered_below;
        if !is_new || self.recovery.phase != Phase::Open {
            return;
        }
        let event = self.congestion_event(now, CongestionCause::Ecn);
        self.control.on_congestion(&event);
        // The window has fallen at once: there is nothing to wait for.
        self.control.on_recovery_exit(&self.moment(now));
        self.queue_cwr();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ecn::with_ace;

    #[test]
    fn the_counter_is_read_modulo_eight_and_safely_beyond() {
        let mut marks = Marks { feedback: Feedback::Accurate, count: 5, ..Marks::default() };
        assert_eq!(marks.read(with_ace(5), 4), 0);
        assert_eq!(marks.read(with_ace(0), 4), 3);
        // One mark, or nine: of ten segments, nine may have been marked.
        assert_eq!(marks.read(with_ace(1), 10), 9);
    }

    #[test]
    fn a_classic_echo_counts_what_the_ack_delivers() {
        let mut marks = Marks { feedback: Feedback::Classic, ..Marks::default() };
        assert_eq!(marks.read(Flags::ACK | Flags::ECE, 2), 2);
        assert_eq!(marks.read(Flags::ACK, 2), 0);
    }
}
