//! How fast the network delivers, and how fast to send.
//!
//! Source: draft-cheng-iccrg-delivery-rate-estimation §3; pacing as in Linux: the first ten segments are free, and
//! credit for time not used is at most half a segment's.

use lasthop_units::{Duration, Time};

use super::super::Sender;
use super::super::scoreboard::{Delivered, Sent, Stamp};
use crate::config::Pacing;
use crate::congestion_control::RateSample;

/// What was delivered and when, for samples of the delivery rate, and the clock of pacing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DeliveryRate {
    /// segments delivered since the start
    pub delivered: u64,
    /// of these, congestion-marked
    pub delivered_ce: u32,
    pub delivered_at: Time,
    first_sent_at: Time,
    /// until so many are delivered, samples are limited by the application
    app_limited_until: u64,
    /// the last sample
    pub last: Option<RateSample>,
    /// pacing lets nothing out before
    pub next_departure: Time,
    /// segments with data sent since the start
    sent: u64,
}

/// Bytes that may wait in the queue of the own host at any rate: `tcp_limit_output_bytes`.
const MOST_QUEUED: u64 = 4 << 20;

/// Segments that pacing leaves alone at the start.
const FREE: u64 = 10;

impl DeliveryRate {
    /// What a segment sent now is to remember. [§3.2]
    pub fn stamp(&mut self, now: Time, nothing_out: bool, flight: u32, lost: u64) -> Stamp {
        if nothing_out {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        Stamp {
            delivered: self.delivered,
            lost,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            flight: flight + 1,
            delivered_ce: self.delivered_ce,
            is_app_limited: self.app_limited_until > 0,
        }
    }

    /// There is nothing to send although there would be room. [§3.4]
    pub fn limit_by_application(&mut self, flight: u32) {
        self.app_limited_until = (self.delivered + u64::from(flight)).max(1);
    }

    pub fn is_app_limited(&self) -> bool {
        self.app_limited_until > 0
    }

    /// A sample of an ACK with which so many `segments` have arrived, counted already. [§3.3]
    pub fn sample(
        &mut self,
        now: Time,
        delivered: &Delivered,
        segments: u32,
        total_lost: u64,
        min_rtt: Duration,
    ) -> Option<RateSample> {
        if self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        if segments > 0 {
            self.delivered_at = now;
        }
        let (newest, stamp) = delivered.rated?;
        self.first_sent_at = newest.sent_at;
        let sending = newest.sent_at.since(stamp.first_sent_at);
        let interval = sending.max(now.since(stamp.delivered_at));
        if interval < min_rtt {
            return None;
        }
        let sample = RateSample {
            delivered: (self.delivered - stamp.delivered) as u32,
            delivered_ce: self.delivered_ce - stamp.delivered_ce,
            lost: (total_lost - stamp.lost) as u32,
            interval,
            prior_delivered: stamp.delivered,
            flight_at_send: stamp.flight,
            is_app_limited: stamp.is_app_limited,
            is_ack_delayed: false,
        };
        self.last = Some(sample);
        Some(sample)
    }
}

impl Sender {
    /// What the next segment sent is to remember; nothing where nobody asks.
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

    /// How many bytes of payload may wait in the queue of the own host, where that is limited, if Linux lets wait
    /// what leaves in `usual`.
    pub fn small_queue(&self, usual: Duration) -> Option<u64> {
        let time = self.config.small_queue.time(usual)?.as_secs_f64();
        let rate = self.control.pacing_rate().map(|rate| rate.as_bps() as f64 / 8.0).or_else(|| self.window_rate());
        let worth = rate.map_or(MOST_QUEUED, |rate| (rate * time) as u64);
        Some(worth.max(2 * u64::from(self.mss)).min(MOST_QUEUED))
    }

    /// When pacing lets the next segment out, if it is to wait; what goes out as one send does not wait within.
    pub fn paced_until(&self, now: Time) -> Option<Time> {
        if self.linux.released > 0 {
            return None;
        }
        let next = self.linux.rate.next_departure;
        (next > now).then_some(next)
    }

    /// A segment has left: when may the next?
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
