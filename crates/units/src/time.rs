//! Simulated time: integer nanoseconds, so that results are the same on every machine.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub};

/// An instant: nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A length of time in nanoseconds; never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than any event: "not scheduled".
    pub const NEVER: Time = Time(u64::MAX);

    /// The instant `ns` nanoseconds after the start.
    pub const fn from_nanos(ns: u64) -> Self {
        Time(ns)
    }
    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
    /// Seconds since the start.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// The time from `earlier` to here; zero if `earlier` is later.
    pub const fn since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
    /// True for [`Time::NEVER`].
    pub const fn is_never(self) -> bool {
        self.0 == u64::MAX
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Duration = Duration(0);
    /// The longest duration.
    pub const MAX: Duration = Duration(u64::MAX);

    /// From nanoseconds.
    pub const fn from_nanos(ns: u64) -> Self {
        Duration(ns)
    }
    /// From microseconds, at most [`Duration::MAX`].
    pub const fn from_micros(us: u64) -> Self {
        Duration(us.saturating_mul(1_000))
    }
    /// From milliseconds, at most [`Duration::MAX`].
    pub const fn from_millis(ms: u64) -> Self {
        Duration(ms.saturating_mul(1_000_000))
    }
    /// From whole seconds, at most [`Duration::MAX`].
    pub const fn from_secs(s: u64) -> Self {
        Duration(s.saturating_mul(1_000_000_000))
    }
    /// From seconds, rounded to the nanosecond; negative and NaN become zero.
    pub fn from_secs_f64(s: f64) -> Self {
        Duration((s * 1e9).round() as u64)
    }
    /// In nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
    /// In microseconds.
    pub fn as_micros_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }
    /// In seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// `self - other`, or zero where that would be negative.
    pub const fn saturating_sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }
    /// `self * factor`, at most [`Duration::MAX`].
    pub const fn saturating_mul(self, factor: u64) -> Duration {
        Duration(self.0.saturating_mul(factor))
    }
    /// Number of whole `step`s that fit.
    pub const fn div_floor(self, step: Duration) -> u64 {
        self.0 / step.0
    }
    /// The part of this from `from` to `to`, of `all` equal pieces, in whole nanoseconds: parts side by side add up to the whole.
    pub fn part(self, from: u32, to: u32, all: u32) -> Duration {
        let [from, to] = [from, to].map(|end| u128::from(self.0) * u128::from(end) / u128::from(all.max(1)));
        Duration((to - from) as u64)
    }
    /// Number of `step`s that cover this.
    pub const fn div_ceil(self, step: Duration) -> u64 {
        self.0.div_ceil(step.0)
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, d: Duration) -> Time {
        Time(self.0.saturating_add(d.0))
    }
}
impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}
impl Sub<Duration> for Time {
    type Output = Time;
    fn sub(self, d: Duration) -> Time {
        Time(self.0.saturating_sub(d.0))
    }
}
impl Add for Duration {
    type Output = Duration;
    fn add(self, d: Duration) -> Duration {
        Duration(self.0.saturating_add(d.0))
    }
}
impl AddAssign for Duration {
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}
impl Sub for Duration {
    type Output = Duration;
    fn sub(self, d: Duration) -> Duration {
        debug_assert!(self.0 >= d.0, "a duration cannot be negative");
        Duration(self.0.saturating_sub(d.0))
    }
}
impl Mul<u64> for Duration {
    type Output = Duration;
    fn mul(self, n: u64) -> Duration {
        Duration(self.0 * n)
    }
}
impl Div<u64> for Duration {
    type Output = Duration;
    fn div(self, n: u64) -> Duration {
        Duration(self.0 / n)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0;
        let (scale, unit) = match ns {
            0 => (1_000_000_000, "s"),
            _ if ns.is_multiple_of(1_000_000_000) => (1_000_000_000, "s"),
            _ if !ns.is_multiple_of(1_000) => (1, "ns"),
            _ if ns.is_multiple_of(1_000_000) || ns >= 10_000_000 => (1_000_000, "ms"),
            _ => (1_000, "us"),
        };
        write!(f, "{} {unit}", ns as f64 / scale as f64)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.9} s", self.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_beyond_the_longest_are_the_longest() {
        for most in [Duration::from_micros(u64::MAX), Duration::from_millis(u64::MAX), Duration::from_secs(u64::MAX)] {
            assert_eq!(most, Duration::MAX);
        }
        assert_eq!(Duration::from_micros(18_446_744_073_709_551), Duration::from_nanos(18_446_744_073_709_551_000));
    }
}
