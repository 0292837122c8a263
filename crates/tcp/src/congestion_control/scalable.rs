//! Scalable TCP: the window grows by a fixed share per round trip, and a loss takes an eighth.
//!
//! Source: Kelly 2003; the counters by `docs/model/congestion-control-rules.md`. Below `gain` segments it grows as Reno does.
//! Leaves out: the paper's low-window threshold of 16 segments, which the traces do not have.

use lasthop_registry::params;

use super::linux::{Framed, KernelEra, Law, MIN_WINDOW, Window};
use super::{AckSample, CongestionControl, CongestionEvent, Context};

params! {
    /// Parameters of Scalable TCP.
    pub struct Params {
        /// Which version: linux (one segment per 100 segments) or linux-2.6 (one per 50 ACKs).
        pub era: KernelEra = KernelEra::Linux,
    }
}

impl Params {
    /// A controller for one connection.
    pub fn build(&self, context: &Context) -> Box<dyn CongestionControl> {
        Framed::boxed(Scalable, context, self.era)
    }
}

/// Most segments that one segment of growth costs. [Kelly 2003: 1/0.01]
const PER_SEGMENT: u32 = 100;
/// The same in the older kernel, in ACKs.
const ACKS_PER_SEGMENT: u32 = 50;

#[derive(Debug)]
struct Scalable;

impl Law for Scalable {
    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        match window.era {
            KernelEra::Linux => {
                let left = window.slow_start_or_count(ack);
                if left > 0 {
                    window.add_one_per(window.cwnd.min(PER_SEGMENT), left);
                }
            }
            KernelEra::Linux26 if window.in_slow_start() => {
                window.slow_start(ack);
            }
            KernelEra::Linux26 => {
                window.count += 1;
                window.count_or_add(window.count > window.cwnd.min(ACKS_PER_SEGMENT), 0);
            }
        }
    }

    fn ssthresh(&mut self, _: &Window, lost_at: u32, _: &CongestionEvent) -> u32 {
        (lost_at - lost_at / 8).max(MIN_WINDOW)
    }
}
