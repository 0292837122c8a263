//! Rayleigh fading with the memory of a moving receiver: many waves of equal strength from all around. [Clarke 1968;
//! Jakes 1974]
//!
//! A wave from the direction `α` changes its phase with `cos α` of the distance travelled. The sum of waves from all
//! around has the autocorrelation `J0(2 π d)` over `d` wavelengths. The directions are spread evenly, each shifted at
//! random within its sector, so that the mean over channels is exactly this. [Xiao, Zheng, Beaulieu 2006]
//! With `N` waves instead of infinitely many, the variance of the power is `1 - 1/N` instead of 1.

use lasthop_engine::Stream;
use lasthop_units::{Hertz, Speed};

use super::complex::Complex;
use super::doppler;

/// Waves of a channel.
pub(super) const WAVES: usize = 32;

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {
        /// Largest Doppler shift around stations at rest; a station that moves adds its own. Instead of speed.
        pub doppler: Option<Hertz> = None,
        /// Speed of people and things around the stations; default: 1.2 km/h, with a delay profile of TGac or TGax
        /// 0.089 km/h, unless doppler is given. [TGn 2004 §4.7.1; TGac 2010 §4]
        pub speed: Option<Speed> = None,
    }
    check |this, path| { doppler::check(this.doppler, this.speed, path) }
}

/// A wave: the cosine of its direction, and its phase at the start in full circles.
#[derive(Clone, Copy, Debug)]
struct Wave {
    along: f64,
    phase: f64,
}

/// The waves that make one channel.
#[derive(Clone, Debug)]
pub(super) struct Waves(Box<[Wave]>);

impl Waves {
    /// Those of the channel `number` of a link with this seed.
    pub(super) fn new(seed: u64, number: u64, waves: usize) -> Waves {
        let mut stream = Stream::new(seed, "waves", number);
        let mut wave = |n: usize| {
            let direction = (n as f64 + stream.unit()) / waves as f64;
            Wave { along: Complex::turned(direction).re, phase: stream.unit() }
        };
        Waves((0..waves).map(&mut wave).collect())
    }

    /// The amplitude after this many wavelengths; its mean power is 1.
    pub(super) fn amplitude(&self, wavelengths: f64) -> Complex {
        let wave = |wave: &Wave| Complex::turned(wavelengths * wave.along + wave.phase);
        let sum = self.0.iter().map(wave).fold(Complex::default(), |sum, wave| sum + wave);
        sum.scaled(1.0 / libm::sqrt(self.0.len() as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Readings per wavelength.
    const STEPS: u32 = 400;

    /// This many channels.
    fn channels(n: u64) -> impl Iterator<Item = Waves> {
        (0..n).map(|seed| Waves::new(seed, 0, WAVES))
    }

    #[test]
    fn autocorrelation_is_clarkes() {
        let n = 20_000;
        for lag in [0.05, 0.1, 0.2, 0.3827, 0.6, 1.0, 2.5] {
            let product = |waves: Waves| {
                let (a, b) = (waves.amplitude(7.3), waves.amplitude(7.3 + lag));
                a.re * b.re + a.im * b.im
            };
            let mean = channels(n).map(product).sum::<f64>() / n as f64;
            let expected = libm::j0(2.0 * core::f64::consts::PI * lag);
            // The product of two amplitudes of power 1 has a variance of at most 1.
            assert!((mean - expected).abs() < 5.0 / (n as f64).sqrt(), "{lag}: {mean} {expected}");
        }
    }

    #[test]
    fn power_is_exponential() {
        let n = 100_000;
        let powers: Vec<f64> = channels(n).map(|waves| waves.amplitude(3.1).power()).collect();
        let mean = powers.iter().sum::<f64>() / n as f64;
        let variance = powers.iter().map(|p| (p - 1.0) * (p - 1.0)).sum::<f64>() / n as f64;
        assert!((mean - 1.0).abs() < 5.0 / (n as f64).sqrt(), "{mean}");
        // 1 - 1/32; the fourth central moment of an exponential is 9.
        assert!((variance - 0.96875).abs() < 5.0 * (8.0 / n as f64).sqrt(), "{variance}");
        for (level, below) in [(0.01, 0.00995), (0.1, 0.09516), (1.0, 0.63212), (3.0, 0.95021)] {
            let found = powers.iter().filter(|power| **power < level).count() as f64 / n as f64;
            // Five deviations, and the first term of the correction for 32 waves: (1/N) (x - x^2 / 2) e^-x / 2.
            let correction = (level - level * level / 2.0) * libm::exp(-level) / 64.0;
            assert!(
                (found - below).abs() < 5.0 * (below * (1.0 - below) / n as f64).sqrt() + correction.abs(),
                "{level}: {found} {below}"
            );
        }
    }

    /// The powers of 600 channels over ten wavelengths.
    fn courses() -> Vec<Vec<f64>> {
        let course =
            |waves: Waves| (0..=10 * STEPS).map(|k| waves.amplitude(f64::from(k) / f64::from(STEPS)).power()).collect();
        channels(600).map(course).collect()
    }

    /// Level crossings upwards per wavelength, and the mean length of a fade below `level` in wavelengths, each with its
    /// standard error.
    fn crossings(courses: &[Vec<f64>], level: f64) -> ([f64; 2], [f64; 2]) {
        let of_one = |course: &Vec<f64>| {
            let up = course.windows(2).filter(|pair| pair[0] < level && pair[1] >= level).count() as f64;
            let below = course.iter().filter(|power| **power < level).count() as f64 / f64::from(STEPS);
            (up / 10.0, below / 10.0)
        };
        let all: Vec<(f64, f64)> = courses.iter().map(of_one).collect();
        let n = all.len() as f64;
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| all.iter().map(of).sum::<f64>() / n;
        let (rate, share) = (mean(&|one| one.0), mean(&|one| one.1));
        let rate_error = (mean(&|one| (one.0 - rate) * (one.0 - rate)) / n).sqrt();
        // The error of a ratio of means.
        let length = share / rate;
        let length_error = (mean(&|one| (one.1 - length * one.0) * (one.1 - length * one.0)) / n).sqrt() / rate;
        ([rate, rate_error], [length, length_error])
    }

    #[test]
    fn level_crossing_rate_and_fade_duration_are_clarkes() {
        let courses = courses();
        // rho is the ratio of amplitudes: 0, -5, -10 and -15 dB. [Rappaport 2002 §5.7.3]
        for rho in [1.0, 0.5623, 0.3162, 0.1778] {
            let ([rate, rate_error], [length, length_error]) = crossings(&courses, rho * rho);
            let root = libm::sqrt(2.0 * core::f64::consts::PI);
            let rate_expected = root * rho * libm::exp(-rho * rho);
            let length_expected = (libm::exp(rho * rho) - 1.0) / (rho * root);
            // Five standard errors, and 2 % for 32 waves and 400 readings a wavelength.
            assert!(
                (rate - rate_expected).abs() < 5.0 * rate_error + 0.02 * rate_expected,
                "{rho}: {rate} +- {rate_error}, {rate_expected}"
            );
            assert!(
                (length - length_expected).abs() < 5.0 * length_error + 0.02 * length_expected,
                "{rho}: {length} +- {length_error}, {length_expected}"
            );
            assert!(rate_error < 0.02 * rate_expected.max(0.3), "{rate_error}");
        }
    }
}
