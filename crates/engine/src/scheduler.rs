//! The queue of events.
//!
//! Events are ordered by time, and at one time in the order in which they were scheduled. That order is a choice, the
//! same on every machine: a cause always comes before its effect at the same instant. A cancelled event is not removed:
//! its owner knows which events it still waits for, and ignores the rest.
//!
//! The next events are in a sorted list, which is popped at its end; new ones mostly belong near that end. Events later
//! than those of a full list wait in a heap.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use lasthop_units::{Duration, Time};

/// The most events in the sorted list: with more, moving them costs more than a heap does.
const MOST_NEAR: usize = 256;
/// The number of the latest of these that move to the heap, or back from it, at a time.
const MOVED: usize = MOST_NEAR / 2;

/// If more events than this are sooner than a new one, the list is moved in one go.
const FEW: usize = 6;

pub(crate) struct Scheduled<E> {
    at: Time,
    /// the order of scheduling
    sequence: u64,
    event: E,
}

impl<E> Ord for Scheduled<E> {
    // Reversed: `BinaryHeap` yields the greatest, but the earliest is needed.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.sequence).cmp(&(self.at, self.sequence))
    }
}
impl<E> PartialOrd for Scheduled<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<E> PartialEq for Scheduled<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl<E> Eq for Scheduled<E> {}

#[cold]
#[inline(never)]
fn is_past(at: Time, now: Time) -> ! {
    panic!("an event at {at} was scheduled when it was already {now}")
}

/// A place among the events of one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Turn(u64);

/// Owns the clock and the events to come.
pub struct Scheduler<E> {
    now: Time,
    sequence: u64,
    handled: u64,
    /// The next events, the latest first; none is later than any in `far`, and it is empty only if `far` is.
    near: Vec<Scheduled<E>>,
    far: BinaryHeap<Scheduled<E>>,
    /// time of the first event in `far`
    far_from: Time,
}

impl<E> Default for Scheduler<E> {
    fn default() -> Self {
        Scheduler {
            now: Time::ZERO,
            sequence: 0,
            handled: 0,
            near: Vec::new(),
            far: BinaryHeap::new(),
            far_from: Time::NEVER,
        }
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

    /// The number of events handled.
    pub fn handled(&self) -> u64 {
        self.handled
    }

    /// The number of events to come.
    pub fn pending(&self) -> usize {
        self.near.len() + self.far.len()
    }

    /// Schedules `event` at `at`.
    ///
    /// # Panics
    /// If `at` is in the past: time never goes back.
    pub fn at(&mut self, at: Time, event: E) {
        if at < self.now {
            is_past(at, self.now);
        }
        let Turn(sequence) = self.turn();
        let scheduled = Scheduled { at, sequence, event };
        // It has the greatest sequence number, so the times alone decide which events come before it.
        if at >= self.far_from || self.near.len() == self.near.capacity() {
            return self.put(scheduled);
        }
        self.near.push(scheduled);
        // Few events are usually sooner than a new one: those are swapped with it one by one.
        let mut list = self.near.as_mut_slice();
        for _ in 0..FEW {
            let [.., sooner, own] = &mut *list else { return };
            if sooner.at > at {
                return;
            }
            std::mem::swap(sooner, own);
            let shorter = list.len() - 1;
            list = &mut list[..shorter];
        }
        self.move_down();
    }

    /// Moves the newest event further, after it was swapped with [`FEW`].
    #[inline(never)]
    fn move_down(&mut self) {
        let own = self.near.len() - 1 - FEW;
        let at = self.near[own].at;
        let place = self.near[..own].iter().rposition(|other| other.at > at).map_or(0, |later| later + 1);
        self.near[place..=own].rotate_right(1);
    }

    /// The place that an event scheduled now would have among those of its time.
    pub fn turn(&mut self) -> Turn {
        self.sequence += 1;
        Turn(self.sequence)
    }

    /// Schedules `event` at `at` in a turn that was given out before: it comes where it would have come if it had been
    /// scheduled then. A component with many events may schedule only the earliest, and each other one when its time
    /// comes.
    ///
    /// # Panics
    /// If `at` is in the past.
    pub fn at_turn(&mut self, at: Time, Turn(sequence): Turn, event: E) {
        if at < self.now {
            is_past(at, self.now);
        }
        self.put(Scheduled { at, sequence, event });
    }

    /// Puts an event in its place, whatever its turn: into the list, or into the heap.
    #[inline(never)]
    fn put(&mut self, scheduled: Scheduled<E>) {
        if self.near.len() >= MOST_NEAR {
            self.far.extend(self.near.drain(..MOVED));
            self.note_far();
        }
        // The earlier of two compares as greater.
        if scheduled.at >= self.far_from && self.far.peek().is_some_and(|first| *first > scheduled) {
            return self.far.push(scheduled);
        }
        let place = self.near.iter().rposition(|other| *other < scheduled).map_or(0, |later| later + 1);
        self.near.insert(place, scheduled);
    }

    fn note_far(&mut self) {
        self.far_from = self.far.peek().map_or(Time::NEVER, |first| first.at);
    }

    /// Schedules `event` after `delay`.
    pub fn after(&mut self, delay: Duration, event: E) {
        self.at(self.now + delay, event);
    }

    /// The time of the next event.
    pub fn next_at(&self) -> Option<Time> {
        self.near.last().map(|next| next.at)
    }

    /// Advances the clock to the next event that is due before `end` and hands it over.
    #[inline(always)]
    pub fn next_before(&mut self, end: Time) -> Option<(Time, E)> {
        let at = self.next_at()?;
        if at >= end {
            return None;
        }
        let Scheduled { event, .. } = self.near.pop()?;
        if self.near.is_empty() && !self.far.is_empty() {
            self.refill();
        }
        self.now = at;
        self.handled += 1;
        Some((at, event))
    }

    /// Advances the clock to `at` without an event; a time in the past, or [`Time::NEVER`], leaves it unchanged.
    ///
    /// # Panics
    /// If an event is due before.
    pub fn advance_to(&mut self, at: Time) {
        assert!(self.next_at().is_none_or(|next| next >= at), "an event is due before {at}");
        if at != Time::NEVER {
            self.now = self.now.max(at);
        }
    }

    #[cold]
    #[inline(never)]
    fn refill(&mut self) {
        let earliest = std::iter::from_fn(|| self.far.pop()).take(MOVED);
        self.near.extend(earliest);
        self.near.reverse();
        self.note_far();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_comes_in_the_turn_that_was_kept_for_it() {
        // As many events as fill the list, and more.
        for others in [2, 3 * MOST_NEAR as u64] {
            let mut scheduler = Scheduler::new();
            let at = Time::from_nanos(10);
            let mut turns = Vec::new();
            for n in 0..others {
                scheduler.at(at, 2 * n);
                turns.push((scheduler.turn(), 2 * n + 1));
            }
            let order = turns.into_iter().rev();
            order.for_each(|(turn, event)| scheduler.at_turn(at, turn, event));
            let came: Vec<u64> = std::iter::from_fn(|| scheduler.next_before(Time::NEVER)).map(|(_, e)| e).collect();
            assert_eq!(came, (0..2 * others).collect::<Vec<_>>());
        }
    }

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
    fn any_number_of_events_comes_in_the_order_of_a_plain_sort() {
        let mut random = crate::Stream::new(1, "scheduler", 0);
        let (mut scheduler, mut plain, mut handled, mut number) = (Scheduler::new(), Vec::new(), 0, 0);
        for round in 0..200u64 {
            // Bursts that overflow the list, and pauses in which it runs empty.
            let mut kept = Vec::new();
            for _ in 0..random.up_to(40) {
                let at = scheduler.now() + Duration::from_nanos(u64::from(random.up_to(50)) * (1 + round % 7));
                plain.push((at, number));
                // Some events keep their turn and are scheduled in it later.
                match random.up_to(3) {
                    0 => kept.push((at, scheduler.turn(), number)),
                    _ => scheduler.at(at, number),
                }
                number += 1;
            }
            kept.into_iter().rev().for_each(|(at, turn, event)| scheduler.at_turn(at, turn, event));
            for _ in 0..random.up_to(if round % 50 > 40 { 400 } else { 15 }) {
                let Some((now, event)) = scheduler.next_before(Time::NEVER) else { break };
                let next = plain[handled..].iter().min().copied();
                assert_eq!(next, Some((now, event)));
                let place = plain.iter().position(|p| *p == (now, event)).unwrap();
                plain.swap(handled, place);
                handled += 1;
            }
            assert_eq!(scheduler.pending(), plain.len() - handled);
        }
        assert!(handled > 3_000 && scheduler.handled() == handled as u64, "{handled}");
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
