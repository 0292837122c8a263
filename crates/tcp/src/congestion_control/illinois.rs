//! Illinois: the shorter the queue, the larger the step up and the smaller the step down.
//!
//! Source: Liu, Basar, Srikant 2008; integers by `docs/model/congestion-control-rules.md`. alpha from 0.3 to 10 segments per round trip
//! and beta from 1/8 to 1/2 follow the mean queueing delay of a round trip. Below 15 segments it is Reno.
//! Leaves out: undo.

use lasthop_registry::params;

use super::linux::{Framed, KernelEra, Law, MIN_WINDOW, NO_RTT, Phase, Window, rtt_us, share};
use super::{AckSample, CongestionControl, CongestionEvent, Context, Moment};

params! {
    /// Parameters of Illinois.
    pub struct Params {
        /// Which kernel: linux, or linux-2.6, where a loss leaves beta instead of 1 - beta of the window.
        pub era: KernelEra = KernelEra::Linux,
        /// Window in segments below which it is Reno.
        pub win_thresh: u32 = 15,
        /// Number of round trips with a short queue before the largest step returns.
        pub theta: u32 = 5,
    }
}

impl Params {
    /// A controller for one connection.
    pub fn build(&self, context: &Context) -> Box<dyn CongestionControl> {
        let law = Illinois {
            params: self.clone(),
            alpha: ALPHA_MAX,
            beta: BETA_MAX,
            base: NO_RTT,
            most: 0,
            sum: 0,
            samples: 0,
            round_end: 0,
            newly_acked: 0,
            waits: None,
        };
        Framed::boxed(law, context, self.era)
    }
}

/// alpha in units of 1/128: 0.3, 1, 10.
const ALPHA_MIN: u32 = 38;
const ALPHA_BASE: u32 = 128;
const ALPHA_MAX: u32 = 1280;
/// beta in units of 1/64: 1/8, 1/2.
const BETA_UNIT: u32 = 64;
const BETA_MIN: u32 = 8;
const BETA_MAX: u32 = 32;

#[derive(Debug)]
struct Illinois {
    params: Params,
    alpha: u32,
    beta: u32,
    /// least and greatest RTT in µs
    base: u32,
    most: u32,
    /// of this round trip, in µs
    sum: u64,
    samples: u32,
    round_end: u64,
    newly_acked: u32,
    /// Since the delay was above the first threshold: round trips below it. `None` while alpha is the largest.
    waits: Option<u32>,
}

impl Illinois {
    fn begin_round(&mut self, end: u64) {
        self.round_end = end;
        self.sum = 0;
        self.samples = 0;
    }

    fn end_round(&mut self, cwnd: u32, end: u64) {
        if cwnd < self.params.win_thresh {
            self.alpha = ALPHA_BASE;
            self.beta = BETA_MAX;
        } else if self.samples > 0 {
            let most = self.most - self.base;
            let mean = (self.sum / u64::from(self.samples)) as u32 - self.base;
            self.alpha = alpha_at(mean, most).unwrap_or(self.alpha);
            if self.is_short_enough(mean, most) {
                self.alpha = ALPHA_MAX;
            }
            self.beta = beta_at(mean, most);
        }
        self.begin_round(end);
    }

    /// True if the largest alpha is due: with a short queue, at once or after `theta` round trips since it was longer.
    fn is_short_enough(&mut self, mean: u32, most: u32) -> bool {
        if mean > short_delay(most) {
            self.waits.get_or_insert(0);
            return false;
        }
        self.waits = self.waits.map(|rounds| rounds + 1).filter(|&rounds| rounds < self.params.theta);
        self.waits.is_none()
    }
}

/// The first threshold: a hundredth of the greatest delay.
fn short_delay(most: u32) -> u32 {
    most / 100
}

/// alpha(d) = kappa_1 / (kappa_2 + d), from alpha_max at the first threshold to alpha_min at the greatest delay; `None` below it.
fn alpha_at(mean: u32, most: u32) -> Option<u32> {
    let short = short_delay(most);
    let beyond = u64::from(mean.checked_sub(short).filter(|&beyond| beyond > 0)?);
    let range = u64::from(most - short);
    let (low, high) = (u64::from(ALPHA_MIN), u64::from(ALPHA_MAX));
    Some((range * high / (range + beyond * (high - low) / low)) as u32)
}

/// beta(d): on the line from beta_min at a tenth of the greatest delay to beta_max at eight tenths.
fn beta_at(mean: u32, most: u32) -> u32 {
    let (mean, most) = (u64::from(mean), u64::from(most));
    let (near, far) = (most / 10, 8 * most / 10);
    if mean <= near {
        return BETA_MIN;
    }
    if mean >= far {
        return BETA_MAX;
    }
    let weighted = u64::from(BETA_MIN) * (far - mean) + u64::from(BETA_MAX) * (mean - near);
    (weighted / (far - near)) as u32
}

impl Law for Illinois {
    fn begin(&mut self, _: &mut Window, at: &Moment) {
        self.begin_round(at.snd_nxt);
    }

    fn observe(&mut self, window: &mut Window, _: Phase, ack: &AckSample) {
        if window.era == KernelEra::Linux26 && ack.acked_segments == 0 {
            return;
        }
        self.newly_acked = ack.acked_segments;
        if let Some(rtt) = rtt_us(ack) {
            self.base = self.base.min(rtt);
            self.most = self.most.max(rtt);
            self.samples += 1;
            self.sum += u64::from(rtt);
        }
    }

    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        if ack.snd_una > self.round_end {
            self.end_round(window.cwnd, ack.snd_nxt);
        }
        if window.in_slow_start() {
            window.slow_start(ack);
            return;
        }
        window.count = window.count.saturating_add(self.newly_acked);
        self.newly_acked = 1;
        let earned = share(window.count, self.alpha, ALPHA_BASE) / window.cwnd.max(1);
        if earned > 0 {
            window.cwnd = window.cwnd.saturating_add(earned);
            window.count = 0;
        }
    }

    fn ssthresh(&mut self, window: &Window, lost_at: u32, _: &CongestionEvent) -> u32 {
        let part = share(lost_at, self.beta, BETA_UNIT);
        let kept = match window.era {
            KernelEra::Linux => lost_at - part,
            // 2.6.22 kept the share that it should have taken.
            KernelEra::Linux26 => part,
        };
        kept.max(MIN_WINDOW)
    }

    fn enter(&mut self, _: &mut Window, _: Phase, to: Phase, at: &Moment) {
        if to == Phase::AfterTimeout {
            self.alpha = ALPHA_BASE;
            self.beta = BETA_MAX;
            self.waits = None;
            self.begin_round(at.snd_nxt);
        }
    }

    fn rtt_us(&self, _: &Window) -> Option<u32> {
        self.sum.checked_div(u64::from(self.samples)).map(|mean| mean as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alpha_falls_from_ten_to_three_tenths_along_the_curve() {
        // 100 ms at most: 1280 * 99 / (99 + 0.01 * 1242/38) at 1.01 ms, 38 at 100 ms; none at 1 ms
        assert_eq!([1000, 1010, 100_000].map(|mean| alpha_at(mean, 100_000)), [None, Some(1275), Some(38)]);
    }

    #[test]
    fn beta_rises_from_an_eighth_to_a_half_along_the_line() {
        assert_eq!([0, 10, 45, 80, 100].map(|mean| beta_at(mean, 100)), [8, 8, 20, 32, 32]);
        assert_eq!([beta_at(0, 1), beta_at(1, 1)], [8, 32]);
    }

    #[test]
    fn the_largest_alpha_comes_back_in_the_fifth_round_trip_with_a_short_queue() {
        let mut law = Illinois {
            params: Params::default(),
            alpha: ALPHA_MAX,
            beta: BETA_MAX,
            base: 0,
            most: 0,
            sum: 0,
            samples: 0,
            round_end: 0,
            newly_acked: 0,
            waits: None,
        };
        let due: Vec<bool> = [1, 2, 0, 0, 0, 0, 0, 0].map(|mean| law.is_short_enough(mean, 100)).into();
        assert_eq!(due, [true, false, false, false, false, false, true, true]);
    }
}
