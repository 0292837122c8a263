//! Rayleigh fading whose future depends on its present alone: its autocorrelation falls exponentially.
//!
//! `exp(-2 π d / 3)` over `d` wavelengths: the bell-shaped Doppler spectrum `1 / (1 + 9 (f / f_d)²)` that TGn measured
//! indoors, where most paths hardly change and a few change fast [TGn 2004 §4.7.1]. (TGn cuts it off at `5 f_d`, with
//! 4 % of the power beyond.) Of all Gaussian processes only this one is Markovian [Doob 1942].
//!
//! So the middle of a stretch follows from its ends and a draw of its own. A value is found by halving stretches of
//! four wavelengths, whose ends are independent (their true correlation is 0.0002), down to a thousandth of a
//! wavelength; each draw is named by its place. So the value at a time depends on no other value.

use lasthop_engine::Stream;
use lasthop_units::{Hertz, Speed};

use super::complex::Complex;
use super::doppler;
use super::draws::complex_normal;

/// Steps per wavelength.
const STEPS: f64 = 1024.0;

/// Halvings of a stretch of four wavelengths down to one step.
const HALVINGS: u32 = 12;

/// Decay of the autocorrelation per wavelength.
const DECAY: f64 = 2.0 * core::f64::consts::PI / 3.0;

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {
        /// Doppler shift f_d of the spectrum around stations at rest; a station that moves adds its own. Instead of
        /// speed.
        pub doppler: Option<Hertz> = None,
        /// Speed of people and things around the stations; default: 1.2 km/h, with a delay profile of TGac or TGax
        /// 0.089 km/h, unless doppler is given. [TGn 2004 §4.7.1; TGac 2010 §4]
        pub speed: Option<Speed> = None,
    }
    check |this, path| { doppler::check(this.doppler, this.speed, path) }
}

/// How the middle of a stretch follows from its ends.
#[derive(Clone, Copy, Debug)]
struct Middle {
    /// Weight of either end.
    weight: f64,
    /// Amplitude of the draw.
    spread: f64,
}

/// The law, for stretches of each length.
#[derive(Clone, Debug)]
pub(super) struct Bridge([Middle; HALVINGS as usize]);

impl Bridge {
    pub(super) fn new() -> Bridge {
        Bridge(core::array::from_fn(|level| {
            // Half of a stretch of 2^(level + 1) steps.
            let correlation = libm::exp(-DECAY * f64::from(1u32 << level) / STEPS);
            let square = correlation * correlation;
            Middle { weight: correlation / (1.0 + square), spread: libm::sqrt((1.0 - square) / (1.0 + square)) }
        }))
    }

    /// The amplitude after this many wavelengths, of the channel `number` of a link with this seed; its mean power is 1.
    pub(super) fn amplitude(&self, seed: u64, number: u64, wavelengths: f64) -> Complex {
        let seed = Stream::new(seed, "bridge", number).bits();
        let draw = |place: u64| complex_normal(&mut Stream::new(seed, "place", place));
        let place = (wavelengths * STEPS) as u64;
        let mut low = place >> HALVINGS << HALVINGS;
        let (mut from, mut to) = (draw(low), draw(low + (1 << HALVINGS)));
        for level in (0..HALVINGS).rev() {
            if place == low {
                break;
            }
            let Middle { weight, spread } = self.0[level as usize];
            let between = (from + to).scaled(weight) + draw(low + (1 << level)).scaled(spread);
            if place < low + (1 << level) {
                to = between;
            } else {
                (low, from) = (low + (1 << level), between);
            }
        }
        from
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(a: Complex, b: Complex) -> f64 {
        a.re * b.re + a.im * b.im
    }

    #[test]
    fn autocorrelation_falls_exponentially_within_and_across_stretches() {
        let (bridge, n) = (Bridge::new(), 20_000);
        for from in [1.25, 3.9] {
            for lag in [1.0 / 1024.0, 0.0625, 0.25, 0.5, 1.0, 2.0] {
                let one = |seed| product(bridge.amplitude(seed, 0, from), bridge.amplitude(seed, 0, from + lag));
                let mean = (0..n).map(one).sum::<f64>() / n as f64;
                let steps = ((from + lag) * STEPS).floor() - (from * STEPS).floor();
                let expected = libm::exp(-DECAY * steps / STEPS);
                assert!((mean - expected).abs() < 5.0 / (n as f64).sqrt(), "{from} {lag}: {mean} {expected}");
            }
        }
    }

    #[test]
    fn power_is_exponential() {
        let (bridge, n) = (Bridge::new(), 100_000);
        for at in [0.0, 1.7, 2.0, 3.999] {
            let powers: Vec<f64> = (0..n).map(|seed| bridge.amplitude(seed, 0, at).power()).collect();
            let mean = powers.iter().sum::<f64>() / n as f64;
            let variance = powers.iter().map(|p| (p - 1.0) * (p - 1.0)).sum::<f64>() / n as f64;
            let low = powers.iter().filter(|power| **power < 0.1).count() as f64 / n as f64;
            assert!((mean - 1.0).abs() < 5.0 / (n as f64).sqrt(), "{at}: {mean}");
            assert!((variance - 1.0).abs() < 5.0 * (8.0 / n as f64).sqrt(), "{at}: {variance}");
            assert!((low - 0.09516).abs() < 5.0 * (0.0861 / n as f64).sqrt(), "{at}: {low}");
        }
    }

    #[test]
    fn future_depends_on_the_present_alone() {
        // The part of the future that the present does not explain is not correlated with the past.
        let (bridge, n, lag) = (Bridge::new(), 20_000, 0.25);
        let kept = libm::exp(-DECAY * lag);
        let one = |seed| {
            let [past, present, future] = [1.0, 1.0 + lag, 1.0 + 2.0 * lag].map(|at| bridge.amplitude(seed, 0, at));
            product(past, future + present.scaled(-kept))
        };
        let mean = (0..n).map(one).sum::<f64>() / n as f64;
        assert!(mean.abs() < 5.0 / (n as f64).sqrt(), "{mean}");
    }
}
