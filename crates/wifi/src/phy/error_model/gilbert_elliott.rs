//! Links that alternate between good and bad. [Gilbert 1960; Elliott 1963]
//!
//! A chain with two states in continuous time: sojourns are exponential, and frames are lost with the probability of
//! the state in which they end. Each link has its own chain and its own stream of random numbers. It begins in a state
//! drawn from the stationary distribution and moves only when it is looked up. Left out: a change of state within a
//! frame, and any correlation between the two directions of a pair.

use std::collections::BTreeMap;

use lasthop_engine::Stream;
use lasthop_registry::ParamError;
use lasthop_units::{Duration, Probability, Time};

use super::interface::{ErrorModel, ReceivedFrame};

/// Each change of state takes time to simulate; no frame is that short.
const SHORTEST: Duration = Duration::from_micros(1);

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {
        /// Mean time in the good state, at least 1 us.
        pub good_duration: Duration = Duration::from_secs(1),
        /// Mean time in the bad state, at least 1 us.
        pub bad_duration: Duration = Duration::from_millis(100),
        /// Probability that a frame is lost in the good state.
        pub good_frame_error_rate: Probability = Probability::ZERO,
        /// Probability that a frame is lost in the bad state.
        pub bad_frame_error_rate: Probability = Probability::ONE,
    }
    check |this, path| {
        for (key, duration) in [("good_duration", this.good_duration), ("bad_duration", this.bad_duration)] {
            if duration < SHORTEST {
                return Err(ParamError::new(format!("{path}.{key}"), format!("a state lasts {SHORTEST} at least")));
            }
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Good,
    Bad,
}

/// One link.
struct Chain {
    stream: Stream,
    state: State,
    until: Time,
}

/// The model.
pub struct GilbertElliott {
    params: Params,
    seed: u64,
    /// Chains by link.
    chains: BTreeMap<u32, Chain>,
}

impl GilbertElliott {
    pub(super) fn new(params: Params, seed: u64) -> Self {
        GilbertElliott { params, seed, chains: BTreeMap::new() }
    }

    /// The state of `link` at `now`.
    fn state(&mut self, link: u32, now: Time) -> State {
        let params = &self.params;
        let chain = self.chains.entry(link).or_insert_with(|| Chain::new(params, self.seed, link));
        chain.advance(params, now);
        chain.state
    }
}

impl Chain {
    fn new(params: &Params, seed: u64, link: u32) -> Chain {
        let mut stream = Stream::new(seed, "gilbert_elliott", u64::from(link));
        let (good, bad) = (params.good_duration.as_secs_f64(), params.bad_duration.as_secs_f64());
        let state = if stream.chance(bad / (good + bad)) { State::Bad } else { State::Good };
        // An exponential time has no memory: the rest of the first sojourn is distributed like a whole one.
        let until = Time::ZERO + sojourn(params, state, &mut stream);
        Chain { stream, state, until }
    }

    fn advance(&mut self, params: &Params, now: Time) {
        while self.until <= now {
            self.state = if self.state == State::Good { State::Bad } else { State::Good };
            self.until += sojourn(params, self.state, &mut self.stream);
        }
    }
}

/// An exponential time with the mean of `state`, at least a nanosecond.
fn sojourn(params: &Params, state: State, stream: &mut Stream) -> Duration {
    let mean = if state == State::Good { params.good_duration } else { params.bad_duration };
    let drawn = Duration::from_secs_f64(-mean.as_secs_f64() * libm::log1p(-stream.unit()));
    drawn.max(Duration::from_nanos(1))
}

impl ErrorModel for GilbertElliott {
    fn success_probability(&mut self, frame: &ReceivedFrame) -> f64 {
        let lost = match self.state(frame.link, frame.at) {
            State::Good => self.params.good_frame_error_rate,
            State::Bad => self.params.bad_frame_error_rate,
        };
        1.0 - lost.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(seed: u64) -> GilbertElliott {
        GilbertElliott::new(Params::default(), seed)
    }
    fn history(model: &mut GilbertElliott, link: u32, step: Duration, steps: u64) -> Vec<State> {
        (1..=steps).map(|i| model.state(link, Time::ZERO + step * i)).collect()
    }

    #[test]
    fn long_run_shares_follow_the_means() {
        // Bad for 0.1 s in 1.1 s: 1/11. 20,000 s hold 18,000 cycles; relative deviation about sqrt(2/18,000) = 1 %.
        let states = history(&mut model(1), 0, Duration::from_millis(20), 1_000_000);
        let bad = states.iter().filter(|s| **s == State::Bad).count() as f64 / 1e6;
        assert!((bad - 1.0 / 11.0).abs() < 0.004, "{bad}");
        let changes = states.windows(2).filter(|w| w[0] == State::Good && w[1] == State::Bad).count();
        // An expected 18,182 bad times; those shorter than a step may pass between two looks: one in ten, and a few
        // more.
        assert!((15_500..18_300).contains(&changes), "{changes}");
    }

    #[test]
    fn state_is_independent_of_the_number_of_queries() {
        let fine = history(&mut model(7), 3, Duration::from_millis(10), 10_000);
        let coarse = history(&mut model(7), 3, Duration::from_millis(1000), 100);
        assert_eq!(fine.into_iter().skip(99).step_by(100).collect::<Vec<_>>(), coarse);
    }

    #[test]
    fn links_are_independent_of_one_another() {
        let step = Duration::from_millis(100);
        let alone = history(&mut model(7), 5, step, 1000);
        let mut shared = model(7);
        let other = history(&mut shared, 2, step, 1000);
        assert_eq!(history(&mut shared, 5, step, 1000), alone);
        assert_ne!(other, alone);
        assert_ne!(history(&mut model(8), 5, step, 1000), alone);
    }
}
