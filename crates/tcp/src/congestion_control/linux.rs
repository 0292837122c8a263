//! The frame in which Linux keeps a controller: a window of whole segments, a counter, and hooks.
//!
//! Models: the integer window with its counter of acknowledged segments, the order in which a controller learns of an
//! ACK, a loss, a timeout and the end of recovery, and the clock of ticks, for a current kernel and for 2.6.16 to
//! 2.6.22. Source: RFC 5681, RFC 3465; counters, rounding and order by `docs/model/congestion-control-rules.md`,
//! confirmed by traces of both (`docs/vectors.md`). Leaves out: Disorder, undo, and the window within recovery.

use core::fmt;

use lasthop_registry::words;
use lasthop_units::{Duration, Time};

use super::{AckSample, CongestionControl, CongestionEvent, Context, Moment, Needs, Prior};
use super::{Growth, GrowthMode};
use crate::tick::Tick;

words! {
    /// The kernel whose constants, counting and rounding apply.
    pub enum KernelEra {
        /// A current kernel: segments are counted.
        Linux = "linux",
        /// Linux 2.6.16 to 2.6.22: ACKs are counted.
        Linux26 = "linux-2.6",
    }
}

/// No threshold yet.
pub(super) const INFINITE: u32 = i32::MAX as u32;
/// No RTT yet, in µs.
pub(super) const NO_RTT: u32 = i32::MAX as u32;
/// The least window after a loss, in segments. [RFC 5681 §3.1 (4)]
pub(super) const MIN_WINDOW: u32 = 2;

/// The phase of the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Open,
    Recovery,
    AfterTimeout,
}

/// The kernel's clock: ticks of 1/HZ, called jiffies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    tick: Tick,
}

impl Clock {
    pub fn new(tick: Duration) -> Self {
        Clock { tick: Tick::new(tick) }
    }

    /// Ticks in a second; one at least.
    pub fn hz(&self) -> u32 {
        (1_000_000_000 / self.tick.length().as_nanos()).clamp(1, 1_000_000) as u32
    }

    /// The number of ticks until `now`.
    pub fn jiffies(&self, now: Time) -> u64 {
        self.tick.whole(now.as_nanos())
    }

    /// Whole ticks in a duration.
    fn whole(&self, duration: Duration) -> u64 {
        self.tick.whole(duration.as_nanos())
    }

    /// Ticks that cover a duration.
    pub fn covering(&self, duration: Duration) -> u64 {
        self.tick.whole(self.tick.cover(duration.as_nanos()))
    }

    /// Ticks that cover so many µs.
    pub fn covering_us(&self, us: u32) -> u32 {
        self.covering(Duration::from_micros(u64::from(us))).min(u64::from(NO_RTT)) as u32
    }

    /// Ticks that end within the `rtt` before `now`.
    pub fn within(&self, now: Time, rtt: Duration) -> u64 {
        let sent = now.as_nanos().saturating_sub(rtt.as_nanos());
        self.jiffies(now) - self.tick.whole(sent)
    }

    /// The length of so many ticks in µs.
    pub fn us(&self, ticks: u32) -> u32 {
        let us = u64::from(ticks) * self.tick.length().as_nanos() / 1000;
        us.min(u64::from(NO_RTT)) as u32
    }
}

/// The RTT that an ACK measured, in µs.
pub(super) fn rtt_us(ack: &AckSample) -> Option<u32> {
    ack.rtt_sample.map(|rtt| (rtt.as_nanos() / 1000).min(u64::from(NO_RTT)) as u32)
}

/// The window, in segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub era: KernelEra,
    pub clock: Clock,
    pub cwnd: u32,
    /// Acknowledged segments or ACKs that wait to become a segment of window.
    pub count: u32,
    pub ssthresh: u32,
    /// Eight times the smoothed RTT: in µs, in 2.6 in clock ticks.
    pub srtt8: u32,
    /// 2.6: segments acknowledged that byte counting has not used. [RFC 3465]
    uncounted: u32,
    growth: Growth,
}

impl Window {
    pub fn new(context: &Context, era: KernelEra) -> Self {
        Window {
            era,
            clock: Clock::new(context.tick),
            cwnd: context.initial_window as u32,
            count: 0,
            ssthresh: (context.initial_ssthresh as u32).min(INFINITE),
            srtt8: 0,
            uncounted: 0,
            growth: context.growth,
        }
    }

    /// True in slow start; the older kernel is in slow start at ssthresh too.
    pub fn in_slow_start(&self) -> bool {
        match self.era {
            KernelEra::Linux => self.cwnd < self.ssthresh,
            KernelEra::Linux26 => self.cwnd <= self.ssthresh,
        }
    }

    /// Segments that an ACK counts for in slow start.
    fn slow_start_count(&self, ack: &AckSample) -> u32 {
        counted(self.growth.slow_start, ack)
    }

    /// Slow start; returns the segments that are left for congestion avoidance.
    pub fn slow_start(&mut self, ack: &AckSample) -> u32 {
        let acked = self.slow_start_count(ack);
        match self.era {
            KernelEra::Linux => {
                let grown = self.cwnd.saturating_add(acked).min(self.ssthresh);
                let used = grown - self.cwnd;
                self.cwnd = grown;
                acked - used
            }
            KernelEra::Linux26 => {
                self.uncounted = 0;
                self.buy(acked);
                0
            }
        }
    }

    /// The older slow start: each segment that counts earns a credit as large as the window, and each segment of growth
    /// costs as much. Credit left from a larger window therefore buys segments at once.
    fn buy(&mut self, acked: u32) {
        let credit = u128::from(self.count) + u128::from(acked) * u128::from(self.cwnd);
        let (bought, cost) = affordable(self.cwnd, credit);
        self.cwnd += bought;
        self.count = (credit - cost).min(u128::from(u32::MAX)) as u32;
    }

    /// Runs slow start as long as it lasts. Returns the segments of the ACK that count for congestion avoidance.
    pub fn slow_start_or_count(&mut self, ack: &AckSample) -> u32 {
        if self.in_slow_start() { self.slow_start(ack) } else { self.avoidance_count(ack) }
    }

    /// Segments that an ACK counts for in congestion avoidance.
    pub fn avoidance_count(&self, ack: &AckSample) -> u32 {
        counted(self.growth.avoidance, ack)
    }

    /// One segment for each `per` acknowledged. Credit earned under a larger divisor buys one segment at most.
    pub fn add_one_per(&mut self, per: u32, acked: u32) {
        let per = per.max(1);
        let (due, credit) = if self.count >= per { (1, 0) } else { (0, self.count) };
        let credit = credit.saturating_add(acked);
        self.cwnd = self.cwnd.saturating_add(due + credit / per);
        self.count = credit % per;
    }

    /// The older counter: an ACK either counts or, once `enough`, buys a segment.
    pub fn count_or_add(&mut self, enough: bool, acked: u32) {
        if enough {
            self.cwnd = self.cwnd.saturating_add(1);
            self.count = 0;
        } else {
            self.count = self.count.saturating_add(acked);
        }
    }

    /// Reno's growth in both phases. [RFC 5681 §3.1]
    pub fn reno(&mut self, ack: &AckSample) {
        if self.era == KernelEra::Linux26 {
            return self.reno_2_6(ack);
        }
        let left = self.slow_start_or_count(ack);
        if left > 0 {
            self.add_one_per(self.cwnd, left);
        }
    }

    fn reno_2_6(&mut self, ack: &AckSample) {
        if self.in_slow_start() {
            self.slow_start(ack);
        } else if self.growth.avoidance == GrowthMode::PerAck {
            self.count_or_add(self.count >= self.cwnd, 1);
        } else if self.uncounted >= self.cwnd {
            self.uncounted -= self.cwnd;
            self.cwnd = self.cwnd.saturating_add(1);
        }
    }

    /// ssthresh outside recovery, as an observer sees it: not below three quarters of the window.
    pub fn current_ssthresh(&self) -> u32 {
        self.ssthresh.max((self.cwnd >> 1) + (self.cwnd >> 2))
    }

    fn hear(&mut self, ack: &AckSample) {
        self.uncounted = self.uncounted.saturating_add(ack.acked_segments);
        if let Some(rtt) = ack.rtt_sample {
            self.measure(rtt);
        }
    }

    /// srtt <- 7/8 srtt + 1/8 rtt. [RFC 6298 §2.3] 2.6 takes whole ticks, rounded down as in the traces; a kernel
    /// counts the ticks that ended within the RTT, half a tick more on average.
    fn measure(&mut self, rtt: Duration) {
        let sample = match self.era {
            KernelEra::Linux => rtt.as_nanos() / 1000,
            KernelEra::Linux26 => self.clock.whole(rtt).max(1),
        };
        // The field holds at most eight times 268 s.
        let sample = sample.min(u64::from(u32::MAX / 16)) as u32;
        self.srtt8 = if self.srtt8 == 0 { sample << 3 } else { (self.srtt8 - (self.srtt8 >> 3) + sample).max(1) };
    }

    pub fn reduce_to(&mut self, ssthresh: u32) {
        self.ssthresh = ssthresh;
        self.count = 0;
        self.uncounted = 0;
    }
}

fn counted(mode: GrowthMode, ack: &AckSample) -> u32 {
    match mode {
        GrowthMode::PerAck => ack.acked_segments.min(1),
        GrowthMode::PerByte => ack.acked_segments,
    }
}

/// The most segments that a window can grow by for `credit`, each costing the window that it finds, and their cost:
/// n w + n (n - 1)/2 for n.
fn affordable(cwnd: u32, credit: u128) -> (u32, u128) {
    let (w, room) = (i128::from(cwnd), i128::from(INFINITE.saturating_sub(cwnd)));
    let b = 2 * w - 1;
    let n = (((b * b) as u128 + 8 * credit).isqrt() as i128 - b) / 2;
    let n = n.min(room);
    (n as u32, (n * w + n * (n - 1) / 2) as u128)
}

/// A price, with the window and the tick for which it was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quote {
    pub price: u32,
    pub cwnd: u32,
    pub at: u64,
}

/// Time for which a price holds while the window stays, as a share of a second.
const HOLDS: u32 = 32;

impl Quote {
    /// True while the price need not be computed again.
    pub fn holds(&self, cwnd: u32, now: u64, clock: Clock) -> bool {
        self.cwnd == cwnd && now - self.at <= u64::from(clock.hz() / HOLDS)
    }
}

/// The share `parts`/`of` of a window, rounded down.
pub(super) fn share(window: u32, parts: u32, of: u32) -> u32 {
    (u64::from(window) * u64::from(parts) / u64::from(of)).min(u64::from(u32::MAX)) as u32
}

/// The part that one controller adds to the frame.
pub(super) trait Law: fmt::Debug + Send {
    /// The demands of the controller on its endpoint.
    fn needs(&self) -> Needs {
        Needs::NONE
    }
    /// Called when the connection begins. The handshake's RTT is in `window.srtt8`.
    fn begin(&mut self, _window: &mut Window, _at: &Moment) {}
    /// Called when data leaves after everything was acknowledged.
    fn restart(&mut self, _window: &mut Window, _at: &Moment) {}
    /// Called for each ACK, whatever the phase.
    fn observe(&mut self, _window: &mut Window, _phase: Phase, _ack: &AckSample) {}
    /// Called for an ACK of new data that may enlarge the window.
    fn grow(&mut self, window: &mut Window, ack: &AckSample);
    /// ssthresh after a loss at `lost_at` segments.
    fn ssthresh(&mut self, _window: &Window, lost_at: u32, _event: &CongestionEvent) -> u32 {
        (lost_at / 2).max(MIN_WINDOW)
    }
    /// Called after the window was set for the new phase.
    fn enter(&mut self, _window: &mut Window, _from: Phase, _to: Phase, _at: &Moment) {}
    /// The RTT that the controller uses, in µs.
    fn rtt_us(&self, _window: &Window) -> Option<u32> {
        None
    }
}

/// A controller: a law in its frame.
#[derive(Debug)]
pub(super) struct Framed<L> {
    window: Window,
    phase: Phase,
    law: L,
}

impl<L: Law + 'static> Framed<L> {
    /// A controller for one connection.
    pub fn boxed(law: L, context: &Context, era: KernelEra) -> Box<dyn CongestionControl> {
        let mut framed = Framed { window: Window::new(context, era), phase: Phase::Open, law };
        framed.law.begin(&mut framed.window, &Moment { now: Time::ZERO, snd_una: 0, snd_nxt: 0, app_limited: false });
        Box::new(framed)
    }

    fn enter(&mut self, to: Phase, at: &Moment) {
        let from = self.phase;
        self.phase = to;
        self.law.enter(&mut self.window, from, to, at);
    }
}

fn moment_of(ack: &AckSample) -> Moment {
    Moment { now: ack.now, snd_una: ack.snd_una, snd_nxt: ack.snd_nxt, app_limited: ack.app_limited }
}

fn moment(event: &CongestionEvent) -> Moment {
    Moment { now: event.now, snd_una: event.snd_una, snd_nxt: event.snd_nxt, app_limited: false }
}

impl<L: Law + 'static> CongestionControl for Framed<L> {
    fn needs(&self) -> Needs {
        self.law.needs()
    }

    fn on_established(&mut self, at: &Moment, rtt: Option<Duration>) {
        if let Some(rtt) = rtt {
            self.window.measure(rtt);
        }
        self.law.begin(&mut self.window, at);
    }

    fn on_transmit_start(&mut self, at: &Moment) {
        self.law.restart(&mut self.window, at);
    }

    fn observe(&mut self, ack: &AckSample) -> bool {
        self.window.hear(ack);
        self.law.observe(&mut self.window, self.phase, ack);
        true
    }

    fn on_ack(&mut self, ack: &AckSample) {
        if !ack.observed {
            self.observe(ack);
        }
        if ack.ends_timeout {
            self.enter(Phase::Open, &moment_of(ack));
        }
        if !ack.in_recovery && !ack.app_limited && ack.acked_segments > 0 {
            self.law.grow(&mut self.window, ack);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        let ssthresh = self.law.ssthresh(&self.window, event.window as u32, event);
        self.window.reduce_to(ssthresh);
        self.window.cwnd = ssthresh;
        self.enter(Phase::Recovery, &moment(event));
    }

    fn on_timeout(&mut self, event: &CongestionEvent) {
        if !event.repeated {
            let ssthresh = self.law.ssthresh(&self.window, event.window as u32, event);
            self.window.reduce_to(ssthresh);
        }
        self.window.cwnd = 1;
        self.window.count = 0;
        self.enter(Phase::AfterTimeout, &moment(event));
    }

    fn on_recovery_exit(&mut self, at: &Moment) {
        if self.window.ssthresh < INFINITE {
            self.window.cwnd = self.window.ssthresh;
        }
        self.enter(Phase::Open, at);
    }

    fn on_spurious(&mut self, at: &Moment, prior: &Prior) {
        self.set_window(self.cwnd().max(prior.cwnd));
        self.set_ssthresh(self.ssthresh().max(prior.ssthresh));
        self.enter(Phase::Open, at);
    }

    fn on_idle(&mut self, restart_window: f64) {
        self.window.cwnd = self.window.cwnd.min(restart_window as u32);
    }

    fn set_window(&mut self, segments: f64) {
        self.window.cwnd = segments as u32;
    }

    fn set_ssthresh(&mut self, segments: f64) {
        self.window.ssthresh = if segments.is_finite() { segments as u32 } else { INFINITE };
    }

    fn cwnd(&self) -> f64 {
        f64::from(self.window.cwnd)
    }

    fn ssthresh(&self) -> f64 {
        if self.window.ssthresh >= INFINITE { f64::INFINITY } else { f64::from(self.window.ssthresh) }
    }

    fn rtt(&self) -> Option<Duration> {
        self.law.rtt_us(&self.window).filter(|&us| us < NO_RTT).map(|us| Duration::from_micros(u64::from(us)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ack, context};
    use super::*;

    #[test]
    fn a_clock_of_250_hz_counts_by_4_ms() {
        let clock = Clock::new(Duration::from_millis(4));
        assert_eq!(clock.hz(), 250);
        // 100.1 ms are covered by 26 ticks, 104 ms; usecs_to_jiffies rounds up
        assert_eq!((clock.covering_us(100_100), clock.covering_us(100_000), clock.us(26)), (26, 25, 104_000));
        // From 3 ms to 9 ms ticks end at 4 ms and 8 ms.
        assert_eq!(clock.within(Time::from_nanos(9_000_000), Duration::from_millis(6)), 2);
        assert_eq!(clock.jiffies(Time::from_nanos(147_999_999)), 36);
    }

    #[test]
    fn leftover_of_the_2_6_counter_adds_segments_in_slow_start() {
        let mut window = Window::new(&context(GrowthMode::PerAck), KernelEra::Linux26);
        (window.cwnd, window.count) = (158, 313);
        // 313 + 158 = 471 = 158 + 159 + 154
        window.slow_start(&ack(Time::ZERO, 1, Duration::from_millis(50), GrowthMode::PerAck));
        assert_eq!((window.cwnd, window.count), (160, 154));
        // 154 + 160 = 314 = 160 + 154: one segment per ACK from here on
        window.slow_start(&ack(Time::ZERO, 1, Duration::from_millis(50), GrowthMode::PerAck));
        assert_eq!((window.cwnd, window.count), (161, 154));
    }
}
