//! Ranges of a stream that have been seen.

/// Limit on islands beyond the contiguous part; the rest is forgotten, and counts as never seen.
const MOST_ISLANDS: usize = 256;

/// The seen part of a stream: all before `next`, and islands after it.
#[derive(Clone, Debug)]
pub(crate) struct Ranges {
    next: u64,
    /// sorted, separate from one another and from `next`
    islands: Vec<(u64, u64)>,
}

impl Ranges {
    /// All before `next` is seen.
    pub(crate) fn from(next: u64) -> Ranges {
        Ranges { next, islands: Vec::new() }
    }

    /// The first unseen byte.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// The end of all seen bytes.
    pub(crate) fn end(&self) -> u64 {
        self.islands.last().map_or(self.next, |island| island.1)
    }

    /// Whether any byte of `from..to` is seen.
    pub(crate) fn touches(&self, from: u64, to: u64) -> bool {
        from < self.next || self.islands.iter().any(|&(start, end)| from < end && start < to)
    }

    /// Unseen bytes between the contiguous part and `to`.
    pub(crate) fn missing_before(&self, to: u64) -> u64 {
        let held: u64 = self.islands.iter().map(|&(start, end)| end.min(to).saturating_sub(start.min(to))).sum();
        to.saturating_sub(self.next).saturating_sub(held)
    }

    /// Adds `from..to`.
    pub(crate) fn add(&mut self, from: u64, to: u64) {
        if from <= self.next {
            return self.fill(to);
        }
        let first = self.islands.partition_point(|island| island.1 < from);
        let last = self.islands.partition_point(|island| island.0 <= to);
        let (mut start, mut end) = (from, to);
        if first < last {
            start = start.min(self.islands[first].0);
            end = end.max(self.islands[last - 1].1);
        }
        self.islands.splice(first..last, [(start, end)]);
        if self.islands.len() > MOST_ISLANDS {
            self.islands.remove(0);
        }
    }

    /// Marks all before `to` as seen.
    pub(crate) fn fill(&mut self, to: u64) {
        self.next = self.next.max(to);
        let reached = self.islands.partition_point(|island| island.0 <= self.next);
        if reached > 0 {
            self.next = self.next.max(self.islands[reached - 1].1);
            self.islands.drain(..reached);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_parts_are_those_of_a_plain_list() {
        let mut draw = 9_u64;
        let mut next = move |below: u64| {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (draw >> 33) % below
        };
        for _ in 0..200 {
            let (mut ranges, mut plain) = (Ranges::from(10), vec![false; 130]);
            plain[..10].fill(true);
            for _ in 0..40 {
                let from = next(110) as usize;
                let to = from + 1 + next(15) as usize;
                assert_eq!(ranges.touches(from as u64, to as u64), plain[from..to].contains(&true));
                ranges.add(from as u64, to as u64);
                plain[from..to].fill(true);
                let contiguous = plain.iter().position(|there| !there).unwrap_or(130);
                assert_eq!(ranges.next(), contiguous as u64);
                assert_eq!(ranges.end(), plain.iter().rposition(|there| *there).unwrap() as u64 + 1);
                let missing = plain[contiguous.min(100)..100].iter().filter(|there| !**there).count();
                assert_eq!(ranges.missing_before(100), missing as u64);
            }
        }
    }
}
