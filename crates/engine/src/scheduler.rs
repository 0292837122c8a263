//! The queue of events.
//!
//! Order: by time; at one time, in the order in which the events were scheduled. That order is a
//! choice, the same on every machine: a cause always comes before its effect at the same instant.
//! A cancelled event is not removed: its owner gives each event a generation and ignores old ones.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use lasthop_units::{Duration, Time};

struct Scheduled<E> {
    /// Time in the upper half, sequence in the lower: one comparison orders both.
    key: u128,
    event: E,
}

impl<E> Scheduled<E> {
    fn at(&self) -> Time {
        Time::from_nanos((self.key >> 64) as u64)
    }
}

impl<E> Ord for Scheduled<E> {
    // Reversed: `BinaryHeap` gives the greatest, we want the earliest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}
impl<E> PartialOrd for Scheduled<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<E> PartialEq for Scheduled<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}
impl<E> Eq for Scheduled<E> {}

/// Owns the clock and the events to come.
pub struct Scheduler<E> {
    now: Time,
    sequence: u64,
    handled: u64,
    queue: BinaryHeap<Scheduled<E>>,
}

impl<E> Default for Scheduler<E> {
    fn default() -> Self {
        Scheduler { now: Time::ZERO, sequence: 0, handled: 0, queue: BinaryHeap::new() }
    }
}

impl<E> Scheduler<E> {
    /// An empty queue at time zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// The current instant.
    pub fn now(&self) -> Time {
        self.now
    }

    /// How many events have been handled.
    pub fn handled(&self) -> u64 {
        self.handled
    }

    /// How many events are to come.
    pub fn pending(&self) -> usize {
        self.queue.len()
    }

    /// Puts `event` at `at`.
    ///
    /// # Panics
    /// If `at` is in the past: time never goes back.
    pub fn at(&mut self, at: Time, event: E) {
        assert!(at >= self.now, "an event at {at} was scheduled when it was already {}", self.now);
        self.sequence += 1;
        let key = u128::from(at.as_nanos()) << 64 | u128::from(self.sequence);
        self.queue.push(Scheduled { key, event });
    }

    /// Puts `event` after `delay`.
    pub fn after(&mut self, delay: Duration, event: E) {
        self.at(self.now + delay, event);
    }

    /// When the next event is due.
    pub fn next_at(&self) -> Option<Time> {
        self.queue.peek().map(Scheduled::at)
    }

    /// Advances the clock to the next event that is due before `end` and hands it over.
    pub fn next_before(&mut self, end: Time) -> Option<(Time, E)> {
        if self.queue.peek()?.at() >= end {
            return None;
        }
        let Scheduled { key, event } = self.queue.pop()?;
        let at = Time::from_nanos((key >> 64) as u64);
        self.now = at;
        self.handled += 1;
        Some((at, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_order_of_time_then_of_scheduling() {
        let mut scheduler = Scheduler::new();
        for (ns, name) in [(5, "c"), (1, "a"), (5, "d"), (3, "b")] {
            scheduler.at(Time::from_nanos(ns), name);
        }
        let order: Vec<_> = std::iter::from_fn(|| scheduler.next_before(Time::NEVER)).map(|(_, e)| e).collect();
        assert_eq!(order, ["a", "b", "c", "d"]);
        assert_eq!(scheduler.now(), Time::from_nanos(5));
    }

    #[test]
    fn an_event_at_the_end_is_not_handled() {
        let mut scheduler = Scheduler::new();
        scheduler.at(Time::from_nanos(10), ());
        assert!(scheduler.next_before(Time::from_nanos(10)).is_none());
        assert!(scheduler.next_before(Time::from_nanos(11)).is_some());
    }

    #[test]
    #[should_panic(expected = "was scheduled when it was already")]
    fn the_past_is_refused() {
        let mut scheduler = Scheduler::new();
        scheduler.at(Time::from_nanos(10), ());
        scheduler.next_before(Time::NEVER);
        scheduler.at(Time::from_nanos(9), ());
    }
}
