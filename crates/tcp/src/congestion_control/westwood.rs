//! Westwood+: after a loss the window is the data that the path delivered in one least RTT.
//!
//! Source: Mascolo et al. 2001, Grieco, Mascolo 2004; integers by `docs/model/congestion-control-rules.md`. Growth is Reno's.
//! The bandwidth goes through two filters of weight 1/8, sampled once per RTT, at least 50 ms apart.
//! Leaves out: Westwood's per-ACK bandwidth of 2001.

use core::mem::take;

use lasthop_registry::params;

use super::linux::{Clock, Framed, INFINITE, KernelEra, Law, MIN_WINDOW, Phase, Window, rtt_us};
use super::{AckSample, CongestionControl, Context, Moment};

params! {
    /// Parameters of Westwood+.
    pub struct Params {
        /// Which RTT: linux takes each sample, linux-2.6 the smoothed RTT.
        pub era: KernelEra = KernelEra::Linux,
    }
}

impl Params {
    /// A controller for one connection.
    pub fn build(&self, context: &Context) -> Box<dyn CongestionControl> {
        let unknown = UNKNOWN_S * Clock::new(context.tick).hz();
        let law = Westwood {
            mss: u64::from(context.mss_bytes),
            meter: Meter::default(),
            rtt: unknown,
            least: Some(unknown),
            since: None,
        };
        Framed::boxed(law, context, self.era)
    }
}

/// RTT before any sample, in s.
const UNKNOWN_S: u32 = 20;
/// Least length of a bandwidth sample, as a share of a second.
const SHORTEST: u32 = 20;

#[derive(Debug)]
struct Westwood {
    mss: u64,
    meter: Meter,
    /// newest RTT in clock ticks
    rtt: u32,
    /// least RTT in clock ticks; `None` while the next sample is to replace it
    least: Option<u32>,
    /// begin of the bandwidth sample, in clock ticks; `None` before the first ACK
    since: Option<u64>,
}

/// Bytes acknowledged, and bytes per clock tick out of them.
#[derive(Clone, Copy, Debug, Default)]
struct Meter {
    bytes: u64,
    /// `None` before the first ACK, which only sets it
    una: Option<u64>,
    /// delivered out of order, and already counted
    ahead: u64,
    first_filter: u64,
    second_filter: u64,
}

/// A filter of weight 1/8, cut.
fn filtered(value: u64, sample: u64) -> u64 {
    ((7 * u128::from(value) + u128::from(sample)) / 8) as u64
}

impl Meter {
    fn sample(&mut self, ticks: u64) {
        let rate = take(&mut self.bytes) / ticks;
        let is_first = self.first_filter == 0 && self.second_filter == 0;
        self.first_filter = if is_first { rate } else { filtered(self.first_filter, rate) };
        self.second_filter = if is_first { rate } else { filtered(self.second_filter, self.first_filter) };
    }

    /// Bytes that an ACK newly covers.
    fn advance(&mut self, una: u64) -> u64 {
        una.saturating_sub(self.una.replace(una).unwrap_or(una))
    }

    /// Counts data in order: the bytes that an ACK covers.
    fn count(&mut self, una: u64) {
        self.bytes += self.advance(una);
    }

    /// Counts data out of order [Mascolo et al. 2001, AckedCount]: a duplicate ACK stands for a segment, and the
    /// cumulative ACK after it brings that much less, but at least a segment.
    fn count_out_of_order(&mut self, una: u64, mss: u64) {
        let acked = self.advance(una);
        let known = if acked > mss { self.ahead.min(acked) } else { 0 };
        self.ahead -= known;
        self.bytes += match acked {
            0 => mss,
            _ if known > 0 && known == acked => mss,
            _ => acked - known,
        };
        self.ahead += if acked == 0 { mss } else { 0 };
    }
}

impl Westwood {
    /// Bandwidth times least RTT, in segments.
    fn pipe(&self) -> u32 {
        let least = u128::from(self.least.unwrap_or(self.rtt));
        let segments = u128::from(self.meter.second_filter) * least / u128::from(self.mss);
        segments.clamp(u128::from(MIN_WINDOW), u128::from(INFINITE)) as u32
    }
}

impl Law for Westwood {
    fn begin(&mut self, window: &mut Window, at: &Moment) {
        self.since = Some(window.clock.jiffies(at.now));
        self.least = None;
    }

    fn observe(&mut self, window: &mut Window, phase: Phase, ack: &AckSample) {
        match window.era {
            KernelEra::Linux => {
                self.rtt = rtt_us(ack).filter(|&us| us > 0).map_or(self.rtt, |us| window.clock.covering_us(us))
            }
            KernelEra::Linux26 if ack.acked_segments > 0 => self.rtt = window.srtt8 >> 3,
            KernelEra::Linux26 => {}
        }
        let now = window.clock.jiffies(ack.now);
        let since = *self.since.get_or_insert(now);
        if self.rtt > 0 && now - since > u64::from(self.rtt.max(window.clock.hz() / SHORTEST)) {
            self.meter.sample(now - since);
            self.since = Some(now);
        }
        if ack.acked_segments == 0 || phase == Phase::Recovery {
            self.meter.count_out_of_order(ack.snd_una, self.mss);
        } else {
            self.meter.count(ack.snd_una);
        }
        self.least = Some(self.least.map_or(self.rtt, |least| least.min(self.rtt)));
    }

    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        window.reno(ack);
    }

    fn enter(&mut self, window: &mut Window, from: Phase, to: Phase, _: &Moment) {
        match (from, to) {
            (Phase::Recovery, Phase::Open) => {
                window.ssthresh = self.pipe();
                window.cwnd = window.ssthresh;
            }
            (_, Phase::AfterTimeout) if window.era == KernelEra::Linux => {
                window.ssthresh = self.pipe();
                self.least = None;
            }
            _ => {}
        }
    }

    fn rtt_us(&self, window: &Window) -> Option<u32> {
        Some(window.clock.us(self.rtt))
    }
}
