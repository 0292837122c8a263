//! A clock that stands still, and the one alarm that can be set on it.
//!
//! Its fields are atomics because an alarm's handler interrupts a reading and reads the clock itself. Each step leaves
//! the clock in its final state before an alarm is reported.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The cost of a reading, in ns: a thousandth of a short air time, and a millisecond's waiting in 20,000 readings.
pub const READING_NS: u64 = 50;
/// The clock at its start, in ns. Zero would look unset to programs that keep times as numbers.
pub const START_NS: u64 = 1_000_000_000;
/// No alarm is set.
const NEVER: u64 = u64::MAX;

/// Virtual time in ns, with its alarm.
pub struct Clock {
    now: AtomicU64,
    alarm: AtomicU64,
    interval: AtomicU64,
}

/// The time of an alarm to be set.
#[derive(Clone, Copy)]
pub enum Wanted {
    /// At this reading of the clock, in ns.
    At(u64),
    /// So many ns from now.
    After(u64),
    /// Not at all.
    Never,
}

/// The answer to a reading: an alarm to be given now, or none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alarm {
    /// It is due.
    Due,
    /// There is none, or its time has not come.
    None,
}

impl Clock {
    /// A clock at its start, without an alarm.
    pub const fn new() -> Clock {
        Clock { now: AtomicU64::new(START_NS), alarm: AtomicU64::new(NEVER), interval: AtomicU64::new(0) }
    }

    /// The time in ns, and whether the reading has brought the alarm.
    pub fn read(&self) -> (u64, Alarm) {
        let now = self.now.fetch_add(READING_NS, Relaxed) + READING_NS;
        let due = self.alarm.load(Relaxed) <= now;
        if due {
            self.set_next();
        }
        (now, if due { Alarm::Due } else { Alarm::None })
    }

    /// Sets the alarm, which then repeats each `interval` ns, unless that is zero.
    pub fn set(&self, wanted: Wanted, interval: u64) {
        let alarm = match wanted {
            Wanted::At(time) => time,
            Wanted::After(delay) => self.now.load(Relaxed).saturating_add(delay),
            Wanted::Never => NEVER,
        };
        self.interval.store(interval, Relaxed);
        self.alarm.store(alarm, Relaxed);
    }

    /// The clock jumps to the alarm, if one is set, as nothing runs.
    pub fn jump(&self) -> Alarm {
        let alarm = self.alarm.load(Relaxed);
        if alarm == NEVER {
            return Alarm::None;
        }
        self.now.fetch_max(alarm, Relaxed);
        self.set_next();
        Alarm::Due
    }

    /// Sets the next alarm after one has come.
    fn set_next(&self) {
        let next = match self.interval.load(Relaxed) {
            0 => NEVER,
            interval => self.alarm.load(Relaxed).saturating_add(interval),
        };
        self.alarm.store(next, Relaxed);
    }
}

/// A date in s since 1970 as ns. Text that is no such number is 1970, and a date beyond the range of these ns its end (2554).
pub fn date_ns(text: &str) -> u64 {
    text.parse::<u64>().unwrap_or(0).saturating_mul(1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_passes_by_readings_alone() {
        let clock = Clock::new();
        assert_eq!(clock.read(), (START_NS + READING_NS, Alarm::None));
        assert_eq!(clock.read(), (START_NS + 2 * READING_NS, Alarm::None));
    }

    #[test]
    fn an_idle_kernel_finds_itself_at_its_alarm() {
        let clock = Clock::new();
        clock.set(Wanted::After(1_000_000), 0);
        assert_eq!(clock.jump(), Alarm::Due);
        assert_eq!(clock.read(), (START_NS + 1_000_000 + READING_NS, Alarm::None));
        // It came once.
        assert_eq!(clock.jump(), Alarm::None);
    }

    #[test]
    fn an_alarm_comes_in_the_middle_of_readings() {
        let clock = Clock::new();
        clock.set(Wanted::After(2 * READING_NS), 0);
        assert_eq!(clock.read().1, Alarm::None);
        assert_eq!(clock.read().1, Alarm::Due);
        assert_eq!(clock.read().1, Alarm::None);
    }

    #[test]
    fn an_interval_counts_from_the_alarm_and_not_from_when_it_was_noticed() {
        let clock = Clock::new();
        clock.set(Wanted::At(START_NS + 10), 4_000_000);
        // The reading notices it 40 ns late.
        assert_eq!(clock.read(), (START_NS + 50, Alarm::Due));
        assert_eq!(clock.jump(), Alarm::Due);
        assert_eq!(clock.read().0, START_NS + 10 + 4_000_000 + READING_NS);
    }

    #[test]
    fn an_alarm_in_the_past_does_not_turn_the_clock_back() {
        let clock = Clock::new();
        clock.set(Wanted::At(5), 0);
        assert_eq!(clock.jump(), Alarm::Due);
        assert_eq!(clock.read().0, START_NS + READING_NS);
    }

    #[test]
    fn a_date_beyond_the_range_is_its_end() {
        assert_eq!(date_ns("1700000000"), 1_700_000_000_000_000_000);
        // 1.8e10 s are some 2^64 ns.
        assert_eq!(date_ns("18446744073"), 18_446_744_073_000_000_000);
        assert_eq!(date_ns("18446744074"), u64::MAX);
        assert_eq!((date_ns("-1"), date_ns("soon")), (0, 0));
    }

    #[test]
    fn an_alarm_that_is_switched_off_does_not_come() {
        let clock = Clock::new();
        clock.set(Wanted::After(READING_NS), 0);
        clock.set(Wanted::Never, 0);
        assert_eq!(clock.jump(), Alarm::None);
        assert_eq!(clock.read().1, Alarm::None);
    }
}
