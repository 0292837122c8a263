//! H-TCP: the longer since the last loss, the faster it grows; a loss takes what the queue held.
//!
//! Source: Leith, Shorten 2004, draft-leith-tcp-htcp; integers and both options as in Linux 2.6.22 and 6.x.
//! alpha = 1 + 10 (D - 1) + ((D - 1)/2)^2 for D > 1 s since the last loss, times 2 (1 - beta); beta = RTTmin/RTTmax
//! between 0.5 and 0.8 unless the throughput changed by a fifth.
//! Leaves out: undo.

use lasthop_registry::params;

use super::linux::{Clock, Era, Framed, Law, MIN_WINDOW, Phase, Window, rtt_us};
use super::{AckSample, CongestionControl, CongestionEvent, Context, Moment};

params! {
    /// Parameters of H-TCP.
    pub struct Params {
        /// Whose RTT: linux takes each sample, linux-2.6 the smoothed RTT.
        pub era: Era = Era::Linux,
        /// Scale the increase by RTTmin / 100 ms.
        pub rtt_scaling: bool = true,
        /// Halve where the throughput has changed by a fifth since the last loss.
        pub bandwidth_switch: bool = true,
    }
}

impl Params {
    /// A controller for one connection.
    pub fn build(&self, context: &Context) -> Box<dyn CongestionControl> {
        let law = Htcp {
            params: self.clone(),
            alpha: UNIT,
            beta: BETA_MIN,
            switched: false,
            newly_acked: 1,
            last_loss: 0,
            loss_pending: false,
            least: 0,
            most: 0,
            throughput: Throughput::default(),
        };
        Framed::boxed(law, context, self.era)
    }
}

/// 1 in the fixed-point numbers here.
const UNIT: u32 = 128;
/// 0.5 and 0.8.
const BETA_MIN: u32 = 64;
const BETA_MAX: u32 = 102;
/// RTTmax follows a sample at most so far, in us; below so much RTTmin is not trusted.
const STEP_US: u32 = 20_000;
const SHORT_US: u32 = 10_000;

#[derive(Debug)]
struct Htcp {
    params: Params,
    alpha: u32,
    beta: u32,
    /// The throughput was steady at the last loss.
    switched: bool,
    newly_acked: u32,
    /// in clock ticks
    last_loss: u64,
    loss_pending: bool,
    /// RTTmin and RTTmax in clock ticks, 0 before the first sample
    least: u32,
    most: u32,
    throughput: Throughput,
}

/// Segments per second.
#[derive(Clone, Copy, Debug, Default)]
struct Throughput {
    segments: u32,
    since: u64,
    smoothed: u32,
    low: u32,
    high: u32,
    /// `high` at the loss before
    last_high: u32,
}

impl Throughput {
    fn restart(&mut self, now: u64) {
        self.segments = 0;
        self.since = now;
    }

    fn sample(&mut self, now: u64, hz: u32, is_first: bool) {
        let rate = (u64::from(self.segments) * u64::from(hz) / (now - self.since)) as u32;
        if is_first {
            (self.smoothed, self.low, self.high) = (rate, rate, rate);
        } else {
            self.smoothed = (3 * self.smoothed + rate) / 4;
            self.high = self.high.max(self.smoothed);
            self.low = self.low.min(self.high);
        }
        self.restart(now);
    }

    /// Within a fifth of what it was at the last loss; remembers it for the next.
    fn is_steady(&mut self) -> bool {
        let last = self.last_high;
        self.last_high = self.high;
        (4 * last..=6 * last).contains(&(5 * self.high))
    }
}

impl Htcp {
    fn since_loss(&self, now: u64) -> u64 {
        now - self.last_loss
    }

    fn rounds_since_loss(&self, now: u64) -> u64 {
        self.since_loss(now) / u64::from(self.least.max(1))
    }

    fn measure(&mut self, rtt: u32, clock: Clock, may_raise: bool) {
        if self.least == 0 || rtt < self.least {
            self.least = rtt;
        }
        if may_raise {
            self.most = self.most.max(self.least);
            if self.most < rtt && rtt <= self.most + clock.covering_us(STEP_US) {
                self.most = rtt;
            }
        }
    }

    fn measure_2_6(&mut self, window: &Window, phase: Phase, now: u64) {
        let srtt = window.srtt8 >> 3;
        let least = if self.least == 0 { srtt } else { self.least.min(srtt) };
        let settled = self.since_loss(now) / u64::from(least.max(1)) > 3;
        self.measure(srtt, window.clock, phase == Phase::Open && window.ssthresh < 0xFFFF && settled);
    }

    fn count_throughput(&mut self, window: &Window, phase: Phase, now: u64, acked: u32) {
        if phase != Phase::Open {
            self.throughput.restart(now);
            return;
        }
        self.throughput.segments += acked;
        let step = (self.alpha / UNIT).max(1);
        let ticks = now - self.throughput.since;
        let full = self.throughput.segments >= window.cwnd.saturating_sub(step);
        if full && ticks >= u64::from(self.least) && self.least > 0 {
            let is_first = self.rounds_since_loss(now) <= 3;
            self.throughput.sample(now, window.clock.hz(), is_first);
        }
    }

    fn set_alpha(&mut self, now: u64, hz: u32) {
        let mut factor = 1;
        let ticks = self.since_loss(now) as u32;
        if ticks > hz {
            let beyond = u64::from(ticks - hz);
            let hz = u64::from(hz);
            // Hours without loss would overflow; a million segments per round trip are no limit.
            factor = (1 + (10 * beyond + (beyond / 2) * (beyond / 2) / hz) / hz).min(1 << 20) as u32;
        }
        if self.params.rtt_scaling && self.least > 0 {
            // RTTmin / 100 ms from 0.1 to 2, inverted, in eighths
            let scale = ((hz << 3) / (10 * self.least)).clamp(4, 80);
            factor = ((factor << 3) / scale).max(1);
        }
        self.alpha = 2 * factor * (UNIT - self.beta);
        if self.alpha == 0 {
            self.alpha = UNIT;
        }
    }

    fn set_beta(&mut self, clock: Clock) {
        if self.params.bandwidth_switch && !self.throughput.is_steady() {
            self.beta = BETA_MIN;
            self.switched = false;
        } else if self.switched && self.least > clock.covering_us(SHORT_US) && self.most > 0 {
            self.beta = ((self.least << 7) / self.most).clamp(BETA_MIN, BETA_MAX);
        } else {
            self.beta = BETA_MIN;
            self.switched = true;
        }
    }
}

impl Law for Htcp {
    fn begin(&mut self, window: &mut Window, at: &Moment) {
        self.last_loss = window.clock.jiffies(at.now);
    }

    fn observe(&mut self, window: &mut Window, phase: Phase, ack: &AckSample) {
        let now = window.clock.jiffies(ack.now);
        if window.era == Era::Linux26 && ack.acked_segments == 0 {
            return;
        }
        if phase == Phase::Open {
            self.newly_acked = ack.acked_segments;
        }
        if let (Era::Linux, Some(rtt)) = (window.era, rtt_us(ack).filter(|&us| us > 0)) {
            self.measure(window.clock.covering_us(rtt), window.clock, phase == Phase::Open);
        }
        if self.params.bandwidth_switch {
            self.count_throughput(window, phase, now, ack.acked_segments);
        }
    }

    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        if window.in_slow_start() {
            window.slow_start(ack);
            return;
        }
        let now = window.clock.jiffies(ack.now);
        if window.era == Era::Linux26 {
            self.measure_2_6(window, Phase::Open, now);
        }
        let enough = (u64::from(window.count) * u64::from(self.alpha)) >> 7 >= u64::from(window.cwnd);
        window.count_or_add(enough, self.newly_acked);
        if enough {
            self.set_alpha(now, window.clock.hz());
        }
        self.newly_acked = 1;
    }

    fn ssthresh(&mut self, window: &Window, lost_at: u32, event: &CongestionEvent) -> u32 {
        self.set_beta(window.clock);
        self.set_alpha(window.clock.jiffies(event.now), window.clock.hz());
        if self.least > 0 && self.most > self.least {
            self.most = self.least + (self.most - self.least) * 95 / 100;
        }
        (((u64::from(lost_at) * u64::from(self.beta)) >> 7) as u32).max(MIN_WINDOW)
    }

    fn enter(&mut self, window: &mut Window, _: Phase, to: Phase, at: &Moment) {
        let now = window.clock.jiffies(at.now);
        if to != Phase::Open || self.loss_pending {
            self.last_loss = now;
        }
        self.loss_pending = to != Phase::Open;
    }

    fn rtt_us(&self, window: &Window) -> Option<u32> {
        Some(window.clock.us(self.least))
    }
}
