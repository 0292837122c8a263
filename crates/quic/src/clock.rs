//! Simulated time for a stack that takes `Instant`s. Only differences of instants reach its arithmetic, so that the one
//! reading of a clock cancels out.

use std::sync::LazyLock;
use std::time::Instant;

use lasthop_units::{Duration, Time};

/// The instant of time zero, the same for all connections of the process.
#[expect(clippy::disallowed_methods, reason = "an Instant cannot be made without a clock; the reading cancels out")]
static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The instant of a simulated time.
pub(crate) fn instant(time: Time) -> Instant {
    *EPOCH + std::time::Duration::from_nanos(time.as_nanos())
}

/// The simulated time of an instant.
pub(crate) fn time(instant: Instant) -> Time {
    Time::ZERO + duration(instant.saturating_duration_since(*EPOCH))
}

/// A duration of the stack; one beyond the range of simulated time is the longest.
pub(crate) fn duration(of: std::time::Duration) -> Duration {
    Duration::from_nanos(u64::try_from(of.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_come_back() {
        for ns in [0, 1, 999_999_999, 1_000_000_000_000_000_001] {
            assert_eq!(time(instant(Time::from_nanos(ns))), Time::from_nanos(ns));
        }
    }
}
