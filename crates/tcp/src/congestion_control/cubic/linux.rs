//! CUBIC as a current Linux kernel computes it: whole segments, a clock of ticks, segments counted.
//!
//! Source: RFC 9438, Ha, Rhee, Xu 2008, and the behaviour of Linux 6.x. What differs from RFC 9438: the window grows at
//! least 5 % per round trip before the first loss and after a timeout; the Reno region never turns to one segment per
//! round trip; the increase is an integer count of segments, computed anew once per tick at most; a timeout forgets W_max.
//! Classic HyStart ends slow start when ACKs of one burst span half the least RTT, or when eight samples of a round are late.

use lasthop_units::Time;

use super::super::hystart_plus_plus::{HystartPlusPlus, Verdict};
use super::super::linux::{Clock, Law, MIN_WINDOW, Phase, Window, rtt_us};
use super::super::{AckSample, CongestionEvent, Moment};
use super::arithmetic::Arithmetic;
use super::{Hystart as Watch, Params};

/// Segments of growth per segment acknowledged, before the first loss: at least one for 20.
const BEFORE_FIRST_LOSS: u32 = 20;
/// At most one segment for two.
const FASTEST: u32 = 2;
/// How long an increase is kept while the window stays, as a share of a second.
const KEEP: u32 = 32;

#[derive(Debug)]
pub(in super::super) struct Cubic {
    params: Params,
    abe: bool,
    arithmetic: Arithmetic,
    memory: Memory,
    /// when data was sent last, in clock ticks
    last_sent: u64,
    plus_plus: Option<HystartPlusPlus>,
    /// quarters of segments that HyStart++ has let slow start add
    quarters: u32,
}

/// What a timeout wipes out.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    last_max: u32,
    epoch: Option<Epoch>,
    /// segments acknowledged per segment of growth, and the window and time for which that holds
    per: u32,
    at: Option<(u32, u64)>,
    /// in µs
    delay_min: Option<u32>,
    hystart: Hystart,
}

#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// in clock ticks
    start: u64,
    /// in ticks of the cubic function
    k: u64,
    origin: u32,
    /// What Reno would have, and the segments that count for its next.
    reno: u32,
    reno_acked: u32,
}

impl Cubic {
    pub fn new(params: &Params, abe: bool) -> Self {
        Cubic {
            params: params.clone(),
            abe,
            arithmetic: Arithmetic::new(params),
            memory: Memory::default(),
            last_sent: 0,
            plus_plus: (params.hystart == Watch::PlusPlus).then(HystartPlusPlus::default),
            quarters: 0,
        }
    }

    fn update(&mut self, cwnd: u32, acked: u32, now: u64, clock: Clock) {
        if let Some(epoch) = &mut self.memory.epoch {
            epoch.reno_acked += acked;
        }
        if self.memory.at.is_some_and(|(window, when)| window == cwnd && now - when <= u64::from(clock.hz() / KEEP)) {
            return;
        }
        let computed_now = self.memory.at.is_some_and(|(_, when)| when == now);
        let mut epoch = self.memory.epoch.unwrap_or_else(|| self.begin_epoch(cwnd, acked, now));
        if self.memory.epoch.is_none() || !computed_now {
            self.memory.at = Some((cwnd, now));
            self.memory.per = self.cubic(&epoch, cwnd, now, clock);
        }
        if self.params.reno_friendly {
            self.memory.per = self.memory.per.min(self.reno(&mut epoch, cwnd));
        }
        self.memory.per = self.memory.per.max(FASTEST);
        self.memory.epoch = Some(epoch);
    }

    /// HyStart++ grows the window in the place of slow start; false once it has ended it.
    fn is_watched(&mut self, window: &mut Window, ack: &AckSample) -> bool {
        let Some(watch) = &mut self.plus_plus else { return false };
        match watch.on_ack(ack) {
            Verdict::Grow(by) => {
                let quarters = self.quarters + (4.0 * by) as u32;
                window.cwnd = (window.cwnd + quarters / 4).min(window.ssthresh);
                self.quarters = quarters % 4;
                true
            }
            Verdict::Over => {
                window.ssthresh = window.cwnd;
                false
            }
        }
    }

    /// K = cbrt((W_max - cwnd) / C). [RFC 9438 §4.2 (2)]
    fn begin_epoch(&self, cwnd: u32, acked: u32, now: u64) -> Epoch {
        let below = self.memory.last_max.saturating_sub(cwnd);
        let k = if below == 0 { 0 } else { self.arithmetic.k(below) };
        Epoch { start: now, k, origin: self.memory.last_max.max(cwnd), reno: cwnd, reno_acked: acked }
    }

    /// Segments acknowledged per segment of growth, to be at W(t + least RTT) one round trip from now.
    fn cubic(&self, epoch: &Epoch, cwnd: u32, now: u64, clock: Clock) -> u32 {
        let jiffies = now - epoch.start + u64::from(clock.covering_us(self.memory.delay_min.unwrap_or(0)));
        let target = self.arithmetic.target(epoch.origin, epoch.k, Arithmetic::ticks(jiffies, clock.hz()));
        let per = if target > cwnd { cwnd / (target - cwnd) } else { cwnd.saturating_mul(100) };
        if self.memory.last_max == 0 { per.min(BEFORE_FIRST_LOSS) } else { per }
    }

    /// Reno with the same decrease: one segment for each (1 + beta) / (3 (1 - beta)) windows, in eighths.
    fn reno(&self, epoch: &mut Epoch, cwnd: u32) -> u32 {
        let per_segment = self.arithmetic.reno_per_segment(cwnd);
        while epoch.reno_acked > per_segment {
            epoch.reno_acked -= per_segment;
            epoch.reno += 1;
        }
        if epoch.reno > cwnd { cwnd / (epoch.reno - cwnd) } else { u32::MAX }
    }
}

impl Law for Cubic {
    fn begin(&mut self, window: &mut Window, at: &Moment) {
        self.memory = Memory::default();
        self.memory.hystart.begin_round(at.now, at.snd_nxt);
        self.last_sent = window.clock.jiffies(at.now);
    }

    /// Time without data in flight does not count. [RFC 9438 §5.8]
    fn restart(&mut self, window: &mut Window, at: &Moment) {
        let now = window.clock.jiffies(at.now);
        if let Some(epoch) = &mut self.memory.epoch {
            epoch.start = (epoch.start + (now - self.last_sent)).min(now);
        }
    }

    fn observe(&mut self, window: &mut Window, phase: Phase, ack: &AckSample) {
        let now = window.clock.jiffies(ack.now);
        self.last_sent = now;
        let Some(rtt) = rtt_us(ack) else { return };
        // Samples do not count for a second after an epoch begins.
        if self.memory.epoch.is_some_and(|epoch| now - epoch.start < u64::from(window.clock.hz())) {
            return;
        }
        let rtt = rtt.max(1);
        let least = self.memory.delay_min.map_or(rtt, |least| least.min(rtt));
        self.memory.delay_min = Some(least);
        // In recovery too: there the window may lie below ssthresh for a while.
        let reduced = phase == Phase::Recovery && ack.window > 0;
        let cwnd = if reduced { ack.window } else { window.cwnd };
        let watches = self.params.hystart == Watch::Classic && cwnd < window.ssthresh;
        if watches && self.memory.hystart.is_over(cwnd, ack, rtt, least) {
            window.ssthresh = cwnd;
        }
    }

    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        if window.in_slow_start() && self.is_watched(window, ack) {
            return;
        }
        let left = window.slow_start_or_count(ack);
        if left > 0 {
            self.update(window.cwnd, left, window.clock.jiffies(ack.now), window.clock);
            window.add_one_per(self.memory.per, left);
        }
    }

    fn ssthresh(&mut self, _: &Window, lost_at: u32, event: &CongestionEvent) -> u32 {
        if let Some(watch) = &mut self.plus_plus {
            watch.end();
        }
        let gives_way = self.params.fast_convergence && lost_at < self.memory.last_max;
        self.memory.epoch = None;
        self.memory.last_max = if gives_way { self.arithmetic.given_way(lost_at) } else { lost_at };
        let kept = if event.is_eased(self.abe) { Arithmetic::eased(lost_at) } else { self.arithmetic.reduced(lost_at) };
        kept.max(MIN_WINDOW)
    }

    fn enter(&mut self, _: &mut Window, _: Phase, to: Phase, at: &Moment) {
        if to == Phase::AfterTimeout {
            self.memory = Memory::default();
            self.memory.hystart.begin_round(at.now, at.snd_nxt);
        }
    }

    fn rtt_us(&self, _: &Window) -> Option<u32> {
        self.memory.delay_min
    }
}

/// HyStart watches from this window on, in segments.
const LOW_WINDOW: u32 = 16;
/// ACKs so close together are of one burst, in µs.
const BURST_GAP: u64 = 2000;
/// Samples of a round that make a least RTT.
const SAMPLES: u32 = 8;
/// How much later it may be: an eighth of the least RTT, within these bounds in µs.
const DELAY_LEAST: u32 = 4000;
const DELAY_MOST: u32 = 16_000;

/// Bytes of the largest send, and for how long such a send counts at most, in µs.
const LARGEST_SEND: u64 = 65_536;
const HELD_MOST: u64 = 1000;

/// [Ha, Rhee 2011]
#[derive(Clone, Copy, Debug, Default)]
struct Hystart {
    found: bool,
    round_end: u64,
    /// in µs
    round_start: u64,
    last_ack: u64,
    least: Option<u32>,
    samples: u32,
}

impl Hystart {
    fn begin_round(&mut self, now: Time, end: u64) {
        let now = now.as_nanos() / 1000;
        *self = Hystart { found: self.found, round_end: end, round_start: now, last_ack: now, least: None, samples: 0 };
    }

    /// True if slow start is to end, once.
    fn is_over(&mut self, cwnd: u32, ack: &AckSample, rtt: u32, delay_min: u32) -> bool {
        if self.found {
            return false;
        }
        if ack.snd_una > self.round_end {
            self.begin_round(ack.now, ack.snd_nxt);
        }
        if cwnd >= LOW_WINDOW {
            let (spans, late) = (self.burst_spans(ack, delay_min), self.is_late(rtt, delay_min));
            self.found = spans || late;
        }
        self.found
    }

    fn burst_spans(&mut self, ack: &AckSample, delay_min: u32) -> bool {
        let now = ack.now.as_nanos() / 1000;
        if now - self.last_ack > BURST_GAP {
            return false;
        }
        self.last_ack = now;
        // Large sends hold their last segments back, and so the ACKs; pacing may do so for half a round trip.
        let held = (4 * LARGEST_SEND * 1_000_000).checked_div(ack.send_rate).unwrap_or(0).min(HELD_MOST);
        let span = u64::from(delay_min) + held;
        now - self.round_start > if ack.is_paced { span } else { span / 2 }
    }

    fn is_late(&mut self, rtt: u32, delay_min: u32) -> bool {
        let least = self.least.map_or(rtt, |least| least.min(rtt));
        self.least = Some(least);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        least > delay_min + (delay_min >> 3).clamp(DELAY_LEAST, DELAY_MOST)
    }
}
