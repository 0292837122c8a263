//! Quantiles of durations in little memory.

use lasthop_units::Duration;

/// Buckets per factor of two: a relative error of at most 1/32.
const STEPS: u64 = 16;
/// End of the first bucket, in nanoseconds.
const UNIT_NS: u64 = 1 << 10;

/// Probabilities of reported quantiles: closer at the ends, where latency is felt.
pub const PROBABILITIES: [f64; 25] = [
    0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9,
    0.95, 0.98, 0.99, 0.995, 0.999,
];

/// Counts durations in buckets of constant relative width.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    counts: Vec<u32>,
    total: u64,
    sum_ns: u128,
}

/// A bucket, and the number of durations below it.
#[derive(Default)]
struct Place {
    bucket: usize,
    below: f64,
}

fn bucket(ns: u64) -> usize {
    let units = ns / UNIT_NS;
    if units < STEPS {
        return units as usize;
    }
    let octave = u64::from(units.ilog2() - STEPS.ilog2());
    ((octave + 1) * STEPS + (units >> octave) - STEPS) as usize
}

/// Lower edge of a bucket in nanoseconds.
fn edge(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < STEPS {
        return bucket * UNIT_NS;
    }
    let octave = bucket / STEPS - 1;
    ((bucket % STEPS + STEPS) << octave) * UNIT_NS
}

impl Histogram {
    /// Counts a duration.
    #[inline]
    pub fn add(&mut self, duration: Duration) {
        let index = bucket(duration.as_nanos());
        if self.counts.len() <= index {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += 1;
        self.total += 1;
        self.sum_ns += u128::from(duration.as_nanos());
    }

    /// Adds the durations that another one has counted.
    pub fn join(&mut self, other: &Histogram) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        self.total += other.total;
        self.sum_ns += other.sum_ns;
    }

    /// The number counted.
    pub fn count(&self) -> u64 {
        self.total
    }

    /// The mean, exact; `None` if nothing was counted.
    pub fn mean_s(&self) -> Option<f64> {
        (self.total > 0).then(|| self.sum_ns as f64 / self.total as f64 / 1e9)
    }

    /// The `q`-quantile in seconds, interpolated within its bucket; `None` if nothing was counted.
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        if self.total == 0 {
            return None;
        }
        Some(self.pass(q, &mut Place::default()))
    }

    /// Goes on from a place up to the bucket of the `q`-quantile, which is at or after it, and returns the quantile in seconds.
    fn pass(&self, q: f64, place: &mut Place) -> f64 {
        let target = q * self.total as f64;
        while let Some(&count) = self.counts.get(place.bucket) {
            let count = f64::from(count);
            if count > 0.0 && place.below + count >= target {
                let (low, high) = (edge(place.bucket) as f64, edge(place.bucket + 1) as f64);
                return (low + (high - low) * ((target - place.below) / count).clamp(0.0, 1.0)) / 1e9;
            }
            place.below += count;
            place.bucket += 1;
        }
        edge(self.counts.len()) as f64 / 1e9
    }

    /// The quantiles at [`PROBABILITIES`] in seconds, in whole nanoseconds; `None` if nothing was counted.
    pub fn quantiles_s(&self) -> Option<Vec<f64>> {
        if self.total == 0 {
            return None;
        }
        let mut place = Place::default();
        Some(PROBABILITIES.iter().map(|&p| (self.pass(p, &mut place) * 1e9).round() / 1e9).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_contiguous_and_hold_their_edges() {
        for b in 0..400 {
            assert_eq!(bucket(edge(b)), b);
            assert_eq!(bucket(edge(b + 1) - 1), b);
        }
    }

    #[test]
    fn quantiles_are_within_the_width_of_a_bucket() {
        let mut histogram = Histogram::default();
        for us in 1..=10_000 {
            histogram.add(Duration::from_micros(us));
        }
        for (q, expected) in [(0.5, 0.005), (0.95, 0.0095), (0.01, 0.0001)] {
            let got = histogram.quantile_s(q).unwrap();
            assert!((got / expected - 1.0).abs() < 0.02, "{q}: {got}");
        }
        assert_eq!(histogram.mean_s(), Some(0.005_000_5));
        assert_eq!(Histogram::default().quantile_s(0.5), None);
    }

    #[test]
    fn listed_quantiles_rise_in_whole_nanoseconds() {
        assert_eq!(Histogram::default().quantiles_s(), None);
        let mut histogram = Histogram::default();
        for us in [700, 900, 900, 40_000] {
            histogram.add(Duration::from_micros(us));
        }
        let quantiles = histogram.quantiles_s().unwrap();
        assert_eq!(quantiles.len(), PROBABILITIES.len());
        assert!(quantiles.is_sorted());
        assert!(quantiles.iter().all(|q| format!("{q}").len() <= "0.123456789".len()), "{quantiles:?}");
        let each = PROBABILITIES.map(|p| (histogram.quantile_s(p).unwrap() * 1e9).round() / 1e9);
        assert_eq!(quantiles, each);
        // 40 ms are in the bucket from 19 · 2^11 units of 1.024 us on: 39.85 ms, 1/16 wide.
        assert!((0.039..0.042).contains(&quantiles[24]), "{quantiles:?}");
    }
}
