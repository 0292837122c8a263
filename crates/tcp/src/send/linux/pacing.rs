//! The pacing rate.
//!
//! Pacing as in Linux: the first ten segments are free, and credit for unused time is at most half a segment's.

use lasthop_units::{Duration, Time};

use super::super::Sender;
use super::super::scoreboard::{Sent, Stamp};
use crate::config::Pacing;

/// Bytes that may wait in the queue of the own host at any rate: `tcp_limit_output_bytes`.
const MOST_QUEUED: u64 = 4 << 20;

/// Segments at the start that are not paced.
const FREE: u64 = 10;

impl Sender {
    /// The stamp that the next segment sent is to keep; none where nothing reads it.
    pub(in crate::send) fn stamp(&mut self, now: Time) -> Option<Stamp> {
        if !self.is_linux() {
            return None;
        }
        let nothing_out = self.board.is_empty();
        let flight = self.flight_segments();
        let lost = self.board.total_lost();
        Some(self.linux.rate.stamp(now, nothing_out, flight, lost))
    }

    /// The rate at which payload is to leave, in bytes per second; `None`: as the window allows.
    pub fn pacing_rate(&self) -> Option<f64> {
        if self.config.pacing == Pacing::Off {
            return None;
        }
        let asked = self.control.pacing_rate().map(|rate| rate.as_bps() as f64 / 8.0);
        match self.config.pacing {
            Pacing::Off => None,
            Pacing::Controller => asked,
            Pacing::On => asked.or_else(|| self.window_rate()),
        }
    }

    /// Twice the window in a round trip in slow start, 1.2 times in congestion avoidance.
    pub(super) fn window_rate(&self) -> Option<f64> {
        let srtt = self.rtt.srtt()?.as_secs_f64();
        let cwnd = self.cwnd_segments();
        let factor = if cwnd < self.control.ssthresh() / 2.0 { 2.0 } else { 1.2 };
        let window = cwnd.max(f64::from(self.board.count())) * f64::from(self.mss);
        (srtt > 0.0).then(|| factor * window / srtt)
    }

    /// Bytes of payload that may wait in the queue of the own host, where that is limited; Linux lets the data of
    /// the time `usual` wait.
    pub fn small_queue(&self, usual: Duration) -> Option<u64> {
        let time = self.config.small_queue.time(usual)?.as_secs_f64();
        let rate = self.control.pacing_rate().map(|rate| rate.as_bps() as f64 / 8.0).or_else(|| self.window_rate());
        let worth = rate.map_or(MOST_QUEUED, |rate| (rate * time) as u64);
        Some(worth.max(2 * u64::from(self.mss)).min(MOST_QUEUED))
    }

    /// Time at which pacing lets the next segment out, if it is to wait; segments within one send do not wait.
    pub fn paced_until(&self, now: Time) -> Option<Time> {
        if self.linux.released > 0 {
            return None;
        }
        let next = self.linux.rate.next_departure;
        (next > now).then_some(next)
    }

    /// Sets the time of the next segment after one has left.
    pub(in crate::send) fn pace(&mut self, now: Time, sent: &Sent) {
        let free = self.linux.rate.sent < FREE;
        self.linux.rate.sent += 1;
        let before = self.linux.rate.next_departure;
        let start = before.max(now);
        let Some(rate) = self.pacing_rate().filter(|_| !free) else { return };
        if rate <= 0.0 {
            return;
        }
        let length = Duration::from_nanos((f64::from(sent.payload()) / rate * 1e9) as u64);
        let credit = start.since(before).min(length / 2);
        self.linux.rate.next_departure = start + (length - credit);
    }
}
