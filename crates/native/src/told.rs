//! The facts of the trait, in the form of `lasthop_cc.h`.

use core::ptr;

use lasthop_tcp::congestion_control::{AckSample, CongestionCause, CongestionEvent, Context, GrowthMode, RateSample};
use lasthop_units::Duration;

use crate::abi;

/// A duration, or -1.
pub(crate) fn or_none(duration: Option<Duration>) -> i64 {
    duration.map_or(-1, |duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
}

pub(crate) fn rate(sample: &RateSample) -> abi::RateSample {
    abi::RateSample {
        interval_ns: sample.interval.as_nanos(),
        prior_delivered: sample.prior_delivered,
        delivered: sample.delivered,
        delivered_ce: sample.delivered_ce,
        lost: sample.lost,
        flight_at_send: sample.flight_at_send,
        is_app_limited: sample.is_app_limited.into(),
        is_ack_delayed: sample.is_ack_delayed.into(),
    }
}

/// All fields except the rate sample, which is separate.
pub(crate) fn ack(sample: &AckSample) -> abi::Ack {
    abi::Ack {
        now: sample.now.as_nanos(),
        rtt_ns: or_none(sample.rtt_sample),
        srtt_ns: or_none(sample.srtt),
        slow_start_credit: sample.slow_start_credit,
        avoidance_credit: sample.avoidance_credit,
        acked_bytes: sample.acked_bytes,
        delivered_bytes: sample.delivered_bytes,
        prior_flight_bytes: sample.prior_flight_bytes,
        flight_bytes: sample.flight_bytes,
        total_delivered: sample.total_delivered,
        total_lost: sample.total_lost,
        round_trips: sample.round_trips,
        snd_una: sample.snd_una,
        snd_nxt: sample.snd_nxt,
        send_rate_bytes_per_s: sample.send_rate,
        next_departure_ns: sample.next_departure.as_nanos(),
        rate: ptr::null(),
        acked_segments: sample.acked_segments,
        delivered_segments: sample.delivered_segments,
        lost_segments: sample.lost_segments,
        prior_flight_segments: sample.prior_flight_segments,
        flight_segments: sample.flight_segments,
        ce_segments: sample.ce_segments,
        window: sample.window,
        in_recovery: sample.in_recovery.into(),
        app_limited: sample.app_limited.into(),
        ece: sample.ece.into(),
        ends_timeout: sample.ends_timeout.into(),
        is_paced: sample.is_paced.into(),
    }
}

pub(crate) fn event(event: &CongestionEvent) -> abi::Event {
    abi::Event {
        now: event.now.as_nanos(),
        window: event.window,
        flight_bytes: event.flight_bytes,
        snd_una: event.snd_una,
        snd_nxt: event.snd_nxt,
        total_lost: event.total_lost,
        cause: match event.cause {
            CongestionCause::Loss => 0,
            CongestionCause::Timeout => 1,
            CongestionCause::Ecn => 2,
        },
        repeated: event.repeated.into(),
    }
}

pub(crate) fn context(context: &Context) -> abi::Context {
    let growth = |mode| match mode {
        GrowthMode::PerAck => 0,
        GrowthMode::PerByte => 1,
    };
    abi::Context {
        initial_window: context.initial_window,
        initial_ssthresh: context.initial_ssthresh,
        mss_bytes: context.mss_bytes,
        abe: context.abe.into(),
        slow_start_growth: growth(context.growth.slow_start),
        avoidance_growth: growth(context.growth.avoidance),
        tick_ns: context.tick.as_nanos(),
    }
}
