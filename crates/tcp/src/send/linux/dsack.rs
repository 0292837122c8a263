//! The SACK block that reports a duplicate. [RFC 2883]

use crate::ranges::Range;

/// A DSACK: the first block of an ACK, if it repeats acknowledged data or data of the second block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dsack {
    pub range: Range,
    /// it can be the answer to a retransmission: all of it was acknowledged, or is reported again
    pub answers_copy: bool,
}

impl Dsack {
    /// Reads it off the well-formed `blocks`, in the order of the option. [RFC 2883 §4]
    pub fn read(blocks: &[Range], ack: u64, una: u64, nxt: u64) -> Option<Dsack> {
        let range = *blocks.first()?;
        let is_below = range.start < ack;
        let is_within = blocks.get(1).is_some_and(|outer| outer.start <= range.start && range.end <= outer.end);
        let is_one = range.end <= nxt && (is_below || is_within);
        is_one.then_some(Dsack { range, answers_copy: is_within || range.end <= una.max(ack) })
    }

    pub fn segments(&self, mss: u32) -> u32 {
        (self.range.end - self.range.start).div_ceil(u64::from(mss)) as u32
    }
}

/// The effects of a DSACK beside the counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Repetition {
    /// it answers the tail probe
    pub of_probe: bool,
    /// start of a segment that was retransmitted although its report was under way
    pub in_vain: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(blocks: &[(u64, u64)]) -> Option<Dsack> {
        let blocks: Vec<Range> = blocks.iter().map(|&(start, end)| Range { start, end }).collect();
        Dsack::read(&blocks, 5000, 5000, 20_000)
    }

    #[test]
    fn the_first_block_is_a_dsack_below_the_acknowledgement_or_within_the_second_block() {
        assert!(read(&[(4000, 5000)]).is_some());
        assert!(read(&[(7000, 8000), (7000, 9000)]).is_some());
        assert_eq!(read(&[(7000, 8000), (8000, 9000)]), None);
        assert_eq!(read(&[(7000, 9000), (7000, 8000)]), None, "the order tells");
        assert_eq!(read(&[(4000, 21_000)]), None, "nothing was sent there");
        assert_eq!(read(&[]), None);
    }

    #[test]
    fn one_that_reaches_beyond_the_acknowledgement_answers_no_copy() {
        assert!(read(&[(4000, 5000)]).unwrap().answers_copy);
        assert!(!read(&[(4000, 6000)]).unwrap().answers_copy);
        assert!(read(&[(4000, 6000), (4000, 7000)]).unwrap().answers_copy);
    }
}
