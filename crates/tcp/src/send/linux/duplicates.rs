//! Without SACK: the number of segments that arrived above SND.UNA, by duplicate ACKs. [RFC 5681 §3.2, RFC 6582 §3.2]
//!
//! They take the place of reports. The window is not inflated; the flight is less.

use super::super::Sender;
use super::rack::MAX_REORDERING;

/// Meaning of one more duplicate ACK, with so many segments out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    /// one more segment has arrived
    Arrival,
    /// more arrivals than can be lost or late: packets are reordered that far
    Reordering,
    Nothing,
}

/// Reads a duplicate ACK; at least the hole has not arrived.
fn read(duplicates: u32, out: u32, lost: u32) -> Sign {
    match out.saturating_sub(lost.max(1)) {
        most if duplicates < most => Sign::Arrival,
        _ if out > 0 => Sign::Reordering,
        _ => Sign::Nothing,
    }
}

/// Duplicates left after an ACK of `acked` whole segments, and segments that it newly delivers: the one that filled
/// the hole, and those without a duplicate.
fn settle(duplicates: u32, acked: u32) -> (u32, u32) {
    let Some(beyond) = acked.checked_sub(1) else { return (duplicates, 0) };
    (duplicates.saturating_sub(beyond), acked.saturating_sub(duplicates).max(1))
}

impl Sender {
    pub(super) fn count_duplicate(&mut self) {
        let out = self.board.count();
        let linux = &mut self.linux;
        match read(linux.duplicates, out, self.board.lost_segments()) {
            Sign::Arrival => {
                linux.duplicates += 1;
                linux.rate.delivered += 1;
            }
            Sign::Reordering => {
                linux.reordering = linux.reordering.max(out.min(MAX_REORDERING));
                linux.reordering_seen += 1;
            }
            Sign::Nothing => {}
        }
    }

    /// Takes in an ACK of so many whole segments.
    pub(super) fn settle_duplicates(&mut self, acked: u32) {
        let (left, delivered) = settle(self.linux.duplicates, acked);
        self.linux.duplicates = left;
        self.linux.rate.delivered += u64::from(delivered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_duplicates_count_than_segments_that_can_have_arrived() {
        assert_eq!(read(8, 10, 0), Sign::Arrival);
        assert_eq!(read(9, 10, 0), Sign::Reordering, "the hole is one of the ten");
        assert_eq!(read(7, 10, 3), Sign::Reordering);
        assert_eq!(read(0, 0, 0), Sign::Nothing);
    }

    #[test]
    fn ack_takes_the_duplicates_it_covers_except_the_hole() {
        // s_newreno_loss3: three segments with 32 duplicates, then six with 44.
        assert_eq!(settle(32, 3), (30, 1));
        assert_eq!(settle(44, 6), (39, 1));
        assert_eq!(settle(2, 5), (0, 3));
        assert_eq!(settle(2, 0), (2, 0));
    }
}
