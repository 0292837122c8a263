//! The sender's count of marks, and the number in an ACK; see `ecn`.

use lasthop_units::Ecn;

use crate::ecn::{Feedback, ace, handshake_code};
use crate::segment::Flags;

/// Start of the counter of marked packets. [RFC 9768 §3.2.1]
pub(super) const FIRST_COUNT: u8 = 5;
/// Value at which the ACE field wraps.
const WRAP: u32 = 8;

/// The sender's knowledge of marks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    pub feedback: Feedback,
    /// the ECN field of new data
    pub codepoint: Ecn,
    /// the ECN field of retransmitted data
    pub codepoint_again: Ecn,
    /// the ACE field seen last
    pub count: u8,
    /// the peer's answer to the own SYN+ACK is to come; its ACE field is not a count
    pub awaits_handshake: bool,
    /// the next new data reports the reduction of the window
    pub owes_cwr: bool,
    /// marks of data before this offset were answered
    pub answered_below: u64,
}

impl Marks {
    /// Segments that were marked, of `segments` newly delivered.
    pub fn read(&mut self, flags: Flags, segments: u32) -> u32 {
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
    fn classic_echo_counts_the_delivered_segments() {
        let mut marks = Marks { feedback: Feedback::Classic, ..Marks::default() };
        assert_eq!(marks.read(Flags::ACK | Flags::ECE, 2), 2);
        assert_eq!(marks.read(Flags::ACK, 2), 0);
    }
}
