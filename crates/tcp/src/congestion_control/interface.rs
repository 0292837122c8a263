//! What a controller is told, what it answers, and what all of them share.

use core::fmt;

use lasthop_units::{DataRate, Duration, Time};

use super::{Draws, Growth, GrowthMode, Needs};

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
    /// Tick of the clock by which controllers that follow Linux count time.
    pub tick: Duration,
    /// A mark takes less than a loss. [RFC 8511]
    pub abe: bool,
    /// Random draws.
    pub draws: Draws,
}

impl Context {
    /// True where congestion avoidance counts ACKs.
    pub fn avoidance_counts_acks(&self) -> bool {
        self.growth.avoidance == GrowthMode::PerAck
    }
}

/// What one ACK says.
#[derive(Clone, Copy, Debug, Default)]
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
    /// Segments delivered for the first time, in order or not.
    pub delivered_segments: u32,
    /// Segments found lost by this ACK.
    pub lost_segments: u32,
    /// Segments delivered since the connection began, this ACK included.
    pub total_delivered: u64,
    /// Segments found lost since the connection began, this ACK included.
    pub total_lost: u64,
    /// How fast the network delivers; `None` where this ACK gives no sample.
    pub rate: Option<RateSample>,
    /// The earliest time at which pacing lets the next segment out; in the past, or [`Time::ZERO`], where it does not wait.
    pub next_departure: Time,
    /// RTT of the newest segment delivered that was sent only once.
    pub rtt_sample: Option<Duration>,
    /// Smoothed RTT, this sample included.
    pub srtt: Option<Duration>,
    /// Payload bytes in flight before this ACK.
    pub prior_flight_bytes: u64,
    /// Payload bytes in flight after it.
    pub flight_bytes: u64,
    /// Segments in flight before this ACK.
    pub prior_flight_segments: u32,
    /// Segments in flight after it.
    pub flight_segments: u32,
    /// The window was not used up: the application or the receiver was the limit.
    pub app_limited: bool,
    /// The ACK carried ECN-Echo.
    pub ece: bool,
    /// Round trips so far: each ends when data is acknowledged that was sent after the last end.
    pub round_trips: u64,
    /// A fast recovery was under way when it came.
    pub in_recovery: bool,
    /// It acknowledges all that was outstanding at the last timeout.
    pub ends_timeout: bool,
    /// Offset of the oldest byte not acknowledged, after this ACK.
    pub snd_una: u64,
    /// Offset after the newest byte sent, before what this ACK releases.
    pub snd_nxt: u64,
    /// Segments that were congestion-marked, of those acknowledged.
    pub ce_segments: u32,
    /// The window as it stood before this ACK, rate reduction included, in whole segments; 0 if unknown.
    pub window: u32,
    /// Payload that the sender reckons to send, in bytes per second, from window and RTT; 0 if unknown.
    pub send_rate: u64,
    /// Segments leave at that rate, not in bursts.
    pub is_paced: bool,
    /// [`CongestionControl::observe`] has seen it.
    pub observed: bool,
}

/// How fast the network delivered, from the segment that this ACK newly reports and that was sent last.
/// [draft-cheng-iccrg-delivery-rate-estimation §3; draft-ietf-ccwg-bbr-02 §4.1]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Segments delivered over `interval`.
    pub delivered: u32,
    /// Of these, congestion-marked.
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

/// Window and threshold before a reduction, to go back to if it was for nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// Congestion window in segments.
    pub cwnd: f64,
    /// Slow-start threshold in segments; infinite where there was none.
    pub ssthresh: f64,
}

/// Where the sender stands in its data when something happens.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// When.
    pub now: Time,
    /// Offset of the oldest byte not acknowledged.
    pub snd_una: u64,
    /// Offset after the newest byte sent.
    pub snd_nxt: u64,
    /// The application has left the window unused: there was nothing more to send.
    pub app_limited: bool,
}

/// What made a window shrink.
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
    /// Offset of the oldest byte not acknowledged.
    pub snd_una: u64,
    /// Offset after the newest byte sent.
    pub snd_nxt: u64,
    /// Segments found lost since the connection began, those of this event included.
    pub total_lost: u64,
}

impl CongestionEvent {
    /// It is a mark, of which less is taken than of a loss, if `abe`. [RFC 8511 §3]
    pub(super) fn is_eased(&self, abe: bool) -> bool {
        abe && self.cause == CongestionCause::Ecn
    }
}

/// A congestion controller.
pub trait CongestionControl: fmt::Debug + Send {
    /// What it needs of the endpoint that it works in; the same for its whole life.
    fn needs(&self) -> Needs {
        Needs::NONE
    }
    /// The handshake is over; `rtt` is what it measured, if it did.
    fn on_established(&mut self, _at: &Moment, _rtt: Option<Duration>) {}
    /// New data goes out while nothing is outstanding.
    fn on_transmit_start(&mut self, _at: &Moment) {}
    /// What an ACK says, before anything is concluded from it: before a loss or a mark that it shows is answered. True
    /// if note was taken of it; [`on_ack`](Self::on_ack) of the same ACK then has `observed` set.
    fn observe(&mut self, _ack: &AckSample) -> bool {
        false
    }
    /// An ACK that delivered something.
    fn on_ack(&mut self, ack: &AckSample);
    /// A loss, once for each recovery.
    fn on_congestion(&mut self, event: &CongestionEvent);
    /// The retransmission timer expired.
    fn on_timeout(&mut self, event: &CongestionEvent);
    /// All that was in flight at the loss is acknowledged.
    fn on_recovery_exit(&mut self, _at: &Moment) {}
    /// The last reduction was for nothing: back to what was before, unless the window is larger by now. No
    /// [`on_recovery_exit`](Self::on_recovery_exit) follows.
    fn on_spurious(&mut self, _at: &Moment, prior: &Prior) {
        self.set_window(self.cwnd().max(prior.cwnd));
        self.set_ssthresh(self.ssthresh().max(prior.ssthresh));
    }
    /// The sender was idle for longer than the RTO. [RFC 5681 §4.1]
    fn on_idle(&mut self, _restart_window: f64) {}
    /// Replaces the window, in segments: what was found out from outside counts more than the own reckoning.
    fn set_window(&mut self, segments: f64);
    /// Replaces the slow-start threshold, in segments; infinite for none.
    fn set_ssthresh(&mut self, segments: f64);
    /// True if this controller sets its window during recovery itself, so that proportional rate reduction stands
    /// aside. [draft-ietf-ccwg-bbr-02 §5.6.4]
    fn owns_recovery(&self) -> bool {
        false
    }
    /// True while this controller holds the window down to measure: what is sent now says nothing of the path's rate,
    /// and counts as application-limited.
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
    /// At its rate, the longest that one send may be; `None`: as long as suits segmentation.
    fn longest_send(&self) -> Option<Duration> {
        None
    }
    /// The RTT that this controller works with, if it works with one.
    fn rtt(&self) -> Option<Duration> {
        None
    }
    /// Why this controller cannot go on, if it cannot: code that somebody brought has failed, and has called
    /// [`give_up`].
    fn failure(&self) -> Option<&str> {
        None
    }
}

/// What unwinds through a run whose controller has failed; [`CongestionControl::failure`] says why.
#[derive(Clone, Copy, Debug)]
pub struct GaveUp;

/// Leaves the run at once, from within any method of a controller that has noted its failure before. Nothing is printed;
/// whoever runs the simulation catches [`GaveUp`] and asks its controllers.
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
