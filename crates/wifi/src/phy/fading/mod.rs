//! Fading: variation of received power about its mean at a distance.
//!
//! Block fading: the channel of a pair of nodes has one gain for a coherence time, then another that is independent of
//! it; the blocks of different pairs begin at different times. Both directions of a pair share the gain, and its mean
//! is 1. A gain is drawn from a stream named by pair and block, so it does not depend on the order or time of look-ups.
//! Left out: correlation between blocks and between pairs, selectivity in frequency, diversity of antennas.

mod coherence;

use lasthop_engine::Stream;
use lasthop_registry::registry;
use lasthop_units::{Duration, Time};

registry! {
    /// The choice `fading = "…"`.
    pub enum FadingKind as "fading" {
        /// The received power follows from path loss only.
        none => None: source "—", status "nothing to validate";
        /// Many paths of similar strength, none of them direct.
        rayleigh => Rayleigh: source "Rappaport 2002 §5.6", status "unit tests: moments";
        /// From worse than Rayleigh to almost steady, set by the shape m.
        nakagami => Nakagami: source "Nakagami 1960", status "unit tests: moments";
    }
    planned:
}

/// The gains of all pairs of nodes.
#[derive(Clone, Debug)]
pub struct Fading {
    coherence_time: Duration,
    /// Shape of the gamma distribution; 1 for Rayleigh.
    m: f64,
    /// A seed for each pair of nodes: for (1, 0), (2, 0), (2, 1), …
    seeds: Vec<u64>,
}

impl FadingKind {
    /// Returns whether gains change with time.
    pub fn is_on(&self) -> bool {
        !matches!(self, FadingKind::None(_))
    }

    /// The gains between nodes of these names under `seed`; `None` if there is no fading.
    pub fn build(&self, names: &[&str], seed: u64) -> Option<Fading> {
        let (m, coherence_time) = match self {
            FadingKind::None(_) => return None,
            FadingKind::Rayleigh(params) => (1.0, params.coherence_time),
            FadingKind::Nakagami(params) => (params.m, params.coherence_time),
        };
        let seed_of = |a: &str, b: &str| {
            let (first, second) = if a < b { (a, b) } else { (b, a) };
            Stream::named(seed, "fading", &format!("{first} {second}")).bits()
        };
        let seeds =
            (0..names.len()).flat_map(|b| (0..b).map(move |a| (a, b))).map(|(a, b)| seed_of(names[a], names[b]));
        Some(Fading { coherence_time, m, seeds: seeds.collect() })
    }
}

impl Fading {
    fn seed(&self, a: usize, b: usize) -> u64 {
        let (low, high) = (a.min(b), a.max(b));
        self.seeds[high * (high - 1) / 2 + low]
    }

    /// The block of a pair to which `at` belongs.
    pub fn block(&self, a: usize, b: usize, at: Time) -> u64 {
        let coherence = self.coherence_time.as_nanos();
        (at.as_nanos() + self.seed(a, b) % coherence) / coherence
    }

    /// The gain of a pair in a block, as a ratio of powers.
    pub fn gain(&self, a: usize, b: usize, block: u64) -> f64 {
        gamma(self.m, &mut Stream::new(self.seed(a, b), "block", block)) / self.m
    }
}

/// Exponential with mean 1.
fn exponential(stream: &mut Stream) -> f64 {
    -libm::log1p(-stream.unit())
}

/// Gamma distributed with this shape and scale 1. [Marsaglia, Tsang 2000]
fn gamma(shape: f64, stream: &mut Stream) -> f64 {
    if shape == 1.0 {
        return exponential(stream);
    }
    if shape < 1.0 {
        return gamma(shape + 1.0, stream) * libm::pow(stream.unit(), 1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    loop {
        let x = normal(stream);
        let v = 1.0 + c * x;
        let v = v * v * v;
        if v > 0.0 && libm::log(1.0 - stream.unit()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v;
        }
    }
}

/// Standard normal. [Box, Muller 1958]
fn normal(stream: &mut Stream) -> f64 {
    let radius = libm::sqrt(2.0 * exponential(stream));
    radius * libm::cos(2.0 * core::f64::consts::PI * stream.unit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nakagami(m: f64) -> FadingKind {
        FadingKind::Nakagami(nakagami::Params { m, ..Default::default() })
    }
    fn rayleigh() -> FadingKind {
        FadingKind::Rayleigh(rayleigh::Params::default())
    }
    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn the_mean_gain_is_one_and_its_variance_that_of_the_law() {
        for (kind, variance, below_a_tenth) in [
            // 1 - e^-0.1.
            (rayleigh(), 1.0, 0.09516),
            (nakagami(1.0), 1.0, 0.09516),
            // chi squared with one degree of freedom: erf(sqrt(0.05)).
            (nakagami(0.5), 2.0, 0.24817),
            // 1 - e^-0.3 (1 + 0.3 + 0.045).
            (nakagami(3.0), 1.0 / 3.0, 0.0035995),
        ] {
            let fading = kind.build(&["ap", "sta"], 1).unwrap();
            let n = 200_000;
            let gains: Vec<f64> = (0..n).map(|block| fading.gain(0, 1, block)).collect();
            let mean = gains.iter().sum::<f64>() / n as f64;
            let squares = gains.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>() / n as f64;
            let low = gains.iter().filter(|g| **g < 0.1).count() as f64 / n as f64;
            // Five deviations of the mean: 5 sqrt(v / n); the variance is less certain by its fourth moment, v <= 2: 56 v^2.
            assert!((mean - 1.0).abs() < 5.0 * (variance / n as f64).sqrt(), "{} {mean}", kind.name());
            assert!((squares / variance - 1.0).abs() < 5.0 * (15.0 / n as f64).sqrt(), "{} {squares}", kind.name());
            assert!((low - below_a_tenth).abs() < 5.0 * (below_a_tenth / n as f64).sqrt(), "{} {low}", kind.name());
        }
    }

    #[test]
    fn a_gain_lasts_for_the_coherence_time_and_the_next_has_nothing_to_do_with_it() {
        let fading = rayleigh().build(&["ap", "a", "b"], 1).unwrap();
        let blocks: Vec<u64> = (0..1000).map(|t| fading.block(0, 2, ms(t))).collect();
        assert!(blocks.is_sorted() && blocks[999] - blocks[0] == 20 || blocks[999] - blocks[0] == 19);
        let longest = blocks.chunk_by(|a, b| a == b).map(<[u64]>::len).max();
        assert_eq!(longest, Some(50));
        let n = 50_000;
        let product: f64 = (0..n).map(|k| (fading.gain(0, 1, k) - 1.0) * (fading.gain(0, 1, k + 1) - 1.0)).sum();
        // Deviation of the mean of products: 1 / sqrt(n).
        assert!((product / n as f64).abs() < 5.0 / (n as f64).sqrt());
    }

    #[test]
    fn both_directions_share_a_gain_and_other_pairs_have_their_own() {
        let fading = nakagami(2.0).build(&["ap", "a", "b"], 1).unwrap();
        assert_eq!(fading.gain(0, 2, 7), fading.gain(2, 0, 7));
        assert_eq!(fading.block(0, 2, ms(777)), fading.block(2, 0, ms(777)));
        assert_ne!(fading.gain(0, 1, 7), fading.gain(0, 2, 7));
        // Streams are named by the pair, whatever other nodes there are.
        let other = nakagami(2.0).build(&["b", "x", "ap"], 1).unwrap();
        assert_eq!(other.gain(0, 2, 7), fading.gain(0, 2, 7));
    }

    #[test]
    fn a_channel_that_never_stays_is_an_error() {
        use lasthop_registry::{Parameter, Value};
        let table =
            |kind: &str, key: &str, value| Value::Table(vec![("kind".into(), Value::text(kind)), (key.into(), value)]);
        let say = |value| FadingKind::parse(&value, "channel.fading").unwrap_err().to_string();
        assert_eq!(
            say(table("rayleigh", "coherence_time", Value::text("0 s"))),
            "channel.fading.coherence_time: a channel stays as it is for some time, e.g. \"50 ms\""
        );
        assert_eq!(
            say(table("nakagami", "m", Value::Float(0.4))),
            "channel.fading.m: 0.4 is below 0.5, the most severe fading"
        );
    }
}
