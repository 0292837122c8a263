//! Fading: variation of received power about its mean at a distance.
//!
//! `blocks`: gains without memory that last for a coherence time (`rayleigh`, `nakagami`). `jakes` and `gauss_markov`:
//! gains that change continuously with the movement of nodes and their surroundings (`doppler`). These may differ between
//! subcarriers, by echoes (`delay_profile`), and between antennas (`spread`); then a PPDU has an effective SINR
//! (`response`, `streams`, `effective_sinr`). Both directions of a
//! pair share the gain, and its mean is 1. A gain is a function of the pair and the time: it does not depend on the
//! order or time of look-ups.
//! Left out: correlation between pairs.

mod antenna;
mod blocks;
mod coherence;
mod complex;
mod delay_profile;
mod doppler;
mod draws;
mod effective_sinr;
mod paths;
mod response;
mod spread;
mod streams;

use lasthop_engine::Stream;
use lasthop_registry::registry;
use lasthop_units::{Hertz, Speed, Time};

use antenna::place;
use blocks::Blocks;
use paths::Paths;

pub use antenna::Antenna;
pub use delay_profile::DelayProfile;
pub use doppler::{TGAC_SPEED, TGN_SPEED};
pub use spread::{Quality, Spread};

registry! {
    /// The choice `fading = "…"`.
    pub enum FadingKind as "fading" {
        /// The received power follows from path loss only.
        none => None: source "—", status "nothing to validate";
        /// Many paths of similar strength, none of them direct.
        rayleigh => Rayleigh: source "Rappaport 2002 §5.6", status "unit tests: moments";
        /// From worse than Rayleigh to almost steady, set by the shape m.
        nakagami => Nakagami: source "Nakagami 1960", status "unit tests: moments";
        /// Rayleigh fading that goes on from one moment to the next, as at a receiver that moves.
        jakes => Jakes: source "Clarke 1968", status "unit tests: autocorrelation, level crossings, fade durations";
        /// Rayleigh fading that goes on from one moment to the next, as indoors around still stations.
        gauss_markov => GaussMarkov: source "TGn 2004 §4.7.1", status "unit tests: moments, autocorrelation";
    }
    planned:
}

/// The gains of all pairs of nodes.
#[derive(Clone, Debug)]
pub struct Fading {
    law: Law,
    /// A seed for each pair of nodes: for (1, 0), (2, 0), (2, 1), …
    seeds: Vec<u64>,
}

#[derive(Clone, Debug)]
enum Law {
    Blocks(Blocks),
    Paths(Box<Paths>),
}

impl FadingKind {
    /// Returns whether gains change with time.
    pub fn is_on(&self) -> bool {
        !matches!(self, FadingKind::None(_))
    }

    /// Returns whether gains go on from one moment to the next.
    pub fn has_memory(&self) -> bool {
        matches!(self, FadingKind::Jakes(_) | FadingKind::GaussMarkov(_))
    }

    /// The keys `doppler` and `speed` of a fading that has them.
    pub fn movement(&mut self) -> Option<(Option<Hertz>, &mut Option<Speed>)> {
        match self {
            FadingKind::Jakes(it) => Some((it.doppler, &mut it.speed)),
            FadingKind::GaussMarkov(it) => Some((it.doppler, &mut it.speed)),
            FadingKind::None(_) | FadingKind::Rayleigh(_) | FadingKind::Nakagami(_) => None,
        }
    }

    /// The gains between these nodes under `seed`; `None` if there is no fading. `spread` needs one with memory.
    pub fn build(&self, nodes: &[Antenna], spread: Spread, seed: u64) -> Option<Fading> {
        let law = match self {
            FadingKind::None(_) => return None,
            FadingKind::Rayleigh(it) => Law::Blocks(Blocks { m: 1.0, coherence_time: it.coherence_time }),
            FadingKind::Nakagami(it) => Law::Blocks(Blocks { m: it.m, coherence_time: it.coherence_time }),
            FadingKind::Jakes(it) => {
                let waves = paths::Law::waves(nodes.len());
                Law::Paths(Box::new(Paths::new(waves, (it.doppler, it.speed), spread, nodes)))
            }
            FadingKind::GaussMarkov(it) => {
                Law::Paths(Box::new(Paths::new(paths::Law::bridges(), (it.doppler, it.speed), spread, nodes)))
            }
        };
        let seed_of = |a: &str, b: &str| {
            let (first, second) = if a < b { (a, b) } else { (b, a) };
            Stream::named(seed, "fading", &format!("{first} {second}")).bits()
        };
        let pairs = (0..nodes.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        let seeds = pairs.map(|(a, b)| seed_of(nodes[a].name, nodes[b].name)).collect();
        Some(Fading { law, seeds })
    }
}

impl Fading {
    /// The block of a pair to which `at` belongs, or the instant itself if gains have no blocks.
    pub fn block(&self, a: usize, b: usize, at: Time) -> u64 {
        match &self.law {
            Law::Blocks(blocks) => blocks.block(self.seeds[place(a, b)], at),
            Law::Paths(_) => at.as_nanos(),
        }
    }

    /// The gain of a pair in a block, as a ratio of powers.
    pub fn gain(&self, a: usize, b: usize, block: u64) -> f64 {
        let seed = self.seeds[place(a, b)];
        match &self.law {
            Law::Blocks(blocks) => blocks.gain(seed, block),
            Law::Paths(paths) => paths.gain(seed, (a, b), Time::from_nanos(block)),
        }
    }

    /// The quality of the link from `tx` to `rx`, if its subcarriers or antennas fade apart.
    pub fn quality(&self, tx: usize, rx: usize, at: Time) -> Option<Quality> {
        match &self.law {
            Law::Blocks(_) => None,
            Law::Paths(paths) => paths.quality(self.seeds[place(tx, rx)], (tx, rx), at),
        }
    }

    /// Returns whether subcarriers or antennas fade apart.
    pub fn is_spread(&self) -> bool {
        matches!(&self.law, Law::Paths(paths) if paths.is_spread())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::path_loss::{Position, Way};
    use lasthop_units::Duration;

    /// The gains between still nodes of these names at 5.18 GHz.
    fn between(kind: &FadingKind, names: &[&'static str], seed: u64) -> Fading {
        let way = Way::from(Position::default());
        let antenna =
            |name: &&'static str| Antenna { name, way: &way, frequency_hz: 5.18e9, bandwidth_hz: 20e6, antennas: 1 };
        kind.build(&names.iter().map(antenna).collect::<Vec<_>>(), Spread::default(), seed).unwrap()
    }
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
            let fading = between(&kind, &["ap", "sta"], 1);
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
        let fading = between(&rayleigh(), &["ap", "a", "b"], 1);
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
        let fading = between(&nakagami(2.0), &["ap", "a", "b"], 1);
        assert_eq!(fading.gain(0, 2, 7), fading.gain(2, 0, 7));
        assert_eq!(fading.block(0, 2, ms(777)), fading.block(2, 0, ms(777)));
        assert_ne!(fading.gain(0, 1, 7), fading.gain(0, 2, 7));
        // Streams are named by the pair, whatever other nodes there are.
        let other = between(&nakagami(2.0), &["b", "x", "ap"], 1);
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
