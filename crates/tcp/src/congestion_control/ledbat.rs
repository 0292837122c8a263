//! LEDBAT: yields to others by keeping the queueing delay at a target.
//!
//! Source: RFC 6817; `plus_plus` is draft-irtf-iccrg-ledbat-plus-plus-01. Per window: cwnd += gain (1 - delay/target),
//! where delay is the least of the last four RTTs within a round trip less the least of the last ten minutes. LEDBAT++
//! grows more slowly than Reno, shrinks in proportion to the window when the delay is above target, and goes down to
//! two segments now and then, so that the least RTT is seen without its own queue. Both measure round trips, as
//! LEDBAT++ says; RFC 6817 measures one-way delays, which a TCP sender does not have. The first window is the sender's,
//! not the two segments of RFC 6817 §2.5. Both begin with slow start, up to the target (LEDBAT++: three quarters of
//! it). Leaves out: its own timeout (§2.2 of RFC 6817, CTO), replaced by the sender's RTO.

use core::mem::replace;

use lasthop_registry::{ParamError, params};
use lasthop_units::{Duration, Time};

use super::{AckSample, CongestionControl, CongestionEvent, Context, LOSS_WINDOW, MIN_SSTHRESH, slow_start};

params! {
    /// Parameters of LEDBAT.
    pub struct Params {
        /// Queueing delay to keep, at most 100 ms; left out: 100 ms [RFC 6817 §2.5], with plus_plus 60 ms [draft-irtf-iccrg-ledbat-plus-plus-01 §4.5].
        pub target: Option<Duration> = None,
        /// Growth on an empty queue, in segments per round trip; at most 1. [RFC 6817 §2.5]
        pub gain: f64 = 1.0,
        /// Number of segments by which the window may exceed the flight size. [RFC 6817 §2.5, ALLOWED_INCREASE]
        pub allowed_increase: f64 = 1.0,
        /// Use LEDBAT++. [draft-irtf-iccrg-ledbat-plus-plus-01]
        pub plus_plus: bool = false,
    }
    check |params, path| {
        if params.target.is_some_and(|target| target == Duration::ZERO || target > TARGET) {
            return Err(ParamError::new(format!("{path}.target"), "must be above 0, at most 100 ms"));
        }
        if params.gain <= 0.0 || params.gain > 1.0 {
            return Err(ParamError::new(format!("{path}.gain"), "must be above 0, at most 1"));
        }
        if params.allowed_increase <= 0.0 {
            return Err(ParamError::new(format!("{path}.allowed_increase"), "must be above 0"));
        }
        Ok(())
    }
}

impl Params {
    /// A controller for one connection.
    pub fn build(&self, context: &Context) -> Box<dyn CongestionControl> {
        Box::new(self.start(context))
    }

    fn start(&self, context: &Context) -> Ledbat {
        let usual = if self.plus_plus { TARGET_PLUS_PLUS } else { TARGET };
        Ledbat {
            params: self.clone(),
            target_s: self.target.unwrap_or(usual).as_secs_f64(),
            mss: f64::from(context.mss_bytes),
            cwnd: context.initial_window,
            ssthresh: context.initial_ssthresh,
            delays: Delays::default(),
            slowdown: Slowdown::Never,
        }
    }
}

/// [RFC 6817 §2.5, TARGET]
const TARGET: Duration = Duration::from_millis(100);
/// [LEDBAT++ §4.5]
const TARGET_PLUS_PLUS: Duration = Duration::from_millis(60);
/// RTTs whose least is the current one, of those within a round trip. [RFC 6817 §2.5, CURRENT_FILTER]
const CURRENT: usize = 4;
/// Minutes whose least is the base. [RFC 6817 §2.5, BASE_HISTORY]
const HISTORY: usize = 10;
const MINUTE: Duration = Duration::from_secs(60);
/// LEDBAT++: gain is 1 / min(16, 2 target / base). [§4.2]
const LARGEST_DIVISOR: f64 = 16.0;
/// LEDBAT++: slow start ends at this share of the target. [§4.1]
const SLOW_START_SHARE: f64 = 0.75;
/// LEDBAT++: a slowdown holds two segments for two round trips, and the next begins after nine times its length. [§4.4]
const SLOWDOWN_ROUNDS: u64 = 2;
const SLOWDOWN_PAUSE: u64 = 9;

/// The least RTTs: the current one, and one for each of the last minutes.
#[derive(Clone, Copy, Debug, Default)]
struct Delays {
    /// with the time of each
    current: [Option<(Time, Duration)>; CURRENT],
    next: usize,
    base: [Option<Duration>; HISTORY],
    minute_began: Time,
}

impl Delays {
    /// Drops what is out of date: an RTT older than a round trip does not show the present queue, and a minute without
    /// an RTT has no least one. [RFC 6817 §2.4.2, §2.5]
    fn hear(&mut self, now: Time, rtt: Duration, srtt: Duration) {
        self.current[self.next] = Some((now, rtt));
        self.next = (self.next + 1) % CURRENT;
        for old in &mut self.current {
            *old = old.filter(|&(at, _)| now.since(at) <= srtt);
        }
        let minutes = now.since(self.minute_began).div_floor(MINUTE);
        for _ in 0..minutes.min(HISTORY as u64) {
            self.base.rotate_right(1);
            self.base[0] = None;
        }
        self.minute_began += MINUTE * minutes;
        self.base[0] = Some(self.base[0].map_or(rtt, |least| least.min(rtt)));
    }

    fn base(&self) -> Option<Duration> {
        self.base.iter().flatten().min().copied()
    }

    fn current(&self) -> Option<Duration> {
        self.current.iter().flatten().map(|&(_, rtt)| rtt).min()
    }

    fn queueing_s(&self) -> f64 {
        self.current().zip(self.base()).map_or(0.0, |(current, base)| current.saturating_sub(base).as_secs_f64())
    }
}

/// LEDBAT++: the phase between slowdowns. [§4.4]
#[derive(Clone, Copy, Debug, PartialEq)]
enum Slowdown {
    Never,
    /// the next begins then
    Due(Time),
    /// two segments are held until then
    Holding {
        began: Time,
        until: Time,
    },
    /// slow start up to ssthresh
    Ramping {
        began: Time,
    },
}

#[derive(Debug)]
struct Ledbat {
    params: Params,
    target_s: f64,
    mss: f64,
    /// in segments
    cwnd: f64,
    /// in segments
    ssthresh: f64,
    delays: Delays,
    slowdown: Slowdown,
}

impl Ledbat {
    /// Segments per round trip on an empty queue. [RFC 6817 §2.5; LEDBAT++ §4.2]
    fn gain(&self) -> f64 {
        if !self.params.plus_plus {
            return self.params.gain;
        }
        let base_s = self.delays.base().map_or(0.0, Duration::as_secs_f64);
        let ratio = libm::ceil(2.0 * self.target_s / base_s.max(1e-9));
        self.params.gain / ratio.clamp(1.0, LARGEST_DIVISOR)
    }

    /// [RFC 6817 §2.4.2; LEDBAT++ §4.3]
    fn avoid_congestion(&mut self, acked: f64) {
        let off_target = 1.0 - self.delays.queueing_s() / self.target_s;
        let per_round = if !self.params.plus_plus {
            self.gain() * off_target
        } else if off_target >= 0.0 {
            self.gain()
        } else {
            (self.gain() + self.cwnd * off_target).max(-self.cwnd / 2.0)
        };
        self.cwnd = (self.cwnd + per_round * acked / self.cwnd).max(MIN_SSTHRESH);
        // A window that shrinks is no reason for slow start.
        self.ssthresh = self.ssthresh.min(self.cwnd);
    }

    /// Keeps an unused window close to the data in flight. A used one may lie far above it, as a sender may hold short
    /// sends back. [RFC 6817 §2.4.1, max_allowed_cwnd]
    fn bound_by_flight(&mut self, ack: &AckSample) {
        if self.cwnd >= self.ssthresh {
            let flight = ack.prior_flight_bytes as f64 / self.mss;
            self.cwnd = self.cwnd.min(flight + self.params.allowed_increase).max(MIN_SSTHRESH);
        }
    }

    fn grow(&mut self, ack: &AckSample) {
        let credit = if self.params.plus_plus { self.gain() } else { 1.0 };
        let sample = AckSample { slow_start_credit: ack.slow_start_credit * credit, ..*ack };
        let share = slow_start(&mut self.cwnd, self.ssthresh, &sample);
        if share == 0.0 {
            let limit = if self.params.plus_plus { SLOW_START_SHARE } else { 1.0 };
            if self.delays.queueing_s() > limit * self.target_s {
                self.ssthresh = self.cwnd;
            }
        } else {
            self.avoid_congestion(ack.avoidance_credit * share);
        }
    }

    /// True while two segments are held. [LEDBAT++ §4.4]
    fn slows_down(&mut self, now: Time, rtt: Duration) -> bool {
        let in_slow_start = self.cwnd < self.ssthresh;
        match self.slowdown {
            Slowdown::Never if !in_slow_start => self.slowdown = Slowdown::Due(now + rtt * SLOWDOWN_ROUNDS),
            Slowdown::Due(at) if now >= at && !in_slow_start => {
                self.ssthresh = replace(&mut self.cwnd, MIN_SSTHRESH).max(MIN_SSTHRESH);
                self.slowdown = Slowdown::Holding { began: now, until: now + rtt * SLOWDOWN_ROUNDS };
                return true;
            }
            Slowdown::Holding { began, until } if now >= until => self.slowdown = Slowdown::Ramping { began },
            Slowdown::Holding { .. } => return true,
            Slowdown::Ramping { began } if !in_slow_start => {
                self.slowdown = Slowdown::Due(now + now.since(began) * SLOWDOWN_PAUSE);
            }
            _ => {}
        }
        false
    }

    fn reduce(&mut self, window: f64) {
        self.ssthresh = (window / 2.0).max(MIN_SSTHRESH);
        self.cwnd = self.ssthresh;
    }
}

impl CongestionControl for Ledbat {
    fn on_ack(&mut self, ack: &AckSample) {
        if let Some(rtt) = ack.rtt_sample {
            self.delays.hear(ack.now, rtt, ack.srtt.unwrap_or(rtt));
        }
        if ack.in_recovery || ack.acked_segments == 0 {
            return;
        }
        if ack.app_limited {
            return self.bound_by_flight(ack);
        }
        let rtt = ack.srtt.unwrap_or(Duration::ZERO);
        if self.params.plus_plus && self.slows_down(ack.now, rtt) {
            return;
        }
        self.grow(ack);
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.reduce(event.window);
    }

    fn on_timeout(&mut self, event: &CongestionEvent) {
        if !event.repeated {
            self.reduce(event.window);
        }
        self.cwnd = LOSS_WINDOW;
    }

    fn on_idle(&mut self, restart_window: f64) {
        self.cwnd = self.cwnd.min(restart_window);
    }

    fn set_window(&mut self, segments: f64) {
        self.cwnd = segments;
    }

    fn set_ssthresh(&mut self, segments: f64) {
        self.ssthresh = segments;
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn rtt(&self) -> Option<Duration> {
        self.delays.current()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ack, context};
    use super::*;
    use crate::congestion_control::GrowthMode::PerByte;

    const BASE: Duration = Duration::from_millis(50);

    /// A path of `bdp` segments in 50 ms; the rest is queued.
    struct Path {
        control: Box<dyn CongestionControl>,
        now: Time,
        bdp: f64,
    }

    impl Path {
        fn new(params: &Params, ssthresh: f64, bdp: f64) -> Path {
            let mut control = params.build(&context(PerByte));
            control.set_ssthresh(ssthresh);
            Path { control, now: Time::ZERO, bdp }
        }

        /// A round trip; its RTT.
        fn round(&mut self) -> Duration {
            let window = self.control.cwnd() as u64;
            let rtt = Duration::from_secs_f64(BASE.as_secs_f64() * (window as f64 / self.bdp).max(1.0));
            for i in 0..window {
                let sample = ack(self.now + rtt * i / window, 1, rtt, PerByte);
                let prior_flight_bytes = self.control.cwnd() as u64 * 1000;
                self.control.on_ack(&AckSample { prior_flight_bytes, ..sample });
            }
            self.now += rtt;
            rtt
        }

        fn rounds(&mut self, count: u32) -> Vec<f64> {
            (0..count)
                .map(|_| {
                    self.round();
                    self.control.cwnd()
                })
                .collect()
        }
    }

    #[test]
    fn the_queueing_delay_settles_at_the_target() {
        // 100 ms of queue on 50 ms of path: a window of three times the path. Off by x segments, a round trip takes
        // x/200 of them back.
        let mut path = Path::new(&Params::default(), f64::INFINITY, 100.0);
        path.rounds(2000);
        let queueing = path.round() - BASE;
        assert!((queueing.as_secs_f64() - 0.1).abs() < 0.002, "{queueing}");
        assert!((path.control.cwnd() - 300.0).abs() < 4.0, "{}", path.control.cwnd());
    }

    #[test]
    fn plus_plus_has_a_default_target_of_60_ms() {
        let target_s = |params: Params| params.start(&context(PerByte)).target_s;
        let plus_plus = Params { plus_plus: true, ..Params::default() };
        assert_eq!(target_s(plus_plus.clone()), 0.06);
        assert_eq!(target_s(Params { target: Some(Duration::from_millis(100)), ..plus_plus }), 0.1);
        assert_eq!(target_s(Params::default()), 0.1);
    }

    #[test]
    fn growth_is_one_segment_per_round_trip_on_an_empty_queue() {
        let mut path = Path::new(&Params::default(), 10.0, 1000.0);
        let grown = path.rounds(20);
        // A round has as many ACKs as whole segments in the window, so that it adds a little less than one.
        assert!((28.0..=30.0).contains(&grown[19]), "{grown:?}");
    }

    #[test]
    fn plus_plus_grows_by_its_gain_and_slows_down_for_a_tenth_of_the_time() {
        // 2 * 60/50 rounded up: 3, so a third of a segment per round trip
        let params = Params { plus_plus: true, ..Params::default() };
        let mut path = Path::new(&params, 10.0, 1000.0);
        let grown = path.rounds(2000);
        assert!((grown[1] - 10.65).abs() < 0.05, "{grown:?}");
        // Two round trips after slow start: two segments, for two round trips; then slow start with its gain.
        let least: Vec<usize> = (0..2000).filter(|&round| grown[round] == 2.0).collect();
        assert!((2..=4).contains(&least[0]), "{least:?}");
        // Each slowdown takes a tenth of the time: from one to the next ten times its length, here some 13 rounds
        // at first, later more, since the window to come back to is larger.
        let begins = least.windows(2).filter(|pair| pair[1] - pair[0] > 1).count();
        assert!((8..=16).contains(&begins), "{begins} slowdowns: {least:?}");
    }

    #[test]
    fn plus_plus_shrinks_in_proportion_above_the_target() {
        let params = Params { plus_plus: true, ..Params::default() };
        let mut ledbat = params.start(&context(PerByte));
        ledbat.delays.hear(Time::ZERO, BASE, BASE);
        (0..CURRENT).for_each(|_| ledbat.delays.hear(Time::ZERO, BASE + Duration::from_millis(66), BASE));
        ledbat.set_window(100.0);
        // A tenth above the target: a tenth of the window in a round trip, less the gain of a third; a hundredth of
        // that for one ACK.
        ledbat.avoid_congestion(1.0);
        assert!((ledbat.cwnd - 99.9033).abs() < 0.001, "{}", ledbat.cwnd);
    }

    #[test]
    fn the_base_is_forgotten_after_ten_minutes() {
        let mut delays = Delays::default();
        delays.hear(Time::ZERO, BASE, BASE);
        for minute in 1..10 {
            delays.hear(Time::ZERO + MINUTE * minute, BASE * 2, BASE);
        }
        assert_eq!(delays.base(), Some(BASE));
        delays.hear(Time::ZERO + MINUTE * 10, BASE * 2, BASE);
        assert_eq!(delays.base(), Some(BASE * 2));
    }

    #[test]
    fn minutes_without_an_rtt_count_too() {
        // RFC 6817 §2.4.2: after ten idle minutes measurement begins again.
        let mut delays = Delays::default();
        delays.hear(Time::ZERO, BASE, BASE);
        delays.hear(Time::ZERO + MINUTE * 9, BASE * 2, BASE);
        assert_eq!(delays.base(), Some(BASE));
        delays.hear(Time::ZERO + MINUTE * 10, BASE * 2, BASE);
        assert_eq!(delays.base(), Some(BASE * 2));
    }

    #[test]
    fn an_rtt_counts_for_a_round_trip() {
        // RFC 6817 §2.5: samples MUST NOT be older than an RTT. One each round trip, as with two segments: the last.
        let mut delays = Delays::default();
        let queue = Duration::from_millis(100);
        delays.hear(Time::ZERO, BASE, BASE);
        delays.hear(Time::ZERO + BASE, BASE + queue, BASE);
        assert_eq!(delays.queueing_s(), 0.0, "just a round trip old");
        delays.hear(Time::ZERO + BASE * 3, BASE + queue, BASE);
        assert_eq!(delays.queueing_s(), 0.1);
    }
}
