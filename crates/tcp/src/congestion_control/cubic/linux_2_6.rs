//! CUBIC as Linux 2.6.16 to 2.6.22 computed it: windows of whole segments, a clock of ticks, ACKs counted.
//!
//! Source: Ha, Rhee, Xu 2008 and the behaviour of 2.6.22 as TCP-Linux for ns-2 carries it.
//! What differs from RFC 9438: above the origin at most 16 segments per 100 ms; before the first loss one
//! segment for each 50 ACKs; the increase is computed anew at most once per window change or 1/32 s;
//! the estimator of delayed ACKs makes one ACK per segment count as 31/16; a timeout forgets W_max.

use super::super::linux::{Clock, Law, MIN_WINDOW, Phase, Window};
use super::super::{AckSample, CongestionEvent, Moment};
use super::Params;
use super::arithmetic::Arithmetic;

/// Segments per 100 ms that the window may grow above the origin.
const MAX_INCREMENT: u32 = 16;
/// ACKs per segment of growth before the first loss.
const ACKS_BEFORE_FIRST_LOSS: u32 = 50;
/// How long an increase is kept while the window stays, as a share of a second.
const KEEP: u32 = 32;
/// The estimator's unit: 16 is one segment per ACK.
const RATIO_SHIFT: u32 = 4;

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// in clock ticks
    start: u64,
    /// in ticks of the cubic function
    k: u64,
    origin: u32,
    /// Reno's window, and the ACKs counted towards its next segment.
    reno: u32,
    reno_acks: u32,
}

/// What a timeout wipes out.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    w_max: u32,
    lost_before: bool,
    epoch: Option<Epoch>,
    /// ACKs for one segment, and the window and time for which that holds
    acks_per_segment: u32,
    at: Option<(u32, u64)>,
    /// Segments per ACK less two, in units of 1/16, rounded up as the kernel's shifts do.
    more_per_ack: i64,
    /// in eighths of a clock tick
    delay_min: Option<u32>,
}

#[derive(Debug)]
pub(super) struct Cubic {
    params: Params,
    abe: bool,
    arithmetic: Arithmetic,
    memory: Memory,
}

impl Cubic {
    pub fn new(params: &Params, abe: bool) -> Self {
        Cubic { params: params.clone(), abe, arithmetic: Arithmetic::new(params), memory: Memory::default() }
    }

    /// in 1/16
    fn segments_per_ack(&self) -> i64 {
        (2 << RATIO_SHIFT) + self.memory.more_per_ack
    }

    /// The time since a segment was sent, by its timestamp. Samples do not count for a second after an epoch begins.
    fn measure_delay(&mut self, ack: &AckSample, now: u64, clock: Clock) {
        let Some(rtt) = ack.rtt_sample else { return };
        if self.memory.epoch.is_some_and(|epoch| now - epoch.start < u64::from(clock.hz())) {
            return;
        }
        let ticks = clock.within(ack.now, rtt);
        if ticks == now {
            return;
        }
        let delay = (ticks << 3).max(1) as u32;
        self.memory.delay_min = Some(self.memory.delay_min.map_or(delay, |least| least.min(delay)));
    }

    fn begin_epoch(&self, cwnd: u32, now: u64) -> Epoch {
        let below = self.memory.w_max.saturating_sub(cwnd);
        let k = if below == 0 { 0 } else { self.arithmetic.k(below) };
        Epoch { start: now, k, origin: self.memory.w_max.max(cwnd), reno: cwnd, reno_acks: 1 }
    }

    /// How many ACKs one more segment takes.
    fn update(&mut self, cwnd: u32, now: u64, clock: Clock) {
        if let Some(epoch) = &mut self.memory.epoch {
            epoch.reno_acks += 1;
        }
        if self.memory.at.is_some_and(|(window, when)| window == cwnd && now - when <= u64::from(clock.hz() / KEEP)) {
            return;
        }
        self.memory.at = Some((cwnd, now));
        let mut epoch = self.memory.epoch.unwrap_or_else(|| self.begin_epoch(cwnd, now));
        let mut acks = self.cubic_acks(&epoch, cwnd, now, clock);
        if !self.memory.lost_before {
            acks = ACKS_BEFORE_FIRST_LOSS;
        }
        if self.params.reno_friendly {
            acks = acks.min(self.reno_acks(&mut epoch, cwnd));
        }
        self.memory.epoch = Some(epoch);
        let acks = (i64::from(acks) << RATIO_SHIFT) / self.segments_per_ack().max(1);
        self.memory.acks_per_segment = acks.clamp(1, i64::from(u32::MAX)) as u32;
    }

    /// The cubic function: window / (target - window), limited above the origin.
    fn cubic_acks(&self, epoch: &Epoch, cwnd: u32, now: u64, clock: Clock) -> u32 {
        let delay_min = self.memory.delay_min.unwrap_or(0);
        let t = Arithmetic::ticks(now + u64::from(delay_min >> 3) - epoch.start, clock.hz());
        let target = self.arithmetic.target(epoch.origin, epoch.k, t);
        let acks = if target > cwnd { cwnd / (target - cwnd) } else { cwnd.saturating_mul(100) };
        if t < epoch.k || delay_min == 0 {
            return acks;
        }
        // 16 segments per 100 ms are 16 delay/0.1 per round trip of cwnd ACKs.
        let least =
            u64::from(cwnd) * u64::from(clock.hz()) * 8 / (10 * u64::from(MAX_INCREMENT) * u64::from(delay_min));
        acks.max(least.min(u64::from(u32::MAX)) as u32)
    }

    /// Reno with the same decrease: one segment for each (1 + beta) / (3 (1 - beta)) windows of ACKs, in eighths.
    fn reno_acks(&self, epoch: &mut Epoch, cwnd: u32) -> u32 {
        let per_segment = self.arithmetic.reno_per_segment(cwnd);
        while epoch.reno_acks > per_segment {
            epoch.reno_acks -= per_segment;
            epoch.reno += 1;
        }
        if epoch.reno > cwnd { cwnd / (epoch.reno - cwnd) } else { u32::MAX }
    }
}

impl Law for Cubic {
    fn begin(&mut self, _: &mut Window, _: &Moment) {
        self.memory = Memory::default();
    }

    /// ratio += segments - ratio/16, the division rounding down: one segment per ACK settles at 31/16.
    fn observe(&mut self, _: &mut Window, phase: Phase, ack: &AckSample) {
        if phase == Phase::Open && ack.acked_segments > 0 {
            self.memory.more_per_ack += i64::from(ack.acked_segments) - (self.segments_per_ack() >> RATIO_SHIFT);
        }
    }

    fn grow(&mut self, window: &mut Window, ack: &AckSample) {
        let now = window.clock.jiffies(ack.now);
        self.measure_delay(ack, now, window.clock);
        if window.in_slow_start() {
            window.slow_start(ack);
            return;
        }
        self.update(window.cwnd, now, window.clock);
        window.count_or_add(window.count >= self.memory.acks_per_segment, 1);
    }

    fn ssthresh(&mut self, _: &Window, lost_at: u32, event: &CongestionEvent) -> u32 {
        let gives_way = self.params.fast_convergence && lost_at < self.memory.w_max;
        self.memory.epoch = None;
        self.memory.w_max = if gives_way { self.arithmetic.given_way(lost_at) } else { lost_at };
        self.memory.lost_before = true;
        let kept = if event.is_eased(self.abe) { Arithmetic::eased(lost_at) } else { self.arithmetic.reduced(lost_at) };
        kept.max(MIN_WINDOW)
    }

    fn enter(&mut self, _: &mut Window, _: Phase, to: Phase, _: &Moment) {
        if to == Phase::AfterTimeout {
            self.memory = Memory::default();
        }
    }

    fn rtt_us(&self, window: &Window) -> Option<u32> {
        self.memory.delay_min.map(|eighths| window.clock.us(eighths) / 8)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{ack, context, loss};
    use super::super::Era;
    use super::*;
    use crate::config::GrowthMode::PerAck;
    use lasthop_units::{Duration, Time};

    const RTT: Duration = Duration::from_millis(100);

    fn params() -> Params {
        Params { era: Era::Linux26, beta: 819.0 / 1024.0, ..Params::default() }
    }

    #[test]
    fn a_loss_leaves_four_fifths() {
        let mut cubic = params().build(&context(PerAck));
        cubic.on_congestion(&loss(Time::ZERO, 100.0));
        // floor(100 * 819 / 1024) = floor(79.98)
        assert_eq!((cubic.cwnd(), cubic.ssthresh()), (79.0, 79.0));
    }

    #[test]
    fn one_ack_per_segment_counts_as_31_sixteenths() {
        let mut cubic = Cubic::new(&params(), false);
        let mut window = Window::new(&context(PerAck), super::super::super::linux::Era::Linux26);
        (0..100).for_each(|i| cubic.observe(&mut window, Phase::Open, &ack(Time::from_nanos(i), 1, RTT, PerAck)));
        assert_eq!(cubic.segments_per_ack(), 31);
    }

    #[test]
    fn above_the_origin_growth_is_limited_to_16_segments_per_100_ms() {
        let mut cubic = params().build(&context(PerAck));
        let mut now = Time::ZERO + Duration::from_secs(1);
        cubic.on_congestion(&loss(now, 1000.0));
        cubic.on_recovery_exit(&Moment { now, snd_una: 0, snd_nxt: 0, app_limited: false });
        // K = cbrt(201 / 0.4) = 8 s; 30 s later the function asks for far more
        for _ in 0..400 {
            for _ in 0..cubic.cwnd() as u32 {
                cubic.on_ack(&ack(now, 1, RTT, PerAck));
            }
            now += RTT;
        }
        let before = cubic.cwnd();
        for _ in 0..before as u32 {
            cubic.on_ack(&ack(now, 1, RTT, PerAck));
        }
        // 16, times 31/16 by the estimator, less what rounding to whole ACKs takes
        let grown = cubic.cwnd() - before;
        assert!((16.0..=32.0).contains(&grown), "{grown}");
    }
}
