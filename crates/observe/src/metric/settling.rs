//! The time for which the goodput of all flows had not settled after the warm-up: whether the warm-up was long enough.
//!
//! The rule is MSER-5 [White, Cobb, Spratt 2000]: from the goodput over time, in batches of five observations, it
//! leaves out as many at the start as minimise the standard error of the rest. A minimum always exists, and on steady
//! data it is often not at zero. So it counts only if it is plain: the mean before differs from the mean after by at
//! least five standard errors, and leaving it out changes the goodput of the window by 1 %. The standard errors come
//! from means of long blocks, since neighbours in a series are correlated.
//!
//! Several runs together can show what is chance in one: the goodput in each 32nd of the window is given as well.
//!
//! An observation covers 1/320 to 1/640 of the window: bins begin at 10 ms and are joined in pairs as they become many.

use lasthop_units::{Duration, Time};

use crate::metric::Metric;
use crate::{Layout, Places, Record, Report};

crate::quantities! {
    /// Time after the warm-up in which the goodput of all flows had clearly not settled, see below. 0 if it had, `null`
    /// in windows under 2 s.
    UNSETTLED: Totals, f64, Summary => "unsettled_s", Amount, Seconds, "unsettled";
    /// The goodput of all flows in each of 32 equal parts of the window. `null` in windows under 0.32 s.
    GOODPUT_PARTS: Totals, Vec<f64>, Summary => "goodput_parts_bps", List, BitsPerSecond, "goodput by parts of the window";
}

const FIRST_WIDTH: Duration = Duration::from_millis(10);
const MOST_BINS: usize = 640;
/// Observations per batch.
const BATCH: usize = 5;
/// With fewer batches there is no verdict: a window of less than 2 s.
const LEAST_BATCHES: usize = 40;
/// Number of long blocks, for the standard error of a mean.
const BLOCKS: usize = 8;
/// Parts of the window that are reported.
const PARTS: usize = 32;
const PLAIN_STANDARD_ERRORS: f64 = 5.0;
const PLAIN_EFFECT: f64 = 0.01;

/// Goodput of all flows in equal parts of the window, and how much of it had not settled.
#[derive(Clone)]
pub struct Settling {
    started: Time,
    width: Duration,
    /// bytes delivered in each whole bin
    bins: Vec<u64>,
    /// bytes in the bin that ends at `end`
    filling: u64,
    end: Time,
}

impl Settling {
    fn at(now: Time) -> Self {
        let end = now + FIRST_WIDTH;
        Settling { started: now, width: FIRST_WIDTH, bins: Vec::with_capacity(MOST_BINS), filling: 0, end }
    }

    #[cold]
    fn close_bins(&mut self, now: Time) {
        while now >= self.end {
            self.bins.push(std::mem::take(&mut self.filling));
            if self.bins.len() == MOST_BINS {
                self.bins = self.bins.chunks(2).map(|pair| pair.iter().sum()).collect();
                self.width = self.width + self.width;
            }
            self.end += self.width;
        }
    }

    /// Bytes up to `at`, with those of a bin spread evenly.
    fn bytes_until(&self, at: Time, now: Time) -> f64 {
        let since = at.since(self.started);
        let whole = (since.div_floor(self.width) as usize).min(self.bins.len());
        let begins = self.started + self.width.saturating_mul(whole as u64);
        let (bytes, lasts) = match self.bins.get(whole) {
            Some(&bytes) => (bytes, self.width),
            None => (self.filling, now.since(begins)),
        };
        let share = at.since(begins).as_secs_f64() / lasts.as_secs_f64().max(f64::MIN_POSITIVE);
        self.bins[..whole].iter().sum::<u64>() as f64 + bytes as f64 * share
    }

    fn parts_bps(&self, now: Time, covered: Duration) -> Vec<f64> {
        let edge = |part: usize| self.started + covered.saturating_mul(part as u64) / PARTS as u64;
        let bytes = |part: usize| self.bytes_until(edge(part), now);
        let length = covered.as_secs_f64() / PARTS as f64;
        (0..PARTS).map(|part| (bytes(part + 1) - bytes(part)).max(0.0) * 8.0 / length).collect()
    }

    /// Bytes of whole batches.
    fn batches(&self) -> Vec<f64> {
        self.bins.chunks_exact(BATCH).map(|bins| bins.iter().sum::<u64>() as f64).collect()
    }
}

impl Metric for Settling {
    fn new(_: &Layout) -> Self {
        Settling::at(Time::ZERO)
    }

    #[inline(always)]
    fn observe(&mut self, at: Time, record: &Record) {
        if let Record::Delivered { bytes, .. } = *record {
            if at >= self.end {
                self.close_bins(at);
            }
            self.filling += bytes;
        }
    }

    fn start(&mut self, now: Time) {
        *self = Settling::at(now);
    }

    fn join(&mut self, part: &Self, _: &Places, now: Time) {
        let mut part = part.clone();
        // Bins end at the same times in all parts.
        self.close_bins(now);
        part.close_bins(now);
        self.bins.iter_mut().zip(part.bins).for_each(|(own, bytes)| *own += bytes);
        self.filling += part.filling;
    }

    fn report(&mut self, now: Time, covered: Duration, report: &mut Report) {
        self.close_bins(now);
        let unsettled = unsettled_batches(&self.batches());
        let batch_s = self.width.as_secs_f64() * BATCH as f64;
        report.totals.put(UNSETTLED, unsettled.map(|batches| batches as f64 * batch_s));
        let is_long_enough = covered >= FIRST_WIDTH.saturating_mul(PARTS as u64);
        report.totals.put(GOODPUT_PARTS, is_long_enough.then(|| self.parts_bps(now, covered)));
    }
}

/// The number of batches at the start that plainly differ from the rest; none if there are too few.
fn unsettled_batches(batches: &[f64]) -> Option<usize> {
    if batches.len() < LEAST_BATCHES {
        return None;
    }
    let (before, after) = batches.split_at(truncation(batches));
    Some(if is_plain(before, after) { before.len() } else { 0 })
}

/// MSER's truncation point: the least d that minimises Σ(y - mean)² / (n - d)² over the n - d remaining batches.
///
/// Only the first half is considered, since means of few batches are random.
fn truncation(batches: &[f64]) -> usize {
    let most = batches.len() / 2;
    let (mut mean, mut squares) = (0.0, 0.0);
    let (mut best, mut least) = (0, f64::INFINITY);
    for (d, y) in batches.iter().enumerate().rev() {
        let n = (batches.len() - d) as f64;
        let gap = y - mean;
        mean += gap / n;
        squares += gap * (y - mean);
        if d <= most && squares / (n * n) <= least {
            (best, least) = (d, squares / (n * n));
        }
    }
    best
}

fn is_plain(before: &[f64], after: &[f64]) -> bool {
    if before.is_empty() {
        return false;
    }
    let (early, late) = (mean(before), mean(after));
    let share = before.len() as f64 / (before.len() + after.len()) as f64;
    let block = after.len() / BLOCKS;
    let long = variance_of_means(after, block) * block as f64;
    // If the start is short, blocks of its length show what is usual, such as a sawtooth.
    let short = if before.len() < block { variance_of_means(after, before.len()) } else { 0.0 };
    let variance = short.max(long / before.len() as f64) + long / after.len() as f64;
    (early - late).abs() * share > PLAIN_EFFECT * late
        && (early - late) * (early - late) > PLAIN_STANDARD_ERRORS * PLAIN_STANDARD_ERRORS * variance
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Variance of the means of consecutive blocks, counted from the end.
fn variance_of_means(values: &[f64], block: usize) -> f64 {
    let means: Vec<f64> = values.rchunks_exact(block).map(mean).collect();
    let centre = mean(&means);
    means.iter().map(|m| (m - centre) * (m - centre)).sum::<f64>() / (means.len() - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uniform in -1/2..1/2 [Steele, Lea, Flood 2014: SplitMix64].
    fn noise(seed: u64) -> impl Iterator<Item = f64> {
        (1..).map(move |i: u64| {
            let mut z = seed.wrapping_mul(0xD1B5_4A32_D192_ED03).wrapping_add(i.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            (z ^ (z >> 31)) as f64 / u64::MAX as f64 - 0.5
        })
    }

    /// A first-order autoregression about 1 with standard deviation 0.1 and correlation `phi` from batch to batch.
    fn steady(seed: u64, phi: f64) -> Vec<f64> {
        let mut noise = noise(seed);
        let mut step = || noise.next().unwrap_or_default() * 12f64.sqrt();
        let mut x = step();
        let values = (0..96).map(|_| {
            x = phi * x + (1.0 - phi * phi).sqrt() * step();
            1.0 + 0.1 * x
        });
        values.collect()
    }

    fn share_found(make: impl Fn(u64) -> Vec<f64>) -> f64 {
        let found = (0..2000).filter(|&seed| unsettled_batches(&make(seed)).is_some_and(|d| d > 0));
        found.count() as f64 / 2000.0
    }

    #[test]
    fn steady_noise_is_rarely_taken_for_a_transient() {
        // Per run; a warning needs the same from most runs of a result. One run cannot tell a correlation over a tenth
        // of the window (0.9) from a transient.
        for (phi, most) in [(0.0, 0.002), (0.5, 0.01), (0.8, 0.06), (0.9, 0.18)] {
            let rate = share_found(|seed| steady(seed, phi));
            assert!(rate <= most, "{rate} of steady runs with correlation {phi}");
        }
    }

    #[test]
    fn a_slow_start_a_late_flow_and_a_fall_are_found() {
        let shaped = |shape: fn(usize) -> f64| {
            move |seed| steady(seed, 0.5).into_iter().enumerate().map(|(i, y)| y * shape(i)).collect::<Vec<_>>()
        };
        assert!(share_found(shaped(|i| if i < 5 { 0.1 } else { 1.0 })) > 0.95);
        assert!(share_found(shaped(|i| if i < 40 { 0.5 } else { 1.0 })) > 0.95);
        assert!(share_found(shaped(|i| 0.2 + 80.0 / (100 + i * i) as f64)) > 0.95);
    }

    #[test]
    fn truncation_is_where_a_step_is() {
        let mut batches = vec![3.0; 10];
        batches.extend([1.0, 1.1, 0.9].repeat(20));
        assert_eq!(truncation(&batches), 10);
        assert_eq!(unsettled_batches(&batches), Some(10));
    }

    #[test]
    fn a_step_that_hardly_changes_the_mean_is_none() {
        // One batch of 64 is 30 % lower: 0.3 / 64 = 0.5 % of the mean.
        let mut batches = vec![0.7];
        batches.extend(vec![1.0; 63]);
        assert_eq!(truncation(&batches), 1);
        assert_eq!(unsettled_batches(&batches), Some(0));
    }

    #[test]
    fn a_sawtooth_has_settled() {
        let batches: Vec<f64> = (0..96).map(|i| 1.0 + f64::from(i % 12) / 12.0).collect();
        assert_eq!(unsettled_batches(&batches), Some(0));
    }

    #[test]
    fn silence_and_short_windows_give_no_value() {
        assert_eq!(unsettled_batches(&[0.0; 64]), Some(0));
        assert_eq!(unsettled_batches(&[1.0; LEAST_BATCHES - 1]), None);
    }

    #[test]
    fn bins_are_joined_and_nothing_is_lost() {
        let mut settling = Settling::at(Time::from_nanos(7));
        let record = Record::Delivered { flow: crate::FlowId(0), bytes: 3 };
        for second in 0..100 {
            settling.observe(Time::from_nanos(7 + second * 1_000_000_000), &record);
        }
        settling.close_bins(Time::from_nanos(7) + Duration::from_secs(100));
        // 100 s / 10 ms = 10,000 bins; joined in pairs at 6.4, 12.8, 25.6 and 51.2 s: 160 ms.
        assert_eq!(settling.width, Duration::from_millis(160));
        assert_eq!(settling.bins.iter().sum::<u64>() + settling.filling, 300);
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        let started = Time::from_nanos(7);
        let mut settling = Settling::at(started);
        // 1 MB/s for the first half of 10.01 s, 3 MB/s for the second.
        for ms in 0..10_010 {
            let bytes = if ms < 5_005 { 1_000 } else { 3_000 };
            let record = Record::Delivered { flow: crate::FlowId(0), bytes };
            settling.observe(started + Duration::from_millis(ms), &record);
        }
        let covered = Duration::from_millis(10_010);
        settling.close_bins(started + covered);
        let parts = settling.parts_bps(started + covered, covered);
        assert_eq!(parts.len(), PARTS);
        assert!((mean(&parts) - 16e6).abs() < 1.0, "{}", mean(&parts));
        assert!(parts[..15].iter().all(|rate| (rate - 8e6).abs() < 0.1e6), "{parts:?}");
        assert!(parts[17..].iter().all(|rate| (rate - 24e6).abs() < 0.1e6), "{parts:?}");
    }
}
