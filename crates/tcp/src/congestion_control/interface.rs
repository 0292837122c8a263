//! The interface of congestion controllers: the facts that they receive, the trait, and shared functions.

use core::fmt;

use lasthop_units::{DataRate, Duration, Time};

use super::{Draws, Growth, GrowthMode, Needs};

/// The facts about a connection that a controller receives at the start.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// Initial window in segments.
    pub initial_window: f64,
    /// Initial slow-start threshold in segments; infinite if there is none.
    pub initial_ssthresh: f64,
    /// Payload of a full segment in bytes.
    pub mss_bytes: u32,
    /// Mode of window growth; the credits of [`AckSample`] follow it already.
    pub growth: Growth,
    /// Clock tick of the controllers that follow Linux.
    pub tick: Duration,
    /// A mark reduces the window less than a loss. [RFC 8511]
    pub abe: bool,
    /// Random draws.
    pub draws: Draws,
}

impl Context {
    /// True if congestion avoidance counts ACKs.
    pub fn avoidance_counts_acks(&self) -> bool {
        self.growth.avoidance == GrowthMode::PerAck
    }
}

/// The facts of one ACK.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckSample {
    /// Time of arrival.
    pub now: Time,
    /// Segments newly acknowledged in order, including those SACKed before.
    pub acked_segments: u32,
    /// Bytes newly acknowledged in order.
    pub acked_bytes: u64,
    /// Bytes delivered for the first time, in order or not.
    pub delivered_bytes: u64,
    /// Segments that count for growth in slow start: 1 for each ACK, or the bytes acknowledged.
    pub slow_start_credit: f64,
    /// Segments that count for growth in congestion avoidance.
    pub avoidance_credit: f64,
    /// Segments delivered for the first time, in order or not.
    pub delivered_segments: u32,
    /// Segments found lost by this ACK.
    pub lost_segments: u32,
    /// Segments delivered since the connection began, this ACK included.
    pub total_delivered: u64,
    /// Segments found lost since the connection began, this ACK included.
    pub total_lost: u64,
    /// Sample of the delivery rate; `None` if this ACK gives none.
    pub rate: Option<RateSample>,
    /// The earliest time at which pacing releases the next segment; in the past, or [`Time::ZERO`], if it does not
    /// wait.
    pub next_departure: Time,
    /// RTT of the newest segment delivered that was sent only once.
    pub rtt_sample: Option<Duration>,
    /// Smoothed RTT, this sample included.
    pub srtt: Option<Duration>,
    /// Payload bytes in flight before this ACK.
    pub prior_flight_bytes: u64,
    /// Payload bytes in flight after this ACK.
    pub flight_bytes: u64,
    /// Segments in flight before this ACK.
    pub prior_flight_segments: u32,
    /// Segments in flight after this ACK.
    pub flight_segments: u32,
    /// The window was not fully used: the application or the receiver was the limit.
    pub app_limited: bool,
    /// The ACK carried ECN-Echo.
    pub ece: bool,
    /// Round trips so far: each ends when data is acknowledged that was sent after the last end.
    pub round_trips: u64,
    /// A fast recovery was under way when the ACK came.
    pub in_recovery: bool,
    /// It acknowledges all data that was outstanding at the last timeout.
    pub ends_timeout: bool,
    /// Offset of the oldest byte not acknowledged, after this ACK.
    pub snd_una: u64,
    /// Offset after the newest byte sent, before what this ACK releases.
    pub snd_nxt: u64,
    /// Number of acknowledged segments that were congestion-marked.
    pub ce_segments: u32,
    /// The window as it stood before this ACK, rate reduction included, in whole segments; 0 if unknown.
    pub window: u32,
    /// The sender's estimated rate of payload in bytes per second, from window and RTT; 0 if unknown.
    pub send_rate: u64,
    /// Segments are paced at that rate instead of leaving in bursts.
    pub is_paced: bool,
    /// True if [`CongestionControl::observe`] has used this ACK.
    pub observed: bool,
}

/// A sample of the delivery rate, from the last-sent segment that this ACK newly reports.
/// [draft-cheng-iccrg-delivery-rate-estimation §3; draft-ietf-ccwg-bbr-02 §4.1]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Segments delivered over `interval`.
    pub delivered: u32,
    /// Number of these that were congestion-marked.
    pub delivered_ce: u32,
    /// Segments found lost between the sending of that segment and now.
    pub lost: u32,
    /// The longer of the time over which they were sent and the time over which they were acknowledged.
    pub interval: Duration,
    /// `total_delivered` when that segment was sent.
    pub prior_delivered: u64,
    /// Segments in flight right after that segment was sent.
    pub flight_at_send: u32,
    /// The application left the window unused when that segment was sent.
    pub is_app_limited: bool,
    /// The receiver may have withheld this ACK: it covers one segment sent once.
    pub is_ack_delayed: bool,
}

/// Window and threshold before a reduction, restored if it was spurious.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// Congestion window in segments.
    pub cwnd: f64,
    /// Slow-start threshold in segments; infinite if there was none.
    pub ssthresh: f64,
}

/// The sender's position in its data at the time of an event.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Time of the event.
    pub now: Time,
    /// Offset of the oldest byte not acknowledged.
    pub snd_una: u64,
    /// Offset after the newest byte sent.
    pub snd_nxt: u64,
    /// The application left a part of the window unused, for lack of data.
    pub app_limited: bool,
}

/// The cause of a window reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionCause {
    /// Data lost, found by duplicate ACKs or SACK.
    Loss,
    /// The retransmission timer.
    Timeout,
    /// Congestion marks. [RFC 3168 §6.1.2]
    Ecn,
}

/// A congestion event.
#[derive(Clone, Copy, Debug)]
pub struct CongestionEvent {
    /// Time of detection.
    pub now: Time,
    /// Kind of detection.
    pub cause: CongestionCause,
    /// The window to reduce, in segments: the flight size or the congestion window, as configured.
    pub window: f64,
    /// Payload bytes in flight before it.
    pub flight_bytes: u64,
    /// The timer had already expired for the same data: ssthresh is held. [RFC 5681 §3.1]
    pub repeated: bool,
    /// Offset of the oldest byte not acknowledged.
    pub snd_una: u64,
    /// Offset after the newest byte sent.
    pub snd_nxt: u64,
    /// Segments found lost since the connection began, those of this event included.
    pub total_lost: u64,
}

impl CongestionEvent {
    /// True for a mark that reduces the window less than a loss (`abe`). [RFC 8511 §3]
    pub(super) fn is_eased(&self, abe: bool) -> bool {
        abe && self.cause == CongestionCause::Ecn
    }
}

/// Values from outside that replace a controller's own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outside {
    /// Congestion window in segments; `None`: the controller's.
    pub window: Option<f64>,
    /// Rate at which to send; `None`: the controller's.
    pub pacing: Option<DataRate>,
}

/// A congestion controller.
pub trait CongestionControl: fmt::Debug + Send {
    /// Its demands on the endpoint; constant for its whole life.
    fn needs(&self) -> Needs {
        Needs::NONE
    }
    /// Called after the handshake; `rtt` is the RTT that it measured, if any.
    fn on_established(&mut self, _at: &Moment, _rtt: Option<Duration>) {}
    /// Called when new data is sent and no other data is outstanding.
    fn on_transmit_start(&mut self, _at: &Moment) {}
    /// Called for each ACK before the reaction to a loss or a mark that it shows. Returns true if the controller used
    /// it; [`on_ack`](Self::on_ack) of the same ACK then has `observed` set.
    fn observe(&mut self, _ack: &AckSample) -> bool {
        false
    }
    /// Called for each ACK that delivers data.
    fn on_ack(&mut self, ack: &AckSample);
    /// Called for a loss or a mark, once per recovery.
    fn on_congestion(&mut self, event: &CongestionEvent);
    /// Called when the retransmission timer expires.
    fn on_timeout(&mut self, event: &CongestionEvent);
    /// Called when all data that was in flight at the loss is acknowledged.
    fn on_recovery_exit(&mut self, _at: &Moment) {}
    /// Called when the last reduction was spurious: restores the earlier window, unless it is larger by now. No
    /// [`on_recovery_exit`](Self::on_recovery_exit) follows.
    fn on_spurious(&mut self, _at: &Moment, prior: &Prior) {
        self.set_window(self.cwnd().max(prior.cwnd));
        self.set_ssthresh(self.ssthresh().max(prior.ssthresh));
    }
    /// Called when the sender was idle for longer than the RTO. [RFC 5681 §4.1]
    fn on_idle(&mut self, _restart_window: f64) {}
    /// Uses values from outside above its own; false if it cannot.
    fn set_outside(&mut self, values: Outside) -> bool {
        let _ = values;
        false
    }
    /// The values from outside that it uses.
    fn outside(&self) -> Outside {
        Outside::default()
    }
    /// Replaces the window, in segments, by a value from outside the controller.
    fn set_window(&mut self, segments: f64);
    /// Replaces the slow-start threshold, in segments; infinite for none.
    fn set_ssthresh(&mut self, segments: f64);
    /// True if this controller sets its window during recovery itself, in place of proportional rate reduction.
    /// [draft-ietf-ccwg-bbr-02 §5.6.4]
    fn owns_recovery(&self) -> bool {
        false
    }
    /// True while this controller keeps the window small for a measurement: data sent in this time does not show the
    /// path's rate and counts as application-limited.
    fn holds_back(&self) -> bool {
        false
    }
    /// Congestion window in segments.
    fn cwnd(&self) -> f64;
    /// Slow-start threshold in segments; infinite before the first loss.
    fn ssthresh(&self) -> f64;
    /// Rate at which to send payload and headers; `None`: as the window allows.
    fn pacing_rate(&self) -> Option<DataRate> {
        None
    }
    /// The longest send at its rate; `None`: as long as suits segmentation.
    fn longest_send(&self) -> Option<Duration> {
        None
    }
    /// The RTT that this controller uses, if any.
    fn rtt(&self) -> Option<Duration> {
        None
    }
    /// The reason for which this controller cannot continue, if any: code from outside has failed and called
    /// [`give_up`].
    fn failure(&self) -> Option<&str> {
        None
    }
}

/// The panic payload that unwinds a run whose controller has failed; [`CongestionControl::failure`] has the reason.
#[derive(Clone, Copy, Debug)]
pub struct GaveUp;

/// Leaves the run at once, from within any method of a controller that has stored its failure before. It prints
/// nothing; the driver of the simulation catches [`GaveUp`] and reads the failures of its controllers.
pub fn give_up() -> ! {
    std::panic::resume_unwind(Box::new(GaveUp))
}

/// The least window after a loss, in segments. [RFC 5681 §3.1 (4)]
pub(super) const MIN_SSTHRESH: f64 = 2.0;
/// The window after a timeout, in segments. [RFC 5681 §3.1]
pub(super) const LOSS_WINDOW: f64 = 1.0;

/// Slow start: grows `cwnd` by the credit of an ACK, at most to `ssthresh`; returns the share of the ACK that
/// is left for congestion avoidance, from 0 to 1. [RFC 5681 §3.1]
pub fn slow_start(cwnd: &mut f64, ssthresh: f64, ack: &AckSample) -> f64 {
    if *cwnd >= ssthresh {
        return 1.0;
    }
    let used = ack.slow_start_credit.min(ssthresh - *cwnd);
    *cwnd += used;
    if ack.slow_start_credit > 0.0 { 1.0 - used / ack.slow_start_credit } else { 0.0 }
}
