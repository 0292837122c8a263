//! H-TCP: grows faster the longer the last loss is past; a loss removes the queue from the window.
//!
//! Source: Leith, Shorten 2004, draft-leith-tcp-htcp; integers and both options by
//! `docs/model/congestion-control-rules.md`.
//! alpha = 1 + 10 (D - 1) + ((D - 1)/2)^2 for D > 1 s since the last loss, times 2 (1 - beta); beta = RTTmin/RTTmax
//! between 0.5 and 0.8 unless the throughput changed by a fifth.
//! Leaves out: undo.

use core::mem::replace;

use lasthop_registry::params;

use super::linux::{Clock, Framed, KernelEra, Law, MIN_WINDOW, Phase, Window, rtt_us, share};
use super::{AckSample, CongestionControl, CongestionEvent, Context, Moment};

params! {
    /// Parameters of H-TCP.
    pub struct Params {
        /// Which RTT: linux takes each sample, linux-2.6 the smoothed RTT.
        pub era: KernelEra = KernelEra::Linux,
        /// Scale the increase by RTTmin / 100 ms.
        pub rtt_scaling: bool = true,
        /// Halve where the throughput has changed by a fifth since the last loss.
        pub bandwidth_switch: bool = true,
    }
}

impl Params {
    /// A controller for one connection.
    pub fn build(&self, context: &Context) -> Box<dyn CongestionControl> {
        let law = Htcp {
            params: self.clone(),
            alpha: UNIT,
            beta: BETA_MIN,
            was_steady: false,
            newly_acked: 1,
            last_loss: 0,
            loss_pending: false,
            least: 0,
            most: 0,
            throughput: Throughput::default(),
        };
        Framed::boxed(law, context, self.era)
    }
}

/// 1 in the fixed-point numbers here.
const UNIT: u32 = 128;
/// 0.5 and 0.8.
const BETA_MIN: u32 = 64;
const BETA_MAX: u32 = 102;
/// Largest step of RTTmax towards a sample, in us, and the RTTmin below which it is not trusted.
const STEP_US: u32 = 20_000;
const SHORT_US: u32 = 10_000;

#[derive(Debug)]
struct Htcp {
    params: Params,
    alpha: u32,
    beta: u32,
    /// The throughput was steady at the last loss.
    was_steady: bool,
    newly_acked: u32,
    /// in clock ticks
    last_loss: u64,
    loss_pending: bool,
    /// RTTmin and RTTmax in clock ticks, 0 before the first sample
    least: u32,
    most: u32,
    throughput: Throughput,
}

/// Segments per second.
#[derive(Clone, Copy, Debug, Default)]
struct Throughput {
    segments: u32,
    since: u64,
    smoothed: u32,
    high: u32,
    /// `high` at the loss before
    last_high: u32,
}

impl Throughput {
    fn restart(&mut self, now: u64) {
        self.segments = 0;
        self.since = now;
    }

    /// Takes in a sample; `replaces` makes it replace the earlier value.
    fn sample(&mut self, now: u64, hz: u32, replaces: bool) {
        let per_s = u64::from(self.segments) * u64::from(hz) / (now - self.since).max(1);
        let rate = per_s.min(u64::from(u32::MAX)) as u32;
        self.smoothed = if replaces { rate } else { ((3 * u64::from(self.smoothed) + u64::from(rate)) / 4) as u32 };
        self.high = if replaces { rate } else { self.high.max(self.smoothed) };
        self.restart(now);
    }

    /// True if the throughput is within a fifth of that at the last loss; remembers it for the next loss.
    fn is_steady(&mut self) -> bool {
        let last = u64::from(replace(&mut self.last_high, self.high));
        (4 * last..=6 * last).contains(&(5 * u64::from(self.high)))
    }
}

/// alpha(D) in segments per round trip: 1 + 10 (D - 1) + ((D - 1)/2)^2 from a second on, cut, a million at most.
fn increase(ticks: u64, hz: u32) -> u32 {
    let hz = u64::from(hz);
    let beyond = u128::from(ticks.saturating_sub(hz));
    let square = (beyond / 2) * (beyond / 2) / u128::from(hz);
    (1 + (10 * beyond + square) / u128::from(hz)).min(1 << 20) as u32
}

/// alpha times RTTmin over 100 ms, a ratio from 1/10 to 2 kept as its inverse in eighths, rounded down; one at least.
fn by_rtt(alpha: u32, least: u32, hz: u32) -> u32 {
    let Some(inverse) = (u64::from(hz) * 8).checked_div(10 * u64::from(least)) else { return alpha };
    (alpha * 8 / inverse.clamp(4, 80) as u32).max(1)
}

/// beta = RTTmin/RTTmax, between 0.5 and 0.8.
fn backoff(least: u32, most: u32) -> u32 {
    let ratio = (u64::from(least) * u64::from(UNIT)).checked_div(u64::from(most)).unwrap_or(0);
    ratio.clamp(u64::from(BETA_MIN), u64::from(BETA_MAX)) as u32
}

impl Htcp {
    fn since_loss(&self, now: u64) -> u64 {
        now - self.last_loss
    }

    fn rounds_since_loss(&self, now: u64) -> u64 {
        self.since_loss(now) / u64::from(self.least.max(1))
    }

    fn measure(&mut self, rtt: u32, clock: Clock, may_raise: bool) {
        if self.least == 0 || rtt < self.least {
            self.least = rtt;
        }
        if may_raise {
            self.most = self.most.max(self.least);
            if self.most < rtt && rtt <= self.most.saturating_add(clock.covering_us(STEP_US)) {
                self.most = rtt;
            }
        }
    }

    fn measure_2_6(&mut self, window: &Window, phase: Phase, now: u64) {
        let srtt = window.srtt8 >> 3;
        let least = if self.least == 0 { srtt } else { self.least.min(srtt) };
        let settled = self.since_loss(now) / u64::from(least.max(1)) > 3;
        self.measure(srtt, window.clock, phase == Phase::Open && window.ssthresh < 0xFFFF && settled);
    }

    fn count_throughput(&mut self, window: &Window, phase: Phase, now: u64, acked: u32) {
        if phase != Phase::Open {
            self.throughput.restart(now);
            return;
        }
        self.throughput.segments = self.throughput.segments.saturating_add(acked);
        let step = (self.alpha / UNIT).max(1);
        let ticks = now - self.throughput.since;
        let full = self.throughput.segments >= window.cwnd.saturating_sub(step);
        if full && ticks >= u64::from(self.least) && self.least > 0 {
            let replaces = self.rounds_since_loss(now) <= 3;
            self.throughput.sample(now, window.clock.hz(), replaces);
        }
    }

    /// The increase with the scaling by 2 (1 - beta), in 1/128 segments.
    fn alpha_at(&self, now: u64, hz: u32) -> u32 {
        let alpha = increase(self.since_loss(now), hz);
        let alpha = if self.params.rtt_scaling { by_rtt(alpha, self.least, hz) } else { alpha };
        2 * alpha * (UNIT - self.beta)
    }

    /// The ratio of RTTs counts where two losses in a row met a steady throughput and RTTs are not too short to tell.
    fn beta_at_loss(&mut self, clock: Clock) -> u32 {
        let steady = !self.params.bandwidth_switch || self.throughput.is_steady();
        let was_steady = replace(&mut self.was_steady, steady);
        let counts = steady && was_steady && self.least > clock.covering_us(SHORT_US);
        if counts { backoff(self.least, self.most) } else { BETA_MIN }
    }
}

impl Law for Htcp {
    fn begin(&mut self, window: &mut Window, at: &Moment) {
        self.last_loss = window.clock.jiffies(at.now);
    }

    fn observe(&mut self, window: &mut Window, phase: Phase, ack: &AckSample) {
        let now = window.clock.jiffies(ack.now);
        if window.era == KernelEra::Linux26 && ack.acked_segments == 0 {
            return;
        }
        if phase == Phase::Open {
            self.newly_acked = ack.acked_segments;
        }
        if let (KernelEra::Linux, Some(rtt)) = (window.era, rtt_us(ack).filter(|&us| us > 0)) {
            self.measure(window.clock.covering_us(rtt), window.clock, phase == Phase::Open);
        }
        if self.params.bandwidth_switch {
            self.count_throughput(window, phase, now, ack.acked_segments);
        }
    }

    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        if window.in_slow_start() {
            window.slow_start(ack);
            return;
        }
        let now = window.clock.jiffies(ack.now);
        if window.era == KernelEra::Linux26 {
            self.measure_2_6(window, Phase::Open, now);
        }
        let enough = (u64::from(window.count) * u64::from(self.alpha)) >> 7 >= u64::from(window.cwnd);
        window.count_or_add(enough, self.newly_acked);
        if enough {
            self.alpha = self.alpha_at(now, window.clock.hz());
        }
        self.newly_acked = 1;
    }

    fn ssthresh(&mut self, window: &Window, lost_at: u32, event: &CongestionEvent) -> u32 {
        self.beta = self.beta_at_loss(window.clock);
        self.alpha = self.alpha_at(window.clock.jiffies(event.now), window.clock.hz());
        if self.least > 0 && self.most > self.least {
            self.most = self.least + share(self.most - self.least, 95, 100);
        }
        share(lost_at, self.beta, UNIT).max(MIN_WINDOW)
    }

    fn enter(&mut self, window: &mut Window, _: Phase, to: Phase, at: &Moment) {
        let now = window.clock.jiffies(at.now);
        if to != Phase::Open || self.loss_pending {
            self.last_loss = now;
        }
        self.loss_pending = to != Phase::Open;
    }

    fn rtt_us(&self, window: &Window) -> Option<u32> {
        Some(window.clock.us(self.least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_increase_follows_the_law() {
        // D = 1 s: 1; 2 s: 1 + 10 + 1/4; 5 s: 1 + 40 + 4
        assert_eq!([500, 1000, 2000, 5000].map(|ticks| increase(ticks, 1000)), [1, 1, 11, 45]);
        assert_eq!(increase(86_400_000_000, 1_000_000), 1 << 20);
    }

    #[test]
    fn a_short_path_grows_more_slowly_and_a_long_one_faster() {
        // 100 ms: as it is; 200 ms and more: twice; 10 ms and less: a tenth; 33 ms: 8/24 of it
        assert_eq!([100, 200, 500, 33, 10, 5, 0].map(|least| by_rtt(45, least, 1000)), [45, 90, 90, 15, 4, 4, 45]);
    }

    #[test]
    fn a_loss_keeps_the_ratio_of_rtts_within_its_bounds() {
        assert_eq!(
            [(60, 100), (30, 100), (95, 100), (60, 0)].map(|(least, most)| backoff(least, most)),
            [76, 64, 102, 64]
        );
    }
}
