//! Random quantities that applications draw: exponential, lognormal, Pareto.
//!
//! Quantities are drawn by inversion of the distribution function where it has an inverse, so that a quantity takes
//! one draw and two runs stay in step; a normal deviate by the method of [Box, Muller 1958].

use lasthop_engine::Stream;
use lasthop_units::Duration;

/// Longer than any run, so that sums of a few such times still fit.
const LONGEST_NS: f64 = 1e17;

/// An exponential time with this mean: `-mean ln(1 - u)`.
pub(super) fn exponential(stream: &mut Stream, mean: Duration) -> Duration {
    let factor = -libm::log(1.0 - stream.unit());
    Duration::from_nanos((mean.as_nanos() as f64 * factor).min(LONGEST_NS) as u64)
}

/// `exp(mu + sigma z)` with a normal deviate z.
pub(super) fn lognormal(stream: &mut Stream, mu: f64, sigma: f64) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - stream.unit()));
    let angle = 2.0 * std::f64::consts::PI * stream.unit();
    libm::exp(mu + sigma * radius * libm::cos(angle))
}

/// A Pareto quantity of minimum `scale`: `scale / (1 - u)^(1/shape)`.
pub(super) fn pareto(stream: &mut Stream, scale: f64, shape: f64) -> f64 {
    scale / libm::pow(1.0 - stream.unit(), 1.0 / shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 100_000;

    fn mean(mut draw: impl FnMut(&mut Stream) -> f64) -> f64 {
        let mut stream = Stream::new(1, "test", 0);
        (0..DRAWS).map(|_| draw(&mut stream)).sum::<f64>() / DRAWS as f64
    }

    #[test]
    fn an_exponential_time_has_its_mean_and_as_much_deviation() {
        let second = Duration::from_secs(1);
        // The mean of 100,000 deviates varies by 1/316 of it, that of the squares (2, deviation sqrt(20)) by 0.014.
        let of = |power: i32| mean(|s| exponential(s, second).as_secs_f64().powi(power));
        assert!((of(1) - 1.0).abs() < 0.015, "{}", of(1));
        assert!((of(2) - 2.0).abs() < 0.07, "{}", of(2));
    }

    #[test]
    fn the_logarithm_of_a_lognormal_is_normal() {
        let log = |s: &mut Stream| libm::log(lognormal(s, 2.0, 0.5));
        assert!((mean(log) - 2.0).abs() < 0.008);
        // 15.87 % lie above one deviation; the share deviates by 0.12 %.
        let above = mean(|s| f64::from(u8::from(log(s) > 2.5)));
        assert!((above - 0.1587).abs() < 0.006, "{above}");
    }

    #[test]
    fn pareto_shape_gives_the_share_above_twice_the_minimum() {
        // P(X > 2 scale) = 2^-1.1 = 0.4665, with a deviation of 0.16 %.
        let above = mean(|s| f64::from(u8::from(pareto(s, 3.0, 1.1) > 6.0)));
        assert!((above - 0.4665).abs() < 0.008, "{above}");
    }
}
