//! The use of the congestion window, on which its growth depends. [RFC 7661, RFC 9438 §5.8]
//!
//! The most telling moment of a round trip counts: one that found the window full, else the one with most in flight. In
//! slow start half the window is use enough. A moment that counts starts the round trip again (recorded).

/// The use of the window at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// so many segments were out, and there was room for more
    Room { out: u32 },
    /// the window was the limit
    Full,
}

impl Moment {
    /// True if it tells more than `other`.
    fn outdoes(self, other: Moment) -> bool {
        match (self, other) {
            (Moment::Full, _) => true,
            (Moment::Room { .. }, Moment::Full) => false,
            (Moment::Room { out }, Moment::Room { out: most }) => out > most,
        }
    }
}

/// The most telling moment of this round trip: the use of the congestion window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowUsage {
    told: Moment,
    /// the round trip ends when this offset is acknowledged
    round_end: u64,
}

impl Default for WindowUsage {
    fn default() -> Self {
        WindowUsage { told: Moment::Room { out: 0 }, round_end: 0 }
    }
}

impl WindowUsage {
    /// Notes that with so many segments out something was sent, or would have been in a larger window (`limited`).
    pub fn note(&mut self, una: u64, nxt: u64, out: u32, limited: bool) {
        let moment = if limited { Moment::Full } else { Moment::Room { out } };
        if una >= self.round_end || moment.outdoes(self.told) {
            (self.told, self.round_end) = (moment, nxt);
        }
    }

    /// True if a larger window would have been used.
    pub fn is_limited(&self, cwnd: f64, slow_start: bool) -> bool {
        match self.told {
            Moment::Full => true,
            Moment::Room { out } => slow_start && cwnd < 2.0 * f64::from(out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_window_counts_for_the_round_trip_and_the_most_in_flight_otherwise() {
        let mut usage = WindowUsage::default();
        usage.note(0, 1000, 4, false);
        usage.note(0, 2000, 3, false);
        assert!(usage.is_limited(7.0, true) && !usage.is_limited(8.0, true), "twice four");
        assert!(!usage.is_limited(4.0, false));
        usage.note(0, 3000, 9, true);
        usage.note(1000, 4000, 12, false);
        assert!(usage.is_limited(100.0, false), "the round trip has begun afresh, and ends at 3000");
        usage.note(3000, 5000, 2, false);
        assert!(!usage.is_limited(4.0, true));
    }
}
