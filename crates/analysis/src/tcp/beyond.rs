//! When data become in order at a receiver beyond the point of capture, on the way to which they may still be lost.
//!
//! An acknowledgement shows that a segment arrived, but not which of its transmissions did: it was the latest that is at
//! least a round trip older than the acknowledgement. The way to the receiver counts as half of the least round trip.

use std::collections::VecDeque;

use lasthop_units::{Duration, Time};

/// Maximum number of segments that await their acknowledgement; the first of more counts as arrived.
const MOST_AWAITED: usize = 1 << 15;
/// Maximum number of retransmissions of a segment that are remembered: Linux gives up after 15.
const MOST_AGAIN: usize = 16;
/// Duplicate acknowledgements that show a loss. [RFC 5681 §3.2]
const DUPLICATES: u32 = 3;

/// A segment that has passed and is not acknowledged.
#[derive(Clone, Debug)]
struct Awaited {
    start: u64,
    end: u64,
    passed: Time,
    /// times of its retransmissions
    again: Vec<Time>,
    /// time of the first SACK that covers it
    sacked: Option<Time>,
}

/// Data on their way beyond the point of capture. Times are those of passing it.
#[derive(Clone, Debug)]
pub(crate) struct Beyond {
    /// in the order of their numbers, without overlaps
    awaited: VecDeque<Awaited>,
    /// all before it has arrived
    next: u64,
    /// the time at which the last of these passed
    in_order: Time,
    least_rtt: Option<Duration>,
    latest_rtt: Duration,
    /// duplicates of the latest acknowledgement, and the time of the last one
    duplicates: u32,
    duplicated: Option<Time>,
    /// bytes with the time at which they became in order at the receiver
    delivered: Vec<(Time, u64)>,
}

impl Beyond {
    /// All before `next` counts as arrived.
    pub(crate) fn from(next: u64) -> Beyond {
        Beyond {
            awaited: VecDeque::new(),
            next,
            in_order: Time::ZERO,
            least_rtt: None,
            latest_rtt: Duration::ZERO,
            duplicates: 0,
            duplicated: None,
            delivered: Vec::new(),
        }
    }

    /// The same path, for a stream whose first number is `next`.
    pub(crate) fn again_from(self, next: u64) -> Beyond {
        Beyond { awaited: VecDeque::new(), next, duplicates: 0, duplicated: None, ..self }
    }

    /// The bytes that have become in order since the last call, with their times, which never decrease.
    pub(crate) fn take(&mut self) -> std::vec::Drain<'_, (Time, u64)> {
        self.delivered.drain(..)
    }

    /// Handles a segment that passes.
    pub(crate) fn pass(&mut self, at: Time, start: u64, end: u64) {
        let mut start = start.max(self.next);
        let mut place = self.awaited.partition_point(|segment| segment.end <= start);
        while start < end {
            let until = self.awaited.get(place).map_or(end, |segment| segment.start).min(end);
            if start < until {
                let segment = Awaited { start, end: until, passed: at, again: Vec::new(), sacked: None };
                self.awaited.insert(place, segment);
            } else {
                self.awaited[place].passes_again(at);
            }
            start = self.awaited[place].end;
            place += 1;
        }
        if self.awaited.len() > MOST_AWAITED
            && let Some(first) = self.awaited.pop_front()
        {
            self.arrive(first.end, first.passed);
        }
    }

    /// Handles a block of a SACK.
    pub(crate) fn sack(&mut self, at: Time, start: u64, end: u64) {
        let first = self.awaited.partition_point(|segment| segment.start < start);
        for segment in self.awaited.range_mut(first..).take_while(|segment| segment.end <= end) {
            segment.sacked.get_or_insert(at);
        }
    }

    /// Handles an acknowledgement of all before `number`, which may give an RTT.
    pub(crate) fn acknowledge(&mut self, at: Time, number: u64, rtt: Option<Duration>, is_duplicate: bool) {
        if let Some(rtt) = rtt {
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
            self.latest_rtt = rtt;
        }
        if is_duplicate {
            self.duplicates += 1;
            self.duplicated = Some(at);
        }
        if number <= self.next {
            return;
        }
        let least = self.least_rtt.unwrap_or_default();
        let mut arrived = earlier(at, least);
        while let Some(first) = self.awaited.front_mut().filter(|segment| segment.start < number) {
            // The duplicate was sent before the segment arrived that they all asked for.
            let asked_for = self.duplicated.take().map(|at| earlier(at, self.latest_rtt));
            arrived = first.arrived(at, least).max(asked_for.unwrap_or(Time::ZERO));
            let end = first.end.min(number);
            if first.end <= number {
                self.awaited.pop_front();
            } else {
                first.start = number;
            }
            self.arrive(end, arrived);
        }
        // Beyond the data that were seen.
        self.arrive(number, arrived);
        (self.duplicates, self.duplicated) = (0, None);
    }

    /// At the end of a capture, what has passed and is not known to be lost counts as arrived, up to `passed`.
    pub(crate) fn end(&mut self, passed: u64) {
        while let Some(first) = self.awaited.pop_front().filter(|segment| segment.start < passed) {
            if self.duplicates >= DUPLICATES && first.again.is_empty() {
                break;
            }
            self.duplicates = 0;
            self.arrive(first.end.min(passed), first.again.last().copied().unwrap_or(first.passed));
        }
        self.awaited.clear();
    }

    /// All before `number` has arrived, what was missing last having passed at `passed`.
    fn arrive(&mut self, number: u64, passed: Time) {
        if number <= self.next {
            return;
        }
        self.in_order = self.in_order.max(passed);
        let when = self.in_order + self.least_rtt.unwrap_or_default() / 2;
        let bytes = number - std::mem::replace(&mut self.next, number);
        match self.delivered.last_mut() {
            Some((time, sum)) if *time >= when => *sum += bytes,
            _ => self.delivered.push((when, bytes)),
        }
    }
}

impl Awaited {
    fn passes_again(&mut self, at: Time) {
        if self.again.len() == MOST_AGAIN {
            self.again.remove(0);
        }
        self.again.push(at);
    }

    /// The time at which the transmission passed that an acknowledgement at `at` shows to have arrived.
    fn arrived(&self, at: Time, least_rtt: Duration) -> Time {
        let latest = earlier(self.sacked.unwrap_or(at), least_rtt);
        self.again.iter().rev().find(|again| **again <= latest).copied().unwrap_or(self.passed)
    }
}

fn earlier(at: Time, by: Duration) -> Time {
    Time::from_nanos(at.as_nanos().saturating_sub(by.as_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Time {
        Time::from_nanos(n * 1_000_000)
    }

    /// Segments of 100 bytes that passed at 0, 1, 2 … ms, over a path whose round trip takes 10 ms.
    fn path(segments: u64) -> Beyond {
        let mut beyond = Beyond::from(0);
        for number in 0..segments {
            beyond.pass(ms(number), 100 * number, 100 * (number + 1));
        }
        beyond.acknowledge(ms(10), 100, Some(Duration::from_millis(10)), false);
        assert_eq!(beyond.take().collect::<Vec<_>>(), [(ms(5), 100)]);
        beyond
    }

    fn delivered(beyond: &mut Beyond) -> Vec<(Time, u64)> {
        beyond.take().collect()
    }

    #[test]
    fn data_not_lost_arrives_half_a_round_trip_after_passing() {
        let mut beyond = path(3);
        beyond.acknowledge(ms(12), 300, None, false);
        assert_eq!(delivered(&mut beyond), [(ms(6), 100), (ms(7), 100)]);
    }

    #[test]
    fn loss_after_capture_point_delays_later_data() {
        let mut beyond = path(5);
        for at in 12..15 {
            beyond.acknowledge(ms(at), 100, None, true);
        }
        beyond.pass(ms(15), 100, 200);
        beyond.acknowledge(ms(25), 500, None, false);
        assert_eq!(delivered(&mut beyond), [(ms(20), 400)]);
    }

    #[test]
    fn a_retransmission_that_is_too_young_for_the_acknowledgement_was_for_nothing() {
        let mut beyond = path(3);
        // The acknowledgement of the original was late, by 3 ms: it comes 4 ms after the retransmission.
        beyond.pass(ms(10), 100, 200);
        beyond.acknowledge(ms(14), 300, None, false);
        assert_eq!(delivered(&mut beyond), [(ms(6), 100), (ms(7), 100)]);
    }

    #[test]
    fn sacked_data_arrived_before_its_retransmission() {
        let mut beyond = path(4);
        beyond.sack(ms(12), 200, 300);
        beyond.pass(ms(13), 100, 200);
        // Goes back to what has arrived, as after a timeout.
        beyond.pass(ms(14), 200, 300);
        beyond.acknowledge(ms(23), 200, None, false);
        beyond.acknowledge(ms(24), 400, None, false);
        // 200..400 was there when 100..200 came.
        assert_eq!(delivered(&mut beyond), [(ms(18), 300)]);
    }

    #[test]
    fn a_retransmission_that_the_sniffer_missed_came_after_the_duplicates_were_sent() {
        let mut beyond = path(4);
        for at in 12..20 {
            beyond.acknowledge(ms(at), 100, None, true);
        }
        beyond.acknowledge(ms(21), 400, None, false);
        // The last duplicate left 5 ms before 19.
        assert_eq!(delivered(&mut beyond), [(ms(14), 300)]);
    }

    #[test]
    fn partial_and_unseen_segments_count_once() {
        let mut beyond = path(1);
        beyond.pass(ms(11), 150, 250);
        beyond.pass(ms(12), 100, 300);
        beyond.acknowledge(ms(30), 170, None, false);
        beyond.acknowledge(ms(31), 400, None, false);
        assert_eq!(delivered(&mut beyond).iter().map(|(_, bytes)| bytes).sum::<u64>(), 300);
    }

    #[test]
    fn known_losses_have_not_arrived_at_the_end() {
        for (duplicates, bytes) in [(0, 200), (3, 0)] {
            let mut beyond = path(3);
            for at in 0..duplicates {
                beyond.acknowledge(ms(12 + at), 100, None, true);
            }
            beyond.end(300);
            assert_eq!(delivered(&mut beyond).iter().map(|(_, bytes)| bytes).sum::<u64>(), bytes);
        }
    }
}
