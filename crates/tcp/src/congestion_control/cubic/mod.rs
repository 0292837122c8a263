//! CUBIC: the window is a cubic function of the time since the last loss.
//!
//! Source: RFC 9438; for `era = "linux-2.6"` Ha, Rhee, Xu 2008 as in Linux 2.6.16-2.6.22 (see `linux_2_6`). Holds: the
//! cubic function (§4.2), growth clamped to 1.5 windows per round trip (§4.4, §4.5), the Reno-friendly region (§4.3),
//! multiplicative decrease (§4.6), fast convergence (§4.7), timeout (§4.8), undo of spurious reductions (§4.9),
//! HyStart++ (§4.10), no growth while application-limited (§5.8). Leaves out: windows of one segment after marks
//! (§4.6); two are the least. Names in backticks are the RFC's (§4.1). A current Linux kernel (`era = "linux"`, see `linux`;
//! HyStart included) departs from the RFC: at least 5 % per round trip before the first loss and after a timeout, a Reno
//! region that stays at alpha, and an integer count of ACKs per segment, which slows small windows.

mod arithmetic;
mod hystart;
mod linux;
mod linux_2_6;
mod params;

use lasthop_units::{Duration, Time};

use super::hystart_plus_plus::{HystartPlusPlus, SlowStart};
use super::linux::Framed;
use super::{AckSample, CongestionControl, CongestionEvent, Context, LOSS_WINDOW, MIN_SSTHRESH, Needs, slow_start};

pub use hystart::Hystart;
pub use params::{CubicEra, Params};

impl Params {
    /// A controller for one connection.
    pub fn build(&self, context: &Context) -> Box<dyn CongestionControl> {
        match self.era {
            CubicEra::Rfc9438 => Box::new(Cubic::new(self, context)),
            CubicEra::Linux => Framed::boxed(linux::Cubic::new(self, context.abe), context, super::KernelEra::Linux),
            CubicEra::Linux26 => {
                Framed::boxed(linux_2_6::Cubic::new(self, context.abe), context, super::KernelEra::Linux26)
            }
        }
    }
}

/// `beta` for a mark instead of a loss, if the sender backs off less for marks (ABE): a marking queue signals long before
/// it overflows, so a smaller cut suffices to drain it. [RFC 8511 §3, RFC 9438 §4.6]
const BETA_ECN: f64 = 0.85;

/// `W_max` after a loss at `window`: the window itself, or, with fast convergence, `window (1 + beta) / 2` if it did not come
/// back to the `W_max` before. A window that shrinks from loss to loss shows that others need a share; a lower plateau
/// leaves it to them. [RFC 9438 §4.7]
fn w_max_after(window: f64, last_w_max: f64, params: &Params) -> f64 {
    let shrank = params.fast_convergence && window < last_w_max;
    if shrank { window * (1.0 + params.beta) / 2.0 } else { window }
}

/// A stage of congestion avoidance: it begins with its first ACK, and ends with the next congestion event. [RFC 9438 §4.1.2]
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// `t_epoch`: the time at which the stage began. The argument of the cubic function is `t = t_current - t_epoch`.
    /// [RFC 9438 §4.1.2, §4.2] Time in which the application did not use the window must not count, so this start moves
    /// on by it. [RFC 9438 §5.8]
    start: Time,
    /// `K`: the seconds that the function takes from the window at the beginning of the stage to `W_max`,
    /// `K = cbrt((W_max - cwnd_epoch) / C)`; 0 if the stage begins at its plateau. [RFC 9438 §4.1.2, §4.2 Figure 2]
    k_s: f64,
    /// `W_max` of this stage, in segments: the plateau, where the function is flat and turns from concave to convex. It is
    /// `cwnd_epoch`, the window at the beginning of the stage, if that is larger, or after a timeout.
    /// [RFC 9438 §4.2, §4.8]
    origin: f64,
    /// `W_est`: an estimate of the window, in segments, that Reno would have in this stage. It begins at `cwnd_epoch`, and an
    /// ACK adds `alpha segments_acked / cwnd`. Where the function is below it, in the Reno-friendly region, it is the window.
    /// [RFC 9438 §4.1.2, §4.3 Figure 4]
    w_est: f64,
}

#[derive(Debug)]
struct Cubic {
    params: Params,
    abe: bool,
    /// `cwnd`: the present congestion window, in segments. [RFC 9438 §4.1.2]
    cwnd: f64,
    /// `ssthresh`: the present slow-start threshold, in segments; a congestion event sets it to `beta cwnd`, at least two.
    /// [RFC 9438 §4.1.2, §4.6]
    ssthresh: f64,
    /// `W_max`: the window just before the last reduction, in segments, or less by fast convergence; 0 before the first.
    /// [RFC 9438 §4.1.2, §4.7]
    w_max: f64,
    /// `cwnd_prior`: the window when `ssthresh` was last set, just before a reduction, in segments. Once `W_est` has come back
    /// to it, `alpha` is 1. The RFC sets it at the end of the first slow start too; here it is 0 until the first reduction,
    /// so that `alpha` is 1 from the start. [RFC 9438 §4.1.2, §4.3]
    cwnd_prior: f64,
    /// The next stage starts at its own plateau, with `K = 0` and `W_max = cwnd_epoch`: after a timeout, or before any loss.
    /// [RFC 9438 §4.8]
    from_plateau: bool,
    /// The stage of congestion avoidance, if one has begun; it does not exist in slow start and recovery.
    epoch: Option<Epoch>,
    /// Time of the latest ACK, by which pauses are measured. [RFC 9438 §5.8]
    last_ack: Time,
    /// `RTT`: the smoothed round-trip time, by which the target looks ahead. [RFC 9438 §4.1.2, §4.2]
    srtt: Option<Duration>,
    /// HyStart++, which may end slow start before a loss. [RFC 9438 §4.10, RFC 9406]
    hystart: Option<HystartPlusPlus>,
}

impl Cubic {
    fn new(params: &Params, context: &Context) -> Self {
        Cubic {
            params: params.clone(),
            abe: context.abe,
            cwnd: context.initial_window,
            ssthresh: context.initial_ssthresh,
            w_max: 0.0,
            cwnd_prior: 0.0,
            from_plateau: true,
            epoch: None,
            last_ack: Time::ZERO,
            srtt: None,
            hystart: (params.hystart == Hystart::PlusPlus).then(HystartPlusPlus::default),
        }
    }

    /// Begins a stage at the present window, `cwnd_epoch`: `K = cbrt((W_max - cwnd_epoch) / C)`. [RFC 9438 §4.2 Figure 2]
    fn begin_epoch(&self, now: Time) -> Epoch {
        let below = if self.from_plateau { 0.0 } else { (self.w_max - self.cwnd).max(0.0) };
        Epoch { start: now, k_s: libm::cbrt(below / self.params.c), origin: self.cwnd + below, w_est: self.cwnd }
    }

    /// `W_cubic(t) = C (t - K)^3 + W_max`: the window of the function, in segments, `t` seconds after the stage began. It rises
    /// fast, waits near `W_max`, where the last loss was, and then probes beyond, ever faster. [RFC 9438 §4.2 Figure 1]
    fn w_cubic(&self, epoch: &Epoch, t_s: f64) -> f64 {
        let offset = t_s - epoch.k_s;
        self.params.c * offset * offset * offset + epoch.origin
    }

    /// `alpha`: what a round trip adds to `W_est`, in segments. With `3 (1 - beta) / (1 + beta)` an increase by `alpha` and a
    /// decrease by `beta` have the mean window of Reno, which adds 1 and halves; from `cwnd_prior` on it is 1, as Reno's.
    /// [RFC 9438 §4.3]
    fn reno_increase(&self, w_est: f64) -> f64 {
        if w_est >= self.cwnd_prior { 1.0 } else { 3.0 * (1.0 - self.params.beta) / (1.0 + self.params.beta) }
    }

    /// Growth by `acked` segments: to `W_est` in the Reno-friendly region, else by `(target - cwnd) / cwnd` for each segment,
    /// where `target = W_cubic(t + RTT)`, the window wanted one round trip from now, is kept between `cwnd` and 1.5 `cwnd`.
    /// [RFC 9438 §4.2, §4.4, §4.5]
    fn avoid_congestion(&mut self, now: Time, acked: f64) {
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin_epoch(now));
        epoch.w_est += self.reno_increase(epoch.w_est) * acked / self.cwnd;
        self.epoch = Some(epoch);
        let t_s = now.since(epoch.start).as_secs_f64();
        if self.params.reno_friendly && self.w_cubic(&epoch, t_s) < epoch.w_est {
            // [RFC 9438 §4.3]; a window that is larger already stays.
            self.cwnd = self.cwnd.max(epoch.w_est);
            return;
        }
        let rtt_s = self.srtt.map_or(0.0, Duration::as_secs_f64);
        let target = self.w_cubic(&epoch, t_s + rtt_s).clamp(self.cwnd, 1.5 * self.cwnd);
        self.cwnd += (target - self.cwnd) / self.cwnd * acked;
    }

    /// Lets HyStart++ limit the growth of slow start, or end it.
    fn watch_slow_start(&mut self, ack: &AckSample) -> AckSample {
        let Some(hystart) = self.hystart.as_mut().filter(|_| self.cwnd < self.ssthresh) else { return *ack };
        match hystart.on_ack(ack) {
            SlowStart::Grow(by) => AckSample { slow_start_credit: by, ..*ack },
            SlowStart::Over => {
                self.ssthresh = self.cwnd;
                *ack
            }
        }
    }

    /// `ssthresh = beta cwnd`, and the facts that the next stage needs. [RFC 9438 §4.6]
    fn reduce(&mut self, event: &CongestionEvent) {
        let window = event.window;
        if let Some(hystart) = &mut self.hystart {
            hystart.end();
        }
        self.w_max = w_max_after(window, self.w_max, &self.params);
        self.cwnd_prior = window;
        let kept = if event.is_eased(self.abe) { BETA_ECN } else { self.params.beta };
        self.ssthresh = (window * kept).max(MIN_SSTHRESH);
        self.epoch = None;
    }
}

impl CongestionControl for Cubic {
    fn needs(&self) -> Needs {
        Needs { eases_marks: true, ..Needs::NONE }
    }

    fn on_ack(&mut self, ack: &AckSample) {
        let since_last = ack.now.since(self.last_ack);
        self.last_ack = ack.now;
        self.srtt = ack.srtt;
        if ack.in_recovery {
            return;
        }
        if ack.app_limited {
            if let Some(epoch) = &mut self.epoch {
                epoch.start += since_last;
            }
            return;
        }
        let watched = self.watch_slow_start(ack);
        let share = slow_start(&mut self.cwnd, self.ssthresh, &watched);
        if share > 0.0 {
            self.avoid_congestion(ack.now, ack.avoidance_credit * share);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.reduce(event);
        self.cwnd = self.ssthresh;
        self.from_plateau = false;
    }

    fn on_timeout(&mut self, event: &CongestionEvent) {
        if !event.repeated {
            self.reduce(event);
        }
        self.epoch = None;
        self.cwnd = LOSS_WINDOW;
        self.from_plateau = true;
    }

    fn on_idle(&mut self, restart_window: f64) {
        self.cwnd = self.cwnd.min(restart_window);
        self.epoch = None;
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
        self.srtt
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ack, context, loss};
    use super::*;
    use crate::congestion_control::CongestionCause;
    use crate::congestion_control::GrowthMode::PerByte;

    const RTT: Duration = Duration::from_millis(100);

    fn cubic() -> Cubic {
        Cubic::new(&Params::default(), &context(PerByte))
    }

    /// One ACK for each segment of a window, once per RTT, for `rounds` round trips.
    fn run(cubic: &mut Cubic, from: Time, rounds: u64) -> Time {
        let mut now = from;
        for _ in 0..rounds {
            for _ in 0..cubic.cwnd as u32 {
                cubic.on_ack(&ack(now, 1, RTT, PerByte));
            }
            now += RTT;
        }
        now
    }

    #[test]
    fn the_window_comes_back_to_w_max_after_k() {
        // K = cbrt((1000 - 700) / 0.4) = 9.0856 s
        let mut cubic = cubic();
        cubic.on_congestion(&loss(Time::ZERO, 1000.0));
        assert_eq!(cubic.cwnd(), 700.0);
        run(&mut cubic, Time::ZERO, 91);
        assert!((cubic.cwnd() - 1000.0).abs() < 2.0, "{}", cubic.cwnd());
        // 3 s after K: 0.4 * 27 = 10.8 above
        run(&mut cubic, Time::from_nanos(9_100_000_000), 30);
        assert!((cubic.cwnd() - 1010.8).abs() < 2.0, "{}", cubic.cwnd());
    }

    #[test]
    fn a_small_window_grows_as_reno_would() {
        // From 7 with W_max 10: K = 1.96 s; Reno with alpha 0.529 reaches 10 in about 5.7 round trips of 100 ms
        let mut cubic = cubic();
        cubic.on_congestion(&loss(Time::ZERO, 10.0));
        let start = cubic.cwnd();
        run(&mut cubic, Time::ZERO, 4);
        let grown = cubic.cwnd() - start;
        assert!((grown - 4.0 * 0.529).abs() < 0.3, "{grown}");
    }

    #[test]
    fn from_the_prior_window_on_reno_adds_one_per_round_trip() {
        let mut cubic = cubic();
        cubic.on_congestion(&loss(Time::ZERO, 10.0));
        let now = run(&mut cubic, Time::ZERO, 8);
        assert!(cubic.cwnd() > 10.0);
        let before = cubic.cwnd();
        run(&mut cubic, now, 5);
        assert!((cubic.cwnd() - before - 5.0).abs() < 0.5, "{} {before}", cubic.cwnd());
    }

    #[test]
    fn without_the_reno_region_a_small_window_waits_for_the_function() {
        let params = Params { reno_friendly: false, ..Params::default() };
        let mut slow = Cubic::new(&params, &context(PerByte));
        slow.on_congestion(&loss(Time::ZERO, 10.0));
        run(&mut slow, Time::ZERO, 4);
        let mut reno = cubic();
        reno.on_congestion(&loss(Time::ZERO, 10.0));
        run(&mut reno, Time::ZERO, 4);
        assert!(slow.cwnd() < reno.cwnd(), "{} {}", slow.cwnd(), reno.cwnd());
    }

    #[test]
    fn a_smaller_peak_releases_more() {
        // second loss at 800 < 1000: W_max = 800 * 1.7 / 2 = 680
        let mut cubic = cubic();
        cubic.on_congestion(&loss(Time::ZERO, 1000.0));
        cubic.on_congestion(&loss(Time::ZERO, 800.0));
        assert_eq!(cubic.w_max, 680.0);
        assert_eq!(cubic.cwnd(), 560.0);
    }

    #[test]
    fn growth_is_at_most_half_a_window_per_round_trip() {
        let mut cubic = cubic();
        cubic.on_congestion(&loss(Time::ZERO, 20.0));
        run(&mut cubic, Time::ZERO, 1);
        let before = cubic.cwnd();
        // 60 s later the function is at 0.4 * 57^3, far away; within one window of ACKs: e^0.5 at most
        run(&mut cubic, Time::from_nanos(60_000_000_000), 1);
        assert!(cubic.cwnd() <= before * 1.65, "{} {before}", cubic.cwnd());
    }

    #[test]
    fn after_a_timeout_the_function_starts_at_its_plateau() {
        let mut cubic = cubic();
        let timeout = CongestionEvent { cause: CongestionCause::Timeout, ..loss(Time::ZERO, 100.0) };
        cubic.on_timeout(&timeout);
        let now = run(&mut cubic, Time::ZERO, 7);
        assert!(cubic.cwnd() >= 70.0, "slow start is over: {}", cubic.cwnd());
        let epoch = cubic.epoch.unwrap();
        assert_eq!(epoch.k_s, 0.0);
        assert!(epoch.origin >= 70.0 && epoch.origin < 71.0);
        run(&mut cubic, now, 1);
    }

    #[test]
    fn hystart_plus_plus_leaves_slow_start_before_a_loss() {
        for era in [CubicEra::Rfc9438, CubicEra::Linux] {
            let params = Params { era, hystart: Hystart::PlusPlus, ..Params::default() };
            let mut control = params.build(&context(PerByte));
            let (mut now, mut una) = (Time::ZERO + RTT * 10, 0);
            // A path that holds 200 segments; the rest is queued.
            for _ in 0..14 {
                let window = control.cwnd() as u64;
                let rtt = RTT * window.max(200) / 200;
                for _ in 0..window {
                    una += 1;
                    let sample = ack(now, 1, rtt, PerByte);
                    control.on_ack(&AckSample { snd_una: una * 1000, snd_nxt: (una + window) * 1000, ..sample });
                }
                now += rtt;
            }
            // The RTT grows at 320 segments; eight samples later growth is a quarter: 328 * 1.25^5 = 1001 at most.
            let ssthresh = control.ssthresh();
            assert!((328.0..1001.0).contains(&ssthresh), "{era:?} {ssthresh}");
        }
    }

    #[test]
    fn hystart_is_read_as_a_word_or_as_it_was() {
        use lasthop_registry::{Parameter, Value};
        let read = |value: Value, era: &str| {
            let table = vec![("hystart".to_string(), value), ("era".to_string(), Value::text(era))];
            Params::parse(&Value::Table(table), "cubic").map(|params| params.hystart)
        };
        assert_eq!(read(Value::Bool(true), "linux").unwrap(), Hystart::Classic);
        assert_eq!(read(Value::text("plus_plus"), "rfc9438").unwrap(), Hystart::PlusPlus);
        assert_eq!(read(Value::text("off"), "linux-2.6").unwrap(), Hystart::Off);
        assert_eq!(read(Value::text("classic"), "rfc9438").unwrap_err().path, "cubic.hystart");
        assert!(read(Value::text("plus_plus"), "linux-2.6").is_err());
    }

    #[test]
    fn time_in_which_the_window_was_not_used_does_not_count() {
        let mut used = cubic();
        used.on_congestion(&loss(Time::ZERO, 1000.0));
        run(&mut used, Time::ZERO, 5);
        let mut paused = cubic();
        paused.on_congestion(&loss(Time::ZERO, 1000.0));
        run(&mut paused, Time::ZERO, 4);
        for i in 4..100 {
            let sample = ack(Time::ZERO + RTT * i, 1, RTT, PerByte);
            paused.on_ack(&AckSample { app_limited: true, ..sample });
        }
        run(&mut paused, Time::ZERO + RTT * 100, 1);
        assert!((paused.cwnd() - used.cwnd()).abs() < 0.1 * used.cwnd(), "{} {}", paused.cwnd(), used.cwnd());
    }
}
