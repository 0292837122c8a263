//! CUBIC in whole segments, a clock of ticks, segments counted: as in a current Linux kernel.
//!
//! Source: RFC 9438, Ha, Rhee, Xu 2008; units, rounding and guards by `docs/model/congestion-control-rules.md`,
//! confirmed by recorded traces. Differences from RFC 9438: the window grows at least 5 % per round trip before the
//! first loss and after a timeout; the Reno region never turns to one segment per round trip; the increase is a price,
//! whole segments acknowledged for one of window, found once per tick at most; a timeout forgets W_max.
//! Classic HyStart ends slow start when ACKs of one train span half the least RTT, or when a round trip is late.

use lasthop_units::Time;

use super::super::hystart_plus_plus::{HystartPlusPlus, SlowStart};
use super::super::linux::{Clock, Law, MIN_WINDOW, Phase, Quote, Window, rtt_us};
use super::super::{AckSample, CongestionEvent, Moment, Needs};
use super::arithmetic::{Arithmetic, RenoWindow, price_of};
use super::hystart::Hystart as Watch;
use super::params::Params;

/// The highest price before the first loss: 5 % per round trip.
const BEFORE_FIRST_LOSS: u32 = 20;
/// The lowest: half a window per round trip.
const LOWEST: u32 = 2;

#[derive(Debug)]
pub(in super::super) struct Cubic {
    params: Params,
    abe: bool,
    arithmetic: Arithmetic,
    memory: Memory,
    /// time of the last send, in clock ticks
    last_sent: u64,
    plus_plus: Option<HystartPlusPlus>,
    /// quarters of segments that HyStart++ has let slow start add
    quarters: u32,
}

/// State that a timeout clears.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    last_max: u32,
    stage: Option<Stage>,
    quote: Option<Quote>,
    /// in µs
    delay_min: Option<u32>,
    hystart: Hystart,
}

/// A stage of congestion avoidance: the curve, and Reno beside it.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// in clock ticks
    start: u64,
    /// in ticks of the cubic function
    k: u64,
    origin: u32,
    reno: RenoWindow,
}

impl Cubic {
    pub fn new(params: &Params, abe: bool) -> Self {
        Cubic {
            params: params.clone(),
            abe,
            arithmetic: Arithmetic::new(params),
            memory: Memory::default(),
            last_sent: 0,
            plus_plus: (params.hystart == Watch::PlusPlus).then(HystartPlusPlus::default),
            quarters: 0,
        }
    }

    /// The price of a segment of growth, in segments acknowledged.
    fn price(&mut self, cwnd: u32, acked: u32, now: u64, clock: Clock) -> u32 {
        if let Some(stage) = &mut self.memory.stage {
            stage.reno.count(acked);
        }
        let quote = match self.memory.quote.filter(|quote| quote.holds(cwnd, now, clock)) {
            Some(quote) => quote,
            None => self.find_price(cwnd, acked, now, clock),
        };
        self.memory.quote = Some(quote);
        quote.price
    }

    /// The curve's price, found once per tick, or Reno's if that is lower.
    fn find_price(&mut self, cwnd: u32, acked: u32, now: u64, clock: Clock) -> Quote {
        let same_tick = self.memory.quote.filter(|quote| quote.at == now && self.memory.stage.is_some());
        let mut stage = self.memory.stage.unwrap_or_else(|| self.begin_stage(cwnd, acked, now));
        let mut quote =
            same_tick.unwrap_or_else(|| Quote { price: self.curve_price(&stage, cwnd, now, clock), cwnd, at: now });
        if self.params.reno_friendly {
            stage.reno.grow(self.arithmetic.reno_per_segment(cwnd));
            quote.price = stage.reno.price(cwnd).map_or(quote.price, |price| quote.price.min(price));
        }
        quote.price = quote.price.max(LOWEST);
        self.memory.stage = Some(stage);
        quote
    }

    /// Lets HyStart++ grow the window in the place of slow start; false once slow start has ended.
    fn is_watched(&mut self, window: &mut Window, ack: &AckSample) -> bool {
        let Some(watch) = &mut self.plus_plus else { return false };
        match watch.on_ack(ack) {
            SlowStart::Grow(by) => {
                let quarters = self.quarters + (4.0 * by) as u32;
                window.cwnd = (window.cwnd + quarters / 4).min(window.ssthresh);
                self.quarters = quarters % 4;
                true
            }
            SlowStart::Over => {
                window.ssthresh = window.cwnd;
                false
            }
        }
    }

    fn begin_stage(&self, cwnd: u32, acked: u32, now: u64) -> Stage {
        Stage {
            start: now,
            k: self.arithmetic.k(self.memory.last_max.saturating_sub(cwnd)),
            origin: self.memory.last_max.max(cwnd),
            reno: RenoWindow::new(cwnd, acked),
        }
    }

    /// The price with which the window is at W(t + least RTT) one round trip from now.
    fn curve_price(&self, stage: &Stage, cwnd: u32, now: u64, clock: Clock) -> u32 {
        let ahead = u64::from(clock.covering_us(self.memory.delay_min.unwrap_or(0)));
        let t = Arithmetic::ticks(now - stage.start + ahead, clock);
        let price = price_of(self.arithmetic.target(stage.origin, stage.k, t), cwnd);
        if self.memory.last_max == 0 { price.min(BEFORE_FIRST_LOSS) } else { price }
    }
}

impl Law for Cubic {
    fn needs(&self) -> Needs {
        Needs { eases_marks: true, ..Needs::NONE }
    }

    fn begin(&mut self, window: &mut Window, at: &Moment) {
        self.memory = Memory::default();
        self.memory.hystart.begin_round(at.now, at.snd_nxt);
        self.last_sent = window.clock.jiffies(at.now);
    }

    /// Time without data in flight does not count. [RFC 9438 §5.8]
    fn restart(&mut self, window: &mut Window, at: &Moment) {
        let now = window.clock.jiffies(at.now);
        if let Some(stage) = &mut self.memory.stage {
            stage.start = (stage.start + (now - self.last_sent)).min(now);
        }
    }

    fn observe(&mut self, window: &mut Window, phase: Phase, ack: &AckSample) {
        let now = window.clock.jiffies(ack.now);
        self.last_sent = now;
        let Some(rtt) = rtt_us(ack) else { return };
        // Samples do not count for a second after a stage begins.
        if self.memory.stage.is_some_and(|stage| now - stage.start < u64::from(window.clock.hz())) {
            return;
        }
        let rtt = rtt.max(1);
        let least = self.memory.delay_min.map_or(rtt, |least| least.min(rtt));
        self.memory.delay_min = Some(least);
        // In recovery too: there the window may lie below ssthresh for a while.
        let reduced = phase == Phase::Recovery && ack.window > 0;
        let cwnd = if reduced { ack.window } else { window.cwnd };
        let watches = self.params.hystart == Watch::Classic && cwnd < window.ssthresh;
        if watches && self.memory.hystart.is_over(cwnd, ack, rtt, least) {
            window.ssthresh = cwnd;
        }
    }

    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        if window.in_slow_start() && self.is_watched(window, ack) {
            return;
        }
        let left = window.slow_start_or_count(ack);
        if left > 0 {
            let price = self.price(window.cwnd, left, window.clock.jiffies(ack.now), window.clock);
            window.add_one_per(price, left);
        }
    }

    fn ssthresh(&mut self, _: &Window, lost_at: u32, event: &CongestionEvent) -> u32 {
        if let Some(watch) = &mut self.plus_plus {
            watch.end();
        }
        let gives_way = self.params.fast_convergence && lost_at < self.memory.last_max;
        self.memory.stage = None;
        self.memory.last_max = if gives_way { self.arithmetic.given_way(lost_at) } else { lost_at };
        let kept = if event.is_eased(self.abe) { Arithmetic::eased(lost_at) } else { self.arithmetic.reduced(lost_at) };
        kept.max(MIN_WINDOW)
    }

    fn enter(&mut self, _: &mut Window, _: Phase, to: Phase, at: &Moment) {
        if to == Phase::AfterTimeout {
            self.memory = Memory::default();
            self.memory.hystart.begin_round(at.now, at.snd_nxt);
        }
    }

    fn rtt_us(&self, _: &Window) -> Option<u32> {
        self.memory.delay_min
    }
}

/// Window from which HyStart watches, in segments.
const LOW_WINDOW: u32 = 16;
/// Gap in µs up to which ACKs are of one train.
const TRAIN_GAP: u64 = 2000;
/// Samples of a round trip before its least counts.
const SAMPLES: u32 = 8;
/// Tolerated increase of the least RTT: an eighth of it, within these bounds in µs.
const DELAY_LEAST: u32 = 4000;
const DELAY_MOST: u32 = 16_000;

/// Bytes of the largest send, and the longest time in µs that four such sends count for.
const LARGEST_SEND: u64 = 65_536;
const HELD_MOST: u64 = 1000;

/// The two signs of a queue in slow start. [Ha, Rhee 2011]
#[derive(Clone, Copy, Debug, Default)]
struct Hystart {
    found: bool,
    round_end: u64,
    train: Train,
    /// least RTT of this round trip in µs, and the samples taken, `SAMPLES` at most
    least: Option<u32>,
    samples: u32,
}

/// ACKs close together since a round trip began, in µs.
#[derive(Clone, Copy, Debug, Default)]
struct Train {
    start: u64,
    end: u64,
}

impl Train {
    /// The span of the train with an ACK at `now`; `None` if the ACK comes too late for it.
    fn span_with(&mut self, now: u64) -> Option<u64> {
        if now - self.end > TRAIN_GAP {
            return None;
        }
        self.end = now;
        Some(now - self.start)
    }
}

/// The longest span of a train without a queue, in µs. Large sends hold their last segments back, and so the ACKs;
/// pacing may do so for half a round trip.
fn longest_train(ack: &AckSample, delay_min: u32) -> u64 {
    let held = (4 * LARGEST_SEND * 1_000_000).checked_div(ack.send_rate).unwrap_or(0).min(HELD_MOST);
    let span = u64::from(delay_min) + held;
    if ack.is_paced { span } else { span / 2 }
}

/// The largest value of a round trip's least RTT without a queue, in µs.
fn longest_delay(delay_min: u32) -> u32 {
    delay_min.saturating_add((delay_min / 8).clamp(DELAY_LEAST, DELAY_MOST))
}

impl Hystart {
    fn begin_round(&mut self, now: Time, end: u64) {
        let now = now.as_nanos() / 1000;
        *self = Hystart { found: self.found, round_end: end, train: Train { start: now, end: now }, ..Self::default() };
    }

    /// True at the first sign, and never again.
    fn is_over(&mut self, cwnd: u32, ack: &AckSample, rtt: u32, delay_min: u32) -> bool {
        if self.found {
            return false;
        }
        if ack.snd_una > self.round_end {
            self.begin_round(ack.now, ack.snd_nxt);
        }
        if cwnd >= LOW_WINDOW {
            let span = self.train.span_with(ack.now.as_nanos() / 1000);
            let least = self.least_with(rtt);
            self.found = span.is_some_and(|span| span > longest_train(ack, delay_min))
                || least.is_some_and(|least| least > longest_delay(delay_min));
        }
        self.found
    }

    /// The least RTT of this round trip, once there were enough samples before this one.
    fn least_with(&mut self, rtt: u32) -> Option<u32> {
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        let enough = self.samples == SAMPLES;
        self.samples = (self.samples + 1).min(SAMPLES);
        self.least.filter(|_| enough)
    }
}
