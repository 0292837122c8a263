//! CUBIC as Linux 2.6.16 to 2.6.22 computed it: windows of whole segments, a clock of 1 ms, ACKs counted.
//!
//! Source: Ha, Rhee, Xu 2008 and `net/ipv4/tcp_cubic.c` of 2.6.22 as TCP-Linux for ns-2 carries it.
//! What differs from RFC 9438: above the origin at most 16 segments per 100 ms; before the first loss one
//! segment for each 50 ACKs; the increase is computed anew at most once per window change or 31 ms;
//! the estimator of delayed ACKs makes one ACK per segment count as 31/16; a timeout forgets W_max.

use lasthop_units::{Duration, Time};

use super::{AckSample, CongestionControl, CongestionEvent, Context, LOSS_WINDOW, MIN_SSTHRESH, Params, w_max_after};

/// Segments per 100 ms that the window may grow above the origin.
const MAX_INCREMENT: f64 = 16.0;
/// ACKs per segment of growth before the first loss.
const ACKS_BEFORE_FIRST_LOSS: f64 = 50.0;
/// How long an increase is kept while the window stays.
const KEEP: Duration = Duration::from_millis(31);
/// RTT samples do not count for so long after an epoch begins.
const DISCARD: Duration = Duration::from_secs(1);
/// The estimator's unit: 16 is one segment per ACK.
const RATIO_UNIT: u32 = 16;

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    k_s: f64,
    origin: f64,
    /// Reno's window, and the ACKs counted towards its next segment.
    reno: f64,
    reno_acks: f64,
}

#[derive(Debug)]
pub(super) struct Cubic {
    params: Params,
    /// in segments, whole
    cwnd: f64,
    /// in segments
    ssthresh: f64,
    /// in segments; 0 before the first loss and after a timeout
    w_max: f64,
    lost_before: bool,
    epoch: Option<Epoch>,
    /// ACKs for one segment, and when and at which window that was computed.
    acks_per_segment: f64,
    computed: Option<(Time, f64)>,
    acks: f64,
    /// Segments per ACK, in units of 1/16, rounded up as the kernel's shifts do.
    segments_per_ack: u32,
    delay_min: Option<Duration>,
}

impl Cubic {
    pub fn new(params: &Params, context: &Context) -> Self {
        Cubic {
            params: params.clone(),
            cwnd: context.initial_window,
            ssthresh: context.initial_ssthresh,
            w_max: 0.0,
            lost_before: false,
            epoch: None,
            acks_per_segment: 0.0,
            computed: None,
            acks: 0.0,
            segments_per_ack: 2 * RATIO_UNIT,
            delay_min: None,
        }
    }

    fn forget(&mut self) {
        self.w_max = 0.0;
        self.lost_before = false;
        self.epoch = None;
        self.computed = None;
        self.delay_min = None;
    }

    fn observe(&mut self, ack: &AckSample) {
        // ratio += segments - ratio/16, the division rounding down: one segment per ACK settles at 31/16.
        if ack.acked_segments > 0 {
            self.segments_per_ack = self.segments_per_ack + ack.acked_segments - self.segments_per_ack / RATIO_UNIT;
        }
        let settled = self.epoch.is_none_or(|epoch| ack.now.since(epoch.start) >= DISCARD);
        if let (true, Some(rtt)) = (settled, ack.rtt_sample) {
            let rtt = Duration::from_millis((rtt.as_nanos() / 1_000_000).max(1));
            self.delay_min = Some(self.delay_min.map_or(rtt, |least| least.min(rtt)));
        }
    }

    fn begin_epoch(&self, now: Time) -> Epoch {
        let below = (self.w_max - self.cwnd).max(0.0);
        let origin = self.w_max.max(self.cwnd);
        Epoch { start: now, k_s: libm::cbrt(below / self.params.c), origin, reno: self.cwnd, reno_acks: 0.0 }
    }

    /// How many ACKs one more segment takes.
    fn update(&mut self, now: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.reno_acks += 1.0;
        }
        if self.computed.is_some_and(|(when, cwnd)| cwnd == self.cwnd && now.since(when) <= KEEP) {
            return;
        }
        self.computed = Some((now, self.cwnd));
        let mut epoch = self.epoch.unwrap_or_else(|| Epoch { reno_acks: 1.0, ..self.begin_epoch(now) });
        let mut acks = self.cubic_acks(&epoch, now);
        if !self.lost_before {
            acks = ACKS_BEFORE_FIRST_LOSS;
        }
        if self.params.reno_friendly {
            acks = acks.min(self.reno_acks(&mut epoch));
        }
        self.epoch = Some(epoch);
        let ratio = f64::from(self.segments_per_ack) / f64::from(RATIO_UNIT);
        self.acks_per_segment = (acks / ratio).floor().max(1.0);
    }

    /// The cubic function: window / (target - window), limited above the origin.
    fn cubic_acks(&self, epoch: &Epoch, now: Time) -> f64 {
        let delay_s = self.delay_min.map_or(0.0, Duration::as_secs_f64);
        let t_s = now.since(epoch.start).as_secs_f64() + delay_s;
        let offset = t_s - epoch.k_s;
        // The kernel cuts the distance from the origin to whole segments, on either side of it.
        let target = epoch.origin + (self.params.c * offset * offset * offset).trunc();
        let acks = if target > self.cwnd { self.cwnd / (target - self.cwnd) } else { 100.0 * self.cwnd };
        if t_s < epoch.k_s || delay_s == 0.0 {
            return acks;
        }
        // 16 segments per 100 ms are 16 delay/0.1 per round trip of cwnd ACKs.
        acks.max(self.cwnd * 0.1 / (MAX_INCREMENT * delay_s))
    }

    /// Reno with the same decrease: one segment for each (1 + beta) / (3 (1 - beta)) windows of ACKs.
    fn reno_acks(&self, epoch: &mut Epoch) -> f64 {
        let per_segment = (self.cwnd * (1.0 + self.params.beta) / (3.0 * (1.0 - self.params.beta))).floor().max(1.0);
        while epoch.reno_acks > per_segment {
            epoch.reno_acks -= per_segment;
            epoch.reno += 1.0;
        }
        if epoch.reno > self.cwnd { self.cwnd / (epoch.reno - self.cwnd) } else { f64::INFINITY }
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, ack: &AckSample) {
        if ack.in_recovery {
            return;
        }
        self.observe(ack);
        if ack.app_limited || ack.acked_segments == 0 {
            return;
        }
        if self.cwnd <= self.ssthresh {
            self.cwnd += ack.slow_start_credit.floor();
            return;
        }
        self.update(ack.now);
        if self.acks >= self.acks_per_segment {
            self.cwnd += 1.0;
            self.acks = 0.0;
        } else {
            self.acks += 1.0;
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        let window = event.window.floor();
        self.w_max = w_max_after(window, self.w_max, &self.params).floor();
        self.lost_before = true;
        self.epoch = None;
        self.ssthresh = (window * self.params.beta).floor().max(MIN_SSTHRESH);
        self.cwnd = self.ssthresh;
        self.acks = 0.0;
    }

    fn on_timeout(&mut self, event: &CongestionEvent) {
        if !event.repeated {
            self.ssthresh = (event.window * self.params.beta).floor().max(MIN_SSTHRESH);
        }
        self.forget();
        self.cwnd = LOSS_WINDOW;
        self.acks = 0.0;
    }

    fn on_idle(&mut self, restart_window: f64) {
        self.cwnd = self.cwnd.min(restart_window);
    }

    fn set_window(&mut self, segments: f64) {
        self.cwnd = segments.floor();
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
        self.delay_min
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{ack, context, loss};
    use super::super::Era;
    use super::*;
    use crate::config::GrowthMode::PerAck;

    const RTT: Duration = Duration::from_millis(100);

    fn cubic() -> Cubic {
        let params = Params { era: Era::Linux26, beta: 819.0 / 1024.0, ..Params::default() };
        Cubic::new(&params, &context(PerAck))
    }

    #[test]
    fn a_loss_leaves_four_fifths() {
        let mut cubic = cubic();
        cubic.on_congestion(&loss(Time::ZERO, 100.0));
        // floor(100 * 819 / 1024) = floor(79.98)
        assert_eq!((cubic.cwnd(), cubic.ssthresh()), (79.0, 79.0));
    }

    #[test]
    fn one_ack_per_segment_counts_as_31_sixteenths() {
        let mut cubic = cubic();
        (0..100).for_each(|i| cubic.on_ack(&ack(Time::from_nanos(i), 1, RTT, PerAck)));
        assert_eq!(cubic.segments_per_ack, 31);
    }

    #[test]
    fn above_the_origin_growth_is_limited_to_16_segments_per_100_ms() {
        let mut cubic = cubic();
        cubic.on_congestion(&loss(Time::ZERO, 1000.0));
        let mut now = Time::ZERO;
        // K = cbrt(201 / 0.4) = 8 s; 30 s later the function asks for far more
        for _ in 0..400 {
            for _ in 0..cubic.cwnd() as u32 {
                cubic.on_ack(&ack(now, 1, RTT, PerAck));
            }
            now += RTT;
        }
        let before = cubic.cwnd();
        for _ in 0..before as u32 {
            cubic.on_ack(&ack(now, 1, RTT, PerAck));
        }
        // 16, times 31/16 by the estimator, less what rounding to whole ACKs takes
        let grown = cubic.cwnd() - before;
        assert!((16.0..=32.0).contains(&grown), "{grown}");
    }
}
