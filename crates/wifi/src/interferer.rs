//! Transmitters that are not of 802.11: a microwave oven, Bluetooth, the recorded airtime of a neighbour. They send bursts, and
//! neither listen nor wait.

use std::sync::Arc;

use lasthop_engine::Stream;
use lasthop_observe::NodeId;
use lasthop_units::{Db, Dbm, Duration, Time};

use crate::channel::Movement;

/// A time for which an interferer sends without a break.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// its start
    pub start: Time,
    /// its duration
    pub duration: Duration,
    /// its power relative to the interferer's
    pub level: Db,
}

/// The times at which an interferer sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Emission {
    /// equal bursts at equal intervals; the first interval begins before the run, at random
    Periodic {
        /// duration of a burst
        on: Duration,
        /// time from its end to the next
        off: Duration,
    },
    /// bursts and breaks whose durations are exponentially distributed
    Random {
        /// mean duration of a burst
        on: Duration,
        /// mean time from its end to the next
        off: Duration,
    },
    /// these bursts, in the order of their starts; none begins before the one before it has ended
    Trace(Arc<[Burst]>),
}

/// An interferer, as the nodes of a medium hear it.
#[derive(Clone, Debug)]
pub struct Interferer {
    /// its name, from which the name of its random stream is made
    pub name: String,
    /// its power at each node at the start, as far as its band overlaps the node's channel; negative infinity: none. If channels
    /// change, all of it, of which [`shares`](Interferers::shares) has the part in each channel
    pub power: Vec<Dbm>,
    /// the times at which it sends
    pub emission: Emission,
}

/// All interferers of a medium.
#[derive(Clone, Debug, Default)]
pub struct Interferers {
    /// each of them
    pub all: Vec<Interferer>,
    /// their powers where nodes move, with the interval at which positions are looked up; as a transmitter the `k`-th
    /// interferer has the number of nodes plus `k`
    pub movement: Option<(Arc<dyn Movement>, Duration)>,
    /// if channels [change](crate::Matrix::with_turned_channels): for each channel of the start, the part of the power of each
    /// interferer that falls into it; else empty
    pub shares: Vec<Vec<Db>>,
}

/// The bursts of an interferer, one after another.
pub(crate) struct Bursts {
    emission: Emission,
    random: Stream,
    /// Number of bursts so far.
    sent: usize,
    /// End of the last burst; at first the end of one before the run.
    ended: Option<Time>,
}

impl Bursts {
    pub(crate) fn new(seed: u64, of: &Interferer) -> Bursts {
        let random = Stream::named(seed, "interferer", &of.name);
        Bursts { emission: of.emission.clone(), random, sent: 0, ended: None }
    }

    /// A duration with an exponential distribution, of at least a nanosecond.
    fn exponential(&mut self, mean: Duration) -> Duration {
        let drawn = -libm::log(1.0 - self.random.unit()) * mean.as_nanos() as f64;
        Duration::from_nanos((libm::round(drawn) as u64).max(1))
    }
}

impl Iterator for Bursts {
    type Item = Burst;

    fn next(&mut self) -> Option<Burst> {
        let (start, duration) = match self.emission {
            Emission::Trace(ref all) => {
                self.sent += 1;
                return all.get(self.sent - 1).copied();
            }
            Emission::Periodic { on, off } => match self.ended {
                Some(ended) => (ended + off, on),
                None => {
                    // The place of the start of the run in the interval that it falls into.
                    let place = Duration::from_nanos((self.random.unit() * (on + off).as_nanos() as f64) as u64);
                    if place < on { (Time::ZERO, on - place) } else { (Time::ZERO + (on + off - place), on) }
                }
            },
            Emission::Random { on, off } => {
                // Without memory, the rest of a break or burst is distributed as a whole one.
                let sends = self.ended.is_none() && self.random.unit() < on.as_secs_f64() / (on + off).as_secs_f64();
                let rest = if sends { Duration::ZERO } else { self.exponential(off) };
                (self.ended.unwrap_or(Time::ZERO) + rest, self.exponential(on))
            }
        };
        self.ended = Some(start + duration);
        Some(Burst { start, duration, level: Db(0.0) })
    }
}

impl Interferers {
    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The number that an interferer has as a transmitter among this many nodes.
    pub(crate) fn number(nodes: usize, interferer: u32) -> NodeId {
        NodeId(nodes as u32 + interferer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bursts(emission: Emission, seed: u64) -> Bursts {
        Bursts::new(seed, &Interferer { name: "oven".into(), power: Vec::new(), emission })
    }

    fn ms(ms: f64) -> Duration {
        Duration::from_nanos((ms * 1e6) as u64)
    }

    #[test]
    fn periodic_bursts_have_one_length_and_one_interval_and_begin_at_a_random_phase() {
        let of = |seed| bursts(Emission::Periodic { on: ms(8.0), off: ms(12.0) }, seed);
        for seed in 1..50 {
            let all: Vec<Burst> = of(seed).take(5).collect();
            let starts_in_a_burst = all[0].start == Time::ZERO && all[0].duration <= ms(8.0);
            assert!(starts_in_a_burst || (all[0].start < Time::ZERO + ms(12.0) && all[0].duration == ms(8.0)));
            assert!(all.windows(2).all(|two| two[1].start == two[0].start + two[0].duration + ms(12.0)));
            assert!(all[1..].iter().all(|burst| burst.duration == ms(8.0)));
        }
        // A run begins in a burst with probability 8/20: of 1000 runs in 400, within 4 standard deviations of 15.5.
        let within = (0..1000).filter(|seed| of(*seed).next().unwrap().start == Time::ZERO).count();
        assert!((338..=462).contains(&within), "{within}");
    }

    #[test]
    fn random_bursts_have_exponential_durations_and_breaks() {
        let all: Vec<Burst> = bursts(Emission::Random { on: ms(2.0), off: ms(3.0) }, 1).take(40_000).collect();
        let on: Vec<f64> = all.iter().map(|burst| burst.duration.as_secs_f64() * 1e3).collect();
        let gap = |two: &[Burst]| two[1].start.since(two[0].start + two[0].duration).as_secs_f64() * 1e3;
        let off: Vec<f64> = all.windows(2).map(gap).collect();
        for (of, mean) in [(on, 2.0), (off, 3.0)] {
            let found = of.iter().sum::<f64>() / of.len() as f64;
            // One standard deviation of the mean of 40,000 is 0.5 %; exp(-2) of all last longer than twice the mean.
            assert!((found / mean - 1.0).abs() < 0.02, "{found} for {mean}");
            let long = of.iter().filter(|one| **one > 2.0 * mean).count() as f64 / of.len() as f64;
            assert!((long - libm::exp(-2.0)).abs() < 0.007, "{long}");
        }
    }

    #[test]
    fn a_trace_is_sent_once() {
        let burst = |start: f64| Burst { start: Time::ZERO + ms(start), duration: ms(1.0), level: Db(3.0) };
        let all: Vec<Burst> = [1.0, 2.0, 7.5].map(burst).to_vec();
        assert_eq!(bursts(Emission::Trace(all.clone().into()), 1).collect::<Vec<_>>(), all);
    }
}
