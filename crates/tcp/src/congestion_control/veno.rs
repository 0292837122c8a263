//! Veno: Reno that tells random losses from losses by congestion.
//!
//! Source: Fu, Liew 2003; integers by `docs/model/congestion-control-rules.md`. With fewer than `beta` segments queued, a loss takes
//! a fifth; with more, growth is halved and a loss takes half.
//! Leaves out: nothing of the window; early retransmission is part of the sender.

use lasthop_registry::params;

use super::linux::{Framed, KernelEra, Law, MIN_WINDOW, NO_RTT, Phase, Window, share};
use super::round::Round;
use super::{AckSample, CongestionControl, CongestionEvent, Context, Moment};

params! {
    /// Parameters of Veno.
    pub struct Params {
        /// Which version: linux counts segments, linux-2.6 ACKs.
        pub era: KernelEra = KernelEra::Linux,
        /// Number of queued segments from which the path counts as congested.
        pub beta: u32 = 3,
    }
}

impl Params {
    /// A controller for one connection.
    pub fn build(&self, context: &Context) -> Box<dyn CongestionControl> {
        let round = Round::new();
        Framed::boxed(
            Veno { beta: self.beta.saturating_mul(2), on: true, round, increases: true, queued: 0 },
            context,
            self.era,
        )
    }
}

#[derive(Debug)]
struct Veno {
    /// in half segments
    beta: u32,
    on: bool,
    /// `samples` counts from the beginning; only the least is of the round
    round: Round,
    /// Every second chance to grow in congestion is taken.
    increases: bool,
    /// Segments in the queue, in half segments.
    queued: u32,
}

impl Veno {
    fn avoid(&mut self, window: &mut Window, acked: u32) {
        if self.queued < self.beta {
            match window.era {
                KernelEra::Linux => window.add_one_per(window.cwnd, acked),
                KernelEra::Linux26 => window.count_or_add(window.count >= window.cwnd, 1),
            }
        } else if window.count >= window.cwnd {
            window.cwnd = window.cwnd.saturating_add(u32::from(self.increases));
            self.increases = !self.increases;
            window.count = 0;
        } else {
            window.count = window.count.saturating_add(acked);
        }
    }
}

impl Law for Veno {
    fn begin(&mut self, _: &mut Window, _: &Moment) {
        self.round = Round::new();
        self.increases = true;
        self.on = true;
    }

    fn restart(&mut self, window: &mut Window, at: &Moment) {
        let samples = self.round.samples;
        self.begin(window, at);
        self.round.samples = samples;
    }

    fn observe(&mut self, _: &mut Window, _: Phase, ack: &AckSample) {
        self.round.hear(ack);
    }

    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        if !self.on {
            return window.reno(ack);
        }
        if self.round.has_enough() {
            let on_path = self.round.without_queue(window.cwnd, 2);
            self.queued = window.cwnd.saturating_mul(2).saturating_sub(on_path);
            let left = match window.era {
                KernelEra::Linux => window.slow_start_or_count(ack),
                KernelEra::Linux26 if window.in_slow_start() => window.slow_start(ack),
                KernelEra::Linux26 => 1,
            };
            if left > 0 {
                self.avoid(window, left);
            }
            window.cwnd = window.cwnd.max(MIN_WINDOW);
        } else {
            window.reno(ack);
        }
        self.round.least = NO_RTT;
    }

    fn ssthresh(&mut self, _: &Window, lost_at: u32, _: &CongestionEvent) -> u32 {
        let kept = if self.queued < self.beta { share(lost_at, 4, 5) } else { lost_at / 2 };
        kept.max(MIN_WINDOW)
    }

    fn enter(&mut self, _: &mut Window, _: Phase, to: Phase, _: &Moment) {
        self.on = to == Phase::Open;
        if self.on {
            self.round.least = NO_RTT;
        }
    }

    fn rtt_us(&self, _: &Window) -> Option<u32> {
        Some(self.round.least)
    }
}
