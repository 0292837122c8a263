//! TCP-Adaptive Reno: Reno's window and a probing one, both controlled by an estimate of congestion.
//!
//! Source: Shimonishi, Hama, Murase 2006, as hashimoto2008 and re-implementations describe it; the paper itself was not
//! read, and descriptions differ, so nothing here is verified.
//! c = (RTT - RTTmin) / (RTTcong - RTTmin) between 0 and 1, RTTcong the averaged RTT at losses. Above ssthresh
//! Wbase grows by 1/w and Wprobe by Winc(c)/w per ACK, Winc large at c = 0 and 1 at c = 1; a loss leaves w / (1 + c).
//! Leaves out: the authors' treatment of timeouts and delayed ACKs, if there is one.

use lasthop_registry::{ParamError, params};
use lasthop_units::{DataRate, Duration, Time};

use super::{AckSample, CongestionControl, CongestionEvent, Context, LOSS_WINDOW, MIN_SSTHRESH, slow_start};

params! {
    /// Parameters of TCP-Adaptive Reno.
    pub struct Params {
        /// a: weight of the past in RTTcong; 0.5 in hashimoto2008.
        pub a: f64 = 0.85,
        /// alpha: how fast the probing increase falls with congestion.
        pub alpha: f64 = 10.0,
        /// M: bandwidth at which the largest probing increase is one segment per round trip.
        pub m: DataRate = DataRate::from_bps(10_000_000),
    }
    check |params, path| {
        if !(0.0..1.0).contains(&params.a) {
            return Err(ParamError::new(format!("{path}.a"), "must be 0 or more, below 1"));
        }
        if params.alpha <= 0.0 {
            return Err(ParamError::new(format!("{path}.alpha"), "must be above 0"));
        }
        Ok(())
    }
}

impl Params {
    /// A controller for one connection.
    pub fn build(&self, context: &Context) -> Box<dyn CongestionControl> {
        Box::new(AdaptiveReno {
            params: self.clone(),
            base: context.initial_window,
            probe: 0.0,
            ssthresh: context.initial_ssthresh,
            rtt: None,
            rtt_min: Duration::MAX,
            rtt_cong_s: None,
            meter: Meter::default(),
        })
    }
}

/// Weight of the past in the bandwidth. [Mascolo et al. 2001, as in Linux]
const BANDWIDTH_MEMORY: f64 = 0.875;

#[derive(Debug)]
struct AdaptiveReno {
    params: Params,
    /// Wbase and Wprobe in segments; the window is their sum
    base: f64,
    probe: f64,
    /// in segments
    ssthresh: f64,
    /// smoothed, as hashimoto2008 says
    rtt: Option<Duration>,
    rtt_min: Duration,
    rtt_cong_s: Option<f64>,
    meter: Meter,
}

/// Bandwidth, sampled once per round trip.
#[derive(Clone, Copy, Debug, Default)]
struct Meter {
    bytes: u64,
    since: Time,
    bps: Option<f64>,
}

impl Meter {
    fn count(&mut self, now: Time, bytes: u64, rtt: Duration) {
        self.bytes += bytes;
        let span = now.since(self.since);
        if span < rtt || span == Duration::ZERO {
            return;
        }
        let sample = self.bytes as f64 * 8.0 / span.as_secs_f64();
        self.bps = Some(self.bps.map_or(sample, |bps| BANDWIDTH_MEMORY * bps + (1.0 - BANDWIDTH_MEMORY) * sample));
        self.bytes = 0;
        self.since = now;
    }
}

impl AdaptiveReno {
    /// c: 0 without a queue, 1 at the RTT of losses; 1 until that RTT is known.
    fn congestion(&self) -> f64 {
        let (Some(rtt), Some(rtt_cong_s)) = (self.rtt, self.rtt_cong_s) else { return 1.0 };
        let queue_s = rtt.as_secs_f64() - self.rtt_min.as_secs_f64();
        let most_s = rtt_cong_s - self.rtt_min.as_secs_f64();
        if most_s <= 0.0 { f64::from(u8::from(queue_s > 0.0)) } else { (queue_s / most_s).clamp(0.0, 1.0) }
    }

    /// Winc(c) = Wmax e^(-alpha c) + beta c + gamma, with Wmax = B/M; 1 at c = 1.
    fn increase(&self, c: f64) -> f64 {
        let alpha = self.params.alpha;
        let most = self.meter.bps.unwrap_or(0.0) / self.params.m.as_bps() as f64;
        let tail = libm::exp(-alpha);
        let beta = 2.0 * most * (1.0 / alpha - (1.0 / alpha + 1.0) * tail);
        let gamma = 1.0 - 2.0 * most * (1.0 / alpha - (1.0 / alpha + 0.5) * tail);
        most * libm::exp(-alpha * c) + beta * c + gamma
    }

    fn reduce(&mut self, window: f64) {
        if let Some(rtt) = self.rtt {
            let rtt_s = rtt.as_secs_f64();
            let past = self.rtt_cong_s.unwrap_or(rtt_s);
            self.rtt_cong_s = Some(self.params.a * past + (1.0 - self.params.a) * rtt_s);
        }
        self.ssthresh = (window / (1.0 + self.congestion())).max(MIN_SSTHRESH);
        self.set_window(self.ssthresh);
    }
}

impl CongestionControl for AdaptiveReno {
    fn on_ack(&mut self, ack: &AckSample) {
        self.rtt = ack.srtt;
        if let Some(rtt) = ack.rtt_sample {
            self.rtt_min = self.rtt_min.min(rtt);
        }
        if let Some(srtt) = ack.srtt {
            self.meter.count(ack.now, ack.delivered_bytes, srtt);
        }
        if ack.in_recovery || ack.app_limited {
            return;
        }
        if self.cwnd() < self.ssthresh {
            let mut cwnd = self.cwnd();
            slow_start(&mut cwnd, self.ssthresh, ack);
            self.base = cwnd - self.probe;
            return;
        }
        let share = ack.avoidance_credit / self.cwnd();
        self.base += share;
        self.probe = (self.probe + self.increase(self.congestion()) * share).max(0.0);
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.reduce(event.window);
    }

    fn on_timeout(&mut self, event: &CongestionEvent) {
        if !event.repeated {
            self.reduce(event.window);
        }
        self.set_window(LOSS_WINDOW);
    }

    fn on_idle(&mut self, restart_window: f64) {
        self.set_window(self.cwnd().min(restart_window));
    }

    fn set_window(&mut self, segments: f64) {
        self.base = segments;
        self.probe = 0.0;
    }

    fn set_ssthresh(&mut self, segments: f64) {
        self.ssthresh = segments;
    }

    fn cwnd(&self) -> f64 {
        self.base + self.probe
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn rtt(&self) -> Option<Duration> {
        self.rtt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reno(rtt_ms: u64) -> AdaptiveReno {
        AdaptiveReno {
            params: Params::default(),
            base: 40.0,
            probe: 0.0,
            ssthresh: 20.0,
            rtt: Some(Duration::from_millis(rtt_ms)),
            rtt_min: Duration::from_millis(50),
            rtt_cong_s: Some(0.1),
            meter: Meter { bps: Some(100e6), ..Meter::default() },
        }
    }

    #[test]
    fn a_loss_without_a_queue_takes_little_and_one_with_a_full_queue_a_half() {
        // RTTcong = 0.85 * 100 + 0.15 * 100 = 100 ms: c = 1
        let mut full = reno(100);
        full.reduce(40.0);
        assert!((full.cwnd() - 20.0).abs() < 1e-9);
        let mut empty = reno(50);
        empty.reduce(40.0);
        assert_eq!(empty.cwnd(), 40.0);
    }

    #[test]
    fn the_probing_increase_falls_to_one_segment() {
        // 100 Mbit/s over 10 Mbit/s is Wmax = 10; at c = 0: 10 + 1 - 20 (0.1 - 0.6 e^-10) = 9
        let reno = reno(50);
        assert!((reno.increase(0.0) - 9.0).abs() < 0.01, "{}", reno.increase(0.0));
        assert!((reno.increase(1.0) - 1.0).abs() < 1e-9);
    }
}
