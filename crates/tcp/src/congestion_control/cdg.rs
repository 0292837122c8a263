//! CDG: backs off with a probability that grows with the gradient of the delay.
//!
//! Source: Hayes, Armitage 2011; integers, and HyStart in slow start, by `docs/model/congestion-control-rules.md`. Once
//! per round trip the least and the greatest RTT are compared with those of the round trip before; the sum of the last
//! eight differences is the gradient. Above 0, the window is cut to 0.7 with probability 1 - e^(-gradient/G). A shadow
//! window remembers the window of a loss-based sender, so that a loss after such cuts costs no more. After five cuts in
//! a row without effect on the delay, the delay comes from others, and no more cuts follow.
//! Leaves out: the tolerance of losses without delay, which the traces do not have.

use std::collections::VecDeque;

use lasthop_registry::{ParamError, params};
use lasthop_units::Time;

use super::linux::{Framed, KernelEra, Law, MIN_WINDOW, Phase, Window, rtt_us};
use super::{AckSample, CongestionControl, CongestionEvent, Context, Draws, Moment};

params! {
    /// Parameters of CDG.
    pub struct Params {
        /// Number of round trips that the gradient spans, a power of two.
        pub window: u32 = 8,
        /// Factor by which a backoff multiplies the window.
        pub backoff_beta: f64 = 724.0 / 1024.0,
        /// Backs off with probability 1 - exp(-gradient backoff_factor / 1 s), the gradient summed over the window.
        pub backoff_factor: u32 = 42,
        /// Number of backoffs without effect after which it stops backing off; 0: no limit.
        pub ineffectual: u32 = 5,
        /// Keep a shadow window, the one that a loss-based sender would have.
        pub shadow: bool = true,
        /// Use HyStart, which leaves slow start when a queue builds up. [Ha, Rhee 2011]
        pub hystart: bool = true,
    }
    check |params, path| {
        if !params.window.is_power_of_two() || params.window > 256 {
            return Err(ParamError::new(format!("{path}.window"), "must be a power of two, 256 at most"));
        }
        if params.backoff_beta <= 0.0 || params.backoff_beta > 1.0 {
            return Err(ParamError::new(format!("{path}.backoff_beta"), "must be above 0, at most 1"));
        }
        Ok(())
    }
}

impl Params {
    /// A controller for one connection.
    pub fn build(&self, context: &Context) -> Box<dyn CongestionControl> {
        let law = Cdg {
            beta: (self.backoff_beta * 1024.0) as u64,
            params: self.clone(),
            draws: context.draws,
            now: None,
            before: None,
            gradients: Gradients::new(self.window),
            round_end: 0,
            delayed_acks: 0,
            shadow: context.initial_window as u32,
            ineffectual: 0,
            backoff: None,
            hystart: Hystart::default(),
        };
        Framed::boxed(law, context, KernelEra::Linux)
    }
}

/// Least and greatest RTT of a round trip in µs.
#[derive(Clone, Copy, Debug)]
struct Extremes {
    least: i64,
    greatest: i64,
}

/// Differences between the extremes of a round trip and those of the one before, in µs.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    least: i64,
    greatest: i64,
}

impl Change {
    fn between(before: Extremes, now: Extremes) -> Self {
        Change { least: now.least - before.least, greatest: now.greatest - before.greatest }
    }

    /// Growth of the delay: that of the least RTT, or else of the greatest.
    fn growth(&self) -> i64 {
        if self.least > 0 { self.least } else { self.greatest }
    }

    /// True if delays fell clearly: a backoff had effect.
    fn is_relief(&self) -> bool {
        self.least.min(self.greatest) <= RELIEF
    }
}

/// The changes of the last round trips, and their sum.
#[derive(Debug)]
struct Gradients {
    window: usize,
    changes: VecDeque<Change>,
    sum: Change,
}

impl Gradients {
    fn new(window: u32) -> Self {
        let window = window as usize;
        Gradients { window, changes: VecDeque::with_capacity(window), sum: Change::default() }
    }

    fn push(&mut self, new: Change) {
        let full = self.changes.len() == self.window;
        let oldest = if full { self.changes.pop_front() } else { None }.unwrap_or_default();
        self.changes.push_back(new);
        self.sum.least += new.least - oldest.least;
        self.sum.greatest += new.greatest - oldest.greatest;
    }

    /// The gradient in µs over the whole window; missing changes count as the mean of those present.
    fn gradient(&self) -> i64 {
        self.sum.growth() * self.window as i64 / self.changes.len().max(1) as i64
    }
}

/// A sum at or below this one, in µs, shows that a backoff had effect.
const RELIEF: i64 = -32;
/// Number of possibly delayed ACKs that are remembered.
const DELAYED_ACKS: u32 = 5;

#[derive(Debug)]
struct Cdg {
    params: Params,
    /// in 1/1024
    beta: u64,
    draws: Draws,
    now: Option<Extremes>,
    before: Option<Extremes>,
    gradients: Gradients,
    round_end: u64,
    /// ACKs of one segment that may have been delayed
    delayed_acks: u32,
    /// in segments
    shadow: u32,
    ineffectual: u32,
    /// A backoff lasts until this offset is acknowledged.
    backoff: Option<u64>,
    hystart: Hystart,
}

/// exp(-x), x in millionths, as a share of all draws of 32 bits; a draw below it causes no backoff.
fn staying_draws(x: u64) -> u32 {
    (libm::exp(-(x as f64) / 1e6) * f64::from(u32::MAX)) as u32
}

impl Cdg {
    fn hear(&mut self, rtt: i64, ack: &AckSample) {
        let delayed = self.may_be_delayed(ack);
        self.now = match self.now {
            // The RTT may include a delay at the receiver, so it counts only towards the least, beside other samples.
            // [Hayes 2010]
            None if delayed => None,
            Some(now) if delayed => Some(Extremes { least: now.least.min(rtt), ..now }),
            None => Some(Extremes { least: rtt, greatest: rtt }),
            Some(now) => Some(Extremes { least: now.least.min(rtt), greatest: now.greatest.max(rtt) }),
        };
    }

    /// True for an ACK of one segment that may have been delayed; each follows an earlier ACK of several segments.
    fn may_be_delayed(&mut self, ack: &AckSample) -> bool {
        match ack.acked_segments {
            0 => false,
            1 if self.delayed_acks > 0 => {
                self.delayed_acks -= 1;
                true
            }
            1 => false,
            _ => {
                self.delayed_acks = (self.delayed_acks + 1).min(DELAYED_ACKS);
                false
            }
        }
    }

    fn begin_round(&mut self, end: u64) {
        self.round_end = end;
        self.before = self.now.take();
    }

    /// Ends a round trip; its gradient in µs, if an earlier round trip exists to compare with.
    fn end_round(&mut self, end: u64) -> Option<i64> {
        let change = self.before.zip(self.now).map(|(before, now)| Change::between(before, now));
        self.begin_round(end);
        self.hystart.begin_round();
        self.gradients.push(change?);
        if self.gradients.sum.is_relief() {
            self.ineffectual = 0;
        }
        Some(self.gradients.gradient())
    }

    /// True if this gradient, above 0, causes a backoff: at random, and not after too many backoffs without effect.
    fn draws_backoff(&mut self, gradient: i64) -> bool {
        let x = gradient.unsigned_abs().saturating_mul(u64::from(self.params.backoff_factor));
        if self.draws.bits() <= staying_draws(x) {
            return false;
        }
        let most = if self.params.ineffectual == 0 { u32::MAX } else { self.params.ineffectual };
        let tried = self.ineffectual;
        self.ineffectual = tried.saturating_add(1);
        tried < most
    }

    fn back_off(&mut self, window: &mut Window, end: u64) {
        self.shadow = self.shadow.max(window.cwnd);
        let kept = ((u64::from(window.cwnd) * self.beta) >> 10) as u32;
        window.reduce_to(kept.max(MIN_WINDOW));
        window.cwnd = window.ssthresh;
        self.backoff = Some(end);
    }
}

impl Law for Cdg {
    fn begin(&mut self, window: &mut Window, at: &Moment) {
        self.round_end = at.snd_nxt;
        self.shadow = window.cwnd;
    }

    fn observe(&mut self, window: &mut Window, _: Phase, ack: &AckSample) {
        if ack.app_limited {
            self.shadow = self.shadow.min(window.cwnd);
        }
        if let Some(rtt) = rtt_us(ack).filter(|&rtt| rtt > 0) {
            self.hear(i64::from(rtt), ack);
        }
    }

    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        if self.rests(ack) {
            return;
        }
        if self.params.hystart && window.in_slow_start() && self.hystart.sees_queue(ack.now, self.now) {
            window.ssthresh = window.cwnd;
        }
        let is_over = ack.snd_una > self.round_end && self.now.is_some();
        let gradient = if is_over { self.end_round(ack.snd_nxt) } else { None };
        if gradient.is_some_and(|gradient| gradient > 0 && self.draws_backoff(gradient)) {
            self.back_off(window, ack.snd_nxt);
        } else {
            let before = window.cwnd;
            window.reno(ack);
            self.shadow = self.shadow.saturating_add(window.cwnd - before);
        }
    }

    fn ssthresh(&mut self, window: &Window, lost_at: u32, _: &CongestionEvent) -> u32 {
        if self.backoff.is_some() {
            // The backoff under way answers a loss too.
            return window.ssthresh;
        }
        self.shadow = (self.shadow / 2).min(lost_at);
        let kept = if self.params.shadow { self.shadow.max(lost_at / 2) } else { lost_at / 2 };
        kept.max(MIN_WINDOW)
    }

    fn enter(&mut self, _: &mut Window, from: Phase, to: Phase, at: &Moment) {
        if to == Phase::Open && (from == Phase::Recovery || self.backoff.is_some()) {
            self.end_backoff(at.snd_nxt);
        } else if to == Phase::AfterTimeout {
            self.backoff = None;
        }
    }

    fn rtt_us(&self, _: &Window) -> Option<u32> {
        self.hystart.delay_min.map(|us| us as u32)
    }
}

impl Cdg {
    /// True within a backoff, in which nothing grows.
    fn rests(&mut self, ack: &AckSample) -> bool {
        let rests = self.backoff.is_some_and(|end| ack.snd_una <= end);
        if self.backoff.is_some() && !rests {
            self.end_backoff(ack.snd_nxt);
        }
        rests
    }

    fn end_backoff(&mut self, end: u64) {
        self.backoff = None;
        self.begin_round(end);
    }
}

/// Gap in µs below which ACKs are of one train.
const TRAIN_GAP: u64 = 3000;
/// Least span of a train, or delay, that is a sign, in µs.
const LEAST_SIGN: i64 = 125;
/// ACKs of a round trip before its least RTT counts.
const ACKS: u32 = 8;

/// HyStart with a clock in µs, at any window. [Ha, Rhee 2011]
#[derive(Clone, Copy, Debug, Default)]
struct Hystart {
    /// in µs
    delay_min: Option<i64>,
    /// in µs: first and last ACK of the train
    train: Option<(u64, u64)>,
    /// ACKs of this round trip, `ACKS` at most
    acks: u32,
}

impl Hystart {
    fn begin_round(&mut self) {
        self.train = None;
        self.acks = 0;
    }

    /// Takes in an ACK of slow start and the RTTs of this round trip; true if they show a queue.
    fn sees_queue(&mut self, now: Time, heard: Option<Extremes>) -> bool {
        let least = heard.map(|heard| heard.least);
        self.delay_min = least.into_iter().chain(self.delay_min).min();
        let Some(delay_min) = self.delay_min else { return false };
        let span = self.train_with(now.as_nanos() / 1000);
        if span > (delay_min / 2).max(LEAST_SIGN) as u64 {
            return true;
        }
        let enough = self.acks == ACKS;
        self.acks = (self.acks + 1).min(ACKS);
        enough && least.is_some_and(|least| least > (delay_min + delay_min / 8).max(LEAST_SIGN))
    }

    /// The span of the train with an ACK at `now`; 0 if the ACK is not part of it.
    fn train_with(&mut self, now: u64) -> u64 {
        let (start, end) = *self.train.get_or_insert((now, now));
        if now >= end + TRAIN_GAP {
            return 0;
        }
        self.train = Some((start, now));
        now - start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_stay_with_the_probability_of_the_law() {
        // e^-0.1, e^-1, e^-5
        for (x, value) in [(0, 1.0), (100_000, 0.904_837), (1_000_000, 0.367_879), (5_000_000, 0.006_738)] {
            let got = f64::from(staying_draws(x)) / f64::from(u32::MAX);
            assert!((got - value).abs() < 1e-6, "{x}: {got}");
        }
        assert_eq!(staying_draws(u64::MAX), 0);
    }

    #[test]
    fn a_gradient_is_the_change_over_the_window() {
        // eight round trips, each 100 µs longer: 800 µs
        let mut gradients = Gradients::new(8);
        for _ in 0..9 {
            gradients.push(Change { least: 100, greatest: 100 });
            assert_eq!(gradients.gradient(), 800);
        }
        // one of the eight is replaced, and the least no longer grows
        gradients.push(Change { least: -900, greatest: 0 });
        assert_eq!((gradients.gradient(), gradients.sum.is_relief()), (700, true));
    }
}
