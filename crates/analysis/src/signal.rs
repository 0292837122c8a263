//! How the signal of a link varies in time, as a model of its fading needs it.
//!
//! For power `P` and lag `τ` the correlation is `mean(P(t) P(t + τ)) / mean(P)²`: 1 of a constant signal and at lags beyond the memory of
//! a channel, 2 at short lags of a Rayleigh channel, which has the square of its amplitude's autocorrelation more than 1 [Clarke 1968].
//!
//! A sniffer at neither end has the signal of another channel, which fades by the same law at other times. One sample is taken per
//! millisecond. Left out: single antennas, and times without frames.

use std::collections::VecDeque;

use lasthop_units::{Duration, Time};
use serde_json::{Value as Json, json};

/// Least time between two samples.
const SPACING: Duration = Duration::from_millis(1);
/// Lags in milliseconds; a pair of samples has one if it is no more than a quarter farther apart.
const LAGS_MS: [u64; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/// A sum over pairs of samples.
#[derive(Clone, Copy, Debug, Default)]
struct Pairs {
    count: u64,
    apart: f64,
    product: f64,
}

/// The signal of a link.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signal {
    /// samples within the longest lag: their times, and powers in mW
    recent: VecDeque<(Time, f64)>,
    samples: u64,
    sum: f64,
    squares: f64,
    pairs: [Pairs; LAGS_MS.len()],
}

impl Signal {
    /// Takes the signal of a PPDU.
    pub(crate) fn see(&mut self, at: Time, dbm: i8) {
        // Stamps may be set back.
        if self.recent.back().is_some_and(|(latest, _)| at < *latest + SPACING) {
            return;
        }
        let power = libm::pow(10.0, f64::from(dbm) / 10.0);
        self.samples += 1;
        self.sum += power;
        self.squares += power * power;
        while self.recent.front().is_some_and(|(first, _)| at.since(*first) > longest()) {
            self.recent.pop_front();
        }
        for (pairs, lag) in self.pairs.iter_mut().zip(LAGS_MS) {
            let lag = Duration::from_millis(lag);
            let older = self.recent.partition_point(|(then, _)| at.since(*then) >= lag);
            let Some((then, before)) = older.checked_sub(1).map(|place| self.recent[place]) else { break };
            let apart = at.since(then);
            if apart <= lag + lag / 4 {
                *pairs = Pairs {
                    count: pairs.count + 1,
                    apart: pairs.apart + apart.as_secs_f64(),
                    product: pairs.product + power * before,
                };
            }
        }
        self.recent.push_back((at, power));
    }

    /// Its form in the document; null without samples.
    pub(crate) fn to_json(&self) -> Json {
        if self.samples == 0 {
            return Json::Null;
        }
        let (n, mean) = (self.samples as f64, self.sum / self.samples as f64);
        let correlation = self.pairs.iter().filter(|pairs| pairs.count > 0).map(|pairs| {
            let count = pairs.count as f64;
            json!([pairs.apart / count, pairs.count, pairs.product / count / (mean * mean)])
        });
        json!({
            "samples": self.samples,
            "mean_dbm": 10.0 * libm::log10(mean),
            "variance": (self.squares / n / (mean * mean) - 1.0).max(0.0),
            "correlation": correlation.collect::<Vec<Json>>(),
        })
    }
}

/// The longest time between two samples of a pair.
fn longest() -> Duration {
    let longest = Duration::from_millis(LAGS_MS[LAGS_MS.len() - 1]);
    longest + longest / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(dbm: impl Fn(u64) -> i8) -> Json {
        let mut signal = Signal::default();
        for ms in 0..4000 {
            signal.see(Time::from_nanos(ms * 1_000_000), dbm(ms));
        }
        signal.to_json()
    }

    #[test]
    fn a_constant_signal_has_a_correlation_of_one_at_all_lags() {
        let signal = of(|_| -60);
        assert_eq!((&signal["samples"], signal["variance"].as_f64()), (&json!(4000), Some(0.0)));
        let correlation = signal["correlation"].as_array().unwrap();
        assert_eq!(correlation.len(), LAGS_MS.len());
        assert!(correlation.iter().all(|row| (row[2].as_f64().unwrap() - 1.0).abs() < 1e-9));
        assert_eq!(correlation[3][0].as_f64().map(|lag| (lag * 1e3).round()), Some(8.0));
    }

    #[test]
    fn a_signal_that_alternates_every_64_ms_is_opposite_to_itself_after_64_and_equal_after_128() {
        // Powers p and 10 p: mean 5.5 p; p² and 100 p² in turn at an even lag, 10 p² at an odd one.
        let signal = of(|ms| if ms / 64 % 2 == 0 { -60 } else { -50 });
        let at = |place: usize| signal["correlation"][place][2].as_f64().unwrap();
        assert!((at(6) - 10.0 / 30.25).abs() < 0.02 && (at(7) - 50.5 / 30.25).abs() < 0.02);
    }

    #[test]
    fn a_clock_that_is_set_back_gives_no_pairs() {
        let mut signal = Signal::default();
        assert_eq!(signal.to_json(), Json::Null);
        signal.see(Time::from_nanos(5_000_000_000), -60);
        signal.see(Time::from_nanos(1_000_000), -60);
        assert_eq!(signal.to_json()["correlation"], json!([]));
    }
}
