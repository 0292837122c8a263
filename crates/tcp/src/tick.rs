//! The tick of a clock, and division by it: a multiplication.

use lasthop_units::Duration;

/// The length of a clock's tick, in whole nanoseconds, with the way to divide by it.
///
/// For n < 2^63 the quotient n / d is the high word of n m, shifted right by s, with s = floor(log2 d) and
/// m = floor(2^(64 + s) / d) + 1, since m d exceeds 2^(64 + s) by d at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tick {
    length: Duration,
    /// m; 0 for a tick of 1 ns
    reciprocal: u64,
    shift: u32,
}

impl Tick {
    /// A tick of this length; one of zero is for clocks that nobody reads.
    pub fn new(length: Duration) -> Tick {
        let ns = length.as_nanos();
        // A power of two takes a bit less, so that m has 64 bits.
        let shift = ns.checked_ilog2().unwrap_or(0).saturating_sub(u32::from(ns.is_power_of_two()));
        let reciprocal = if ns > 1 { ((1u128 << (64 + shift)) / u128::from(ns) + 1) as u64 } else { 0 };
        Tick { length, reciprocal, shift }
    }

    /// Whole ticks in so many nanoseconds.
    #[inline(always)]
    pub fn whole(&self, ns: u64) -> u64 {
        if self.reciprocal == 0 || ns >> 63 != 0 {
            return self.divide(ns);
        }
        ((u128::from(ns) * u128::from(self.reciprocal)) >> 64) as u64 >> self.shift
    }

    #[cold]
    #[inline(never)]
    fn divide(&self, ns: u64) -> u64 {
        ns / self.length.as_nanos()
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
    fn multiplication_gives_the_quotient() {
        let powers = (0..40).map(|bit| 1u64 << bit);
        let lengths = powers.flat_map(|power| [power.max(2) - 1, power, power + 1]);
        for length in lengths.chain([1_000, 4_000, 1_000_000, 3_333_333, 4_000_000, 10_000_000, 976_563]) {
            let tick = Tick::new(Duration::from_nanos(length));
            let around = |ns: u64| [ns.saturating_sub(1), ns, ns.saturating_add(1)];
            let multiples = [1, 2, 3, 7, 1_000, 123_456_789, u64::MAX / 2 / length, u64::MAX / length];
            let near = multiples.into_iter().flat_map(|count| around(count.saturating_mul(length)));
            for ns in near.chain([0, 999, 5_000_000_001, 1 << 62, (1 << 63) - 1, 1 << 63, u64::MAX]) {
                assert_eq!(tick.whole(ns), ns / length, "{ns} / {length}");
                if ns < 1 << 60 {
                    assert_eq!(tick.cover(ns), ns.div_ceil(length) * length);
                }
            }
        }
    }
}
