//! The tick of a clock; for the usual lengths division is by a constant.

use lasthop_units::Duration;

/// The length of a clock's tick, in whole nanoseconds, with the way to divide by it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tick {
    length: Duration,
    usual: Usual,
}

#[derive(Clone, Copy, Debug)]
enum Usual {
    Microsecond,
    Millisecond,
    Other,
}

impl Tick {
    pub fn new(length: Duration) -> Tick {
        let usual = match length.as_nanos() {
            1_000 => Usual::Microsecond,
            1_000_000 => Usual::Millisecond,
            _ => Usual::Other,
        };
        Tick { length, usual }
    }

    /// Whole ticks in so many nanoseconds.
    pub fn whole(&self, ns: u64) -> u64 {
        match self.usual {
            Usual::Microsecond => ns / 1_000,
            Usual::Millisecond => ns / 1_000_000,
            Usual::Other => ns / self.length.as_nanos(),
        }
    }

    /// Rounded up to whole ticks, in nanoseconds.
    pub fn cover(&self, ns: u64) -> u64 {
        self.whole(ns + self.length.as_nanos() - 1) * self.length.as_nanos()
    }

    /// The time `wait` ns after the last tick before `ns`, of a clock that ticks at `phase` (below one tick).
    pub fn after_last(&self, ns: u64, phase: u64, wait: u64) -> u64 {
        match ns.checked_sub(phase) {
            Some(since) => phase + self.whole(since) * self.length.as_nanos() + wait,
            // The last tick was before the start of time.
            None => (phase + wait).saturating_sub(self.length.as_nanos()),
        }
    }

    pub fn length(&self) -> Duration {
        self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_count_from_the_tick_before() {
        let tick = Tick::new(Duration::from_millis(4));
        let ms = 1_000_000;
        assert_eq!(tick.after_last(10 * ms, ms, 200 * ms), 209 * ms);
        assert_eq!(tick.after_last(9 * ms, ms, 200 * ms), 209 * ms);
        assert_eq!(tick.after_last(0, ms, 200 * ms), 197 * ms);
    }

    #[test]
    fn usual_and_unusual_ticks_count_alike() {
        for length in [1, 1_000, 4_000, 1_000_000, 4_000_000, 10_000_000] {
            let tick = Tick::new(Duration::from_nanos(length));
            for ns in [0, 1, 999, 1_000, 123_456_789, 5_000_000_001] {
                assert_eq!(tick.whole(ns), ns / length);
                assert_eq!(tick.cover(ns), ns.div_ceil(length) * length);
            }
        }
    }
}
