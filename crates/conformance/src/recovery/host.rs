//! The host of a recording: the possible lateness of its timers and its wake-ups.
//!
//! A kernel's timers count ticks of 1/HZ. A wait is rounded up to whole ticks and begins at the tick before; then the
//! timer wheel rounds the end up: to the next tick for waits under 63 ticks, to the next 8 ticks under 504, the next 64
//! under 4032, and so on (`calc_index` in Linux' kernel/time/timer.c). It is never early, so a replay takes the
//! recorded time if that is not before the ideal one and not later than this.

use lasthop_units::Duration;

/// Latest wake-up of the recording program and its machine. The recordings' own README speaks of 1 to 4 ms; it is also
/// the tolerance of every time without a timer.
const JITTER: Duration = Duration::from_millis(5);

/// Times of the recording are written with two digits, and taken a moment after their events.
const EARLY: Duration = Duration::from_millis(1);

/// A host with timers that tick `hz` times a second.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    tick: Duration,
}

impl Host {
    /// A host with so many ticks in a second.
    pub fn new(hz: u64) -> Host {
        Host { tick: Duration::from_nanos(1_000_000_000 / hz) }
    }

    /// Time between two ticks.
    pub fn tick(&self) -> Duration {
        self.tick
    }

    /// Largest lateness of a timer after a wait of `wait`.
    pub fn lateness(&self, wait: Duration) -> Duration {
        self.granule(wait) + self.tick + JITTER
    }

    /// Largest lateness of a packet beyond the path's delay.
    pub fn jitter(&self) -> Duration {
        JITTER
    }

    /// Largest earliness of any event.
    pub fn early(&self) -> Duration {
        EARLY
    }

    /// The step in which the timer wheel counts a wait.
    fn granule(&self, wait: Duration) -> Duration {
        let ticks = wait.div_ceil(self.tick);
        let mut step = 1;
        while ticks >= 63 * step && step < 8u64.pow(8) {
            step *= 8;
        }
        self.tick.saturating_mul(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wheel_is_coarser_for_longer_waits() {
        let host = Host::new(250);
        let granule = |ms| host.granule(Duration::from_millis(ms));
        // 62 ticks of 4 ms are 248 ms
        assert_eq!(granule(248), Duration::from_millis(4));
        assert_eq!(granule(249), Duration::from_millis(32));
        // 503 ticks are 2012 ms
        assert_eq!(granule(2012), Duration::from_millis(32));
        assert_eq!(granule(2013), Duration::from_millis(256));
    }
}
