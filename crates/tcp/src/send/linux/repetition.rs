//! The effects of a DSACK. [RFC 2883, RFC 3708]

use super::super::Sender;
use super::dsack::{Dsack, Repetition};

impl Sender {
    /// Counts duplicates. Where there are more of them than retransmissions the network makes copies, which do not
    /// concern the sender. [RFC 3708 §3]
    pub(super) fn take_dsack(&mut self, dsack: &Dsack) -> Repetition {
        let Dsack { range, answers_copy } = *dsack;
        let segments = dsack.segments(self.mss);
        self.linux.dsacks += segments;
        if u64::from(self.linux.dsacks) > self.retransmissions {
            return Repetition::default();
        }
        if answers_copy {
            self.linux.claim.hear_of_copies(range.end, segments);
        }
        // The copies have left the network too.
        self.linux.rate.delivered += u64::from(segments);
        let of_probe = self.linux.probe.ends_at(range.end);
        // [RFC 8985 §6.2 step 4]
        self.linux.rack.dsack_seen |= !of_probe && self.linux.reordering_seen > 0;
        let twice = self.board.at(range.start).filter(|segment| segment.reported && segment.retransmitted);
        Repetition { of_probe, in_vain: twice.map(|segment| segment.start) }
    }
}
