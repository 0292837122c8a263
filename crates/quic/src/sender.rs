//! A congestion controller of this project under a QUIC stack: bytes and packets become segments, and the stack's calls
//! the calls of [`CongestionControl`]. [RFC 9002 §7]
//!
//! A segment is a full datagram. The stack reports an ACK before it looks for losses, packet by packet: `Sender` collects
//! these reports, so that a controller sees one sample per ACK, as under TCP.

use lasthop_tcp::congestion_control::{
    AckSample, CongestionCause, CongestionControl, CongestionEvent, Moment, Outside, hold,
};
use lasthop_units::{CaState, Duration, Time};

/// The least window, in datagrams. [RFC 9002 §7.2]
const MIN_WINDOW: f64 = 2.0;

/// Packets of one ACK.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    packets: u32,
    bytes: u64,
    /// of these, the ones sent after the last reduction
    fresh_packets: u32,
    fresh_bytes: u64,
    newest_sent: Time,
}

/// A round-trip time that an ACK measured, and the controller's own if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttSample {
    /// From the newest packet of the ACK to its arrival, the peer's delay included.
    pub sample: Duration,
    /// The RTT that the controller uses, if any.
    pub controller: Option<Duration>,
}

/// Congestion window, threshold and flight size at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window in datagrams.
    pub cwnd: f64,
    /// Slow-start threshold in datagrams; infinite before the first loss.
    pub ssthresh: f64,
    /// Bytes in flight, QUIC headers included.
    pub flight_bytes: u64,
    /// The state of congestion control: open, in recovery, or after persistent congestion.
    pub state: CaState,
}

/// The controller of one side of a connection, with the counts from which its samples are made.
#[derive(Debug)]
pub(crate) struct Sender {
    control: Box<dyn CongestionControl>,
    datagram: u64,
    batch: Batch,
    established: bool,
    /// since when a reduction is in force [RFC 9002 §7.3.2]
    reduced_at: Option<Time>,
    in_recovery: bool,
    /// in persistent congestion, until a packet sent since is acknowledged
    collapsed_at: Option<Time>,
    sent_bytes: u64,
    flight_bytes: u64,
    delivered: u64,
    lost: u64,
    /// of the last ACK: its largest packet number, and the latest time at which a packet of any was sent
    largest_acked: Option<u64>,
    newest_acked: Time,
    srtt: Option<Duration>,
    /// the last sample that was not taken yet
    unread: Option<RttSample>,
    round_trips: u64,
    round_began: Time,
    /// at the last ACK: neither window nor pacing kept the stack from sending
    app_limited: bool,
    /// the stack was not asked for all that it would send: its device is full, or its host is busy
    is_held_up: bool,
}

impl Sender {
    pub(crate) fn new(control: Box<dyn CongestionControl>, datagram: u16) -> Sender {
        Sender {
            control,
            datagram: u64::from(datagram),
            batch: Batch::default(),
            established: false,
            reduced_at: None,
            in_recovery: false,
            collapsed_at: None,
            sent_bytes: 0,
            flight_bytes: 0,
            delivered: 0,
            lost: 0,
            largest_acked: None,
            newest_acked: Time::ZERO,
            srtt: None,
            unread: None,
            round_trips: 0,
            round_began: Time::ZERO,
            app_limited: false,
            is_held_up: false,
        }
    }

    fn segments(&self, bytes: u64) -> f64 {
        bytes as f64 / self.datagram as f64
    }

    fn whole_segments(&self, bytes: u64) -> u32 {
        bytes.div_ceil(self.datagram) as u32
    }

    /// Offsets count bytes in the order of sending: all that have left the flight are acknowledged or lost.
    fn moment(&self, now: Time, app_limited: bool) -> Moment {
        let snd_una = self.sent_bytes.saturating_sub(self.flight_bytes);
        Moment { now, snd_una, snd_nxt: self.sent_bytes, app_limited }
    }

    /// Replaces the window of its controller by one from outside, in segments.
    pub(crate) fn hold(&mut self, values: Outside) {
        hold(&mut self.control, values);
    }

    /// Whether its window is one from outside.
    pub(crate) fn is_held(&self) -> bool {
        self.control.outside().window.is_some()
    }

    /// The window in bytes.
    pub(crate) fn window_bytes(&self) -> u64 {
        (self.control.cwnd().max(MIN_WINDOW) * self.datagram as f64) as u64
    }

    pub(crate) fn ssthresh_bytes(&self) -> Option<u64> {
        let ssthresh = self.control.ssthresh();
        ssthresh.is_finite().then_some((ssthresh * self.datagram as f64) as u64)
    }

    pub(crate) fn window(&self) -> Window {
        Window {
            cwnd: self.control.cwnd().max(MIN_WINDOW),
            ssthresh: self.control.ssthresh(),
            flight_bytes: self.flight_bytes,
            state: self.ca_state(),
        }
    }

    /// Takes over the window of another controller, in bytes.
    pub(crate) fn mirror(&mut self, window: u64, ssthresh: Option<u64>) {
        self.control.set_window(self.segments(window));
        self.control.set_ssthresh(ssthresh.map_or(f64::INFINITY, |bytes| self.segments(bytes)));
    }

    /// Whether the stack was not asked for all that it would send. The window that is then left unused does not grow.
    /// [RFC 9002 §7.8]
    pub(crate) fn set_held_up(&mut self, is_held_up: bool) {
        self.is_held_up = is_held_up;
    }

    /// Whether the window has no room for another datagram.
    pub(crate) fn is_full(&self) -> bool {
        self.flight_bytes + self.datagram >= self.window_bytes()
    }

    pub(crate) fn is_app_limited(&self) -> bool {
        self.app_limited
    }

    pub(crate) fn ca_state(&self) -> CaState {
        match (self.collapsed_at, self.in_recovery) {
            (Some(_), _) => CaState::Loss,
            (None, true) => CaState::Recovery,
            (None, false) => CaState::Open,
        }
    }

    /// The last RTT sample; returned once.
    pub(crate) fn take_rtt(&mut self) -> Option<RttSample> {
        self.unread.take()
    }

    pub(crate) fn failure(&self) -> Option<&str> {
        self.control.failure()
    }

    pub(crate) fn on_sent(&mut self, now: Time, bytes: u64) {
        if self.flight_bytes == 0 {
            self.control.on_transmit_start(&self.moment(now, false));
        }
        self.sent_bytes += bytes;
        self.flight_bytes += bytes;
    }

    /// A packet of the ACK that is being read.
    pub(crate) fn on_packet_acked(&mut self, sent: Time, bytes: u64) {
        let is_fresh = self.reduced_at.is_none_or(|at| sent > at);
        let batch = &mut self.batch;
        batch.packets += 1;
        batch.bytes += bytes;
        if is_fresh {
            batch.fresh_packets += 1;
            batch.fresh_bytes += bytes;
        }
        batch.newest_sent = batch.newest_sent.max(sent);
    }

    /// The ACK is read. `flight_bytes` are left.
    pub(crate) fn on_ack_read(&mut self, now: Time, flight_bytes: u64, app_limited: bool, largest: Option<u64>) {
        let batch = std::mem::take(&mut self.batch);
        self.flight_bytes = flight_bytes;
        self.app_limited = app_limited;
        if batch.packets == 0 {
            return;
        }
        let left_room = flight_bytes + batch.bytes + self.datagram < self.window_bytes();
        let app_limited = app_limited || (self.is_held_up && left_room);
        let rtt_sample = self.is_newest(largest, batch.newest_sent).then(|| now.since(batch.newest_sent));
        self.measure(rtt_sample);
        self.establish(now, rtt_sample);
        self.advance_round(now, batch.newest_sent);
        self.leave_recovery(now, batch.newest_sent, app_limited);
        self.delivered += u64::from(batch.packets);
        let mut sample = self.sample(now, &batch, rtt_sample, app_limited);
        sample.observed = self.control.observe(&sample);
        self.control.on_ack(&sample);
        if let Some(sample) = rtt_sample {
            self.unread = Some(RttSample { sample, controller: self.control.rtt() });
        }
    }

    /// Whether an ACK acknowledges a larger packet number than all before, and so measures the RTT. Each of the three
    /// spaces of a connection has its own numbers. [RFC 9002 §5.1]
    fn is_newest(&mut self, largest: Option<u64>, sent: Time) -> bool {
        let is_newest = largest != self.largest_acked && sent >= self.newest_acked;
        self.largest_acked = largest;
        self.newest_acked = self.newest_acked.max(sent);
        is_newest
    }

    /// The smoothed RTT as a TCP sender has it: the stack updates its own after this ACK. [RFC 6298 §2]
    fn measure(&mut self, sample: Option<Duration>) {
        let Some(sample) = sample else { return };
        let smoothed = self.srtt.map_or(sample, |srtt| (srtt * 7 + sample) / 8);
        self.srtt = Some(smoothed);
    }

    /// The first ACK of a handshake is the first that a controller sees.
    fn establish(&mut self, now: Time, rtt: Option<Duration>) {
        if !self.established {
            self.established = true;
            self.control.on_established(&self.moment(now, false), rtt);
        }
    }

    fn advance_round(&mut self, now: Time, newest_sent: Time) {
        if newest_sent >= self.round_began {
            self.round_trips += 1;
            self.round_began = now;
        }
    }

    /// A packet sent after the reduction ends the recovery. [RFC 9002 §7.3.2]
    fn leave_recovery(&mut self, now: Time, newest_sent: Time, app_limited: bool) {
        if self.in_recovery && self.reduced_at.is_some_and(|at| newest_sent > at) {
            self.in_recovery = false;
            self.control.on_recovery_exit(&self.moment(now, app_limited));
        }
    }

    fn sample(&mut self, now: Time, batch: &Batch, rtt_sample: Option<Duration>, app_limited: bool) -> AckSample {
        let credit = self.segments(batch.fresh_bytes);
        let ends_timeout = self.collapsed_at.is_some_and(|at| batch.newest_sent > at);
        if ends_timeout {
            self.collapsed_at = None;
        }
        let Moment { snd_una, snd_nxt, .. } = self.moment(now, app_limited);
        let prior = self.flight_bytes + batch.bytes;
        AckSample {
            now,
            acked_segments: batch.fresh_packets,
            acked_bytes: batch.bytes,
            delivered_bytes: batch.bytes,
            slow_start_credit: credit,
            avoidance_credit: credit,
            delivered_segments: batch.packets,
            total_delivered: self.delivered,
            total_lost: self.lost,
            rtt_sample,
            srtt: self.srtt,
            prior_flight_bytes: prior,
            flight_bytes: self.flight_bytes,
            prior_flight_segments: self.whole_segments(prior),
            flight_segments: self.whole_segments(self.flight_bytes),
            app_limited,
            round_trips: self.round_trips,
            in_recovery: self.in_recovery,
            ends_timeout,
            snd_una,
            snd_nxt,
            window: self.control.cwnd() as u32,
            ..AckSample::default()
        }
    }

    /// Packets up to one of `sent` are lost or, without bytes, were marked.
    pub(crate) fn on_congestion(&mut self, now: Time, sent: Time, is_persistent: bool, lost_bytes: u64) {
        self.lost += u64::from(self.whole_segments(lost_bytes));
        self.flight_bytes = self.flight_bytes.saturating_sub(lost_bytes);
        let is_known = self.reduced_at.is_some_and(|at| sent <= at);
        if is_persistent {
            self.collapse(now, is_known);
        } else if !is_known {
            let cause = if lost_bytes == 0 { CongestionCause::Ecn } else { CongestionCause::Loss };
            self.control.on_congestion(&self.event(now, cause, false));
            self.reduced_at = Some(now);
            self.in_recovery = true;
        }
    }

    /// Persistent congestion: the window falls to the least, and ssthresh as for a loss, once. [RFC 9002 §7.6.2]
    fn collapse(&mut self, now: Time, is_known: bool) {
        self.control.on_timeout(&self.event(now, CongestionCause::Timeout, is_known));
        self.reduced_at = None;
        self.in_recovery = false;
        self.collapsed_at = Some(now);
    }

    fn event(&self, now: Time, cause: CongestionCause, repeated: bool) -> CongestionEvent {
        let Moment { snd_una, snd_nxt, .. } = self.moment(now, false);
        CongestionEvent {
            now,
            cause,
            window: self.control.cwnd(),
            flight_bytes: self.flight_bytes,
            repeated,
            snd_una,
            snd_nxt,
            total_lost: self.lost,
        }
    }
}
