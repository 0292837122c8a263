//! The largest value of the last ten round trips, from three samples.
//!
//! Source: the running maximum of Nichols, as Linux has it: the best, the second and the third best, each newer than the
//! one before, so that the best is replaced when it has grown too old.

/// Round trips that a sample counts for: a cycle of eight, and two.
const LENGTH: u32 = 10;

#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    round: u32,
    value: u32,
}

/// A maximum over a window of round trips.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowedMax {
    best: [Sample; 3],
}

impl WindowedMax {
    pub fn get(&self) -> u32 {
        self.best[0].value
    }

    pub fn update(&mut self, round: u32, value: u32) {
        let new = Sample { round, value };
        if value >= self.best[0].value || round - self.best[2].round > LENGTH {
            self.best = [new; 3];
            return;
        }
        if value >= self.best[1].value {
            self.best = [self.best[0], new, new];
        } else if value >= self.best[2].value {
            self.best[2] = new;
        }
        self.age(new);
    }

    fn age(&mut self, new: Sample) {
        let age = new.round - self.best[0].round;
        if age > LENGTH {
            self.drop_best(new);
            if new.round - self.best[0].round > LENGTH {
                self.drop_best(new);
            }
        } else if self.best[1].round == self.best[0].round && age > LENGTH / 4 {
            // A quarter of the window without a second best from it: this one.
            self.best = [self.best[0], new, new];
        } else if self.best[2].round == self.best[1].round && age > LENGTH / 2 {
            self.best[2] = new;
        }
    }

    fn drop_best(&mut self, new: Sample) {
        self.best = [self.best[1], self.best[2], new];
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
        assert_eq!(max.get(), 20);
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
}
