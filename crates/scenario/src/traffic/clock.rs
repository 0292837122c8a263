//! The clock of a source of constant rate: where its intervals begin, and how fast it runs.
//!
//! Two hosts start their programs at unrelated instants, and their oscillators differ. Without that, equal intervals
//! keep their order for ever, and a full FIFO always drops the packets of the same source. Each flow has a clock of its
//! own. Left out: jitter of timers, and drift with temperature.

use lasthop_engine::Stream;
use lasthop_units::{Duration, Ppm};

use super::source::{Offer, Source};

/// The largest error of a drawn clock, either way: the tolerance of a symbol clock. [802.11-2020 §17.3.9.6]
const TOLERANCE: Ppm = Ppm(20.0);

/// The clock of a source: the time from its start to its first packet, and the error of its intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Clock {
    phase: Duration,
    error: Ppm,
}

impl Clock {
    /// The phase and the error given, or else drawn for the source called `name`: the phase from all of `interval`, the
    /// error from all that the tolerance allows, both uniformly.
    pub(crate) fn of(
        (phase, error): (Option<Duration>, Option<Ppm>),
        interval: Duration,
        (seed, name): (u64, &str),
    ) -> Clock {
        let unit = |purpose| Stream::named(seed, purpose, name).unit();
        Clock {
            phase: phase.unwrap_or_else(|| Duration::from_nanos((unit("phase") * interval.as_nanos() as f64) as u64)),
            error: error.unwrap_or_else(|| Ppm(TOLERANCE.0 * (2.0 * unit("clock_error") - 1.0))),
        }
    }

    /// The true time after which this clock shows `shown` since the first packet; a clock with an error above zero is
    /// slow.
    pub(crate) fn after(&self, shown: Duration) -> Duration {
        let late = libm::round(shown.as_nanos() as f64 * (self.error.0 * 1e-6)) as i64;
        Duration::from_nanos(shown.as_nanos().saturating_add_signed(late))
    }

    pub(crate) fn phase(&self) -> Duration {
        self.phase
    }
}

/// A source whose times a clock shows.
pub(crate) struct Clocked {
    source: Box<dyn Source>,
    clock: Clock,
}

impl Clocked {
    pub(crate) fn new(source: Box<dyn Source>, clock: Clock) -> Clocked {
        Clocked { source, clock }
    }
}

impl Source for Clocked {
    fn next(&mut self) -> Option<Offer> {
        let offer = self.source.next()?;
        Some(Offer { at: self.clock.phase + self.clock.after(offer.at), ..offer })
    }
}

#[cfg(test)]
mod tests {
    use super::super::ping::Steady;
    use super::super::tests::offers;
    use super::*;

    const INTERVAL: Duration = Duration::from_millis(1);

    fn times(phase: Duration, error: f64) -> Vec<u64> {
        let clock = Clock { phase, error: Ppm(error) };
        let source = Box::new(Steady::new(100, INTERVAL));
        offers(&mut Clocked::new(source, clock), 1).iter().map(|offer| offer.at.as_nanos()).collect()
    }

    #[test]
    fn exact_clock_without_a_phase_changes_nothing() {
        assert_eq!(times(Duration::ZERO, 0.0), (0..1000).map(|n| n * 1_000_000).collect::<Vec<u64>>());
    }

    #[test]
    fn interval_of_a_clock_that_is_slow_by_ten_millionths_is_longer_by_as_much() {
        // 1 ms and 10 ns each; fractions of a nanosecond do not add up: 0.1 ppm are 0.1 ns each, 50 after 500.
        assert_eq!(times(Duration::from_micros(300), 10.0)[..3], [300_000, 1_300_010, 2_300_020]);
        assert_eq!(times(Duration::ZERO, -0.1)[500], 499_999_950);
    }

    #[test]
    fn drawn_phases_fill_an_interval_and_drawn_errors_the_tolerance() {
        let clocks: Vec<Clock> = (0..10_000).map(|seed| Clock::of((None, None), INTERVAL, (seed, "sta.up"))).collect();
        let phases = clocks.iter().map(|clock| clock.phase.as_nanos() as f64 / 1e6);
        let errors = clocks.iter().map(|clock| clock.error.0 / 40.0 + 0.5);
        for parts in [phases.collect::<Vec<f64>>(), errors.collect()] {
            // Uniform in [0, 1): mean 1/2 and mean of squares 1/3; their means over 10,000 deviate by 0.003 each.
            let mean = |power: i32| parts.iter().map(|part| part.powi(power)).sum::<f64>() / 1e4;
            assert!((mean(1) - 0.5).abs() < 0.012 && (mean(2) - 1.0 / 3.0).abs() < 0.012);
            assert!(parts.iter().all(|part| (0.0..1.0).contains(part)));
        }
    }

    #[test]
    fn given_values_are_used_as_they_are() {
        let clock = Clock::of((Some(Duration::from_secs(3)), Some(Ppm(-7.5))), INTERVAL, (1, "sta.up"));
        assert_eq!(clock, Clock { phase: Duration::from_secs(3), error: Ppm(-7.5) });
    }
}
