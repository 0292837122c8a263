//! The least RTT over the last five minutes: the best three samples, each later than the one before.
//!
//! Source: Kathleen Nichols' windowed minimum, as Linux keeps it (`tcp_min_rtt_wlen` 300 s).

use lasthop_units::{Duration, Time};

const WINDOW: Duration = Duration::from_secs(300);

#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Time,
    rtt: Duration,
}

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MinRtt([Option<Sample>; 3]);

impl MinRtt {
    pub fn get(&self) -> Option<Duration> {
        self.0[0].map(|best| best.rtt)
    }

    pub fn take(&mut self, now: Time, rtt: Duration) {
        let new = Sample { at: now, rtt };
        let [Some(first), Some(second), Some(third)] = self.0 else { return self.0 = [Some(new); 3] };
        if rtt <= first.rtt || now.since(third.at) > WINDOW {
            return self.0 = [Some(new); 3];
        }
        if rtt <= second.rtt {
            self.0 = [Some(first), Some(new), Some(new)];
        } else if rtt <= third.rtt {
            self.0[2] = Some(new);
        }
        self.grow_old(now, new);
    }

    /// The best are given up as they leave the window; new ones take their places early enough.
    fn grow_old(&mut self, now: Time, new: Sample) {
        let age = |sample: Option<Sample>| sample.map_or(Duration::ZERO, |s| now.since(s.at));
        let [first, second, third] = self.0;
        if age(first) > WINDOW {
            self.0 = [second, third, Some(new)];
            if age(self.0[0]) > WINDOW {
                self.0 = [third, Some(new), Some(new)];
            }
        } else if second.map(|s| s.at) == first.map(|s| s.at) && age(first) > WINDOW / 4 {
            self.0 = [first, Some(new), Some(new)];
        } else if third.map(|s| s.at) == second.map(|s| s.at) && age(first) > WINDOW / 2 {
            self.0 = [first, second, Some(new)];
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
}
