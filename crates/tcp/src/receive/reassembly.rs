//! Reassembly: the data held out of order, and its SACK blocks.

use crate::ranges::{Range, RangeSet};
use crate::segment::{SackBlock, SackBlocks};
use crate::sequence::Numbering;

/// Blocks that are remembered for SACK. [RFC 2018 §3]
const REMEMBERED: usize = 4;

/// The new part of a range, and the part held before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub is_new: bool,
    /// the first part that was there already
    pub duplicate: Option<Range>,
}

/// The next offset, and the ranges held beyond it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reassembly {
    next: u64,
    held: RangeSet,
    /// starts of ranges in `held`, the last changed first
    recent: [u64; REMEMBERED],
    recent_count: usize,
}

impl Reassembly {
    pub fn starting_at(next: u64) -> Self {
        Reassembly { next, ..Reassembly::default() }
    }
    /// The next offset in order.
    pub fn next(&self) -> u64 {
        self.next
    }
    /// True if something is held beyond the next offset.
    pub fn has_gap(&self) -> bool {
        !self.held.is_empty()
    }

    /// Right edge of the highest range held.
    pub fn highest(&self) -> Option<u64> {
        self.held.last().map(|range| range.end)
    }
    /// The part of the first range held below `end`.
    pub fn held_below(&self, end: u64) -> Option<Range> {
        let first = self.held.first().filter(|first| first.start < end)?;
        Some(Range { start: first.start, end: first.end.min(end) })
    }

    /// Holds a range that is not next.
    pub fn hold(&mut self, start: u64, end: u64) -> Held {
        let mut held = Held { is_new: false, duplicate: None };
        let mut covered = start;
        let mut note = |from: u64, to: u64| {
            if from < to && held.duplicate.is_none() {
                held.duplicate = Some(Range { start: from, end: to });
            }
        };
        let mut is_new = false;
        let merged = self.held.insert(Range { start, end }, |gap| {
            is_new = true;
            note(covered, gap.start);
            covered = gap.end;
        });
        note(covered, end);
        held.is_new = is_new;
        self.remember(merged);
        held
    }

    /// Puts `merged` first and drops the ranges that became part of it.
    fn remember(&mut self, merged: Range) {
        let old = self.recent;
        let others = old[..self.recent_count].iter().filter(|start| **start < merged.start || **start >= merged.end);
        self.recent[0] = merged.start;
        self.recent_count = 1;
        for start in others.take(REMEMBERED - 1) {
            self.recent[self.recent_count] = *start;
            self.recent_count += 1;
        }
    }

    /// Moves the next offset to `end`, and beyond the ranges that follow on it.
    pub fn advance(&mut self, end: u64) {
        self.next = end;
        if self.held.is_empty() {
            return;
        }
        while let Some(first) = self.held.first().filter(|first| first.start <= self.next) {
            self.next = self.next.max(first.end);
            self.held.remove_below(self.next);
        }
        self.forget_below_next();
    }

    fn forget_below_next(&mut self) {
        let old = self.recent;
        let count = self.recent_count;
        self.recent_count = 0;
        for start in old[..count].iter().filter(|start| **start >= self.next) {
            self.recent[self.recent_count] = *start;
            self.recent_count += 1;
        }
    }

    /// Number of blocks that [`blocks`](Self::blocks) has.
    pub fn block_count(&self) -> usize {
        self.recent_count
    }

    /// The blocks that changed last, newest first. [RFC 2018 §4]
    pub fn blocks(&self, most: usize, numbering: Numbering) -> SackBlocks {
        let mut blocks = SackBlocks::NONE;
        for start in &self.recent[..self.recent_count.min(most)] {
            if let Some(range) = self.held.containing(*start) {
                blocks.push(SackBlock { left: numbering.number(range.start), right: numbering.number(range.end) });
            }
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(reassembly: &Reassembly) -> Vec<(u32, u32)> {
        let blocks = reassembly.blocks(3, Numbering::default());
        blocks.as_slice().iter().map(|b| (b.left.0, b.right.0)).collect()
    }

    #[test]
    fn the_block_of_the_newest_segment_comes_first() {
        let mut reassembly = Reassembly::starting_at(0);
        for start in [10, 30, 50, 70, 90] {
            reassembly.hold(start, start + 10);
        }
        assert_eq!(blocks(&reassembly), [(90, 100), (70, 80), (50, 60)]);
        reassembly.hold(20, 30);
        assert_eq!(blocks(&reassembly), [(10, 40), (90, 100), (70, 80)]);
    }

    #[test]
    fn filling_the_gap_delivers_later_data() {
        let mut reassembly = Reassembly::starting_at(0);
        reassembly.hold(10, 20);
        reassembly.hold(30, 40);
        reassembly.advance(10);
        assert_eq!(reassembly.next(), 20);
        assert_eq!(blocks(&reassembly), [(30, 40)]);
        reassembly.advance(35);
        assert_eq!(reassembly.next(), 40);
        assert!(!reassembly.has_gap());
    }

    #[test]
    fn data_held_already_is_not_new() {
        let mut reassembly = Reassembly::starting_at(0);
        let mut hold = |start, end| {
            let held = reassembly.hold(start, end);
            (held.is_new, held.duplicate.map(|twice| (twice.start, twice.end)))
        };
        assert_eq!(hold(10, 20), (true, None));
        assert_eq!(hold(12, 18), (false, Some((12, 18))));
        assert_eq!(hold(15, 25), (true, Some((15, 20))));
        assert_eq!(hold(5, 30), (true, Some((10, 25))));
    }
}
