//! The present time of a component without a clock.

use crate::Time;

/// The latest time that a component received. A later call may not bring an earlier time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Present(Time);

impl Present {
    /// Moves on to `now`.
    ///
    /// # Panics
    /// If an earlier call brought a later time: the caller has left out an event, or offers something that belongs to
    /// the past.
    #[inline(always)]
    pub fn advance(&mut self, now: Time) {
        if now < self.0 {
            went_back(self.0, now);
        }
        self.0 = now;
    }
}

#[cold]
#[inline(never)]
fn went_back(before: Time, now: Time) -> ! {
    panic!("time went back: {} s after {} s", now.as_secs_f64(), before.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_instant_may_come_again() {
        let mut present = Present::default();
        [0, 5, 5, 7].into_iter().for_each(|ns| present.advance(Time::from_nanos(ns)));
    }

    #[test]
    #[should_panic(expected = "time went back: 0.000000004 s after 0.000000005 s")]
    fn an_earlier_one_may_not() {
        let mut present = Present::default();
        [5, 4].into_iter().for_each(|ns| present.advance(Time::from_nanos(ns)));
    }
}
