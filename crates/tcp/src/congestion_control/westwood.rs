//! Westwood+: after a loss the window is what the path delivered in one least RTT.
//!
//! Source: Mascolo et al. 2001, Grieco, Mascolo 2004; integers as in Linux 2.6.22 and 6.x. Growth is Reno's.
//! The bandwidth goes through two filters of weight 1/8, sampled once per RTT, at least 50 ms apart.
//! Leaves out: Westwood's per-ACK bandwidth of 2001.

use lasthop_registry::params;

use super::linux::{Clock, Era, Framed, Law, MIN_WINDOW, Phase, Window, rtt_us};
use super::{AckSample, CongestionControl, Context, Moment};

params! {
    /// Parameters of Westwood+.
    pub struct Params {
        /// Whose RTT: linux takes each sample, linux-2.6 the smoothed RTT.
        pub era: Era = Era::Linux,
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

impl Meter {
    fn sample(&mut self, ticks: u64) {
        let rate = self.bytes / ticks;
        if self.first_filter == 0 && self.second_filter == 0 {
            (self.first_filter, self.second_filter) = (rate, rate);
        } else {
            self.first_filter = (7 * self.first_filter + rate) >> 3;
            self.second_filter = (7 * self.second_filter + self.first_filter) >> 3;
        }
        self.bytes = 0;
    }

    /// Bytes that an ACK newly covers.
    fn advance(&mut self, una: u64) -> u64 {
        una - self.una.replace(una).unwrap_or(una)
    }

    /// A duplicate ACK stands for a segment; the cumulative ACK after it brings that much less.
    fn count_slowly(&mut self, una: u64, mss: u64) {
        let acked = self.advance(una);
        if acked == 0 {
            self.ahead += mss;
            self.bytes += mss;
        } else if acked > mss && self.ahead >= acked {
            self.ahead -= acked;
            self.bytes += mss;
        } else if acked > mss {
            self.bytes += acked - self.ahead;
            self.ahead = 0;
        } else {
            self.bytes += acked;
        }
    }
}

impl Westwood {
    /// Bandwidth times least RTT, in segments.
    fn pipe(&self) -> u32 {
        let least = u64::from(self.least.unwrap_or(self.rtt));
        ((self.meter.second_filter * least / self.mss) as u32).max(MIN_WINDOW)
    }
}

impl Law for Westwood {
    fn begin(&mut self, window: &mut Window, at: &Moment) {
        self.since = Some(window.clock.jiffies(at.now));
        self.least = None;
    }

    fn observe(&mut self, window: &mut Window, phase: Phase, ack: &AckSample) {
        match window.era {
            Era::Linux => {
                self.rtt = rtt_us(ack).filter(|&us| us > 0).map_or(self.rtt, |us| window.clock.covering_us(us))
            }
            Era::Linux26 if ack.acked_segments > 0 => self.rtt = window.srtt8 >> 3,
            Era::Linux26 => {}
        }
        let now = window.clock.jiffies(ack.now);
        let since = *self.since.get_or_insert(now);
        if self.rtt > 0 && now - since > u64::from(self.rtt.max(window.clock.hz() / SHORTEST)) {
            self.meter.sample(now - since);
            self.since = Some(now);
        }
        if ack.acked_segments == 0 || phase == Phase::Recovery {
            self.meter.count_slowly(ack.snd_una, self.mss);
        } else {
            self.meter.bytes += self.meter.advance(ack.snd_una);
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
            (_, Phase::AfterTimeout) if window.era == Era::Linux => {
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
