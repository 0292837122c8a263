//! A set of byte ranges, sorted and disjoint: data that a receiver holds out of order, and the
//! sender's view of it.

use std::collections::VecDeque;

/// From `start` up to, not including, `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub start: u64,
    pub end: u64,
}

/// Disjoint ranges that do not touch, in ascending order.
#[derive(Clone, Debug, Default)]
pub(crate) struct RangeSet(VecDeque<Range>);

impl RangeSet {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub fn clear(&mut self) {
        self.0.clear();
    }
    pub fn first(&self) -> Option<Range> {
        self.0.front().copied()
    }
    pub fn last(&self) -> Option<Range> {
        self.0.back().copied()
    }

    /// Index of the first range that ends at or after `offset`.
    fn touching(&self, offset: u64) -> usize {
        match self.0.back() {
            Some(last) if last.start <= offset => self.0.len() - usize::from(last.end >= offset),
            _ => self.0.partition_point(|r| r.end < offset),
        }
    }

    /// The range that contains `offset`.
    pub fn containing(&self, offset: u64) -> Option<Range> {
        let index = self.touching(offset);
        let range = |i: usize| self.0.get(i).copied().filter(|r| r.start <= offset && offset < r.end);
        range(index).or_else(|| range(index + 1))
    }

    /// Adds a range; calls `on_gap` for each part that was not there before, in order, and returns
    /// the range that now contains it.
    pub fn insert(&mut self, new: Range, mut on_gap: impl FnMut(Range)) -> Range {
        debug_assert!(new.start < new.end, "an empty range");
        let first = self.touching(new.start);
        let mut merged = new;
        let mut covered = new.start;
        let mut after = first;
        while let Some(old) = self.0.get(after).copied().filter(|old| old.start <= new.end) {
            if covered < old.start {
                on_gap(Range { start: covered, end: old.start });
            }
            covered = covered.max(old.end);
            merged = Range { start: merged.start.min(old.start), end: merged.end.max(old.end) };
            after += 1;
        }
        if covered < new.end {
            on_gap(Range { start: covered, end: new.end });
        }
        self.replace(first, after, merged);
        merged
    }

    /// Puts `merged` in the place of the ranges `first..after`.
    fn replace(&mut self, first: usize, after: usize, merged: Range) {
        if first == after {
            self.0.insert(first, merged);
        } else {
            self.0[first] = merged;
            if after - first > 1 {
                self.0.drain(first + 1..after);
            }
        }
    }

    /// Removes all below `offset`.
    pub fn remove_below(&mut self, offset: u64) {
        while let Some(front) = self.0.front_mut() {
            if front.end > offset {
                front.start = front.start.max(offset);
                break;
            }
            self.0.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range(start: u64, end: u64) -> Range {
        Range { start, end }
    }

    #[test]
    fn touching_ranges_become_one() {
        let mut set = RangeSet::default();
        set.insert(range(10, 20), |_| ());
        set.insert(range(30, 40), |_| ());
        let mut gaps = Vec::new();
        assert_eq!(set.insert(range(15, 30), |g| gaps.push(g)), range(10, 40));
        assert_eq!(gaps, [range(20, 30)]);
        assert_eq!(set.0, [range(10, 40)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn a_set_of_ranges_is_a_set_of_bytes(steps in proptest::collection::vec((0u64..60, 1u64..12, 0u8..8), 1..60)) {
            let mut set = RangeSet::default();
            let mut twin = [false; 80];
            for (start, length, kind) in steps {
                if kind == 0 {
                    set.remove_below(start);
                    twin[..start as usize].fill(false);
                } else {
                    let mut gaps = [false; 80];
                    let merged = set.insert(range(start, start + length), |g| gaps[g.start as usize..g.end as usize].fill(true));
                    for byte in start..start + length {
                        prop_assert_eq!(gaps[byte as usize], !twin[byte as usize]);
                        twin[byte as usize] = true;
                    }
                    prop_assert_eq!(set.containing(start), Some(merged));
                }
                for byte in 0..80 {
                    prop_assert_eq!(set.containing(byte).is_some(), twin[byte as usize], "byte {} in {:?}", byte, set);
                }
                prop_assert!(set.0.iter().zip(set.0.iter().skip(1)).all(|(a, b)| a.end < b.start));
            }
        }
    }
}
