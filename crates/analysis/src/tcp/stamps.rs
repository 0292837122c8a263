//! TCP time stamps that have passed in one direction, with times. [RFC 7323 §3]

use std::collections::VecDeque;

use lasthop_units::Time;

/// Number of time stamps remembered: a second or more of clocks of 1 ms.
const MOST: usize = 4096;

/// Time stamps in their order, each with the time of one packet that had it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stamps {
    passed: VecDeque<(u32, Time)>,
}

impl Stamps {
    /// Handles a packet with a time stamp; of several with the same the first is remembered.
    pub(crate) fn remember_first(&mut self, value: u32, at: Time) {
        self.remember(value, at, |_| {});
    }

    /// The same, except that of several the latest is remembered.
    pub(crate) fn remember_latest(&mut self, value: u32, at: Time) {
        self.remember(value, at, |passed| *passed = at);
    }

    fn remember(&mut self, value: u32, at: Time, again: impl FnOnce(&mut Time)) {
        match self.passed.back_mut() {
            Some((latest, passed)) if *latest == value => again(passed),
            // A packet that was overtaken on the way.
            Some((latest, _)) if (value.wrapping_sub(*latest) as i32) < 0 => {}
            _ => self.passed.push_back((value, at)),
        }
        if self.passed.len() > MOST {
            self.passed.pop_front();
        }
    }

    /// The time at which it passed, if remembered.
    pub(crate) fn passed(&self, value: u32) -> Option<Time> {
        let place = self.passed.partition_point(|entry| (entry.0.wrapping_sub(value) as i32) < 0);
        self.passed.get(place).filter(|entry| entry.0 == value).map(|entry| entry.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Time {
        Time::from_nanos(n * 1_000_000)
    }

    #[test]
    fn of_packets_with_one_time_stamp_the_first_or_the_latest_is_remembered_also_where_the_clock_wraps() {
        let (mut first, mut latest) = (Stamps::default(), Stamps::default());
        for (value, at) in [(u32::MAX, ms(1)), (u32::MAX, ms(2)), (0, ms(3)), (u32::MAX, ms(4))] {
            first.remember_first(value, at);
            latest.remember_latest(value, at);
        }
        assert_eq!((first.passed(u32::MAX), first.passed(0), first.passed(1)), (Some(ms(1)), Some(ms(3)), None));
        assert_eq!(latest.passed(u32::MAX), Some(ms(2)));
    }
}
