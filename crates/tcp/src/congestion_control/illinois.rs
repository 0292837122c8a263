//! Illinois: the shorter the queue, the larger the step up and the smaller the step down.
//!
//! Source: Liu, Basar, Srikant 2008; integers as in Linux 2.6.22 and 6.x. alpha from 0.3 to 10 segments per round trip
//! and beta from 1/8 to 1/2 follow the mean queueing delay of a round trip. Below 15 segments it is Reno.
//! Leaves out: undo.

use lasthop_registry::params;

use super::linux::{Era, Framed, Law, MIN_WINDOW, NO_RTT, Phase, Window, rtt_us};
use super::{AckSample, CongestionControl, CongestionEvent, Context, Moment};

params! {
    /// Parameters of Illinois.
    pub struct Params {
        /// Whose kernel: linux, or linux-2.6, where a loss leaves beta instead of 1 - beta of the window.
        pub era: Era = Era::Linux,
        /// Below so many segments it is Reno.
        pub win_thresh: u32 = 15,
        /// Round trips with a short queue before the largest step comes back.
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
            was_above: false,
            low_rounds: 0,
        };
        Framed::boxed(law, context, self.era)
    }
}

/// alpha in units of 1/128: 0.3, 1, 10.
const ALPHA_MIN: u32 = 38;
const ALPHA_BASE: u32 = 128;
const ALPHA_MAX: u32 = 1280;
/// beta in units of 1/64: 1/8, 1/2.
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
    /// of this round, in µs
    sum: u64,
    samples: u32,
    round_end: u64,
    newly_acked: u32,
    /// The delay was above the first threshold since alpha was largest.
    was_above: bool,
    low_rounds: u32,
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
            self.alpha = self.alpha_of(mean, most);
            self.beta = beta_of(mean, most);
        }
        self.begin_round(end);
    }

    /// kappa_1 / (kappa_2 + d): from alpha_max at a hundredth of the greatest delay to alpha_min at the greatest.
    fn alpha_of(&mut self, mean: u32, most: u32) -> u32 {
        let first = most / 100;
        if mean <= first {
            if !self.was_above {
                return ALPHA_MAX;
            }
            self.low_rounds += 1;
            if self.low_rounds < self.params.theta {
                return self.alpha;
            }
            self.low_rounds = 0;
            self.was_above = false;
            return ALPHA_MAX;
        }
        self.was_above = true;
        let (most, mean) = (u64::from(most - first), u64::from(mean - first));
        let (low, high) = (u64::from(ALPHA_MIN), u64::from(ALPHA_MAX));
        (most * high / (most + mean * (high - low) / low)) as u32
    }
}

/// A line from beta_min at a tenth of the greatest delay to beta_max at eight tenths.
fn beta_of(mean: u32, most: u32) -> u32 {
    let (mean, most) = (u64::from(mean), u64::from(most));
    let (second, third) = (most / 10, 8 * most / 10);
    let (low, high) = (u64::from(BETA_MIN), u64::from(BETA_MAX));
    if mean <= second {
        return BETA_MIN;
    }
    if mean >= third || third <= second {
        return BETA_MAX;
    }
    ((low * third + (high - low) * mean - high * second) / (third - second)) as u32
}

impl Law for Illinois {
    fn begin(&mut self, _: &mut Window, at: &Moment) {
        self.begin_round(at.snd_nxt);
    }

    fn observe(&mut self, window: &mut Window, _: Phase, ack: &AckSample) {
        if window.era == Era::Linux26 && ack.acked_segments == 0 {
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
        window.count += self.newly_acked;
        self.newly_acked = 1;
        let delta = ((u64::from(window.count) * u64::from(self.alpha)) >> 7) as u32;
        if delta >= window.cwnd {
            window.cwnd += delta / window.cwnd;
            window.count = 0;
        }
    }

    fn ssthresh(&mut self, window: &Window, lost_at: u32, _: &CongestionEvent) -> u32 {
        let share = ((u64::from(lost_at) * u64::from(self.beta)) >> 6) as u32;
        let kept = match window.era {
            Era::Linux => lost_at - share,
            // 2.6.22 kept what it should have taken.
            Era::Linux26 => share,
        };
        kept.max(MIN_WINDOW)
    }

    fn enter(&mut self, _: &mut Window, _: Phase, to: Phase, at: &Moment) {
        if to == Phase::AfterTimeout {
            self.alpha = ALPHA_BASE;
            self.beta = BETA_MAX;
            self.was_above = false;
            self.low_rounds = 0;
            self.begin_round(at.snd_nxt);
        }
    }

    fn rtt_us(&self, _: &Window) -> Option<u32> {
        self.sum.checked_div(u64::from(self.samples)).map(|mean| mean as u32)
    }
}
