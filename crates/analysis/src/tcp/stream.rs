//! One direction of a connection, as seen on the path: data one way, acknowledgements the other.

use std::collections::VecDeque;

use lasthop_units::{Duration, Time};
use lasthop_wire::tcp::TcpFlags;

use super::beyond::Beyond;
use super::ranges::Ranges;
use super::stamps::Stamps;
use crate::packet::Segment;
use crate::sequence::Novelty;

/// Maximum number of segments that await their acknowledgement.
const MOST_OUTSTANDING: usize = 1 << 15;
/// A number farther from those seen belongs to another connection, or to none.
const FARTHEST: u64 = 1 << 30;

/// A segment that was seen and is not yet acknowledged.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    end: u64,
    at: Time,
    /// time of its latest transmission
    latest: Time,
    /// time at which it left its sender, if known
    left: Option<Time>,
    /// it gives no RTT: it was retransmitted [RFC 6298 §3], or has been SACKed
    is_spent: bool,
    /// it was retransmitted
    is_again: bool,
    /// the time stamp of its first retransmission
    again: Option<u32>,
}

/// The time at which a segment passed, and that at which it had left its sender.
type Passed = (Time, Option<Time>);

/// The findings about a segment with data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// bytes that have become in order
    pub in_order: u64,
    pub is_retransmission: bool,
    /// a SYN or a FIN without data that was sent before
    pub is_repeated: bool,
    pub is_out_of_order: bool,
    /// time from here to its sender and back, including the time in which the sender had nothing to send
    pub rtt_before: Option<Duration>,
    /// for a retransmission of the first unacknowledged segment: time since its latest transmission, or since the
    /// latest ACK of new data
    pub head_waited: Option<Duration>,
}

/// The findings about an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Told {
    /// bytes that must have been in order at the receiver, although they were not seen
    pub never_seen: u64,
    /// bytes that have become in order
    pub in_order: u64,
    /// bytes acknowledged for the first time
    pub acknowledged: u64,
    /// time from here to the receiver and back
    pub rtt: Option<Duration>,
    /// time from the sender to the receiver and back here
    pub rtt_of_sender: Option<Duration>,
    /// it acknowledges more than two segments
    pub is_jump: bool,
    /// it repeats the last acknowledgement, and nothing else
    pub is_duplicate: bool,
    /// it reports a segment that arrived twice
    pub is_dsack: bool,
    /// segments that were retransmitted although they had arrived: it echoes the earlier transmission [RFC 3522 §3.2]
    pub spurious: u64,
}

/// The SYNs of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Syns {
    /// not seen
    None,
    One,
    Repeated,
}

/// Data in one direction. Numbers continue past 2^32.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    seen: Ranges,
    /// bytes that were seen, or that passed and were missed by the sniffer
    passed: Ranges,
    /// frames of its transmitter unheard by the latest segment
    missed: u64,
    acknowledged: u64,
    /// time of the latest ACK of new data
    advanced: Time,
    /// end of the stream, once a FIN was seen
    end: Option<u64>,
    /// time of the FIN, until it is acknowledged; none if it was retransmitted
    closed: Option<Passed>,
    outstanding: VecDeque<Outstanding>,
    /// time of the SYN, until it is acknowledged; none if it was retransmitted
    opened: Option<Time>,
    /// whether its SYN was seen, and whether it was sent again
    syns: Syns,
    /// its time stamps, with the time of the first packet of each
    stamps: Stamps,
    /// when data arrive at the receiver, where they may be lost on the way there
    pub beyond: Option<Beyond>,
    pub mss: u32,
}

fn unwrapped(number: u32, near: u64) -> u64 {
    near.wrapping_add_signed(i64::from(number.wrapping_sub(near as u32) as i32))
}

impl Stream {
    /// A stream whose first relevant number is `next`; all before it counts as acknowledged.
    pub(crate) fn new(next: u32) -> Stream {
        // Leaves room for earlier numbers.
        let next = (1 << 32) + u64::from(next);
        Stream {
            seen: Ranges::from(next),
            passed: Ranges::from(next),
            missed: 0,
            acknowledged: next,
            advanced: Time::ZERO,
            end: None,
            closed: None,
            outstanding: VecDeque::new(),
            opened: None,
            syns: Syns::None,
            stamps: Stamps::default(),
            beyond: None,
            mss: 0,
        }
    }

    /// A stream whose SYN passes, which replaces the stream `before` with the same ports.
    pub(crate) fn open(at: Time, syn: &Segment, before: Option<Stream>) -> Stream {
        let mut own = Stream::new(syn.seq.wrapping_add(1));
        let same = before.as_ref().filter(|before| before.acknowledged == own.acknowledged && before.flight() == 0);
        own.syns = if same.is_some_and(|before| before.syns != Syns::None) { Syns::Repeated } else { Syns::One };
        own.opened = same.is_none().then_some(at);
        own.stamp_passes(at, syn);
        if let Some(mut before) = before {
            before.end();
            own.beyond = before.beyond.map(|beyond| beyond.again_from(own.acknowledged));
        }
        own
    }

    /// Follows data to the receiver, counting from here on.
    pub(crate) fn follow_beyond(&mut self) {
        self.beyond.get_or_insert_with(|| Beyond::from(self.acknowledged));
    }

    /// Ends the stream: what has passed and is not known to be lost has arrived.
    pub(crate) fn end(&mut self) {
        if let Some(beyond) = &mut self.beyond {
            // A sniffer that misses frames has more likely missed what fills a hole than the station has lost it.
            let passed = if self.missed > 0 { self.seen.end() } else { self.passed.next() };
            beyond.end(passed);
        }
    }

    /// Notes a segment's time stamp.
    fn stamp_passes(&mut self, at: Time, segment: &Segment) {
        if let Some(timestamps) = segment.timestamps {
            self.stamps.remember_first(timestamps.value, at);
        }
    }

    /// Bytes that were seen, or must have been sent, and are not acknowledged.
    pub(crate) fn flight(&self) -> u64 {
        self.seen.end().saturating_sub(self.acknowledged)
    }

    /// Handles a segment with data that has `left` its sender; `novelty` is the position of its frame among those of its
    /// transmitter.
    pub(crate) fn data(&mut self, at: Time, left: Option<Time>, segment: &Segment, novelty: Novelty) -> Arrival {
        let start = unwrapped(segment.seq, self.seen.next());
        let end = start + u64::from(segment.payload);
        if start.abs_diff(self.seen.next()) > FARTHEST {
            return Arrival::default();
        }
        let mut is_repeated = false;
        if segment.flags.contains(TcpFlags::FIN) {
            is_repeated = self.end == Some(end);
            self.closed = self.end.is_none().then_some((at, left));
            self.end = Some(end);
        }
        if segment.payload == 0 {
            return Arrival { is_repeated, ..Arrival::default() };
        }
        if self.keeps_alive(start, end) {
            return Arrival::default();
        }
        self.stamp_passes(at, segment);
        self.mss = self.mss.max(segment.payload);
        let (before, is_old) = (self.passed.next(), start < self.seen.end());
        let was_seen = self.seen.touches(start, end);
        // A frame retransmitted by the MAC carries a segment that TCP sent once.
        let is_retransmission = is_old && (was_seen || novelty.is_new());
        if let Some(missed) = novelty.missed() {
            let newly = missed.saturating_sub(std::mem::replace(&mut self.missed, missed));
            if !is_old && newly * u64::from(self.mss) >= start - self.seen.end() {
                // At least as many frames of its transmitter were missed since the segment before it as fill the hole.
                self.passed.add(self.seen.end(), start);
            }
        }
        self.seen.add(start, end);
        self.passed.add(start, end);
        if let Some(beyond) = &mut self.beyond {
            beyond.pass(at, start, end);
        }
        let mut head_waited = None;
        if is_retransmission {
            head_waited =
                (start <= self.acknowledged && self.acknowledged < end).then(|| self.head_waits(at)).flatten();
            self.spend(start, end, true);
            self.sent_again(at, start, end, segment);
        } else if !is_old {
            if self.outstanding.len() == MOST_OUTSTANDING {
                self.outstanding.pop_front();
            }
            self.outstanding.push_back(Outstanding {
                end,
                at,
                latest: at,
                left,
                is_spent: false,
                is_again: false,
                again: None,
            });
        }
        Arrival {
            in_order: self.passed.next() - before,
            is_retransmission,
            is_repeated: false,
            is_out_of_order: is_old && !is_retransmission,
            rtt_before: None,
            head_waited,
        }
    }

    /// Whether a segment repeats the last byte though it was acknowledged, to be answered. [RFC 9293 §3.8.4]
    fn keeps_alive(&self, start: u64, end: u64) -> bool {
        end - start == 1 && end == self.seen.end() && self.acknowledged >= end
    }

    /// Whether its SYN was sent before.
    pub(crate) fn is_opened_again(&self) -> bool {
        self.syns == Syns::Repeated
    }

    /// Excludes `start..end`, perhaps retransmitted (`again`), from RTT samples. Returns the time of the latest segment
    /// not excluded before.
    fn spend(&mut self, start: u64, end: u64, again: bool) -> Option<Passed> {
        let first = self.outstanding.partition_point(|segment| segment.end <= start);
        let mut latest = None;
        for segment in self.outstanding.range_mut(first..).take_while(|segment| segment.end <= end) {
            segment.is_again |= again;
            if !std::mem::replace(&mut segment.is_spent, true) {
                latest = Some((segment.at, segment.left));
            }
        }
        latest
    }

    /// The time that the first unacknowledged segment has waited; one lost before it was seen counts as long as the
    /// next.
    fn head_waits(&self, at: Time) -> Option<Duration> {
        self.outstanding.front().map(|head| at.since(head.latest.max(self.advanced)))
    }

    /// Handles a retransmission of `start..end`, perhaps with a time stamp.
    fn sent_again(&mut self, at: Time, start: u64, end: u64, segment: &Segment) {
        let first = self.outstanding.partition_point(|segment| segment.end <= start);
        for outstanding in self.outstanding.range_mut(first..).take_while(|outstanding| outstanding.end <= end) {
            outstanding.latest = at;
            outstanding.again = outstanding.again.or(segment.timestamps.map(|stamps| stamps.value));
        }
    }

    /// Handles an acknowledgement that passes the other way.
    pub(crate) fn acknowledge(&mut self, at: Time, segment: &Segment) -> Told {
        let mut told = Told::default();
        let number = unwrapped(segment.ack, self.acknowledged);
        let closed = if self.end.is_some_and(|end| number > end) { self.closed.take() } else { None };
        // A FIN takes a number, but delivers nothing.
        let number = self.end.map_or(number, |end| number.min(end));
        if number.abs_diff(self.acknowledged) > FARTHEST {
            return told;
        }
        let opened = self.opened.take();
        let mut measured = None;
        if number > self.acknowledged {
            self.advanced = at;
            measured = self.pass(number, segment.timestamps.map(|stamps| stamps.echo), &mut told);
        } else if number == self.acknowledged && segment.payload == 0 && self.flight() > 0 {
            told.is_duplicate = true;
        }
        let (by_sack, is_dsack) = self.read_sack(at, segment);
        told.is_dsack = is_dsack;
        if let Some((passed, left)) = closed.or(measured).or(by_sack) {
            told.rtt = Some(at.since(passed));
            told.rtt_of_sender = left.map(|left| at.since(left));
        } else if told.acknowledged > 0 || opened.is_some() {
            // For a retransmission, the time stamp shows which transmission was answered. [RFC 7323 §4]
            let echoed = segment.timestamps.and_then(|stamps| self.stamps.passed(stamps.echo));
            told.rtt = opened.or(echoed).map(|passed| at.since(passed));
        }
        if let Some(beyond) = &mut self.beyond {
            beyond.acknowledge(at, number, told.rtt, told.is_duplicate);
        }
        told
    }

    /// Acknowledges all before `number`. Returns the time of the latest segment that was sent once.
    fn pass(&mut self, number: u64, echo: Option<u32>, told: &mut Told) -> Option<Passed> {
        let (mut measured, mut has_again) = (None, false);
        while let Some(segment) = self.outstanding.front().filter(|segment| segment.end <= number) {
            if !segment.is_spent {
                measured = Some((segment.at, segment.left));
            }
            has_again |= segment.is_again;
            let is_earlier = |(echo, again): (u32, u32)| (echo.wrapping_sub(again) as i32) < 0;
            told.spurious += u64::from(echo.zip(segment.again).is_some_and(is_earlier));
            self.outstanding.pop_front();
        }
        told.is_jump = self.mss > 0 && number - self.acknowledged > 2 * u64::from(self.mss);
        if number > self.seen.next() {
            told.never_seen = self.seen.missing_before(number);
            self.seen.fill(number);
        }
        let before = self.passed.next();
        self.passed.fill(number.max(before));
        told.in_order = self.passed.next() - before;
        told.acknowledged = number - self.acknowledged;
        self.acknowledged = number;
        // A retransmitted part may have caused the acknowledgement.
        measured.filter(|_| !has_again)
    }

    /// Reads SACK blocks. Returns the time of the latest segment newly SACKed, and whether there is a D-SACK [RFC 2883
    /// §4].
    fn read_sack(&mut self, at: Time, segment: &Segment) -> (Option<Passed>, bool) {
        let near = self.acknowledged;
        let mut blocks = segment.sack.iter().flatten().map(|&(a, b)| (unwrapped(a, near), unwrapped(b, near)));
        let Some(first) = blocks.next() else { return (None, false) };
        let second = segment.sack[1].map(|(a, b)| (unwrapped(a, near), unwrapped(b, near)));
        let within = second.is_some_and(|(start, end)| start <= first.0 && first.1 <= end);
        let is_dsack = first.1 <= near || within;
        let mut latest: Option<Passed> = None;
        for (start, end) in std::iter::once(first).chain(blocks).filter(|block| block.0 >= near) {
            let sent = self.spend(start, end, false);
            if let Some(beyond) = &mut self.beyond {
                beyond.sack(at, start, end);
            }
            latest = latest.max(sent);
        }
        (latest, is_dsack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_wire::tcp::{TcpFlags, Timestamps};

    fn segment(seq: u32, payload: u32, ack: u32) -> Segment {
        let flags = TcpFlags::ACK;
        Segment { seq, ack, flags, payload, ..Segment::default() }
    }
    fn ms(n: u64) -> Time {
        Time::from_nanos(n * 1_000_000)
    }

    #[test]
    fn data_and_its_acknowledgement_give_an_rtt_also_where_numbers_wrap() {
        let mut stream = Stream::new(u32::MAX - 99);
        assert_eq!(stream.data(ms(1), None, &segment(u32::MAX - 99, 100, 0), Novelty::New).in_order, 100);
        assert_eq!(stream.data(ms(2), None, &segment(0, 100, 0), Novelty::New).in_order, 100);
        assert_eq!(stream.flight(), 200);
        let told = stream.acknowledge(ms(5), &segment(0, 0, 100));
        // For the last segment acknowledged: 5 - 2.
        assert_eq!((told.rtt, told.never_seen, stream.flight()), (Some(Duration::from_millis(3)), 0, 0));
    }

    #[test]
    fn retransmission_gives_no_rtt() {
        let mut stream = Stream::new(0);
        stream.data(ms(1), None, &segment(0, 100, 0), Novelty::New);
        assert!(stream.data(ms(2), None, &segment(0, 100, 0), Novelty::New).is_retransmission);
        assert_eq!(stream.acknowledge(ms(5), &segment(0, 0, 100)).rtt, None);
    }

    #[test]
    fn retransmission_gives_an_rtt_by_its_echoed_timestamp() {
        let stamped = |payload, ack, value, echo| Segment {
            timestamps: Some(Timestamps { value, echo }),
            ..segment(0, payload, ack)
        };
        // Sent at 1 and at 3; the answer to the first takes 5 - 1, that to the second 5 - 3.
        for (echo, rtt_ms) in [(10, Some(4)), (20, Some(2)), (15, None)] {
            let mut stream = Stream::new(0);
            stream.data(ms(1), None, &stamped(100, 0, 10, 0), Novelty::New);
            stream.data(ms(3), None, &stamped(100, 0, 20, 0), Novelty::New);
            let told = stream.acknowledge(ms(5), &stamped(0, 100, 7, echo));
            assert_eq!(told.rtt, rtt_ms.map(Duration::from_millis));
        }
    }

    #[test]
    fn a_syn_and_a_fin_give_an_rtt_unless_they_were_sent_again() {
        for (again, rtt_ms) in [(false, Some(3)), (true, None)] {
            let syn = Segment { flags: TcpFlags::SYN, ..segment(99, 0, 0) };
            let mut stream = Stream::open(ms(1), &syn, None);
            if again {
                stream = Stream::open(ms(2), &syn, Some(stream));
            }
            assert_eq!(stream.acknowledge(ms(4), &segment(0, 0, 100)).rtt, rtt_ms.map(Duration::from_millis));
            let fin = Segment { flags: TcpFlags::FIN, ..segment(100, 0, 0) };
            for at in if again { 5..7 } else { 6..7 } {
                stream.data(ms(at), None, &fin, Novelty::New);
            }
            assert_eq!(stream.acknowledge(ms(9), &segment(0, 0, 101)).rtt, rtt_ms.map(Duration::from_millis));
        }
    }

    #[test]
    fn echo_of_the_original_shows_a_spurious_retransmission() {
        for (echo, spurious) in [(10, 1), (20, 0)] {
            let mut stream = Stream::new(0);
            let stamped = |payload, ack, value, echo| Segment {
                timestamps: Some(Timestamps { value, echo }),
                ..segment(0, payload, ack)
            };
            stream.data(ms(1), None, &stamped(100, 0, 10, 0), Novelty::New);
            stream.data(ms(2), None, &stamped(100, 0, 20, 0), Novelty::New);
            assert_eq!(stream.acknowledge(ms(5), &stamped(0, 100, 7, echo)).spurious, spurious);
        }
    }

    #[test]
    fn a_hole_that_the_mac_fills_is_out_of_order_and_one_that_tcp_fills_a_retransmission() {
        for (novelty, is_retransmission) in [(Novelty::Late, false), (Novelty::New, true)] {
            let mut stream = Stream::new(0);
            stream.data(ms(1), None, &segment(100, 100, 0), Novelty::New);
            let filled = stream.data(ms(2), None, &segment(0, 100, 0), novelty);
            // A segment lost before it was seen has waited for as long as the one sent after it: from 1 to 2 ms.
            let head_waited = is_retransmission.then_some(Duration::from_millis(1));
            assert_eq!(
                filled,
                Arrival {
                    in_order: 200,
                    is_retransmission,
                    is_out_of_order: !is_retransmission,
                    head_waited,
                    ..Arrival::default()
                }
            );
        }
    }

    #[test]
    fn acknowledged_data_was_delivered_even_if_unseen() {
        let mut stream = Stream::new(0);
        stream.data(ms(1), None, &segment(100, 100, 0), Novelty::New);
        let told = stream.acknowledge(ms(2), &segment(0, 0, 300));
        assert_eq!((told.never_seen, told.in_order), (200, 300));
    }

    #[test]
    fn a_first_block_below_the_acknowledgement_or_in_the_second_is_a_dsack() {
        let mut stream = Stream::new(0);
        stream.data(ms(1), None, &segment(0, 500, 0), Novelty::New);
        let with = |blocks: &[(u32, u32)]| {
            let mut read = segment(0, 0, 200);
            blocks.iter().zip(&mut read.sack).for_each(|(block, place)| *place = Some(*block));
            read
        };
        assert!(stream.acknowledge(ms(2), &with(&[(100, 200)])).is_dsack);
        assert!(!stream.acknowledge(ms(2), &with(&[(300, 400)])).is_dsack);
        assert!(stream.acknowledge(ms(2), &with(&[(300, 350), (300, 400)])).is_dsack);
    }
}
