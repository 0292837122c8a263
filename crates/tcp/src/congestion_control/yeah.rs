//! YeAH: Scalable while the queue is short, Reno while it is long, and it empties the queue itself.
//!
//! Source: Baiocchi, Castellani, Vacirca 2007; integers by `docs/model/congestion-control-rules.md`.
//! Leaves out: nothing of the window.

use lasthop_registry::params;

use super::linux::{Framed, KernelEra, Law, MIN_WINDOW, Phase, Window, share};
use super::round::Round;
use super::{AckSample, CongestionControl, CongestionEvent, Context, Moment};

params! {
    /// Parameters of YeAH.
    pub struct Params {
        /// Which version: linux or linux-2.6.
        pub era: KernelEra = KernelEra::Linux,
        /// Q_max: number of queued segments from which it drains the queue.
        pub alpha: u32 = 80,
        /// 1/phi: largest queueing delay as a share of the base RTT.
        pub phi: u32 = 8,
        /// Number of round trips of Reno in a row from which a loss halves the window.
        pub rho: u32 = 16,
        /// Number of round trips of Scalable in a row after which the Reno window is reset.
        pub zeta: u32 = 50,
    }
    check |params, path| {
        if params.phi == 0 {
            return Err(lasthop_registry::ParamError::new(format!("{path}.phi"), "must be above 0"));
        }
        Ok(())
    }
}

impl Params {
    /// A controller for one connection.
    pub fn build(&self, context: &Context) -> Box<dyn CongestionControl> {
        let law = Yeah {
            params: self.clone(),
            round: Round::new(),
            queue: 0,
            slow_rounds: 0,
            fast_rounds: 0,
            reno_window: MIN_WINDOW,
            newly_acked: 1,
        };
        Framed::boxed(law, context, self.era)
    }
}

/// Most segments that one segment of growth costs in the fast mode.
const PER_SEGMENT: u32 = 100;

#[derive(Debug)]
struct Yeah {
    params: Params,
    round: Round,
    /// Segments in the queue in the last round.
    queue: u32,
    /// Rounds in a row with a long queue; 0 is the fast mode.
    slow_rounds: u32,
    fast_rounds: u32,
    /// Window of a Reno flow beside it, in segments.
    reno_window: u32,
    /// 2.6: segments of the newest ACK
    newly_acked: u32,
}

impl Yeah {
    fn avoid(&mut self, window: &mut Window, acked: u32) {
        let fast = self.slow_rounds == 0;
        match window.era {
            KernelEra::Linux => {
                let per = if fast { window.cwnd.min(PER_SEGMENT) } else { window.cwnd };
                window.add_one_per(per, acked);
            }
            KernelEra::Linux26 if fast => {
                window.count = window.count.saturating_add(self.newly_acked);
                window.count_or_add(window.count > window.cwnd.min(PER_SEGMENT), 0);
            }
            KernelEra::Linux26 => {
                window.count += 1;
                window.count_or_add(window.count >= window.cwnd, 0);
            }
        }
        self.newly_acked = 1;
    }

    fn end_round(&mut self, window: &mut Window) {
        let Round { base, least, .. } = self.round;
        let delay = least - base;
        self.queue = share(window.cwnd, delay, least);
        let is_long = self.queue > self.params.alpha;
        if is_long || delay > base / self.params.phi {
            self.end_slow_round(window, is_long);
        } else {
            self.end_fast_round();
        }
    }

    fn end_fast_round(&mut self) {
        self.slow_rounds = 0;
        self.fast_rounds += 1;
        if self.fast_rounds > self.params.zeta {
            self.fast_rounds = 0;
            self.reno_window = MIN_WINDOW;
        }
    }

    /// Takes a long queue off the window; the Reno window begins at half of the rest.
    fn end_slow_round(&mut self, window: &mut Window, is_long: bool) {
        self.slow_rounds += 1;
        if is_long && window.cwnd > self.reno_window {
            window.cwnd = window.cwnd.saturating_sub(self.queue).max(window.cwnd.div_ceil(2)).max(self.reno_window);
            window.ssthresh = window.cwnd;
        }
        let known = self.reno_window > MIN_WINDOW;
        self.reno_window = if known { self.reno_window.saturating_add(1) } else { (window.cwnd / 2).max(MIN_WINDOW) };
    }
}

impl Law for Yeah {
    fn begin(&mut self, _: &mut Window, at: &Moment) {
        self.round = Round::new();
        self.round.end = at.snd_nxt;
    }

    fn restart(&mut self, window: &mut Window, at: &Moment) {
        self.begin(window, at);
    }

    fn observe(&mut self, _: &mut Window, phase: Phase, ack: &AckSample) {
        self.round.hear(ack);
        if phase == Phase::Open && ack.acked_segments > 0 {
            self.newly_acked = ack.acked_segments;
        }
    }

    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        let left = match window.era {
            KernelEra::Linux => window.slow_start_or_count(ack),
            KernelEra::Linux26 if window.in_slow_start() => window.slow_start(ack),
            KernelEra::Linux26 => 1,
        };
        if left > 0 {
            self.avoid(window, left);
        }
        if self.round.is_over(ack) {
            if self.round.has_enough() {
                self.end_round(window);
            }
            self.round.begin(ack.snd_nxt);
        }
    }

    /// Takes the queue off the window: an eighth to a half of it; half after long enough as Reno.
    fn ssthresh(&mut self, _: &Window, lost_at: u32, _: &CongestionEvent) -> u32 {
        let half = (lost_at / 2).max(MIN_WINDOW);
        let taken = if self.slow_rounds < self.params.rho { self.queue.min(half).max(lost_at / 8) } else { half };
        self.fast_rounds = 0;
        self.reno_window = (self.reno_window / 2).max(MIN_WINDOW);
        lost_at.saturating_sub(taken).max(MIN_WINDOW)
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
