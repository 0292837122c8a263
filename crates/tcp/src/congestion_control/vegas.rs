//! Vegas: keeps between `alpha` and `beta` segments in the queue.
//!
//! Source: Brakmo, Peterson 1995; integers by `docs/model/congestion-control-rules.md`, with the least RTT of a
//! round trip.
//! Once per round trip: diff = w (RTT - baseRTT) / baseRTT; below alpha one segment more, above beta one less; in slow
//! start, above gamma back to the capacity of the path. With less than three samples in a round it is Reno. Leaves out:
//! fine-grained timeouts, the loss factor 3/4, doubling in every other round only; the traces have none of them.

use core::cmp::Ordering;

use lasthop_registry::params;

use super::linux::{Framed, KernelEra, Law, MIN_WINDOW, Phase, Window, share};
use super::round::Round;
use super::{AckSample, CongestionControl, Context, Moment};

params! {
    /// Parameters of Vegas.
    pub struct Params {
        /// Which arithmetic: linux, or linux-2.6 (half segments, and the window of the last round trip).
        pub era: KernelEra = KernelEra::Linux,
        /// Number of queued segments below which the window grows.
        pub alpha: u32 = 2,
        /// Number of queued segments above which it shrinks.
        pub beta: u32 = 4,
        /// Number of queued segments that ends slow start.
        pub gamma: u32 = 1,
    }
    check |params, path| {
        if params.alpha > params.beta {
            return Err(lasthop_registry::ParamError::new(format!("{path}.alpha"), "must not be above beta"));
        }
        Ok(())
    }
}

impl Params {
    /// A controller for one connection.
    pub fn build(&self, context: &Context) -> Box<dyn CongestionControl> {
        let law = Vegas {
            params: self.clone(),
            mss: u64::from(context.mss_bytes),
            on: true,
            round: Round::new(),
            last: LastRound::default(),
        };
        Framed::boxed(law, context, self.era)
    }
}

#[derive(Debug)]
struct Vegas {
    params: Params,
    mss: u64,
    /// Off from a loss to the end of recovery.
    on: bool,
    round: Round,
    last: LastRound,
}

/// 2.6: start of the previous round trip, and its window.
#[derive(Clone, Copy, Debug, Default)]
struct LastRound {
    start: u64,
    cwnd: u32,
}

/// The position of a queue relative to the band from `least` to `most`: below, within, above.
fn place(queued: u32, least: u32, most: u32) -> Ordering {
    if queued < least { Ordering::Less } else { queued.cmp(&most).max(Ordering::Equal) }
}

impl Vegas {
    /// diff = w (RTT - baseRTT) / baseRTT.
    fn queued(&self, cwnd: u32) -> u32 {
        share(cwnd, self.round.least - self.round.base, self.round.base)
    }

    fn adjust(&mut self, window: &mut Window, ack: &AckSample) {
        let queued = self.queued(window.cwnd);
        let cwnd = if window.in_slow_start() {
            if queued <= self.params.gamma {
                window.slow_start(ack);
                return;
            }
            window.cwnd.min(self.round.without_queue(window.cwnd, 1).saturating_add(1))
        } else {
            match place(queued, self.params.alpha, self.params.beta) {
                Ordering::Less => {
                    window.cwnd = window.cwnd.saturating_add(1);
                    return;
                }
                Ordering::Equal => return,
                Ordering::Greater => window.cwnd.saturating_sub(1).max(MIN_WINDOW),
            }
        };
        // ssthresh falls with the window.
        window.cwnd = cwnd;
        window.ssthresh = window.ssthresh.min(cwnd.max(MIN_WINDOW));
    }

    /// Adjusts the window, in half segments; `sent` segments left in the previous round trip, at the window `cwnd`.
    fn adjust_2_6(&mut self, window: &mut Window, ack: &AckSample, sent: u32, cwnd: u32) {
        let on_path = self.round.without_queue(sent, 2);
        let queued = sent.saturating_mul(2).saturating_sub(on_path);
        if window.in_slow_start() {
            if queued > self.params.gamma.saturating_mul(2) {
                window.ssthresh = MIN_WINDOW;
                window.cwnd = window.cwnd.min(on_path / 2 + 1);
            }
            window.slow_start(ack);
            return;
        }
        let [alpha, beta] = [self.params.alpha, self.params.beta].map(|segments| segments.saturating_mul(2));
        // One segment towards the band, by the window of that round trip.
        let wanted = i64::from(cwnd) - place(queued, alpha, beta) as i64;
        let step = (wanted.max(0) - i64::from(window.cwnd)).signum();
        window.cwnd = window.cwnd.saturating_add_signed(step as i32);
    }
}

impl Law for Vegas {
    fn begin(&mut self, _: &mut Window, at: &Moment) {
        self.round = Round::new();
        self.round.end = at.snd_nxt;
        self.on = true;
    }

    fn restart(&mut self, window: &mut Window, at: &Moment) {
        self.begin(window, at);
    }

    fn observe(&mut self, _: &mut Window, _: Phase, ack: &AckSample) {
        self.round.hear(ack);
    }

    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        if !self.on {
            return window.reno(ack);
        }
        if !self.round.is_over(ack) {
            if window.in_slow_start() {
                window.slow_start(ack);
            }
            return;
        }
        let sent = (self.round.end.saturating_sub(self.last.start) / self.mss) as u32;
        let before = self.last.cwnd;
        self.last = LastRound { start: self.round.end, cwnd: window.cwnd };
        if self.round.has_enough() {
            match window.era {
                KernelEra::Linux => {
                    self.adjust(window, ack);
                    window.ssthresh = window.current_ssthresh();
                }
                KernelEra::Linux26 => self.adjust_2_6(window, ack, sent, before),
            }
            window.cwnd = window.cwnd.max(MIN_WINDOW);
        } else {
            window.reno(ack);
        }
        self.round.begin(ack.snd_nxt);
    }

    fn enter(&mut self, _: &mut Window, _: Phase, to: Phase, at: &Moment) {
        self.on = to == Phase::Open;
        if self.on {
            self.round.begin(at.snd_nxt);
        }
    }

    fn rtt_us(&self, _: &Window) -> Option<u32> {
        Some(self.round.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_holds_both_its_ends() {
        use Ordering::{Equal, Greater, Less};
        assert_eq!([1, 2, 3, 4, 5].map(|queued| place(queued, 2, 4)), [Less, Equal, Equal, Equal, Greater]);
        assert_eq!([1, 2, 3].map(|queued| place(queued, 2, 2)), [Less, Equal, Greater]);
    }
}
