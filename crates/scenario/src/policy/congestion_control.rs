//! A built-in congestion control as a policy: it learns of ACKs and losses from the quantities that an agent sees, and sets the window.
//!
//! A decision is an ACK with an RTT sample. The sample gives the time at which the newest segment that arrived was sent. So the segments
//! sent until then are the segments delivered, also where some before them are missing, and the delivery rate follows from the counts at
//! both times [draft-cheng-iccrg-delivery-rate-estimation §3]. A retransmission is the sign of a loss, and an expiry of the retransmission
//! timer is seen at the next sample.
//!
//! The sender stays as it is: it decides which segments are lost and sends them again. Proportional rate reduction does not act on a window
//! from outside. Segments sent before the first decision are not counted.

use std::collections::VecDeque;

use lasthop_observe::metric::{goodput, rtt, segments};
use lasthop_registry::params;
use lasthop_tcp::congestion_control::{
    AckSample, Algorithm, CongestionCause, CongestionControl, CongestionEvent, Growth, GrowthMode, Moment, RateSample,
};
use lasthop_units::{Duration, Time};

use super::interface::{Observed, Policy};

params! {
    /// Parameters.
    pub struct Params {
        /// The algorithm; default: the flow's own congestion control.
        pub algorithm: Option<Algorithm> = None,
    }
}

/// The quantities that it sees of its flow, in the order of [`OfFlow::places`].
pub(crate) const QUANTITIES: [&str; 5] = [
    rtt::RTT_MEAN.definition().name,
    segments::SEGMENTS_SENT.definition().name,
    segments::SEGMENTS_RETRANSMITTED.definition().name,
    segments::TIMEOUTS.definition().name,
    goodput::BYTES_DELIVERED.definition().name,
];

/// A controller with the facts of its flow.
pub(crate) struct OfFlow {
    pub control: Box<dyn CongestionControl>,
    pub mss_bytes: u32,
    pub growth: Growth,
    /// places of its quantities in an observation
    pub places: [usize; QUANTITIES.len()],
    /// places of its knobs among the controls
    pub window: usize,
    pub pacing: Option<usize>,
}

/// The quantities since the last decision.
struct Facts {
    rtt: Option<Duration>,
    sent: u64,
    retransmitted: u64,
    timeouts: u64,
    delivered_bytes: f64,
}

/// The counts at a decision, in segments.
#[derive(Clone, Copy, Default)]
struct Step {
    at: Time,
    /// sent before it, each segment once
    sent: u64,
    delivered: u64,
    lost: u64,
    /// when the newest segment delivered was sent
    newest_sent: Time,
}

/// The repair of losses, until the number of segments has arrived that had been sent when it began.
#[derive(Clone, Copy)]
enum Repair {
    None,
    Recovery(u64),
    Timeout(u64),
}

/// A controller that acts through knobs.
pub(super) struct Sender {
    of: OfFlow,
    /// decisions, from the one before the newest segment delivered was sent
    steps: VecDeque<Step>,
    now: Step,
    /// delivered in order, and the part of it that was sent before the first decision
    in_order_bytes: f64,
    earlier: Option<u64>,
    /// segments acknowledged in order
    una: u64,
    repair: Repair,
    srtt: Option<Duration>,
    min_rtt: Duration,
    round_trips: u64,
    round_end: u64,
    is_established: bool,
}

impl Sender {
    pub(super) fn new(of: OfFlow) -> Sender {
        Sender {
            of,
            steps: VecDeque::new(),
            now: Step::default(),
            in_order_bytes: 0.0,
            earlier: None,
            una: 0,
            repair: Repair::None,
            srtt: None,
            min_rtt: Duration::from_secs(3600),
            round_trips: 0,
            round_end: 0,
            is_established: false,
        }
    }

    fn facts(&self, observed: &Observed<'_>) -> Facts {
        let number = |which: usize| {
            let place = self.of.places[which];
            (!observed.absent[place]).then(|| observed.values[place])
        };
        let count = |which: usize| number(which).unwrap_or(0.0) as u64;
        Facts {
            rtt: number(0).map(Duration::from_secs_f64),
            sent: count(1),
            retransmitted: count(2),
            timeouts: count(3),
            delivered_bytes: number(4).unwrap_or(0.0),
        }
    }

    /// Counts from now on. A flow that has sent nothing yet has nothing in flight either.
    fn begin(&mut self, now: Time, facts: &Facts) {
        self.now = Step { at: now, newest_sent: now, ..Step::default() };
        self.steps.push_back(self.now);
        self.earlier = (facts.sent == 0).then_some(0);
    }

    fn bytes(&self, segments: u64) -> u64 {
        segments * u64::from(self.of.mss_bytes)
    }

    fn flight(&self) -> u64 {
        self.now.sent - self.now.delivered
    }

    fn moment(&self) -> Moment {
        let (snd_una, snd_nxt) = (self.bytes(self.una), self.bytes(self.now.sent));
        Moment { now: self.now.at, snd_una, snd_nxt, app_limited: false }
    }

    fn event(&self, cause: CongestionCause) -> CongestionEvent {
        let Moment { now, snd_una, snd_nxt, .. } = self.moment();
        CongestionEvent {
            now,
            cause,
            window: self.of.control.cwnd(),
            flight_bytes: self.bytes(self.flight()),
            repeated: matches!((cause, self.repair), (CongestionCause::Timeout, Repair::Timeout(_))),
            snd_una,
            snd_nxt,
            total_lost: self.now.lost,
        }
    }

    /// Finds the newest segment delivered by the time at which it was sent. Returns the counts at that time.
    fn deliver(&mut self, rtt: Duration) -> Option<Step> {
        let sent_at = Time::from_nanos(self.now.at.as_nanos().checked_sub(rtt.as_nanos())?);
        if sent_at < self.steps.front()?.at {
            return None;
        }
        let later = self.steps.partition_point(|step| step.at <= sent_at);
        let before = self.steps[later - 1];
        let delivered = self.steps.get(later).map_or(self.now.sent, |step| step.sent);
        if delivered > self.now.delivered {
            self.now.delivered = delivered;
            self.now.newest_sent = sent_at;
        }
        self.steps.drain(..later - 1);
        Some(before)
    }

    /// Segments that the receiver has in order, of those counted. The first of them that arrives shows how many were sent earlier.
    fn in_order(&mut self) -> u64 {
        let all = (self.in_order_bytes / f64::from(self.of.mss_bytes)) as u64;
        match self.now.delivered {
            0 => 0,
            delivered => all.saturating_sub(*self.earlier.get_or_insert(all.saturating_sub(delivered))),
        }
    }

    /// Moves `una`; returns whether a repair has ended.
    fn advance(&mut self) -> bool {
        let in_order = self.in_order();
        let (Repair::Recovery(end) | Repair::Timeout(end)) = self.repair else {
            self.una = self.una.max(self.now.delivered);
            return false;
        };
        self.una = self.una.max(in_order.min(self.now.sent));
        self.una >= end
    }

    fn rate(&self, before: Step) -> Option<RateSample> {
        let delivered = self.now.delivered - before.delivered;
        let acked_over = self.now.at.since(before.at);
        let sent_over = self.now.newest_sent.since(before.newest_sent.min(self.now.newest_sent));
        let interval = acked_over.max(sent_over);
        (delivered > 0 && interval >= self.min_rtt).then(|| RateSample {
            delivered: delivered as u32,
            delivered_ce: 0,
            lost: (self.now.lost - before.lost) as u32,
            interval,
            prior_delivered: before.delivered,
            flight_at_send: (self.now.delivered - before.delivered) as u32,
            is_app_limited: false,
            is_ack_delayed: delivered == 1,
        })
    }

    fn on_ack(&mut self, rtt: Duration, lost: u64) {
        let (una, delivered) = (self.una, self.now.delivered);
        self.srtt = Some(self.srtt.map_or(rtt, |srtt| (srtt * 7 + rtt) / 8));
        self.min_rtt = self.min_rtt.min(rtt);
        if !self.is_established {
            self.is_established = true;
            self.of.control.on_established(&self.moment(), Some(rtt));
        }
        let flight = self.flight();
        let before = self.deliver(rtt);
        let has_ended = self.advance();
        if self.now.delivered >= self.round_end {
            self.round_trips += 1;
            self.round_end = self.now.sent;
        }
        let in_recovery = matches!(self.repair, Repair::Recovery(_));
        let (acked, arrived) = (self.una - una, self.now.delivered - delivered);
        let credit = |mode| match mode {
            _ if acked == 0 => 0.0,
            GrowthMode::PerByte => acked as f64,
            GrowthMode::PerAck => 1.0,
        };
        let Moment { snd_una, snd_nxt, .. } = self.moment();
        let mut sample = AckSample {
            now: self.now.at,
            acked_segments: acked as u32,
            acked_bytes: self.bytes(acked),
            delivered_bytes: self.bytes(arrived),
            slow_start_credit: credit(self.of.growth.slow_start),
            avoidance_credit: credit(self.of.growth.avoidance),
            delivered_segments: arrived as u32,
            lost_segments: lost as u32,
            total_delivered: self.now.delivered,
            total_lost: self.now.lost,
            rate: before.and_then(|before| self.rate(before)),
            rtt_sample: Some(rtt),
            srtt: self.srtt,
            prior_flight_bytes: self.bytes(flight),
            flight_bytes: self.bytes(self.flight()),
            prior_flight_segments: flight as u32,
            flight_segments: self.flight() as u32,
            round_trips: self.round_trips,
            in_recovery,
            ends_timeout: has_ended && !in_recovery,
            snd_una,
            snd_nxt,
            window: self.of.control.cwnd() as u32,
            is_paced: self.of.pacing.is_some(),
            ..AckSample::default()
        };
        sample.observed = self.of.control.observe(&sample);
        if lost > 0 && matches!(self.repair, Repair::None) {
            self.of.control.on_congestion(&self.event(CongestionCause::Loss));
            self.repair = Repair::Recovery(self.now.sent);
            sample.in_recovery = true;
        }
        self.of.control.on_ack(&sample);
        if has_ended {
            self.repair = Repair::None;
            if in_recovery {
                self.of.control.on_recovery_exit(&self.moment());
            }
        }
    }
}

impl Policy for Sender {
    fn act(&mut self, observed: &Observed<'_>, values: &mut [f64]) {
        let facts = self.facts(observed);
        if self.steps.is_empty() {
            self.begin(observed.now, &facts);
        } else {
            self.now.at = observed.now;
            self.now.sent += facts.sent.saturating_sub(facts.retransmitted);
            self.now.lost += facts.retransmitted;
            self.in_order_bytes += facts.delivered_bytes;
            if facts.timeouts > 0 {
                self.of.control.on_timeout(&self.event(CongestionCause::Timeout));
                self.repair = Repair::Timeout(self.now.sent);
            }
            if let Some(rtt) = facts.rtt {
                self.on_ack(rtt, facts.retransmitted);
            }
            self.steps.push_back(self.now);
        }
        values[self.of.window] = self.of.control.cwnd();
        if let (Some(place), Some(rate)) = (self.of.pacing, self.of.control.pacing_rate()) {
            values[place] = rate.as_bps() as f64;
        }
    }

    fn failure(&self) -> Option<&str> {
        self.of.control.failure()
    }
}
