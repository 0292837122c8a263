//! Probing for bandwidth, and the resulting bound on data in flight. [draft-ietf-ccwg-bbr-02 §5.3.3, §5.5.10.2]

use lasthop_units::{Duration, Time};

use super::super::{AckSample, RateSample};
use super::cycle::{Acks, Cycle};
use super::{Bbr, State};

/// Reno's share: it would probe once per this many round trips at most. [§5.3.3.5.2]
const MOST_ROUNDS: f64 = 63.0;
/// Doublings of the slope of a probe at most. [§5.5.10.2]
const MOST_DOUBLINGS: u32 = 30;

impl Bbr {
    /// [§5.3.3.1, BBRStartProbeBW_DOWN]
    pub(super) fn start_down(&mut self, now: Time) {
        self.short_term.restart();
        // Two to three seconds, at random, so that flows do not probe together. [§5.3.3.5.3]
        let wait = 2.0 + self.draws.unit();
        self.cycle = Cycle {
            began: now,
            wait: Duration::from_secs_f64(wait),
            rounds_since_probe: self.draws.below(2),
            acks: Acks::Stopping,
            ..self.cycle
        };
        self.rounds.start(self.total_delivered);
        self.state = State::Down;
    }

    /// [§5.3.3.3]
    fn start_refill(&mut self) {
        self.short_term.forget();
        self.cycle = Cycle { acks: Acks::Other, counted: 0.0, doublings: 0, ..self.cycle };
        self.rounds.start(self.total_delivered);
        self.state = State::Refill;
    }

    /// [§5.3.3.4]
    fn start_up(&mut self, rate: f64) {
        self.cycle.acks = Acks::Starting;
        self.cycle.is_sampled = true;
        self.rounds.start(self.total_delivered);
        self.full.restart(rate);
        self.state = State::Up;
        self.raise_slope();
    }

    /// [§5.3.3.6, BBRUpdateProbeBWCyclePhase]
    pub(super) fn update_cycle(&mut self, ack: &AckSample, rate: f64) {
        self.adapt_long_term(ack);
        let flight = f64::from(ack.flight_segments);
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(ack.now) => self.start_refill(),
            State::Down if flight <= self.with_headroom() && flight <= self.target(1.0) => self.state = State::Cruise,
            State::Refill if self.rounds.begins => self.start_up(rate),
            State::Up => {
                if !ack.app_limited && self.cwnd >= self.long_term {
                    // The bound holds it back, not the path.
                    self.full.restart(rate);
                } else if self.full.now {
                    self.start_down(ack.now);
                }
            }
            _ => {}
        }
    }

    /// [§5.3.3.5.3]
    fn is_time_to_probe(&self, now: Time) -> bool {
        let reno_rounds = self.path_holds(self.rate(), 1.0).min(self.cwnd).min(MOST_ROUNDS);
        now > self.cycle.began + self.cycle.wait || f64::from(self.cycle.rounds_since_probe) >= reno_rounds.max(1.0)
    }

    /// True if the lost share of the data in flight exceeds the threshold. [§5.5.10.2, IsInflightTooHigh]
    pub(super) fn is_too_high(&self, sample: &RateSample) -> bool {
        f64::from(sample.lost) > self.params.loss_threshold * f64::from(sample.flight_at_send)
    }

    /// [§5.5.10.2, BBRAdaptLongTermModel]
    fn adapt_long_term(&mut self, ack: &AckSample) {
        let Some(sample) = ack.rate else { return };
        if self.rounds.begins && self.cycle.acks == Acks::Starting {
            self.cycle.acks = Acks::Feedback;
        }
        if self.rounds.begins && self.cycle.acks == Acks::Stopping {
            self.cycle.acks = Acks::Other;
            if self.state.is_probe_bw() && !sample.is_app_limited {
                self.max_rate.advance();
            }
        }
        if self.is_too_high(&sample) {
            if self.cycle.is_sampled {
                self.lower_long_term(&sample, ack.now);
            }
            return;
        }
        if self.long_term.is_infinite() {
            return;
        }
        self.long_term = self.long_term.max(f64::from(sample.flight_at_send));
        if self.state == State::Up {
            self.probe_upward(ack);
        }
    }

    /// [§5.5.10.2, BBRHandleInflightTooHigh]
    fn lower_long_term(&mut self, sample: &RateSample, now: Time) {
        self.cycle.is_sampled = false;
        if !sample.is_app_limited {
            let target = self.path_holds(self.rate(), 1.0).min(self.cwnd);
            self.long_term = f64::from(sample.flight_at_send).max(target * self.params.beta);
        }
        if self.state == State::Up {
            self.start_down(now);
        }
    }

    /// Halves the segments acknowledged for one of growth, once per round trip. [BBRRaiseInflightLongtermSlope]
    fn raise_slope(&mut self) {
        let growth = f64::from(1u32 << self.cycle.doublings);
        self.cycle.doublings = (self.cycle.doublings + 1).min(MOST_DOUBLINGS);
        self.cycle.per = (self.cwnd / growth).max(1.0);
    }

    /// [BBRProbeInflightLongtermUpward]
    fn probe_upward(&mut self, ack: &AckSample) {
        if ack.app_limited || self.cwnd < self.long_term {
            return;
        }
        self.cycle.counted += f64::from(ack.delivered_segments);
        if self.cycle.counted >= self.cycle.per {
            let more = (self.cycle.counted / self.cycle.per).floor();
            self.cycle.counted -= more * self.cycle.per;
            self.long_term += more;
        }
        if self.rounds.begins {
            self.raise_slope();
        }
    }
}
