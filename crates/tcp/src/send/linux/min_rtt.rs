//! The least RTT over the last five minutes. [RFC 8985 §6.2 step 1 asks for a windowed minimum]
//!
//! Keeps the samples that may yet become the least: each newer than the one before, and larger. They come at most once
//! per second, so there are 302 at most, and a sample counts for up to a second more than five minutes.

use std::collections::VecDeque;

use lasthop_units::{Duration, Time};

/// in seconds
const WINDOW: u64 = 300;

#[derive(Clone, Copy, Debug)]
struct Sample {
    second: u64,
    rtt: Duration,
}

/// A filter that gives the least RTT of the last five minutes.
#[derive(Clone, Debug, Default)]
pub(crate) struct MinRtt {
    rising: VecDeque<Sample>,
}

impl MinRtt {
    pub fn get(&self) -> Option<Duration> {
        self.rising.front().map(|least| least.rtt)
    }

    pub fn take(&mut self, now: Time, rtt: Duration) {
        let second = now.as_nanos() / 1_000_000_000;
        while self.rising.back().is_some_and(|last| last.rtt >= rtt) {
            self.rising.pop_back();
        }
        if self.rising.back().is_none_or(|last| last.second < second) {
            self.rising.push_back(Sample { second, rtt });
        }
        while self.rising.front().is_some_and(|first| second - first.second > WINDOW) {
            self.rising.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::ZERO + Duration::from_secs(seconds)
    }

    #[test]
    fn the_least_counts_until_it_is_five_minutes_old() {
        let mut min = MinRtt::default();
        let ms = Duration::from_millis;
        min.take(at(0), ms(20));
        for second in 1..=300 {
            min.take(at(second), ms(50));
            assert_eq!(min.get(), Some(ms(20)));
        }
        min.take(at(301), ms(50));
        assert_eq!(min.get(), Some(ms(50)));
        min.take(at(302), ms(10));
        assert_eq!(min.get(), Some(ms(10)));
    }

    #[test]
    fn rtts_that_grow_for_hours_take_no_more_room() {
        let mut min = MinRtt::default();
        for i in 0..100_000u64 {
            min.take(Time::ZERO + Duration::from_millis(100 * i), Duration::from_micros(1000 + i));
            assert!(min.rising.len() <= 302);
        }
        // least of the seconds from 9999 - 300 on, whose first sample is the 96990th
        assert_eq!(min.get(), Some(Duration::from_micros(1000 + 96_990)));
    }
}
