//! Facts for a controller in tests of single events: segments of 1000 B, RTTs of 50 ms unless stated otherwise.

use lasthop_tcp::congestion_control::{
    AckSample, CongestionCause, CongestionControl, CongestionEvent, Context, Draws, Growth, GrowthMode, RateSample,
};
use lasthop_units::{Duration, Time};

/// Payload of a segment.
pub(super) const MSS_BYTES: u32 = 1000;
/// Round trip time.
pub(super) const RTT: Duration = Duration::from_millis(50);
/// Window at the start, in segments.
pub(super) const INITIAL_WINDOW: f64 = 10.0;

/// The window and ssthresh, in words.
pub(super) fn state(control: &dyn CongestionControl) -> String {
    format!("a window of {} segments, ssthresh {}", control.cwnd(), control.ssthresh())
}

/// The start of a connection whose draws come from `seed`.
pub(super) fn context(seed: u64) -> Context {
    Context {
        initial_window: INITIAL_WINDOW,
        initial_ssthresh: f64::INFINITY,
        mss_bytes: MSS_BYTES,
        growth: Growth::both(GrowthMode::PerByte),
        tick: Duration::from_millis(1),
        abe: false,
        draws: Draws::seeded(seed),
    }
}

/// A time in milliseconds.
pub(super) fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

/// An ACK of `segments` segments at `now`, after a round trip of `rtt`.
pub(super) fn ack(now: Time, segments: u32, rtt: Duration) -> AckSample {
    let bytes = u64::from(segments) * u64::from(MSS_BYTES);
    AckSample {
        now,
        acked_segments: segments,
        acked_bytes: bytes,
        delivered_bytes: bytes,
        slow_start_credit: f64::from(segments),
        avoidance_credit: f64::from(segments),
        delivered_segments: segments,
        total_delivered: u64::from(segments),
        rtt_sample: Some(rtt),
        srtt: Some(rtt),
        ..AckSample::default()
    }
}

/// The same ACK with a rate sample: `delivered` segments so far, those of this ACK within one round trip.
pub(super) fn rated(sample: AckSample, delivered: u64, is_app_limited: bool) -> AckSample {
    let rate = RateSample {
        delivered: sample.delivered_segments,
        delivered_ce: sample.ce_segments,
        lost: sample.lost_segments,
        interval: sample.rtt_sample.unwrap_or(RTT),
        prior_delivered: delivered - u64::from(sample.delivered_segments),
        flight_at_send: 1,
        is_app_limited,
        is_ack_delayed: false,
    };
    AckSample { rate: Some(rate), total_delivered: delivered, ..sample }
}

/// A loss at a window of so many segments.
pub(super) fn loss(now: Time, window: f64) -> CongestionEvent {
    let cause = CongestionCause::Loss;
    CongestionEvent { now, cause, window, flight_bytes: 0, repeated: false, snd_una: 0, snd_nxt: 0, total_lost: 0 }
}
