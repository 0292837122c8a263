//! The content of the socket and of the samples, from the facts of the sender.
//!
//! `docs/model/bpf.md` lists it field by field.

use lasthop_tcp::CaState;
use lasthop_tcp::congestion_control::{AckSample, Context};
use lasthop_units::Duration;

use super::Controller;
use crate::program::region;
use crate::socket::Field;
use crate::states::{self, whole};

impl Controller {
    pub(super) fn fill_constants(&mut self, context: &Context) {
        let tick_ns = context.tick.as_nanos().max(1);
        let hz = (1_000_000_000 / tick_ns).max(1);
        self.machine.memory.part_mut(region::CONFIGURATION, 0, 8).copy_from_slice(&hz.to_le_bytes());
        let ecn = if self.object.needs_ecn() { states::ECN_AGREED } else { 0 };
        let mss = u64::from(context.mss_bytes);
        for (field, value) in [
            (Field::SndCwnd, whole(context.initial_window)),
            (Field::SndSsthresh, whole(context.initial_ssthresh)),
            (Field::SndCwndClamp, u64::from(u32::MAX)),
            (Field::MssCache, mss),
            (Field::Advmss, mss),
            (Field::RcvNxt, 1),
            (Field::RttMin, u64::from(u32::MAX)),
            (Field::State, states::ESTABLISHED),
            (Field::Family, states::AF_INET),
            (Field::EcnFlags, ecn),
            (Field::PacingRate, u64::MAX),
            (Field::MaxPacingRate, u64::MAX),
            (Field::PacingShift, 10),
            (Field::Reordering, 3),
            (Field::CaState, CaState::Open as u64),
        ] {
            self.set(field, value);
        }
    }

    /// The smoothed RTT and its deviation, in eighths and quarters of µs. [RFC 6298 §2.3]
    pub(super) fn measure(&mut self, rtt: Duration) {
        let rtt = (rtt.as_nanos() / 1000).clamp(1, u64::from(u32::MAX / 16));
        let (srtt8, mdev4) = (self.get(Field::SrttUs), self.get(Field::MdevUs));
        let (srtt8, mdev4) = match srtt8 {
            0 => (rtt << 3, rtt << 1),
            _ => ((srtt8 - (srtt8 >> 3) + rtt).max(1), mdev4 - (mdev4 >> 2) + (srtt8 >> 3).abs_diff(rtt)),
        };
        self.set(Field::SrttUs, srtt8);
        self.set(Field::MdevUs, mdev4);
        self.set(Field::RttMin, self.get(Field::RttMin).min(rtt));
    }

    /// Sets the counters of an ACK. The number of segments out and in flight is known; the difference counts as SACKed.
    pub(super) fn count(&mut self, ack: &AckSample) {
        let mss = u64::from(self.machine.kernel.context.mss_bytes).max(1);
        let out = ack.snd_nxt.saturating_sub(ack.snd_una).div_ceil(mss);
        let flight = u64::from(ack.flight_segments);
        let window = self.get(Field::SndCwnd);
        let prior = u64::from(ack.prior_flight_segments);
        // A window that doubles in slow start is the limit itself.
        let used = if ack.app_limited { prior.min(window / 2) } else { prior.max(flight).max(window / 2 + 1) };
        let is_app_limited = ack.rate.is_some_and(|rate| rate.is_app_limited);
        for (field, value) in [
            (Field::Delivered, ack.total_delivered.max(self.get(Field::Delivered))),
            (Field::DeliveredMstamp, ack.now.as_nanos() / 1000),
            (Field::Lost, ack.total_lost),
            (Field::PacketsOut, out),
            (Field::SackedOut, out.saturating_sub(flight)),
            (Field::RetransOut, flight.saturating_sub(out)),
            (Field::IsCwndLimited, u64::from(!ack.app_limited)),
            (Field::MaxPacketsOut, used),
            (Field::AppLimited, if is_app_limited { ack.total_delivered + flight } else { 0 }),
            (Field::TcpWstampNs, ack.next_departure.as_nanos()),
        ] {
            self.set(field, value);
        }
        if !self.needs.paced {
            self.set(Field::PacingStatus, u64::from(ack.is_paced));
            self.set(Field::PacingRate, self.reckoned_rate(ack, mss, window.max(out)));
        }
        self.machine.kernel.ack = *ack;
    }

    /// Counts the segments sent and delivered since a reduction began. [RFC 6937 §3] An object that steps its window
    /// itself also counts the delivered ones itself.
    pub(super) fn count_reduction(&mut self, ack: &AckSample) {
        if self.state != CaState::Open {
            let sent = u64::from(ack.prior_flight_segments.saturating_sub(self.last_flight));
            self.set(Field::PrrOut, self.get(Field::PrrOut) + sent);
            if self.entries.cong_control.is_none() {
                let arrived = u64::from(ack.delivered_segments);
                self.set(Field::PrrDelivered, self.get(Field::PrrDelivered) + arrived);
            }
        }
        self.last_flight = ack.flight_segments;
    }

    /// The sender's estimated rate in slow start; later the window in an RTT and a fifth more, as in the kernel where a
    /// controller sets none.
    pub(super) fn reckoned_rate(&self, ack: &AckSample, mss: u64, window: u64) -> u64 {
        if self.get(Field::SndCwnd) < self.get(Field::SndSsthresh) {
            return ack.send_rate;
        }
        mss.saturating_mul(8 * 1_200_000).saturating_mul(window).checked_div(self.get(Field::SrttUs)).unwrap_or(0)
    }

    /// Fills in the sample of an ACK for `cong_control`.
    pub(super) fn fill_rate_sample(&mut self, ack: &AckSample) {
        let none = u64::MAX;
        let rate = ack.rate.as_ref();
        let micros = |duration: Duration| duration.as_nanos() / 1000;
        for (field, value) in [
            (Field::RatePriorDelivered, rate.map_or(0, |rate| rate.prior_delivered)),
            (Field::RateDelivered, rate.map_or(none, |rate| u64::from(rate.delivered))),
            (Field::RateDeliveredCe, rate.map_or(none, |rate| u64::from(rate.delivered_ce))),
            (Field::RateInterval, rate.map_or(none, |rate| micros(rate.interval))),
            (Field::RateRtt, ack.rtt_sample.map_or(none, micros)),
            (Field::RateLosses, u64::from(ack.lost_segments)),
            (Field::RateAckedSacked, u64::from(ack.delivered_segments)),
            (Field::RatePriorInFlight, u64::from(ack.prior_flight_segments)),
            (Field::RateIsAppLimited, rate.map_or(0, |rate| u64::from(rate.is_app_limited))),
            (Field::RateIsAckDelayed, rate.map_or(0, |rate| u64::from(rate.is_ack_delayed))),
        ] {
            self.set(field, value);
        }
    }
}
