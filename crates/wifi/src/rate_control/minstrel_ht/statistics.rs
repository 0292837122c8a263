//! Evaluation of a window's counts: averages, throughputs, and the rates for frames.

use super::group::{Group, Rate};

/// A rate below this probability has no throughput.
const HOPELESS: f64 = 0.10;
/// Probabilities above this count as this, so that collisions do not reorder rates.
const CAP: f64 = 0.90;
/// Among rates more probable than this the faster one counts as the most probable.
const PROBABLE: f64 = 0.75;

/// Averages the results of the rates of a group, and computes their throughputs with an `overhead` in ns. A rate never
/// tried is presumed as good as the best of the faster ones.
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

/// The rates for frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranking {
    /// The four best throughputs: `A` to `D` of `rc_stats`.
    pub best: Best,
    /// The last entry of a chain, `P` of `rc_stats`: the highest probability, or, of those above 75 %, the best throughput.
    pub probable: usize,
    /// Substitutes for rates that are not known: the slowest with aggregates, and the slowest of all.
    base: usize,
    legacy_base: usize,
}

impl Ranking {
    pub fn new(base: usize, legacy_base: usize) -> Ranking {
        Ranking { best: [base; 4], probable: base, base, legacy_base }
    }

    /// Updates the ranking.
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
        // Rates without aggregates enter only if the fastest of them beats all others.
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
                // A rate that is faster than the best and less probable is no fallback.
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

    /// Takes the most probable rate from groups with fewer streams than the best one's, if any works.
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

/// Inserts rate `i` by throughput, then by probability.
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
