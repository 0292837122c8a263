//! The largest value of the last ten round trips.
//!
//! Keeps the values that may yet become the largest: each newer than the one before, and smaller. They come at most
//! once per round trip, so there are eleven at most.

use std::collections::VecDeque;

/// Round trips that a sample counts for: a cycle of eight, and two.
const LENGTH: u32 = 10;

#[derive(Clone, Copy, Debug)]
struct Sample {
    round: u32,
    value: u32,
}

/// A maximum over a window of round trips.
#[derive(Clone, Debug, Default)]
pub(super) struct WindowedMax {
    falling: VecDeque<Sample>,
}

impl WindowedMax {
    /// 0 before the first value.
    pub fn get(&self) -> u32 {
        self.falling.front().map_or(0, |largest| largest.value)
    }

    pub fn update(&mut self, round: u32, value: u32) {
        while self.falling.back().is_some_and(|last| last.value <= value) {
            self.falling.pop_back();
        }
        if self.falling.back().is_none_or(|last| last.round < round) {
            self.falling.push_back(Sample { round, value });
        }
        while self.falling.front().is_some_and(|first| round - first.round > LENGTH) {
            self.falling.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_value_replaces_all() {
        let mut max = WindowedMax::default();
        max.update(1, 10);
        max.update(2, 20);
        assert_eq!((max.get(), max.falling.len()), (20, 1));
    }

    #[test]
    fn a_value_counts_for_ten_round_trips() {
        let mut max = WindowedMax::default();
        max.update(1, 100);
        (2..=11).for_each(|round| max.update(round, 50));
        assert_eq!(max.get(), 100);
        max.update(12, 50);
        assert_eq!(max.get(), 50);
    }

    #[test]
    fn it_is_the_largest_of_the_window_and_keeps_eleven_values_at_most() {
        let samples: Vec<(u32, u32)> = (0..2000).map(|i| (i / 3, (i * 7919 + 13 * (i / 50)) % 1009)).collect();
        let mut max = WindowedMax::default();
        for (i, &(round, value)) in samples.iter().enumerate() {
            max.update(round, value);
            let recent = samples[..=i].iter().filter(|(at, _)| round - at <= LENGTH);
            assert_eq!(Some(max.get()), recent.map(|&(_, value)| value).max());
            assert!(max.falling.len() <= 11);
        }
    }
}
