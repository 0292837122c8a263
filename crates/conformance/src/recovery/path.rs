//! The way from the sender to the receiver: scripted drops, a bottleneck, a constant delay.

use lasthop_units::{Duration, Time};

use crate::recovery::scenario::Scenario;

/// The fate of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is lost before the bottleneck, and costs no time.
    Dropped,
    /// It arrives at this time.
    Arrives(Time),
}

/// Serves one segment at a time, in order, with a queue that never drops.
#[derive(Debug)]
pub(crate) struct Path {
    gap: Duration,
    delay: Duration,
    drop: Vec<(u64, u64)>,
    extra: Vec<(u64, u64, Duration)>,
    free_at: Time,
}

impl Path {
    pub fn new(scenario: &Scenario) -> Path {
        Path {
            gap: scenario.gap,
            delay: scenario.rtt / 2,
            drop: scenario.drop.clone(),
            extra: scenario.extra_delay.clone(),
            free_at: Time::ZERO,
        }
    }

    /// The fate of a segment that enters at `now`.
    pub fn carry(&mut self, now: Time, segment: u64, transmission: u64) -> Fate {
        if self.drop.contains(&(segment, transmission)) {
            return Fate::Dropped;
        }
        self.free_at = self.free_at.max(now) + self.gap;
        let late = self.extra.iter().find(|(s, t, _)| (*s, *t) == (segment, transmission));
        Fate::Arrives(self.free_at + self.delay + late.map_or(Duration::ZERO, |(_, _, extra)| *extra))
    }
}
