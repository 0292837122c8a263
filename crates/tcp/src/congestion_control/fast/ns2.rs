//! FAST with the eight departures from the paper that the traces of its module for ns-2 show.
//!
//! Source: Jin, Wei, Low 2004; the departures are numbered in `docs/model/congestion-control-rules.md` and named here by
//! their numbers; held against recorded traces of module 1.1.3 of Cui and Andrew (`docs/vectors.md`).

use std::collections::VecDeque;

use lasthop_units::{Duration, Time};

use super::super::{AckSample, CongestionControl, CongestionEvent, Context, MIN_SSTHRESH, Moment};
use super::params::Params;

/// Samples over which the RTT is averaged, or a third of the segments in flight if that is more. (1)
const SAMPLES: f64 = 256.0;
const FLIGHT_PART: u64 = 3;
/// Time between uses of the equation, over whose ACKs growth is spread, in s. (2, 5)
const SPACING_S: f64 = 0.010;
/// Least RTT of a path on which growth is spread, in s. (5)
const LEAST_SPREAD_S: f64 = 0.004;
/// Largest window whose growth is not spread, in segments. (5)
const SMALL: f64 = 4.0;
/// The window after a timeout, in segments. (8)
pub(super) const RESTART: f64 = 2.0;

#[derive(Debug)]
pub(super) struct Fast {
    params: Params,
    mss: u64,
    /// time of the connection's start
    start: Time,
    /// in segments
    cwnd: f64,
    /// in segments
    ssthresh: f64,
    /// least RTT in s
    base_s: Option<f64>,
    /// averaged RTT in s
    average_s: f64,
    flights: Flights,
    round: Round,
    /// time of the last use of the equation, in s
    used_s: f64,
    ramp: Ramp,
}

/// Segments in flight at the last ACK, and the offset from which data was sent then.
#[derive(Debug)]
struct Flights {
    now: u64,
    before: VecDeque<(u64, u64)>,
}

impl Flights {
    /// Segments in flight when the segment that ends at `end` was sent. (3)
    fn at_send(&mut self, end: u64, mss: u64) -> u64 {
        let newest = end.saturating_sub(mss);
        while self.before.get(1).is_some_and(|&(from, _)| from <= newest) {
            self.before.pop_front();
        }
        self.before.front().filter(|&&(from, _)| from <= newest).map_or(1, |&(_, flight)| flight)
    }
}

/// Round trips, of which every second uses the equation. (2)
#[derive(Clone, Copy, Debug)]
struct Round {
    start_s: f64,
    uses: bool,
    acks: u32,
    acks_before: u32,
}

impl Round {
    fn ack(&mut self, now_s: f64, rtt_s: f64) {
        if self.start_s + rtt_s < now_s {
            *self = Round { start_s: now_s, uses: !self.uses, acks: 0, acks_before: self.acks };
        }
        self.acks += 1;
    }
}

/// Growth that is due in the course of the ACKs of 10 ms. (5)
#[derive(Clone, Copy, Debug, Default)]
struct Ramp {
    /// segments in all, and those given
    total: u32,
    given: u32,
    /// ACKs since it began, and for one segment
    acks: u32,
    every: u32,
}

impl Ramp {
    /// `total` segments over so many ACKs.
    fn over(total: u32, acks: f64) -> Self {
        Ramp { total, given: 0, acks: 0, every: ((acks / f64::from(total)) as u32).max(1) }
    }

    /// Segments that an ACK brings to a window.
    fn on_ack(&mut self, cwnd: f64) -> u32 {
        self.acks = self.acks.saturating_add(1);
        let open = self.total - self.given;
        if cwnd <= SMALL && open > 0 {
            let at_once = open.min(cwnd as u32);
            *self = Ramp { total: open - at_once, given: 0, acks: 0, every: self.every };
            return at_once;
        }
        let due = (self.acks / self.every.max(1)).min(self.total) - self.given;
        self.given += due;
        due
    }
}

/// The average of so many samples, moved by one.
fn averaged(average: f64, sample: f64, samples: f64) -> f64 {
    if average == 0.0 { sample } else { (average * (samples - 1.0) + sample) / samples }
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
            flights: Flights { now: 1, before: VecDeque::new() },
            round: Round { start_s: 0.0, uses: true, acks: 0, acks_before: 0 },
            used_s: 0.0,
            ramp: Ramp::default(),
        }
    }

    /// Time since the connection began, in whole µs as in the traces: ties decide.
    fn seconds(&self, now: Time) -> f64 {
        (now.since(self.start).as_nanos() / 1000) as f64 / 1e6
    }

    fn hear(&mut self, rtt_s: f64) {
        self.base_s = Some(self.base_s.map_or(rtt_s, |base| base.min(rtt_s)));
        let samples = SAMPLES.max((self.flights.now / FLIGHT_PART) as f64);
        self.average_s = averaged(self.average_s, rtt_s, samples);
    }

    /// Grows the window at an ACK outside recovery; `flight` was in flight when the acknowledged data was sent.
    fn grow(&mut self, now_s: f64, flight: f64) {
        let Some(base_s) = self.base_s else { return };
        let spreads = base_s >= LEAST_SPREAD_S;
        if self.average_s - base_s < self.params.mi_threshold.as_secs_f64() {
            self.cwnd += 1.0; // (6)
            self.used_s = now_s;
            return;
        }
        if self.round.uses && now_s >= self.used_s + SPACING_S {
            self.used_s = now_s;
            self.ramp = Ramp::default();
            let target = self.target(base_s, flight);
            if target < self.cwnd || !spreads {
                self.cwnd = target;
                return;
            }
            let acks = f64::from(self.round.acks_before) * SPACING_S / self.average_s;
            self.ramp = Ramp::over((target - self.cwnd) as u32, acks);
        }
        if spreads {
            self.cwnd += f64::from(self.ramp.on_ack(self.cwnd));
        }
    }

    /// (1 - gamma) w + gamma (baseRTT/RTT flight + alpha), two at least. (3, 4)
    fn target(&self, base_s: f64, flight: f64) -> f64 {
        let gamma = self.params.gamma;
        let goal = flight * (base_s / self.average_s) + self.params.alpha;
        ((1.0 - gamma) * self.cwnd + goal * gamma).max(MIN_SSTHRESH)
    }

    /// (7)
    fn reduce(&mut self, event: &CongestionEvent) {
        self.used_s = self.seconds(event.now);
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
            self.used_s = now_s;
            return;
        }
        if ack.acked_segments == 0 {
            return;
        }
        let flight = self.flights.at_send(ack.snd_una, self.mss) as f64;
        // Counted from the newest segment acknowledged.
        self.flights.now = ack.snd_nxt.saturating_sub(ack.snd_una) / self.mss + 1;
        let rtt_s = ack.rtt_sample.map_or(self.average_s, Duration::as_secs_f64);
        if rtt_s > 0.0 {
            self.hear(rtt_s);
        }
        self.flights.before.push_back((ack.snd_nxt, self.flights.now));
        self.round.ack(now_s, rtt_s);
        if !ack.app_limited {
            self.grow(now_s, flight);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Growth by the first ACKs, in a window that grows by it.
    fn brought(mut ramp: Ramp, mut cwnd: f64, acks: usize) -> Vec<u32> {
        let mut bring = |ramp: &mut Ramp| {
            let due = ramp.on_ack(cwnd);
            cwnd += f64::from(due);
            due
        };
        (0..acks).map(|_| bring(&mut ramp)).collect()
    }

    #[test]
    fn growth_is_spread_over_the_acks_of_ten_milliseconds() {
        // 3 segments over 7 ACKs: one for every second
        assert_eq!(brought(Ramp::over(3, 7.0), 20.0, 8), [0, 1, 0, 1, 0, 1, 0, 0]);
        // more segments than ACKs: one each
        assert_eq!(brought(Ramp::over(3, 2.0), 20.0, 4), [1, 1, 1, 0]);
    }

    #[test]
    fn a_small_window_doubles_at_most_and_grows_at_once() {
        // 3 and then 1 more at once; the last 6 of 10 come one by one
        assert_eq!(brought(Ramp::over(10, 20.0), 3.0, 6), [3, 0, 1, 0, 1, 0]);
    }
}
