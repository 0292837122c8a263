//! FAST as its module for ns-2 computes it.
//!
//! Source: the behaviour of module 1.1.3 of Cui and Andrew, held against recorded traces (`docs/vectors.md`). What differs
//! from Jin, Wei, Low 2004: the RTT is averaged with weight min(1/256, 3/w), so 64 times more slowly at small windows; the
//! equation is used in every second round trip only, there once per 10 ms, with the number that was in flight when the
//! acknowledged segment was sent; growth comes in steps of one segment spread over 10 ms; no limit of 2 w; below
//! `mi_threshold` each ACK adds one. A round trip is the time of the RTT that the ACK brings. A loss halves the window and
//! changes nothing else; after a timeout there are two segments.

use std::collections::VecDeque;

use lasthop_units::{Duration, Time};

use super::super::{AckSample, CongestionControl, CongestionEvent, Context, MIN_SSTHRESH, Moment};
use super::Params;

/// Weight of a sample is 1/256, or 3/w where that is less.
const WEIGHT: f64 = 256.0;
/// Time between uses of the equation, in s.
const SPACING_S: f64 = 0.010;
/// On shorter paths growth is not spread, in s.
const LEAST_SPREAD_S: f64 = 0.004;
/// The window after a timeout, in segments.
pub(super) const RESTART: f64 = 2.0;
/// Up to this window growth is not spread, in segments.
const SMALL: f64 = 4.0;

#[derive(Debug)]
pub(super) struct Fast {
    params: Params,
    mss: u64,
    /// when the connection began
    start: Time,
    /// in segments
    cwnd: f64,
    /// in segments
    ssthresh: f64,
    /// least RTT in s
    base_s: Option<f64>,
    /// averaged RTT in s
    average_s: f64,
    /// What was in flight at the last ACK, in segments, and when data from an offset on was sent.
    flight: u64,
    flights: VecDeque<(u64, f64)>,
    round: Round,
    /// when the equation was used last, in s
    updated_s: f64,
    steps: Steps,
}

/// Round trips, of which every second uses the equation.
#[derive(Clone, Copy, Debug)]
struct Round {
    start_s: f64,
    updates: bool,
    acks: u32,
    /// ACKs of the round before
    last_acks: u32,
}

/// Segments still to add, one for each `per` ACKs.
#[derive(Clone, Copy, Debug, Default)]
struct Steps {
    left: u32,
    per: u32,
    acks: u32,
}

impl Fast {
    pub fn new(params: &Params, context: &Context) -> Self {
        Fast {
            params: params.clone(),
            mss: u64::from(context.mss_bytes),
            start: Time::ZERO,
            cwnd: context.initial_window,
            ssthresh: context.initial_ssthresh,
            base_s: None,
            average_s: 0.0,
            flight: 1,
            flights: VecDeque::new(),
            round: Round { start_s: 0.0, updates: true, acks: 0, last_acks: 0 },
            updated_s: 0.0,
            steps: Steps::default(),
        }
    }

    /// Time since the connection began, in whole µs as the traces have it: its decisions hang on ties.
    fn seconds(&self, now: Time) -> f64 {
        (now.since(self.start).as_nanos() / 1000) as f64 / 1e6
    }

    fn observe(&mut self, rtt_s: f64) {
        self.base_s = Some(self.base_s.map_or(rtt_s, |base| base.min(rtt_s)));
        let scale = (self.flight / 3) as f64;
        self.average_s = if self.average_s == 0.0 {
            rtt_s
        } else if scale > WEIGHT {
            ((scale - 1.0) * self.average_s + rtt_s) / scale
        } else {
            (self.average_s * (WEIGHT - 1.0) + rtt_s) / WEIGHT
        };
    }

    /// What was in flight when the newest segment acknowledged was sent.
    fn flight_at_send(&mut self, una: u64) -> f64 {
        let newest = una.saturating_sub(self.mss);
        while self.flights.get(1).is_some_and(|(from, _)| *from <= newest) {
            self.flights.pop_front();
        }
        self.flights.front().filter(|(from, _)| *from <= newest).map_or(1.0, |(_, flight)| *flight)
    }

    fn count(&mut self, now_s: f64, rtt_s: f64) {
        let Round { start_s, updates, acks, .. } = self.round;
        if start_s + rtt_s < now_s {
            self.round = Round { start_s: now_s, updates: !updates, acks: 0, last_acks: acks };
        }
        self.round.acks += 1;
    }

    fn grow(&mut self, now_s: f64, old: f64) {
        let Some(base_s) = self.base_s else { return };
        if self.average_s - base_s < self.params.mi_threshold.as_secs_f64() {
            self.cwnd += 1.0;
            self.updated_s = now_s;
        } else if self.round.updates && now_s >= self.updated_s + SPACING_S {
            self.update(base_s, old);
            self.updated_s = now_s;
        } else if base_s >= LEAST_SPREAD_S {
            self.step(0);
        }
    }

    /// w <- (1 - gamma) w + gamma (baseRTT/RTT w_old + alpha).
    fn update(&mut self, base_s: f64, old: f64) {
        let gamma = self.params.gamma;
        let goal = old * (base_s / self.average_s) + self.params.alpha;
        let target = ((1.0 - gamma) * self.cwnd + goal * gamma).max(MIN_SSTHRESH);
        self.steps.left = 0;
        if target >= self.cwnd && base_s >= LEAST_SPREAD_S {
            self.step((target - self.cwnd) as u32);
        } else {
            self.cwnd = target;
        }
    }

    /// Adds what is left, spread over the ACKs of 10 ms; `more` is new.
    fn step(&mut self, more: u32) {
        if more > 0 {
            self.steps.left += more;
            let acks = f64::from(self.round.last_acks) * SPACING_S / self.average_s;
            self.steps.per = (acks / f64::from(self.steps.left)) as u32;
            self.steps.acks = 1;
        } else {
            self.steps.acks += 1;
        }
        if self.steps.left == 0 {
            return;
        }
        if self.cwnd <= SMALL {
            // At most doubled at once.
            let now = self.steps.left.min(self.cwnd as u32);
            self.cwnd += f64::from(now);
            self.steps = Steps { left: self.steps.left - now, acks: 0, ..self.steps };
        } else if self.steps.acks >= self.steps.per {
            self.cwnd += 1.0;
            self.steps = Steps { left: self.steps.left - 1, acks: 0, ..self.steps };
        }
    }

    /// Recovery counts as a use of the equation.
    fn reduce(&mut self, event: &CongestionEvent) {
        self.updated_s = self.seconds(event.now);
        self.ssthresh = (event.window / 2.0).floor().max(MIN_SSTHRESH);
        self.cwnd = self.ssthresh;
    }
}

impl CongestionControl for Fast {
    fn on_established(&mut self, at: &Moment, _: Option<Duration>) {
        self.start = at.now;
    }

    fn on_ack(&mut self, ack: &AckSample) {
        let now_s = self.seconds(ack.now);
        if ack.in_recovery {
            self.updated_s = now_s;
        }
        if ack.in_recovery || ack.acked_segments == 0 {
            return;
        }
        let old = self.flight_at_send(ack.snd_una);
        // Counted from the newest segment acknowledged.
        self.flight = ack.snd_nxt.saturating_sub(ack.snd_una) / self.mss + 1;
        let rtt_s = ack.rtt_sample.map_or(self.average_s, Duration::as_secs_f64);
        if rtt_s > 0.0 {
            self.observe(rtt_s);
        }
        self.flights.push_back((ack.snd_nxt, self.flight as f64));
        self.count(now_s, rtt_s);
        if !ack.app_limited {
            self.grow(now_s, old);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.reduce(event);
    }

    fn on_timeout(&mut self, event: &CongestionEvent) {
        if !event.repeated {
            self.reduce(event);
        }
        self.cwnd = RESTART;
    }

    fn on_idle(&mut self, restart_window: f64) {
        self.cwnd = self.cwnd.min(restart_window);
    }

    fn set_window(&mut self, segments: f64) {
        self.cwnd = segments;
    }

    fn set_ssthresh(&mut self, segments: f64) {
        self.ssthresh = segments;
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn rtt(&self) -> Option<Duration> {
        self.base_s.map(|_| Duration::from_secs_f64(self.average_s))
    }
}
