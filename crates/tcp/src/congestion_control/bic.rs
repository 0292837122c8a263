//! BIC: a search for the window of the last loss by halves, then a search beyond it.
//!
//! Source: Xu, Harfoush, Rhee 2004; integers as in Linux 2.6.22 and 6.x.
//! Below 14 segments it is Reno. Until the first loss the window grows by at least 5 % per round trip.
//! Leaves out: undo.

use lasthop_registry::params;

use super::linux::{Clock, Era, Framed, Law, MIN_WINDOW, Phase, Window};
use super::{AckSample, CongestionControl, CongestionEvent, Context, Moment};

params! {
    /// Parameters of BIC.
    pub struct Params {
        /// Whose counting: linux counts segments, linux-2.6 ACKs.
        pub era: Era = Era::Linux,
        /// S_max: segments per round trip at most.
        pub max_increment: u32 = 16,
        /// Below so many segments it is Reno.
        pub low_window: u32 = 14,
        /// Give way when windows shrink from loss to loss.
        pub fast_convergence: bool = true,
    }
    check |params, path| {
        if params.max_increment == 0 {
            return Err(lasthop_registry::ParamError::new(format!("{path}.max_increment"), "must be above 0"));
        }
        Ok(())
    }
}

impl Params {
    /// A controller for one connection.
    pub fn build(&self, context: &Context) -> Box<dyn CongestionControl> {
        Framed::boxed(Bic { params: self.clone(), memory: Memory::default() }, context, self.era)
    }
}

/// Factor of a loss: 819/1024.
const BETA: u32 = 819;
const BETA_UNIT: u32 = 1024;
/// A step goes a quarter of the way.
const STEP: u32 = 4;
/// Round trips that the last step below the old maximum takes, times `STEP`.
const SMOOTH_PART: u32 = 20;
/// ACKs per segment at most before the first loss.
const BEFORE_FIRST_LOSS: u32 = 20;
/// How long an increase is kept while the window stays, as a share of a second.
const KEEP: u32 = 32;
/// Unit of the estimator of segments per ACK.
const RATIO_UNIT: u32 = 16;

/// So many 1024ths of a window.
fn share(window: u32, factor: u32) -> u32 {
    (u64::from(window) * u64::from(factor) / u64::from(BETA_UNIT)) as u32
}

#[derive(Debug)]
struct Bic {
    params: Params,
    memory: Memory,
}

/// What a timeout wipes out.
#[derive(Clone, Copy, Debug)]
struct Memory {
    /// window of the last loss; 0 if there was none
    last_max: u32,
    /// ACKs per segment, and the window and time for which that holds
    per: u32,
    at: Option<(u32, u64)>,
    /// segments per ACK in units of 1/16
    ratio: u32,
}

impl Default for Memory {
    fn default() -> Self {
        Memory { last_max: 0, per: 0, at: None, ratio: 2 * RATIO_UNIT }
    }
}

impl Bic {
    fn update(&mut self, cwnd: u32, now: u64, clock: Clock) {
        if self.memory.at.is_some_and(|(window, when)| window == cwnd && now - when <= u64::from(clock.hz() / KEEP)) {
            return;
        }
        self.memory.at = Some((cwnd, now));
        self.memory.per = if cwnd <= self.params.low_window { cwnd } else { self.search(cwnd) };
    }

    /// ACKs per segment above the low window.
    fn search(&self, cwnd: u32) -> u32 {
        let (last_max, most) = (self.memory.last_max, self.params.max_increment);
        let slow = cwnd * SMOOTH_PART / STEP;
        let mut per = if cwnd < last_max {
            match (last_max - cwnd) / STEP {
                step if step > most => cwnd / most,
                0 | 1 => slow,
                step => cwnd / step,
            }
        } else {
            match cwnd - last_max {
                beyond if beyond < STEP => slow,
                beyond if beyond < most * (STEP - 1) => cwnd * (STEP - 1) / beyond,
                _ => cwnd / most,
            }
        };
        if last_max == 0 {
            per = per.min(BEFORE_FIRST_LOSS);
        }
        (per * RATIO_UNIT / self.memory.ratio).max(1)
    }
}

impl Law for Bic {
    /// ratio <- 15/16 ratio + segments; its rounding makes one segment per ACK settle at 31/16.
    fn observe(&mut self, _: &mut Window, phase: Phase, ack: &AckSample) {
        if phase == Phase::Open && ack.acked_segments > 0 {
            self.memory.ratio = self.memory.ratio - self.memory.ratio / RATIO_UNIT + ack.acked_segments;
        }
    }

    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        let left = match window.era {
            Era::Linux => window.slow_start_or_count(ack),
            Era::Linux26 if window.in_slow_start() => window.slow_start(ack),
            Era::Linux26 => 1,
        };
        if left == 0 {
            return;
        }
        self.update(window.cwnd, window.clock.jiffies(ack.now), window.clock);
        match window.era {
            Era::Linux => window.add_one_per(self.memory.per, left),
            Era::Linux26 => window.count_or_add(window.count >= self.memory.per, 1),
        }
    }

    fn ssthresh(&mut self, _: &Window, lost_at: u32, _: &CongestionEvent) -> u32 {
        let gives_way = self.params.fast_convergence && lost_at < self.memory.last_max;
        self.memory.last_max = if gives_way { share(lost_at, BETA_UNIT + BETA) / 2 } else { lost_at };
        let kept = if lost_at <= self.params.low_window { lost_at / 2 } else { share(lost_at, BETA) };
        kept.max(MIN_WINDOW)
    }

    fn enter(&mut self, _: &mut Window, _: Phase, to: Phase, _: &Moment) {
        if to == Phase::AfterTimeout {
            self.memory = Memory::default();
        }
    }
}
