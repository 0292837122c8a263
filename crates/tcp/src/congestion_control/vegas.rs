//! Vegas: keeps between `alpha` and `beta` segments in the queue.
//!
//! Source: Brakmo, Peterson 1995; integers as in Linux 2.6.22 and 6.x, which take the least RTT of a round trip.
//! Once per round trip: diff = w (RTT - baseRTT) / baseRTT; below alpha one segment more, above beta one less; in slow
//! start, above gamma back to what the path holds. Less than three samples in a round, and it is Reno.
//! Leaves out: fine-grained timeouts, the loss factor 3/4, doubling in every other round only; Linux has none of them.

use lasthop_registry::params;

use super::linux::{Era, Framed, Law, MIN_WINDOW, Phase, Window};
use super::round::Round;
use super::{AckSample, CongestionControl, Context, Moment};

params! {
    /// Parameters of Vegas.
    pub struct Params {
        /// Whose arithmetic: linux, or linux-2.6 (half segments, and the window of the last round trip).
        pub era: Era = Era::Linux,
        /// Segments in the queue below which the window grows.
        pub alpha: u32 = 2,
        /// Segments in the queue above which it shrinks.
        pub beta: u32 = 4,
        /// Segments in the queue that end slow start.
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

/// 2.6: where the round trip before began, and its window.
#[derive(Clone, Copy, Debug, Default)]
struct LastRound {
    start: u64,
    cwnd: u32,
}

impl Vegas {
    fn adjust(&mut self, window: &mut Window, ack: &AckSample) {
        let target = self.round.without_queue(window.cwnd, 1);
        let queueing = u64::from(self.round.least - self.round.base);
        let diff = (u64::from(window.cwnd) * queueing / u64::from(self.round.base)) as u32;
        if window.in_slow_start() {
            if diff > self.params.gamma {
                window.cwnd = window.cwnd.min(target + 1);
                window.ssthresh = window.ssthresh.min(window.cwnd.max(MIN_WINDOW));
            } else {
                window.slow_start(ack);
            }
        } else if diff > self.params.beta {
            window.cwnd = (window.cwnd - 1).max(MIN_WINDOW);
            window.ssthresh = window.ssthresh.min(window.cwnd.max(MIN_WINDOW));
        } else if diff < self.params.alpha {
            window.cwnd += 1;
        }
    }

    /// `sent`: segments sent in the round trip before, at the window `cwnd`.
    fn adjust_2_6(&mut self, window: &mut Window, ack: &AckSample, sent: u32, cwnd: u32) {
        let target = self.round.without_queue(sent, 2);
        let diff = 2 * sent - target;
        if window.in_slow_start() {
            if diff > 2 * self.params.gamma {
                window.ssthresh = MIN_WINDOW;
                window.cwnd = window.cwnd.min(target / 2 + 1);
            }
            window.slow_start(ack);
        } else {
            let wanted = if diff > 2 * self.params.beta {
                cwnd.saturating_sub(1)
            } else if diff < 2 * self.params.alpha {
                cwnd + 1
            } else {
                cwnd
            };
            match wanted.cmp(&window.cwnd) {
                core::cmp::Ordering::Greater => window.cwnd += 1,
                core::cmp::Ordering::Less => window.cwnd -= 1,
                core::cmp::Ordering::Equal => {}
            }
        }
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
        let sent = ((self.round.end - self.last.start) / self.mss) as u32;
        let before = self.last.cwnd;
        self.last = LastRound { start: self.round.end, cwnd: window.cwnd };
        if self.round.has_enough() {
            match window.era {
                Era::Linux => {
                    self.adjust(window, ack);
                    window.ssthresh = window.current_ssthresh();
                }
                Era::Linux26 => self.adjust_2_6(window, ack, sent, before),
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
