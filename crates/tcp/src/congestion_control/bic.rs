//! BIC: a search for the window of the last loss by halves, then a search beyond it.
//!
//! Source: Xu, Harfoush, Rhee 2004; integers by `docs/model/congestion-control-rules.md`.
//! Below 14 segments it is Reno. Until the first loss the window grows by at least 5 % per round trip.
//! Leaves out: undo.

use lasthop_registry::params;

use super::linux::{Clock, Framed, KernelEra, Law, MIN_WINDOW, Phase, Quote, Window, share};
use super::{AckSample, CongestionControl, CongestionEvent, Context, Moment};

params! {
    /// Parameters of BIC.
    pub struct Params {
        /// Which version: linux counts segments, linux-2.6 ACKs.
        pub era: KernelEra = KernelEra::Linux,
        /// S_max: largest growth in segments per round trip.
        pub max_increment: u32 = 16,
        /// Window in segments below which it is Reno.
        pub low_window: u32 = 14,
        /// Release bandwidth when windows shrink from loss to loss (fast convergence).
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
/// A step goes a quarter of the way to the old maximum.
const STEP: u32 = 4;
/// Round trips in which a window beyond the old maximum grows by its distance from it.
const BEYOND: u32 = 3;
/// Round trips per segment of growth next to the old maximum.
const GENTLE: u32 = 5;
/// The highest price before the first loss.
const BEFORE_FIRST_LOSS: u32 = 20;
/// Unit of the estimator of segments per ACK.
const RATIO_UNIT: u32 = 16;

#[derive(Debug)]
struct Bic {
    params: Params,
    memory: Memory,
}

/// State that a timeout clears.
#[derive(Clone, Copy, Debug)]
struct Memory {
    /// 0: no loss yet
    last_max: u32,
    quote: Option<Quote>,
    /// segments per ACK in units of 1/16
    ratio: u32,
}

impl Default for Memory {
    fn default() -> Self {
        Memory { last_max: 0, quote: None, ratio: 2 * RATIO_UNIT }
    }
}

/// The search: segments of growth, and the round trips that they take.
fn pace(cwnd: u32, last_max: u32, max_increment: u32) -> (u32, u32) {
    if cwnd < last_max {
        match (last_max - cwnd) / STEP {
            0 | 1 => (1, GENTLE),
            step => (step.min(max_increment), 1),
        }
    } else {
        match cwnd - last_max {
            beyond if beyond < STEP => (1, GENTLE),
            beyond if beyond < max_increment.saturating_mul(BEYOND) => (beyond, BEYOND),
            _ => (max_increment, 1),
        }
    }
}

impl Bic {
    /// The price of a segment of growth, in segments or ACKs.
    fn price(&mut self, cwnd: u32, now: u64, clock: Clock) -> u32 {
        let held = self.memory.quote.filter(|quote| quote.holds(cwnd, now, clock));
        let quote = held.unwrap_or_else(|| Quote { price: self.find_price(cwnd), cwnd, at: now });
        self.memory.quote = Some(quote);
        quote.price
    }

    fn find_price(&self, cwnd: u32) -> u32 {
        if cwnd <= self.params.low_window {
            return cwnd;
        }
        let (segments, rounds) = pace(cwnd, self.memory.last_max, self.params.max_increment);
        let price = share(cwnd, rounds, segments);
        let price = if self.memory.last_max == 0 { price.min(BEFORE_FIRST_LOSS) } else { price };
        share(price, RATIO_UNIT, self.memory.ratio).max(1)
    }
}

impl Law for Bic {
    /// ratio <- 15/16 ratio + segments; its rounding makes one segment per ACK settle at 31/16.
    fn observe(&mut self, _: &mut Window, phase: Phase, ack: &AckSample) {
        if phase == Phase::Open && ack.acked_segments > 0 {
            self.memory.ratio = (self.memory.ratio - self.memory.ratio / RATIO_UNIT).saturating_add(ack.acked_segments);
        }
    }

    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        let left = match window.era {
            KernelEra::Linux => window.slow_start_or_count(ack),
            KernelEra::Linux26 if window.in_slow_start() => window.slow_start(ack),
            KernelEra::Linux26 => 1,
        };
        if left == 0 {
            return;
        }
        let price = self.price(window.cwnd, window.clock.jiffies(ack.now), window.clock);
        match window.era {
            KernelEra::Linux => window.add_one_per(price, left),
            KernelEra::Linux26 => window.count_or_add(window.count >= price, 1),
        }
    }

    fn ssthresh(&mut self, _: &Window, lost_at: u32, _: &CongestionEvent) -> u32 {
        let gives_way = self.params.fast_convergence && lost_at < self.memory.last_max;
        self.memory.last_max = if gives_way { share(lost_at, BETA_UNIT + BETA, BETA_UNIT) / 2 } else { lost_at };
        let kept = if lost_at <= self.params.low_window { lost_at / 2 } else { share(lost_at, BETA, BETA_UNIT) };
        kept.max(MIN_WINDOW)
    }

    fn enter(&mut self, _: &mut Window, _: Phase, to: Phase, _: &Moment) {
        if to == Phase::AfterTimeout {
            self.memory = Memory::default();
        }
    }
}
