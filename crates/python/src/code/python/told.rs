//! Arguments of code in Python, as objects whose attributes are computed when they are read.

use lasthop_tcp::congestion_control::{self as cc, CongestionCause, GrowthMode, RateSample};
use lasthop_units::{DataRate, Duration};
use pyo3::prelude::*;

/// The facts about a connection that a controller receives at the start.
#[pyclass(module = "lasthop._core")]
pub(super) struct Context(pub(super) cc::Context);

const fn word(mode: GrowthMode) -> &'static str {
    match mode {
        GrowthMode::PerAck => "per_ack",
        GrowthMode::PerByte => "per_byte",
    }
}

#[pymethods]
impl Context {
    /// Initial window in segments.
    #[getter]
    fn initial_window(&self) -> f64 {
        self.0.initial_window
    }
    /// Initial slow-start threshold in segments; infinite if there is none.
    #[getter]
    fn initial_ssthresh(&self) -> f64 {
        self.0.initial_ssthresh
    }
    /// Payload of a full segment in bytes.
    #[getter]
    fn mss_bytes(&self) -> u32 {
        self.0.mss_bytes
    }
    /// Basis of growth in slow start: "per_ack" or "per_byte". The credits of an ACK follow it already.
    #[getter]
    fn slow_start_growth(&self) -> &'static str {
        word(self.0.growth.slow_start)
    }
    /// The same in congestion avoidance.
    #[getter]
    fn avoidance_growth(&self) -> &'static str {
        word(self.0.growth.avoidance)
    }
    /// Clock tick of the controllers that follow Linux, in nanoseconds.
    #[getter]
    fn tick_ns(&self) -> u64 {
        self.0.tick.as_nanos()
    }
    /// A mark reduces the window less than a loss. [RFC 8511]
    #[getter]
    fn abe(&self) -> bool {
        self.0.abe
    }
    /// A random number from 0 up to 1; the same seed gives the same numbers.
    fn random(&mut self) -> f64 {
        self.0.draws.unit()
    }
    /// A random whole number from 0 to `end` - 1.
    fn random_below(&mut self, end: u32) -> u32 {
        self.0.draws.below(end)
    }
}

/// Attributes for fields of the wrapped value as they are, and for others.
macro_rules! told {
    ($name:ident: $($field:ident: $type:ty, $help:literal;)* => { $($besides:tt)* }) => {
        #[pymethods]
        impl $name {
            $(
                #[doc = $help]
                #[getter]
                fn $field(&self) -> $type {
                    self.0.$field
                }
            )*
            $($besides)*
        }
    };
}

/// The facts of one ACK. There is only one such object: its attributes are those of the current ACK.
#[pyclass(module = "lasthop._core")]
pub(super) struct Ack(pub(super) cc::AckSample);

const fn ns(duration: Option<Duration>) -> Option<u64> {
    match duration {
        Some(duration) => Some(duration.as_nanos()),
        None => None,
    }
}

told! { Ack:
    acked_segments: u32, "Segments newly acknowledged in order, including those reported by SACK before.";
    acked_bytes: u64, "Bytes newly acknowledged in order.";
    delivered_bytes: u64, "Bytes delivered for the first time, in order or not.";
    slow_start_credit: f64, "Segments that count for growth in slow start.";
    avoidance_credit: f64, "Segments that count for growth in congestion avoidance.";
    delivered_segments: u32, "Segments delivered for the first time, in order or not.";
    lost_segments: u32, "Segments found lost by this ACK.";
    total_delivered: u64, "Segments delivered since the connection began, this ACK included.";
    total_lost: u64, "Segments found lost since the connection began, this ACK included.";
    prior_flight_bytes: u64, "Payload bytes in flight before this ACK.";
    flight_bytes: u64, "Payload bytes in flight after this ACK.";
    prior_flight_segments: u32, "Segments in flight before this ACK.";
    flight_segments: u32, "Segments in flight after this ACK.";
    app_limited: bool, "The window was not fully used: the application or the receiver was the limit.";
    ece: bool, "The ACK carried ECN-Echo.";
    round_trips: u64, "Round trips so far: each ends when data is acknowledged that was sent after the last end.";
    in_recovery: bool, "A fast recovery was under way when the ACK came.";
    ends_timeout: bool, "It acknowledges all data that was outstanding at the last timeout.";
    snd_una: u64, "Offset of the oldest byte not acknowledged, after this ACK.";
    snd_nxt: u64, "Offset after the newest byte sent, before what this ACK releases.";
    ce_segments: u32, "Number of acknowledged segments that were congestion-marked.";
    window: u32, "The window before this ACK, rate reduction included, in whole segments; 0 if unknown.";
    send_rate: u64, "The sender's estimated rate of payload in bytes per second; 0 if unknown.";
    is_paced: bool, "Segments are paced at that rate instead of leaving in bursts.";
    observed: bool, "`observe` was called with it, and has taken note.";
    => {
        /// Time of arrival in seconds.
        #[getter]
        fn now_s(&self) -> f64 {
            self.0.now.as_nanos() as f64 / 1e9
        }
        /// Time of arrival in nanoseconds.
        #[getter]
        fn now_ns(&self) -> u64 {
            self.0.now.as_nanos()
        }
        /// RTT of the newest delivered segment that was sent only once, in seconds; None if there is no sample.
        #[getter]
        fn rtt_s(&self) -> Option<f64> {
            self.0.rtt_sample.map(Duration::as_secs_f64)
        }
        /// The same in nanoseconds.
        #[getter]
        fn rtt_ns(&self) -> Option<u64> {
            ns(self.0.rtt_sample)
        }
        /// Smoothed RTT, this sample included, in seconds; None before the first.
        #[getter]
        fn srtt_s(&self) -> Option<f64> {
            self.0.srtt.map(Duration::as_secs_f64)
        }
        /// The same in nanoseconds.
        #[getter]
        fn srtt_ns(&self) -> Option<u64> {
            ns(self.0.srtt)
        }
        /// The earliest time at which pacing releases the next segment, in nanoseconds.
        #[getter]
        fn next_departure_ns(&self) -> u64 {
            self.0.next_departure.as_nanos()
        }
        /// Sample of the delivery rate; None if this ACK gives none.
        #[getter]
        fn rate(&self) -> Option<Rate> {
            self.0.rate.map(Rate)
        }
    }
}

/// A sample of the delivery rate.
#[pyclass(frozen, module = "lasthop._core")]
pub(super) struct Rate(RateSample);

told! { Rate:
    delivered: u32, "Segments delivered over the interval.";
    delivered_ce: u32, "Number of these that were congestion-marked.";
    lost: u32, "Segments found lost between the sending of that segment and now.";
    prior_delivered: u64, "`total_delivered` when that segment was sent.";
    flight_at_send: u32, "Segments in flight right after that segment was sent.";
    is_app_limited: bool, "The application left the window unused when that segment was sent.";
    is_ack_delayed: bool, "The receiver may have withheld this ACK: it covers one segment sent once.";
    => {
        /// The longer of the time over which they were sent and the time over which they were acknowledged, in seconds.
        #[getter]
        fn interval_s(&self) -> f64 {
            self.0.interval.as_secs_f64()
        }
        /// The same in nanoseconds.
        #[getter]
        fn interval_ns(&self) -> u64 {
            self.0.interval.as_nanos()
        }
    }
}

/// A congestion event.
#[pyclass(frozen, module = "lasthop._core")]
pub(super) struct Event(pub(super) cc::CongestionEvent);

told! { Event:
    window: f64, "The window to reduce, in segments: the flight size or the congestion window, as configured.";
    flight_bytes: u64, "Payload bytes in flight before it.";
    repeated: bool, "The timer had already expired for the same data: ssthresh is held. [RFC 5681 §3.1]";
    snd_una: u64, "Offset of the oldest byte not acknowledged.";
    snd_nxt: u64, "Offset after the newest byte sent.";
    total_lost: u64, "Segments found lost since the connection began, those of this event included.";
    => {
        /// "loss", "timeout" or "ecn".
        #[getter]
        fn cause(&self) -> &'static str {
            match self.0.cause {
                CongestionCause::Loss => "loss",
                CongestionCause::Timeout => "timeout",
                CongestionCause::Ecn => "ecn",
            }
        }
        /// Time of detection in seconds.
        #[getter]
        fn now_s(&self) -> f64 {
            self.0.now.as_nanos() as f64 / 1e9
        }
        /// Time of detection in nanoseconds.
        #[getter]
        fn now_ns(&self) -> u64 {
            self.0.now.as_nanos()
        }
    }
}

/// The sender's position in its data at the time of an event.
#[pyclass(frozen, module = "lasthop._core")]
pub(super) struct Moment(pub(super) cc::Moment);

told! { Moment:
    snd_una: u64, "Offset of the oldest byte not acknowledged.";
    snd_nxt: u64, "Offset after the newest byte sent.";
    app_limited: bool, "The application left a part of the window unused.";
    => {
        /// Time of the event in seconds.
        #[getter]
        fn now_s(&self) -> f64 {
            self.0.now.as_nanos() as f64 / 1e9
        }
        /// Time of the event in nanoseconds.
        #[getter]
        fn now_ns(&self) -> u64 {
            self.0.now.as_nanos()
        }
    }
}

/// Window and threshold before a reduction.
#[pyclass(frozen, module = "lasthop._core")]
pub(super) struct Prior(pub(super) cc::Prior);

#[pymethods]
impl Prior {
    /// Congestion window in segments.
    #[getter]
    fn window(&self) -> f64 {
        self.0.cwnd
    }
    /// Slow-start threshold in segments; infinite if there was none.
    #[getter]
    fn ssthresh(&self) -> f64 {
        self.0.ssthresh
    }
}

/// A rate in bits per second, if it is valid.
pub(super) fn rate_of(bps: f64) -> Option<DataRate> {
    (1.0..1e15).contains(&bps).then(|| DataRate::from_bps(bps as u64))
}
