//! Moving averages of a rate's success probability, and of the aggregates' length.

use core::f64::consts::{PI, SQRT_2};
use std::sync::LazyLock;

/// A low pass of second order with a period of 16 windows:
/// ```text
/// p(n) = (1 - c1 - c2) s(n) + c1 p(n-1) + c2 p(n-2) ,    a = exp(-pi sqrt(2) / 16) ,
/// c1 = 2 a cos(2 pi sqrt(2) / 16) = 5273 / 4096 ,        c2 = -a^2 = -2350 / 4096 .
///
/// s(n): share of the MPDUs of window n that arrived;  p(n): the probability after it
/// ```
/// `c1` is rounded to the nearest 4096th and `a^2` down. The kernel documents this formula, with twice the angle of the
/// textbook's filter, `pi sqrt(2) / 16`, with which `c1` would be 5968 / 4096.
#[derive(Clone, Copy, Debug)]
struct Filter {
    /// `c1`
    last: f64,
    /// `c2`
    before: f64,
}

static FILTER: LazyLock<Filter> = LazyLock::new(|| {
    let period = 16.0;
    let angle = PI * SQRT_2 / period;
    let decay = libm::exp(-angle);
    let last = libm::round(4096.0 * 2.0 * decay * libm::cos(2.0 * angle));
    let before = libm::floor(4096.0 * decay * decay);
    Filter { last: last / 4096.0, before: -before / 4096.0 }
});

impl Filter {
    /// The next output for an input.
    fn output(self, input: f64, average: Average) -> f64 {
        (1.0 - self.last - self.before) * input + self.last * average.last + self.before * average.before
    }
}

/// The smallest probability, distinct from the absence of any history.
const TRACE: f64 = 1.0 / 4096.0;

/// Share of the past in the moving average of the aggregates' length: EWMA_LEVEL.
const EWMA: f64 = 0.75;

/// One step of an exponential moving average.
pub(super) fn ewma(old: f64, new: f64) -> f64 {
    EWMA * old + (1.0 - EWMA) * new
}

/// A filtered probability, and the output before it; 0: none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Average {
    /// `p(n)`
    last: f64,
    /// `p(n-1)`
    before: f64,
}

impl Average {
    pub fn value(&self) -> f64 {
        self.last
    }
    /// Adds the share of a window.
    pub fn add(&mut self, share: f64) {
        let share = share.max(TRACE);
        if self.last == 0.0 {
            *self = Average { last: share, before: share };
        } else {
            let filtered = FILTER.output(share, *self);
            *self = Average { last: filtered.clamp(TRACE, 1.0), before: self.last };
        }
    }
    /// Assumes at least this probability for a rate that has not been tried.
    pub fn presume(&mut self, probability: f64) {
        self.last = self.last.max(probability);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coefficients_are_those_of_the_documented_formula_in_4096ths() {
        assert_eq!((4096.0 * FILTER.last, 4096.0 * FILTER.before), (5273.0, -2350.0));
    }

    #[test]
    fn the_first_window_is_taken_as_it_is_and_later_ones_are_filtered() {
        let mut average = Average::default();
        average.add(0.5);
        assert_eq!(average.value(), 0.5);
        average.add(1.0);
        // 0.2864 * 1 + (1.2874 - 0.5737) * 0.5
        assert!((average.value() - 0.6432).abs() < 1e-4, "{}", average.value());
        average.add(1.0);
        // 0.2864 + 1.2874 * 0.6432 - 0.5737 * 0.5
        assert!((average.value() - 0.8276).abs() < 1e-4, "{}", average.value());
    }

    #[test]
    fn a_step_is_through_after_four_windows_and_overshoots_by_a_fifth() {
        let mut average = Average::default();
        average.add(0.2);
        let mut step = || {
            average.add(0.8);
            average.value()
        };
        let steps: Vec<f64> = (0..24).map(|_| step()).collect();
        // The poles a exp(+-i 0.5554), a = 0.7575: damping 0.447, so an overshoot of
        // exp(-pi 0.447 / sqrt(1 - 0.447^2)) = 0.208 of the step in continuous time.
        assert!(steps[2] < 0.8 && steps[3] > 0.8, "{steps:?}");
        let peak = steps.iter().copied().fold(0.0, f64::max);
        assert!((peak - (0.8 + 0.208 * 0.6)).abs() < 0.01, "{peak}");
        assert!((steps[23] - 0.8).abs() < 0.002, "{}", steps[23]);
    }

    #[test]
    fn averages_stay_probabilities_and_nothing_is_not_no_history() {
        let mut average = Average::default();
        average.add(0.0);
        assert_eq!(average.value(), TRACE);
        for share in [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0] {
            average.add(share);
            assert!((TRACE..=1.0).contains(&average.value()));
        }
    }
}
