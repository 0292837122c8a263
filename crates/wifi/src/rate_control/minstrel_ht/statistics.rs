//! What becomes of a window's counts: averages, throughputs, and the rates that frames will have.

use core::f64::consts::{PI, SQRT_2};
use std::sync::LazyLock;

use super::{Group, Rate};

/// A low pass of second order with a period of 16 windows, in 4096ths, the second coefficient rounded down and the first
/// to the nearest: `a = exp(-pi sqrt(2) / 16)`, the last output times `2 a cos(2 pi sqrt(2) / 16)`, the one before it times
/// `-a^2`, the input times what is left to 1. Twice the angle of the textbook's filter, `pi sqrt(2) / 16`, is the kernel's,
/// whose documented formula this is; the textbook's first coefficient would be 5968.
#[derive(Clone, Copy, Debug)]
struct Filter {
    last: f64,
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

/// The least probability that is told from no history at all.
const TRACE: f64 = 1.0 / 4096.0;

/// Share of the past in the moving average of the aggregates' length: EWMA_LEVEL.
const EWMA: f64 = 0.75;

/// A rate below this probability has no throughput.
const HOPELESS: f64 = 0.10;
/// No probability above this counts, lest collisions make rates change places.
const CAP: f64 = 0.90;
/// Among rates more probable than this the faster is taken for the most probable.
const PROBABLE: f64 = 0.75;

/// One step of an exponential moving average.
pub(super) fn ewma(old: f64, new: f64) -> f64 {
    EWMA * old + (1.0 - EWMA) * new
}

/// A filtered probability, and the output before it; 0: none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Average {
    last: f64,
    before: f64,
}

impl Average {
    pub fn value(&self) -> f64 {
        self.last
    }
    /// Takes in the share of a window.
    fn add(&mut self, share: f64) {
        let share = share.max(TRACE);
        if self.last == 0.0 {
            *self = Average { last: share, before: share };
        } else {
            let filtered = FILTER.output(share, *self);
            *self = Average { last: filtered.clamp(TRACE, 1.0), before: self.last };
        }
    }
    /// Is taken to be at least this probable, not having been tried.
    fn presume(&mut self, probability: f64) {
        self.last = self.last.max(probability);
    }
}

/// Averages what the rates of a group did, and reckons their throughputs with an `overhead` in ns.
/// A rate never tried is presumed as good as the best of the faster ones.
pub(super) fn close_window(rates: &mut [Rate], overhead: f64) {
    let mut faster = 0.0;
    for rate in rates.iter_mut().rev() {
        if rate.attempts > 0 {
            rate.average.add(f64::from(rate.successes) / f64::from(rate.attempts));
            rate.known = true;
            (rate.attempts, rate.successes) = (0, 0);
        }
        if rate.known {
            faster = rate.probability().max(faster);
        } else {
            rate.average.presume(faster);
        }
        let probability = rate.probability();
        let hopeless = probability < HOPELESS;
        rate.throughput = if hopeless { 0.0 } else { 1e9 * probability.min(CAP) / (overhead + rate.packet_ns) };
    }
}

/// Rates with the best throughput, best first.
pub(super) type Best = [usize; 4];

/// The rates that frames will have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranking {
    pub best: Best,
    pub probable: usize,
    /// What stands in for rates that are not known: the slowest with aggregates, and the slowest of all.
    base: usize,
    legacy_base: usize,
}

impl Ranking {
    pub fn new(base: usize, legacy_base: usize) -> Ranking {
        Ranking { best: [base; 4], probable: base, base, legacy_base }
    }

    /// Ranks anew.
    pub fn update(&mut self, rates: &[Rate], groups: &mut [Group]) {
        let mixed = groups.iter().any(|g| !g.legacy);
        let (mut best, mut legacy) = ([self.base; 4], [self.legacy_base; 4]);
        for group in groups.iter_mut() {
            let overall = if group.legacy && mixed { &mut legacy } else { &mut best };
            let mut own = [group.first; 4];
            for i in group.places().rev().filter(|&i| rates[i].throughput > 0.0) {
                insert(overall, rates, i);
                insert(&mut own, rates, i);
            }
            group.best = [own[0], own[1]];
        }
        // Rates without aggregates come in only where the fastest of them beats all others.
        if mixed && rates[legacy[0]].throughput > rates[best[0]].throughput {
            legacy.iter().for_each(|&i| insert(&mut best, rates, i));
        }
        self.best = best;
        self.rank_probable(rates, groups);
        self.spare_streams(rates, groups);
    }

    fn rank_probable(&mut self, rates: &[Rate], groups: &mut [Group]) {
        let fastest = &rates[self.best[0]];
        let legacy_may = groups[fastest.group].legacy;
        self.probable = self.base;
        for group in groups {
            group.probable = group.first;
            if group.legacy && !legacy_may {
                continue;
            }
            for i in group.places() {
                let rate = &rates[i];
                // What is faster than the best and less probable is no refuge.
                if rate.packet_ns < fastest.packet_ns && rate.probability() < fastest.probability() {
                    continue;
                }
                for place in [&mut self.probable, &mut group.probable] {
                    let held = &rates[*place];
                    let better = if rate.probability() > PROBABLE {
                        rate.throughput > held.throughput
                    } else {
                        rate.probability() > held.probability()
                    };
                    if better {
                        *place = i;
                    }
                }
            }
        }
    }

    /// The most probable rate is taken from groups with fewer streams than the best one's, if any works.
    fn spare_streams(&mut self, rates: &[Rate], groups: &[Group]) {
        let streams = groups[rates[self.best[0]].group].streams;
        let mut throughput = 0.0;
        for group in groups.iter().filter(|g| g.streams < streams && !g.legacy) {
            if rates[group.probable].throughput > throughput {
                throughput = rates[group.probable].throughput;
                self.probable = group.probable;
            }
        }
    }
}

/// Puts rate `i` in its place by throughput, then by probability.
fn insert(best: &mut Best, rates: &[Rate], i: usize) {
    let is_better_than = |other: usize| {
        let (a, b) = (&rates[i], &rates[other]);
        a.throughput > b.throughput || (a.throughput == b.throughput && a.probability() > b.probability())
    };
    let place = best.iter().rposition(|&other| !is_better_than(other)).map_or(0, |p| p + 1);
    if place < best.len() {
        best[place..].rotate_right(1);
        best[place] = i;
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
