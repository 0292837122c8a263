//! CUBIC in whole segments, a clock of ticks, ACKs counted: as in Linux 2.6.16 to 2.6.22.
//!
//! Source: Ha, Rhee, Xu 2008; units, rounding and guards by `docs/model/congestion-control-rules.md`, confirmed by
//! traces of 2.6.22, as TCP-Linux for ns-2 carries it. Differences from RFC 9438: above the origin at most 16 segments
//! per 100 ms; before the first loss one segment for each 50 ACKs; the price of a segment is found at most once per
//! window change or 1/32 s; the estimator of delayed ACKs makes one ACK per segment count as 31/16; a timeout forgets
//! W_max.

use super::super::linux::{Clock, Law, MIN_WINDOW, Phase, Quote, Window};
use super::super::{AckSample, CongestionEvent, Moment, Needs};
use super::arithmetic::{Arithmetic, RenoWindow, price_of};
use super::params::Params;

/// Segments per 100 ms that the window may grow above the origin.
const MAX_INCREMENT: u32 = 16;
/// ACKs per segment of growth before the first loss.
const ACKS_BEFORE_FIRST_LOSS: u32 = 50;
/// The estimator's unit: 16 is one segment per ACK.
const RATIO_SHIFT: u32 = 4;

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// in clock ticks
    start: u64,
    /// in ticks of the cubic function
    k: u64,
    origin: u32,
    /// counts ACKs
    reno: RenoWindow,
}

/// State that a timeout clears.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    w_max: u32,
    lost_before: bool,
    stage: Option<Stage>,
    /// in ACKs
    quote: Option<Quote>,
    /// Segments per ACK less two, in units of 1/16, rounded up.
    more_per_ack: i64,
    /// in eighths of a clock tick
    delay_min: Option<u32>,
}

#[derive(Debug)]
pub(super) struct Cubic {
    params: Params,
    abe: bool,
    arithmetic: Arithmetic,
    memory: Memory,
}

impl Cubic {
    pub fn new(params: &Params, abe: bool) -> Self {
        Cubic { params: params.clone(), abe, arithmetic: Arithmetic::new(params), memory: Memory::default() }
    }

    /// in 1/16
    fn segments_per_ack(&self) -> i64 {
        (2 << RATIO_SHIFT) + self.memory.more_per_ack
    }

    /// The time since a segment was sent, by its timestamp. Samples do not count for a second after a stage begins.
    fn measure_delay(&mut self, ack: &AckSample, now: u64, clock: Clock) {
        let Some(rtt) = ack.rtt_sample else { return };
        if self.memory.stage.is_some_and(|stage| now - stage.start < u64::from(clock.hz())) {
            return;
        }
        let ticks = clock.within(ack.now, rtt);
        if ticks == now {
            return;
        }
        let delay = (ticks << 3).clamp(1, u64::from(u32::MAX)) as u32;
        self.memory.delay_min = Some(self.memory.delay_min.map_or(delay, |least| least.min(delay)));
    }

    fn begin_stage(&self, cwnd: u32, now: u64) -> Stage {
        Stage {
            start: now,
            k: self.arithmetic.k(self.memory.w_max.saturating_sub(cwnd)),
            origin: self.memory.w_max.max(cwnd),
            reno: RenoWindow::new(cwnd, 1),
        }
    }

    /// The price of a segment of growth, in ACKs.
    fn price(&mut self, cwnd: u32, now: u64, clock: Clock) -> u32 {
        if let Some(stage) = &mut self.memory.stage {
            stage.reno.count(1);
        }
        let quote = match self.memory.quote.filter(|quote| quote.holds(cwnd, now, clock)) {
            Some(quote) => quote,
            None => Quote { price: self.find_price(cwnd, now, clock), cwnd, at: now },
        };
        self.memory.quote = Some(quote);
        quote.price
    }

    /// The curve's price or Reno's if that is lower, divided by the segments per ACK.
    fn find_price(&mut self, cwnd: u32, now: u64, clock: Clock) -> u32 {
        let mut stage = self.memory.stage.unwrap_or_else(|| self.begin_stage(cwnd, now));
        let mut acks =
            if self.memory.lost_before { self.curve_price(&stage, cwnd, now, clock) } else { ACKS_BEFORE_FIRST_LOSS };
        if self.params.reno_friendly {
            stage.reno.grow(self.arithmetic.reno_per_segment(cwnd));
            acks = stage.reno.price(cwnd).map_or(acks, |price| acks.min(price));
        }
        self.memory.stage = Some(stage);
        let acks = (i64::from(acks) << RATIO_SHIFT) / self.segments_per_ack().max(1);
        acks.clamp(1, i64::from(u32::MAX)) as u32
    }

    /// The price of the cubic function, limited above the origin.
    fn curve_price(&self, stage: &Stage, cwnd: u32, now: u64, clock: Clock) -> u32 {
        let delay_min = self.memory.delay_min.unwrap_or(0);
        let t = Arithmetic::ticks(now + u64::from(delay_min / 8) - stage.start, clock);
        let price = price_of(self.arithmetic.target(stage.origin, stage.k, t), cwnd);
        if t < stage.k { price } else { price.max(lowest_above_origin(cwnd, delay_min, clock)) }
    }
}

/// The least price above the origin: `MAX_INCREMENT` segments per 100 ms, times delay/100 ms in a window of ACKs; the
/// delay is in eighths of a tick.
fn lowest_above_origin(cwnd: u32, delay_min: u32, clock: Clock) -> u32 {
    let numerator = u128::from(cwnd) * u128::from(clock.hz()) * 8;
    let per_window = 10 * u128::from(MAX_INCREMENT) * u128::from(delay_min);
    numerator.checked_div(per_window).unwrap_or(0).min(u128::from(u32::MAX)) as u32
}

impl Law for Cubic {
    fn needs(&self) -> Needs {
        Needs { eases_marks: true, ..Needs::NONE }
    }

    fn begin(&mut self, _: &mut Window, _: &Moment) {
        self.memory = Memory::default();
    }

    /// ratio += segments - ratio/16, the division rounding down: one segment per ACK settles at 31/16.
    fn observe(&mut self, _: &mut Window, phase: Phase, ack: &AckSample) {
        if phase == Phase::Open && ack.acked_segments > 0 {
            self.memory.more_per_ack += i64::from(ack.acked_segments) - (self.segments_per_ack() >> RATIO_SHIFT);
        }
    }

    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        let now = window.clock.jiffies(ack.now);
        self.measure_delay(ack, now, window.clock);
        if window.in_slow_start() {
            window.slow_start(ack);
            return;
        }
        let price = self.price(window.cwnd, now, window.clock);
        window.count_or_add(window.count >= price, 1);
    }

    fn ssthresh(&mut self, _: &Window, lost_at: u32, event: &CongestionEvent) -> u32 {
        let gives_way = self.params.fast_convergence && lost_at < self.memory.w_max;
        self.memory.stage = None;
        self.memory.w_max = if gives_way { self.arithmetic.given_way(lost_at) } else { lost_at };
        self.memory.lost_before = true;
        let kept = if event.is_eased(self.abe) { Arithmetic::eased(lost_at) } else { self.arithmetic.reduced(lost_at) };
        kept.max(MIN_WINDOW)
    }

    fn enter(&mut self, _: &mut Window, _: Phase, to: Phase, _: &Moment) {
        if to == Phase::AfterTimeout {
            self.memory = Memory::default();
        }
    }

    fn rtt_us(&self, window: &Window) -> Option<u32> {
        self.memory.delay_min.map(|eighths| window.clock.us(eighths) / 8)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{ack, context, loss};
    use super::super::CubicEra;
    use super::*;
    use crate::congestion_control::GrowthMode::PerAck;
    use lasthop_units::{Duration, Time};

    const RTT: Duration = Duration::from_millis(100);

    fn params() -> Params {
        Params { era: CubicEra::Linux26, beta: 819.0 / 1024.0, ..Params::default() }
    }

    #[test]
    fn a_loss_leaves_four_fifths() {
        let mut cubic = params().build(&context(PerAck));
        cubic.on_congestion(&loss(Time::ZERO, 100.0));
        // floor(100 * 819 / 1024) = floor(79.98)
        assert_eq!((cubic.cwnd(), cubic.ssthresh()), (79.0, 79.0));
    }

    #[test]
    fn one_ack_per_segment_counts_as_31_sixteenths() {
        let mut cubic = Cubic::new(&params(), false);
        let mut window = Window::new(&context(PerAck), super::super::super::linux::KernelEra::Linux26);
        (0..100).for_each(|i| cubic.observe(&mut window, Phase::Open, &ack(Time::from_nanos(i), 1, RTT, PerAck)));
        assert_eq!(cubic.segments_per_ack(), 31);
    }

    #[test]
    fn above_the_origin_growth_is_limited_to_16_segments_per_100_ms() {
        let mut cubic = params().build(&context(PerAck));
        let mut now = Time::ZERO + Duration::from_secs(1);
        cubic.on_congestion(&loss(now, 1000.0));
        cubic.on_recovery_exit(&Moment { now, snd_una: 0, snd_nxt: 0, app_limited: false });
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
        // 16, times 31/16 by the estimator, less the effect of rounding to whole ACKs
        let grown = cubic.cwnd() - before;
        assert!((16.0..=32.0).contains(&grown), "{grown}");
    }
}
