//! CDG: backs off with a probability that grows with the gradient of the delay.
//!
//! Source: Hayes, Armitage 2011; integers as in Linux 6.x, which adds HyStart in slow start. Once per round trip the least
//! and the greatest RTT are compared with those of the round trip before; the sum of the last eight differences is the
//! gradient. Above 0, the window is cut to 0.7 with probability 1 - e^(-gradient/G). A shadow window remembers what a
//! loss-based sender would have, so that a loss after such cuts costs no more. Five cuts without effect on the delay in a
//! row: the delay is somebody else's, and no more are made.
//! Leaves out: the tolerance of losses without delay, off in Linux.

use lasthop_registry::{ParamError, params};
use lasthop_units::Time;

use super::linux::{Era, Framed, Law, MIN_WINDOW, Phase, Window, rtt_us};
use super::{AckSample, CongestionControl, CongestionEvent, Context, Draws, Moment};

params! {
    /// Parameters of CDG.
    pub struct Params {
        /// Round trips that the gradient spans, a power of two.
        pub window: u32 = 8,
        /// Factor by which a back-off multiplies the window.
        pub backoff_beta: f64 = 724.0 / 1024.0,
        /// Backs off with probability 1 - exp(-gradient backoff_factor / 1 s), the gradient summed over the window.
        pub backoff_factor: u32 = 42,
        /// Back-offs without effect after which none follows; 0: no such limit.
        pub ineffectual: u32 = 5,
        /// Keep the window that a loss-based sender would have.
        pub shadow: bool = true,
        /// Leave slow start on signs of a queue. [Ha, Rhee 2011]
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
            now: Extremes::default(),
            before: Extremes::default(),
            gradients: Gradients::new(self.window),
            round_end: 0,
            delayed_acks: 0,
            shadow: context.initial_window as u32,
            ineffectual: 0,
            backoff: None,
            hystart: Hystart::default(),
        };
        Framed::boxed(law, context, Era::Linux)
    }
}

/// Least and greatest RTT of a round trip in µs; 0 is none.
#[derive(Clone, Copy, Debug, Default)]
struct Extremes {
    least: i64,
    greatest: i64,
}

/// The differences of the last round trips, and their sums.
#[derive(Debug)]
struct Gradients {
    each: Vec<(i64, i64)>,
    sum: (i64, i64),
    next: usize,
    is_full: bool,
}

impl Gradients {
    fn new(window: u32) -> Self {
        Gradients { each: vec![(0, 0); window as usize], sum: (0, 0), next: 0, is_full: false }
    }

    /// Takes in a round trip; the gradient in µs over the whole window, and whether delays fell clearly.
    fn push(&mut self, least: i64, greatest: i64) -> (i64, bool) {
        let oldest = core::mem::replace(&mut self.each[self.next], (least, greatest));
        self.sum = (self.sum.0 + least - oldest.0, self.sum.1 + greatest - oldest.1);
        self.next = (self.next + 1) % self.each.len();
        let mut gradient = if self.sum.0 > 0 { self.sum.0 } else { self.sum.1 };
        if !self.is_full {
            // What is missing is taken to be as what there is.
            if self.next == 0 {
                self.is_full = true;
            } else {
                gradient = gradient * self.each.len() as i64 / self.next as i64;
            }
        }
        (gradient, self.sum.0 <= EFFECT || self.sum.1 <= EFFECT)
    }
}

/// A gradient down to this one, in µs, shows that a back-off had effect.
const EFFECT: i64 = -32;

#[derive(Debug)]
struct Cdg {
    params: Params,
    /// in 1/1024
    beta: u64,
    draws: Draws,
    now: Extremes,
    before: Extremes,
    gradients: Gradients,
    round_end: u64,
    /// ACKs of one segment that may have been delayed
    delayed_acks: u32,
    /// in segments
    shadow: u32,
    ineffectual: u32,
    /// A back-off lasts until this offset is acknowledged.
    backoff: Option<u64>,
    hystart: Hystart,
}

/// e^(-x) in 1/(2^32 - 1), x in millionths: bit by bit, from a table of e^(-2^i 256/10^6) in 1/65536, less one.
fn negative_exp(x: u32) -> u32 {
    const POWERS: [u32; 16] =
        [65518, 65501, 65468, 65401, 65267, 65001, 64470, 63422, 61378, 57484, 50423, 38795, 22965, 8047, 987, 14];
    let high = x >> 8;
    if high > 0xffff {
        return 0;
    }
    let low = u32::MAX - (x & 0xff) * (u32::MAX / 1_000_000);
    POWERS.iter().enumerate().fold(low, |product, (bit, power)| {
        let factor = if high >> bit & 1 == 1 { power + 1 } else { 65536 };
        ((u64::from(product) * u64::from(factor)) >> 16) as u32
    })
}

impl Cdg {
    /// [Hayes 2010]: an ACK of one segment that may have been delayed can lower the least, nothing else.
    fn hear(&mut self, rtt: i64, ack: &AckSample) {
        if !ack.in_recovery || ack.acked_segments > 0 {
            if ack.acked_segments == 1 && self.delayed_acks > 0 {
                self.now.least = self.now.least.min(rtt);
                self.delayed_acks -= 1;
                return;
            }
            if ack.acked_segments > 1 && self.delayed_acks < 5 {
                self.delayed_acks += 1;
            }
        }
        self.now.least = if self.now.least == 0 { rtt } else { self.now.least.min(rtt) };
        self.now.greatest = self.now.greatest.max(rtt);
    }

    fn begin_round(&mut self, end: u64) {
        self.round_end = end;
        self.before = self.now;
        self.now = Extremes::default();
    }

    /// A round trip is over: its gradient in µs, 0 if there is nothing to compare with.
    fn end_round(&mut self, end: u64) -> i64 {
        let mut gradient = 0;
        if self.before.greatest != 0 {
            let (least, greatest) = (self.now.least - self.before.least, self.now.greatest - self.before.greatest);
            let (sum, fell) = self.gradients.push(least, greatest);
            gradient = sum;
            if fell {
                self.ineffectual = 0;
            }
        }
        self.begin_round(end);
        self.hystart.begin_round();
        gradient
    }

    /// True if this gradient makes it back off.
    fn draws_backoff(&mut self, gradient: i64) -> bool {
        let x = (gradient as u32).wrapping_mul(self.params.backoff_factor);
        if self.draws.bits() <= negative_exp(x) {
            return false;
        }
        if self.params.ineffectual > 0 {
            self.ineffectual = self.ineffectual.saturating_add(1);
            return self.ineffectual <= self.params.ineffectual;
        }
        true
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
        if let Some(end) = self.backoff {
            if ack.snd_una <= end {
                return;
            }
            self.end_backoff(ack.snd_nxt);
        }
        if self.params.hystart && window.in_slow_start() && self.hystart.is_over(ack.now, self.now.least) {
            window.ssthresh = window.cwnd;
        }
        if ack.snd_una > self.round_end && self.now.greatest != 0 {
            let gradient = self.end_round(ack.snd_nxt);
            if gradient > 0 && self.draws_backoff(gradient) {
                return self.back_off(window, ack.snd_nxt);
            }
        }
        let before = window.cwnd;
        window.reno(ack);
        self.shadow = self.shadow.saturating_add(window.cwnd - before);
    }

    fn ssthresh(&mut self, window: &Window, lost_at: u32, _: &CongestionEvent) -> u32 {
        if self.backoff.is_some() {
            // A loss within a back-off is answered by it.
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
        (self.hystart.delay_min > 0).then_some(self.hystart.delay_min as u32)
    }
}

impl Cdg {
    fn end_backoff(&mut self, end: u64) {
        self.backoff = None;
        self.begin_round(end);
    }
}

/// ACKs so close together are of one burst, in µs.
const BURST_GAP: u64 = 3000;
/// Least that a burst spans, or the delay grows by, in µs.
const LEAST_SIGN: i64 = 125;
/// Round trip's samples before its least RTT counts.
const SAMPLES: u32 = 8;

/// HyStart with a clock in µs, at any window. [Ha, Rhee 2011]
#[derive(Clone, Copy, Debug, Default)]
struct Hystart {
    /// in µs; 0: none
    delay_min: i64,
    /// in µs: first and last ACK of the burst
    burst: Option<(u64, u64)>,
    samples: u32,
}

impl Hystart {
    fn begin_round(&mut self) {
        self.burst = None;
        self.samples = 0;
    }

    fn is_over(&mut self, now: Time, least: i64) -> bool {
        if least > 0 && (self.delay_min == 0 || least < self.delay_min) {
            self.delay_min = least;
        }
        self.delay_min != 0 && (self.burst_spans(now) || self.is_late(least))
    }

    fn burst_spans(&mut self, now: Time) -> bool {
        let now = now.as_nanos() / 1000;
        match &mut self.burst {
            None => self.burst = Some((now, now)),
            Some((start, last)) if now < *last + BURST_GAP => {
                *last = now;
                return now > *start + (self.delay_min / 2).max(LEAST_SIGN) as u64;
            }
            Some(_) => {}
        }
        false
    }

    fn is_late(&mut self, least: i64) -> bool {
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        least > (self.delay_min + self.delay_min / 8).max(LEAST_SIGN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_right_to_four_digits() {
        for (x, value) in [(0, 1.0), (100_000, 0.904_837), (1_000_000, 0.367_879), (5_000_000, 0.006_738)] {
            let got = f64::from(negative_exp(x)) / f64::from(u32::MAX);
            assert!((got - value).abs() < 1e-4, "{x}: {got}");
        }
    }

    #[test]
    fn a_gradient_is_the_change_over_the_window() {
        // eight round trips, each 100 µs longer: 800 µs
        let mut gradients = Gradients::new(8);
        let all: Vec<i64> = (0..9).map(|_| gradients.push(100, 100).0).collect();
        assert_eq!(all, [800; 9]);
    }
}
