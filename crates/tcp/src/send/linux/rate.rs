//! The delivery rate of the network.
//!
//! Source: draft-cheng-iccrg-delivery-rate-estimation §3.

use lasthop_units::{Duration, Time};

use super::super::scoreboard::{Delivered, Stamp};
use crate::congestion_control::RateSample;

/// Count and time of deliveries, for samples of the delivery rate, and the clock of pacing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DeliveryRate {
    /// segments delivered since the start
    pub delivered: u64,
    /// congestion-marked ones among them
    pub delivered_ce: u32,
    pub delivered_at: Time,
    first_sent_at: Time,
    /// until so many are delivered, samples are limited by the application
    app_limited_until: u64,
    /// the last sample
    pub last: Option<RateSample>,
    /// earliest departure by pacing
    pub next_departure: Time,
    /// segments with data sent since the start
    pub sent: u64,
}

impl DeliveryRate {
    /// The stamp that a segment sent now is to keep. [§3.2]
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

    /// Marks samples as limited by the application: there is room but no data to send. [§3.4]
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
