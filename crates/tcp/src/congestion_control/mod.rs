//! Congestion control: how much may be in flight.
//!
//! The sender finds out what was delivered and what was lost; a controller turns that into a window in
//! segments (a real number). What a window does during recovery (inflation, PRR) is the sender's affair:
//! after [`CongestionControl::on_congestion`] a controller's window is the one to come out with.
//!
//! | source | what is taken from it |
//! |---|---|
//! | RFC 5681, RFC 6582 | `newreno` |
//! | RFC 9438; Linux 2.6.16-2.6.22 `tcp_cubic.c` | `cubic` and its `era` |
//! | draft-ietf-ccwg-bbr | the form of [`AckSample`]: what a controller that models the path would need |

use core::fmt;

use lasthop_registry::registry;
use lasthop_units::{DataRate, Duration, Time};

use crate::config::{Growth, GrowthMode};

registry! {
    /// Congestion control algorithms.
    pub enum Algorithm as "congestion_control" {
        /// Reno's window: one segment per RTT up, one half down.
        newreno => Newreno: source "RFC 5681, RFC 6582", status "unit tests of its clauses";
        /// A cubic function of the time since the last loss.
        cubic => Cubic: source "RFC 9438; Ha, Rhee, Xu 2008", status "unit tests of its clauses";
    }
    planned: htcp, hstcp, vegas, fast, compound, adaptive_reno, bic, scalable, westwood, veno, illinois, yeah, hybla,
        dctcp, ledbat, cdg, bbr, bbr3, prague
}

impl Algorithm {
    /// A controller of this kind for one connection.
    pub fn build(&self, context: &Context) -> Box<dyn CongestionControl> {
        match self {
            Algorithm::Newreno(params) => params.build(context),
            Algorithm::Cubic(params) => params.build(context),
        }
    }
}

/// What a controller is told at the start.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// Window at the start, in segments.
    pub initial_window: f64,
    /// Slow-start threshold at the start, in segments; infinite where there is none.
    pub initial_ssthresh: f64,
    /// Payload of a full segment in bytes.
    pub mss_bytes: u32,
    /// How windows grow; the credits of [`AckSample`] follow it already.
    pub growth: Growth,
}

impl Context {
    /// True where congestion avoidance counts ACKs.
    pub fn avoidance_counts_acks(&self) -> bool {
        self.growth.avoidance == GrowthMode::PerAck
    }
}

/// What one ACK says.
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// When it came.
    pub now: Time,
    /// Segments newly acknowledged in order, including those reported by SACK before.
    pub acked_segments: u32,
    /// Bytes newly acknowledged in order.
    pub acked_bytes: u64,
    /// Bytes delivered for the first time, in order or not.
    pub delivered_bytes: u64,
    /// Segments that count for growth in slow start: 1 for each ACK, or the bytes acknowledged.
    pub slow_start_credit: f64,
    /// Segments that count for growth in congestion avoidance.
    pub avoidance_credit: f64,
    /// Rate at which data was delivered; `None` while nothing measures it.
    pub delivery_rate: Option<DataRate>,
    /// RTT of the newest segment delivered that was sent only once.
    pub rtt_sample: Option<Duration>,
    /// Smoothed RTT, this sample included.
    pub srtt: Option<Duration>,
    /// Payload bytes in flight before this ACK.
    pub prior_flight_bytes: u64,
    /// Payload bytes in flight after it.
    pub flight_bytes: u64,
    /// The window was not used up: the application or the receiver was the limit.
    pub app_limited: bool,
    /// The ACK carried ECN-Echo.
    pub ece: bool,
    /// Round trips so far: each ends when data is acknowledged that was sent after the last end.
    pub round_trips: u64,
    /// A fast recovery was under way when it came.
    pub in_recovery: bool,
}

/// What made a window shrink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionCause {
    /// Data lost, found by duplicate ACKs or SACK.
    Loss,
    /// The retransmission timer.
    Timeout,
}

/// A congestion event.
#[derive(Clone, Copy, Debug)]
pub struct CongestionEvent {
    /// When it was found.
    pub now: Time,
    /// How it was found.
    pub cause: CongestionCause,
    /// The window to reduce, in segments: the flight size or the congestion window, as configured.
    pub window: f64,
    /// Payload bytes in flight before it.
    pub flight_bytes: u64,
    /// The timer expired before for the same data: ssthresh holds. [RFC 5681 §3.1]
    pub repeated: bool,
}

/// A congestion controller.
pub trait CongestionControl: fmt::Debug + Send {
    /// An ACK that delivered something.
    fn on_ack(&mut self, ack: &AckSample);
    /// A loss, once for each recovery.
    fn on_congestion(&mut self, event: &CongestionEvent);
    /// The retransmission timer expired.
    fn on_timeout(&mut self, event: &CongestionEvent);
    /// All that was in flight at the loss is acknowledged.
    fn on_recovery_exit(&mut self, _now: Time) {}
    /// The last reduction was for nothing. Not called yet: nothing detects it.
    fn on_spurious(&mut self, _now: Time) {}
    /// The sender was idle for longer than the RTO. [RFC 5681 §4.1]
    fn on_idle(&mut self, _restart_window: f64) {}
    /// Congestion window in segments.
    fn cwnd(&self) -> f64;
    /// Slow-start threshold in segments; infinite before the first loss.
    fn ssthresh(&self) -> f64;
    /// Rate at which to send. Not obeyed yet.
    fn pacing_rate(&self) -> Option<DataRate> {
        None
    }
    /// The RTT that this controller works with, if it works with one.
    fn rtt(&self) -> Option<Duration> {
        None
    }
}

/// The least window after a loss, in segments. [RFC 5681 §3.1 (4)]
const MIN_SSTHRESH: f64 = 2.0;
/// The window after a timeout, in segments. [RFC 5681 §3.1]
const LOSS_WINDOW: f64 = 1.0;

/// Slow start: grows `cwnd` by the credit of an ACK, at most to `ssthresh`; returns the share of the ACK that
/// is left for congestion avoidance, from 0 to 1. [RFC 5681 §3.1]
fn slow_start(cwnd: &mut f64, ssthresh: f64, ack: &AckSample) -> f64 {
    if *cwnd >= ssthresh {
        return 1.0;
    }
    let used = ack.slow_start_credit.min(ssthresh - *cwnd);
    *cwnd += used;
    if ack.slow_start_credit > 0.0 { 1.0 - used / ack.slow_start_credit } else { 0.0 }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub fn context(growth: GrowthMode) -> Context {
        Context { initial_window: 10.0, initial_ssthresh: f64::INFINITY, mss_bytes: 1000, growth: Growth::both(growth) }
    }

    /// An ACK of `segments` segments at `now`, in a round trip of `rtt`.
    pub fn ack(now: Time, segments: u32, rtt: Duration, growth: GrowthMode) -> AckSample {
        let credit = if growth == GrowthMode::PerAck { 1.0 } else { f64::from(segments) };
        AckSample {
            now,
            acked_segments: segments,
            acked_bytes: u64::from(segments) * 1000,
            delivered_bytes: u64::from(segments) * 1000,
            slow_start_credit: credit,
            avoidance_credit: credit,
            delivery_rate: None,
            rtt_sample: Some(rtt),
            srtt: Some(rtt),
            prior_flight_bytes: 0,
            flight_bytes: 0,
            app_limited: false,
            ece: false,
            round_trips: 0,
            in_recovery: false,
        }
    }

    pub fn loss(now: Time, window: f64) -> CongestionEvent {
        CongestionEvent { now, cause: CongestionCause::Loss, window, flight_bytes: 0, repeated: false }
    }

    const RTT: Duration = Duration::from_millis(50);

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn every_controller_starts_as_told_and_doubles_in_slow_start() {
        for algorithm in Algorithm::all() {
            let mut control = algorithm.build(&context(GrowthMode::PerByte));
            assert_eq!((control.cwnd(), control.ssthresh()), (10.0, f64::INFINITY), "{algorithm:?}");
            (0..10).for_each(|i| control.on_ack(&ack(at(50 + i), 1, RTT, GrowthMode::PerByte)));
            assert_eq!(control.cwnd(), 20.0, "{algorithm:?}");
        }
    }

    #[test]
    fn every_controller_shrinks_on_loss_and_never_below_its_floor() {
        for algorithm in Algorithm::all() {
            let mut control = algorithm.build(&context(GrowthMode::PerByte));
            for i in 0..20 {
                let before = control.cwnd();
                control.on_congestion(&loss(at(i * 100), before));
                assert!(control.cwnd() <= before && control.cwnd() >= MIN_SSTHRESH, "{algorithm:?} {}", control.cwnd());
                assert_eq!(control.cwnd(), control.ssthresh());
            }
        }
    }

    #[test]
    fn a_timeout_leaves_one_segment_and_a_repeated_timeout_holds_ssthresh() {
        for algorithm in Algorithm::all() {
            let mut control = algorithm.build(&context(GrowthMode::PerByte));
            let timeout = CongestionEvent { cause: CongestionCause::Timeout, ..loss(at(1000), 10.0) };
            control.on_timeout(&timeout);
            let ssthresh = control.ssthresh();
            assert_eq!(control.cwnd(), 1.0);
            assert!((5.0..10.0).contains(&ssthresh));
            control.on_timeout(&CongestionEvent { now: at(3000), window: 1.0, repeated: true, ..timeout });
            assert_eq!((control.cwnd(), control.ssthresh()), (1.0, ssthresh), "{algorithm:?}");
        }
    }

    #[test]
    fn no_controller_grows_while_the_window_is_not_used_or_in_recovery() {
        for algorithm in Algorithm::all() {
            let mut control = algorithm.build(&context(GrowthMode::PerByte));
            for i in 0..200 {
                let sample = ack(at(50 * i), 1, RTT, GrowthMode::PerByte);
                control.on_ack(&AckSample { app_limited: true, ..sample });
                control.on_ack(&AckSample { in_recovery: true, ..sample });
            }
            assert_eq!(control.cwnd(), 10.0, "{algorithm:?}");
        }
    }

    #[test]
    fn slow_start_stops_at_ssthresh_and_leaves_the_rest() {
        let mut cwnd = 9.0;
        let sample = ack(at(0), 4, RTT, GrowthMode::PerByte);
        assert_eq!(slow_start(&mut cwnd, 10.0, &sample), 0.75);
        assert_eq!(cwnd, 10.0);
    }
}
