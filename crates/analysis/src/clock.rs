//! Start times of PPDUs: the clock of the file, refined by that of the radio.

use lasthop_wire::radiotap::Radiotap;

/// A radio's clock that has moved by more than this was set again, or has drifted.
const FARTHEST_NS: i64 = 50_000_000;

/// The state of a radio's clock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RadioClock {
    /// TSFT in µs, and the corresponding time of the file
    anchor: Option<(u64, i64)>,
}

impl RadioClock {
    /// The start of the PPDU of a frame captured at `at`, in nanoseconds.
    pub(crate) fn start_ns(&mut self, at: i64, radiotap: &Radiotap) -> i64 {
        // Radiotap's own time stamp of the PPDU in nanoseconds is in the file, too.
        let is_exact = radiotap.timestamp.is_some_and(|stamp| stamp.position == 1 && stamp.unit == 2);
        let Some(tsft_us) = radiotap.tsft_us.filter(|_| !is_exact) else { return at };
        let (tsft_0, at_0) = *self.anchor.get_or_insert((tsft_us, at));
        let passed_us = tsft_us.wrapping_sub(tsft_0) as i64;
        let told = at_0.saturating_add(passed_us.saturating_mul(1000));
        if told.saturating_sub(at).unsigned_abs() > FARTHEST_NS as u64 {
            self.anchor = Some((tsft_us, at));
            return at;
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radio_clock_refines_file_clock_and_may_be_reset() {
        let mut clock = RadioClock::default();
        let with = |tsft_us| Radiotap { tsft_us: Some(tsft_us), ..Radiotap::default() };
        assert_eq!(clock.start_ns(5_000_000, &with(100)), 5_000_000);
        assert_eq!(clock.start_ns(5_900_000, &with(350)), 5_250_000);
        assert_eq!(clock.start_ns(6_000_000, &with(7)), 5_000_000 - 93_000);
        assert_eq!(clock.start_ns(90_000_000, &with(8)), 90_000_000);
        assert_eq!(clock.start_ns(90_100_000, &with(58)), 90_050_000);
    }
}
