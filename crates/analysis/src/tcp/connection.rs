//! A connection at one point of capture: both directions, the receiver's window, and times when the sender sends
//! nothing.

use lasthop_units::{Duration, Time};
use lasthop_wire::tcp::TcpFlags;

use super::beyond::Beyond;
use super::stalls::{End, Ended, Gaps};
use super::stamps::Stamps;
use super::stream::{Arrival, Stream, Told};
use super::window::{Advertised, ReceiveWindow};
use crate::packet::Segment;
use crate::sequence::Novelty;

/// A connection at one point of capture.
#[derive(Default)]
pub(crate) struct Connection {
    /// the stream of the data, and of the other direction
    pub streams: [Option<Stream>; 2],
    /// time stamps that pass towards the sender, each with the time of the latest packet that had it
    to_sender: Stamps,
    /// whether data pass here that may be lost on their way to the receiver
    is_short_of_receiver: bool,
    /// bytes in flight, and the time since then
    flight: u64,
    since: Time,
    window: ReceiveWindow,
    /// whether the last window of each end was zero: of the sender of the data, and of the other
    closed: [bool; 2],
    gaps: Gaps,
}

impl Connection {
    /// A connection whose data may be lost behind the point of capture.
    pub(crate) fn short_of_receiver(is_short_of_receiver: bool) -> Connection {
        Connection { is_short_of_receiver, ..Connection::default() }
    }

    /// Calls `tell` with the times at which data have become in order at a receiver beyond, and the bytes.
    pub(crate) fn arrivals_beyond(&mut self, mut tell: impl FnMut(Time, u64)) {
        let beyond = self.streams[0].as_mut().and_then(|stream| stream.beyond.as_mut());
        beyond.into_iter().flat_map(Beyond::take).for_each(|(when, bytes)| tell(when, bytes));
    }

    /// Ends the stream of the data.
    pub(crate) fn end(&mut self) {
        if let Some(stream) = &mut self.streams[0] {
            stream.end();
        }
    }

    /// The time until `at` in which no data was in flight, from `start` on.
    pub(crate) fn idle_until(&self, at: Time, start: Time) -> Duration {
        if self.flight == 0 { at.since(self.since.max(start)) } else { Duration::ZERO }
    }

    /// Bytes in flight times nanoseconds from the last call until `at`, within `window`.
    pub(crate) fn take_flight(&mut self, at: Time, window: (Time, Time)) -> f64 {
        let (since, until) = (self.since.max(window.0), at.min(window.1));
        self.since = at;
        self.flight as f64 * until.since(since).as_nanos() as f64
    }

    /// The MSS of the data, as far as known.
    pub(crate) fn mss(&self) -> u32 {
        self.streams[0].as_ref().map_or(0, |stream| stream.mss)
    }

    /// Reads a segment in the direction of the data, or in the other.
    pub(crate) fn read(&mut self, at: Time, segment: &Segment, novelty: Novelty, is_data_way: bool) -> (Arrival, Told) {
        let (own, other) = (usize::from(!is_data_way), usize::from(is_data_way));
        let is_syn = segment.flags.contains(TcpFlags::SYN);
        if is_syn {
            // A connection begins, perhaps again with the ports of another.
            self.streams[own] = Some(Stream::open(at, segment, self.streams[own].take()));
        }
        let left = if is_data_way { self.left(at, segment) } else { None };
        let stream = self.streams[own].get_or_insert_with(|| Stream::new(segment.seq));
        if is_data_way && self.is_short_of_receiver {
            stream.follow_beyond();
        }
        let flags = segment.flags;
        // It asks whether the window is open, and is sent again and again. [RFC 9293 §3.8.6.1]
        let is_probe = self.closed[other] && segment.payload == 1;
        self.closed[own] = segment.window == 0 && flags.contains(TcpFlags::ACK) && !flags.contains(TcpFlags::RST);
        let mut arrival = if is_probe {
            Arrival::default()
        } else if is_syn {
            Arrival { is_repeated: stream.is_opened_again(), ..Arrival::default() }
        } else {
            stream.data(at, left, segment, novelty)
        };
        arrival.rtt_before = left.map(|left| at.since(left)).filter(|_| segment.payload > 0);
        if !is_data_way && let Some(timestamps) = segment.timestamps {
            self.to_sender.remember_latest(timestamps.value, at);
        }
        let mut told = Told::default();
        if segment.flags.contains(TcpFlags::ACK) {
            let stream = self.streams[other].get_or_insert_with(|| Stream::new(segment.ack));
            told = stream.acknowledge(at, segment);
        }
        self.flight = self.streams[0].as_ref().map_or(0, Stream::flight);
        (arrival, told)
    }

    /// Watches the receiver's window and the sender's stalls. Returns the stall that the segment ends, and its
    /// window in bytes and whether it has closed.
    pub(crate) fn watch(
        &mut self,
        at: Time,
        segment: &Segment,
        arrival: &Arrival,
        told: &Told,
        (is_data_way, in_vain): (bool, Duration),
    ) -> (Ended, Option<Advertised>) {
        if segment.flags.contains(TcpFlags::SYN) {
            self.window.syn(segment, !is_data_way);
        }
        if is_data_way {
            let is_retransmission = arrival.is_retransmission;
            if segment.payload == 0 {
                return (Ended::default(), None);
            }
            let mss = self.mss().into();
            let room = self.window.latest().map(|window| window.saturating_sub(self.flight));
            let (head_waited, flight) = (arrival.head_waited, self.flight);
            let end = End { at, is_retransmission, in_vain, head_waited, flight, room, mss };
            return (self.gaps.sent(&end), None);
        }
        let bytes = self.window.told(segment);
        let has_closed = self.window.has_closed();
        if bytes == Some(0) {
            self.gaps.closed();
        }
        self.gaps.acknowledged(at, told.rtt, told.acknowledged > 0, told.is_duplicate, self.flight);
        (Ended::default(), Some((bytes, has_closed)))
    }

    /// The time at which a segment left its sender: that of the packet that it echoes, and that caused it, here.
    fn left(&self, at: Time, segment: &Segment) -> Option<Time> {
        Some(at.min(self.to_sender.passed(segment.timestamps?.echo)?))
    }
}
