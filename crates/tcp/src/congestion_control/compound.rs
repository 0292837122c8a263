//! Compound TCP: Reno's window plus one that follows the queueing delay.
//!
//! Source: Tan, Song, Zhang, Sridharan 2006; integers by `docs/model/congestion-control-rules.md`, confirmed by traces
//! of the module in TCP-Linux for ns-2. Once per round trip of w segments sent: with fewer than `gamma` segments
//! queued, dwnd grows by w^0.75/8 - 1; otherwise it shrinks by the queue. Departures of that module from the paper: a
//! loss does not halve dwnd but cuts it to the rest of the halved window, and there is no threshold of small windows
//! below which dwnd stays 0 (it follows from whole numbers, at 41 segments). Leaves out: the tuning of gamma.

use lasthop_registry::params;

use super::linux::{Framed, KernelEra, Law, Phase, Window};
use super::round::Round;
use super::{AckSample, CongestionControl, Context, Moment};

params! {
    /// Parameters of Compound TCP.
    pub struct Params {
        /// Number of queued segments from which dwnd shrinks; 2 in hashimoto2008.
        pub gamma: u32 = 30,
    }
}

impl Params {
    /// A controller for one connection.
    pub fn build(&self, context: &Context) -> Box<dyn CongestionControl> {
        let law = Compound {
            gamma: self.gamma,
            mss: u64::from(context.mss_bytes),
            round: Round::new(),
            round_start: 0,
            loss_window: 0,
            delay_window: 0,
        };
        Framed::boxed(law, context, KernelEra::Linux26)
    }
}

/// alpha = 1/8.
const ALPHA: u32 = 8;

#[derive(Debug)]
struct Compound {
    /// in segments
    gamma: u32,
    mss: u64,
    round: Round,
    round_start: u64,
    /// cwnd and dwnd in segments; the window is their sum
    loss_window: u32,
    delay_window: u32,
}

impl Compound {
    /// Divides a window set from outside below the parts: dwnd ends if one part alone exceeds it; the rest is cwnd.
    fn divide(&mut self, cwnd: u32) {
        if self.loss_window.saturating_add(self.delay_window) > cwnd {
            let fits = self.loss_window.max(self.delay_window) <= cwnd;
            self.delay_window = if fits { self.delay_window } else { 0 };
            self.loss_window = cwnd - self.delay_window;
        }
    }

    /// Slow start of the loss window alone: dwnd does not count.
    fn grow_loss_window(&mut self, window: &mut Window) {
        let slow_start = self.loss_window <= window.ssthresh;
        let counted = window.count.saturating_add(u32::from(!slow_start));
        let full = counted >= window.cwnd;
        window.count = if full { 0 } else { counted };
        self.loss_window = self.loss_window.saturating_add(u32::from(full || slow_start));
    }

    fn adjust(&mut self, sent: u32) {
        // in half segments
        let queued = sent.saturating_mul(2).saturating_sub(self.round.without_queue(sent, 2));
        if queued < self.gamma.saturating_mul(2) {
            let more = (fourth_root_of_cube(sent) / ALPHA).saturating_sub(1);
            self.delay_window = self.delay_window.saturating_add(more);
        } else {
            self.delay_window = self.delay_window.saturating_mul(2).saturating_sub(queued) / 2;
        }
    }
}

/// w^0.75, rounded down.
fn fourth_root_of_cube(w: u32) -> u32 {
    u128::from(w).pow(3).isqrt().isqrt() as u32
}

impl Law for Compound {
    fn begin(&mut self, window: &mut Window, at: &Moment) {
        self.loss_window = window.cwnd;
        self.delay_window = 0;
        self.restart(window, at);
    }

    fn restart(&mut self, _: &mut Window, at: &Moment) {
        self.round = Round::new();
        self.round.end = at.snd_nxt;
    }

    fn observe(&mut self, _: &mut Window, _: Phase, ack: &AckSample) {
        self.round.hear(ack);
    }

    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        self.divide(window.cwnd);
        self.grow_loss_window(window);
        if self.round.is_over(ack) {
            let sent = (self.round.end.saturating_sub(self.round_start) / self.mss) as u32;
            self.round_start = self.round.end;
            if self.round.has_enough() {
                self.adjust(sent);
            }
            self.round.begin(ack.snd_nxt);
        }
        window.cwnd = self.loss_window.saturating_add(self.delay_window);
    }

    fn enter(&mut self, _: &mut Window, _: Phase, to: Phase, at: &Moment) {
        if to == Phase::Open {
            self.round.begin(at.snd_nxt);
        }
    }

    fn rtt_us(&self, _: &Window) -> Option<u32> {
        Some(self.round.least)
    }
}

#[cfg(test)]
mod tests {
    use super::super::linux::KernelEra;
    use super::super::tests::{ack, context};
    use super::*;
    use crate::congestion_control::GrowthMode::PerAck;
    use lasthop_units::{Duration, Time};

    #[test]
    fn the_power_of_three_quarters_is_rounded_down() {
        // 16^0.75 = 8, 81^0.75 = 27, 100^0.75 = 31.6
        for (w, root) in [(0, 0), (1, 1), (16, 8), (81, 27), (100, 31), (u32::MAX, (1 << 24) - 1)] {
            assert_eq!(fourth_root_of_cube(w), root);
        }
    }

    #[test]
    fn slow_start_lasts_while_the_loss_window_is_below_ssthresh() {
        // The 2.6 module, after a timeout with ssthresh 177 and dwnd 9: slow start ends at 178 + 9 = 187.
        let mut window = Window::new(&context(PerAck), KernelEra::Linux26);
        (window.cwnd, window.ssthresh) = (10, 177);
        let mut law =
            Compound { gamma: 30, mss: 1000, round: Round::new(), round_start: 0, loss_window: 1, delay_window: 9 };
        // No ACK ends a round trip, which could change dwnd.
        law.round.end = u64::MAX;
        let mut acked =
            |law: &mut Compound| law.grow(&mut window, &ack(Time::ZERO, 1, Duration::from_millis(50), PerAck));
        (0..177).for_each(|_| acked(&mut law));
        assert_eq!((law.loss_window, law.delay_window), (178, 9));
        // From here on 187 ACKs buy a segment.
        (0..186).for_each(|_| acked(&mut law));
        assert_eq!(law.loss_window, 178);
        acked(&mut law);
        assert_eq!(law.loss_window, 179);
    }
}
