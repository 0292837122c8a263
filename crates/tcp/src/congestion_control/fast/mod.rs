//! FAST: keeps `alpha` segments in the queue, by an equation instead of steps.
//!
//! Source: Jin, Wei, Low 2004: once per round trip w <- min(2 w, (1 - gamma) w + gamma (baseRTT/RTT w + alpha)), the
//! RTT averaged with weight min(3/w, 1/4). Growth is spread over the ACKs of a round trip; a smaller window takes effect
//! at once. Slow start ends at ssthresh or when the averaged queueing delay exceeds `mi_threshold`.
//! `era = "ns-2"` follows the module for ns-2 (see `ns2`). Leaves out: burst control and pacing.

mod ns2;
mod params;

use lasthop_units::Duration;

use super::{AckSample, CongestionControl, CongestionEvent, Context, LOSS_WINDOW, MIN_SSTHRESH, slow_start};

pub use params::{FastEra, Params};

impl Params {
    /// A controller for one connection.
    pub fn build(&self, context: &Context) -> Box<dyn CongestionControl> {
        if self.era == FastEra::Ns2 {
            return Box::new(ns2::Fast::new(self, context));
        }
        Box::new(Fast {
            params: self.clone(),
            cwnd: context.initial_window,
            ssthresh: context.initial_ssthresh,
            base: None,
            average_s: 0.0,
            target: context.initial_window,
            step: 0.0,
            round_end: 0,
        })
    }
}

/// Weights of a new RTT sample. [Jin, Wei, Low 2004: eta = min(3/w, 1/4)]
const WEIGHT_PER_WINDOW: f64 = 3.0;
const LARGEST_WEIGHT: f64 = 0.25;

#[derive(Debug)]
struct Fast {
    params: Params,
    /// in segments
    cwnd: f64,
    /// in segments
    ssthresh: f64,
    base: Option<Duration>,
    /// averaged RTT in s
    average_s: f64,
    /// window at the end of this round trip, and growth per acknowledged segment until then
    target: f64,
    step: f64,
    round_end: u64,
}

impl Fast {
    fn observe(&mut self, rtt: Duration) {
        let rtt_s = rtt.as_secs_f64();
        if self.base.is_none() {
            self.average_s = rtt_s;
        }
        self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
        let weight = (WEIGHT_PER_WINDOW / self.cwnd).min(LARGEST_WEIGHT);
        self.average_s += weight * (rtt_s - self.average_s);
    }

    fn queueing_s(&self) -> f64 {
        self.average_s - self.base.map_or(0.0, Duration::as_secs_f64)
    }

    /// w <- min(2 w, (1 - gamma) w + gamma (baseRTT/RTT w + alpha)).
    fn update(&mut self) {
        let Some(base) = self.base.filter(|_| self.average_s > 0.0) else { return };
        let (w, gamma) = (self.cwnd, self.params.gamma);
        let without_queue = w * base.as_secs_f64() / self.average_s;
        self.target = ((1.0 - gamma) * w + gamma * (without_queue + self.params.alpha)).clamp(MIN_SSTHRESH, 2.0 * w);
        self.step = (self.target - w).max(0.0) / w;
        self.cwnd = w.min(self.target);
    }

    fn reduce(&mut self, window: f64) {
        self.ssthresh = (window / 2.0).max(MIN_SSTHRESH);
        self.set_window(self.ssthresh);
    }
}

impl CongestionControl for Fast {
    fn on_ack(&mut self, ack: &AckSample) {
        if let Some(rtt) = ack.rtt_sample {
            self.observe(rtt);
        }
        if ack.in_recovery || ack.app_limited {
            return;
        }
        if self.cwnd < self.ssthresh {
            slow_start(&mut self.cwnd, self.ssthresh, ack);
            if self.queueing_s() > self.params.mi_threshold.as_secs_f64() {
                self.ssthresh = self.cwnd;
            }
            self.target = self.cwnd;
            self.round_end = ack.snd_nxt;
            return;
        }
        if ack.snd_una > self.round_end {
            self.round_end = ack.snd_nxt;
            self.update();
        }
        self.cwnd = (self.cwnd + self.step * ack.avoidance_credit).min(self.target.max(self.cwnd));
    }

    /// Begins the next round trip; one passes before the equation is used again.
    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.reduce(event.window);
        self.round_end = event.snd_nxt;
    }

    fn on_timeout(&mut self, event: &CongestionEvent) {
        if !event.repeated {
            self.reduce(event.window);
        }
        self.round_end = event.snd_nxt;
        self.set_window(LOSS_WINDOW);
    }

    fn on_idle(&mut self, restart_window: f64) {
        self.set_window(self.cwnd.min(restart_window));
    }

    fn set_window(&mut self, segments: f64) {
        self.cwnd = segments;
        self.target = segments;
        self.step = 0.0;
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
        self.base.map(|_| Duration::from_secs_f64(self.average_s))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ack, context, loss};
    use super::*;
    use crate::congestion_control::GrowthMode::PerByte;
    use lasthop_units::Time;

    /// A path of `bdp` segments in 50 ms; the rest is queued.
    fn settle(fast: &mut Fast, bdp: f64, rounds: u64) {
        let mut una = 1;
        for _ in 0..rounds {
            let rtt_s = 0.05 * (fast.cwnd / bdp).max(1.0);
            let window = fast.cwnd as u64;
            for i in 0..window {
                let sample = ack(Time::ZERO, 1, Duration::from_secs_f64(rtt_s), PerByte);
                fast.on_ack(&AckSample { snd_una: una + i, snd_nxt: una + i + window, ..sample });
            }
            una += window;
        }
    }

    fn fast() -> Fast {
        let Context { initial_window, initial_ssthresh, .. } = context(PerByte);
        Fast {
            params: Params::default(),
            cwnd: initial_window,
            ssthresh: initial_ssthresh,
            base: None,
            average_s: 0.0,
            target: initial_window,
            step: 0.0,
            round_end: 0,
        }
    }

    #[test]
    fn in_equilibrium_alpha_segments_wait() {
        // w = w base/RTT + alpha, so w - BDP = alpha = 20
        let mut fast = fast();
        settle(&mut fast, 100.0, 200);
        assert!((fast.cwnd - 120.0).abs() < 1.0, "{}", fast.cwnd);
    }

    #[test]
    fn the_window_doubles_at_most_in_a_round_trip() {
        let mut fast = fast();
        settle(&mut fast, 1000.0, 1);
        fast.on_congestion(&loss(Time::ZERO, 4.0));
        fast.round_end = 0;
        fast.params.alpha = 1000.0;
        fast.update();
        assert_eq!(fast.target, 4.0);
    }

    #[test]
    fn a_longer_rtt_takes_effect_at_once_a_shorter_one_by_steps() {
        let mut fast = fast();
        settle(&mut fast, 100.0, 200);
        let before = fast.cwnd;
        fast.average_s *= 2.0;
        fast.update();
        assert!(fast.cwnd < 0.9 * before && fast.step == 0.0);
        fast.average_s /= 4.0;
        let shrunk = fast.cwnd;
        fast.update();
        assert!(fast.cwnd == shrunk && fast.step > 0.0);
    }
}
