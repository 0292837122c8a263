//! Congestion control: how much may be in flight.
//!
//! The sender finds out what was delivered and what was lost; a controller turns that into a window in
//! segments (a real number). What a window does during recovery (inflation, PRR) is the sender's affair:
//! after [`CongestionControl::on_congestion`] a controller's window is the one to come out with.
//!
//! | source | what is taken from it |
//! |---|---|
//! | RFC 5681, RFC 6582 | `newreno` |
//! | RFC 9438 | `cubic` |
//! | `docs/model/congestion-control-rules.md` | units, rounding and guards of what counts whole segments |
//! | recorded traces of Linux 2.6.22 and 6.12 (`docs/vectors.md`) | `linux`, the frame of whole segments, and what sits in it |
//! | draft-ietf-ccwg-bbr-02 | the form of [`AckSample`]: what a controller that models the path would need |

use lasthop_registry::registry;

mod draws;
mod growth;
mod hystart_plus_plus;
mod interface;
mod linux;
mod long_run;
mod needs;
mod round;

pub use draws::Draws;
pub use growth::{Growth, GrowthMode};
pub use interface::{
    AckSample, CongestionCause, CongestionControl, CongestionEvent, Context, Moment, Prior, RateSample,
};
use interface::{LOSS_WINDOW, MIN_SSTHRESH, slow_start};
pub use linux::Era;
pub use long_run::{Convergence, LongRun};
pub use needs::{MarkReports, Needs};

registry! {
    /// Congestion control algorithms.
    pub enum Algorithm as "congestion_control" {
        /// Reno's window: one segment per RTT up, one half down.
        newreno => Newreno: source "RFC 5681, RFC 6582", status "vectors, eras of Linux; era rfc5681: unit tests of its clauses";
        /// A cubic function of the time since the last loss.
        cubic => Cubic: source "RFC 9438; Ha, Rhee, Xu 2008", status "vectors, eras of Linux; era rfc9438: unit tests of its clauses";
        /// Reno below 38 segments, bolder above.
        hstcp => Hstcp: source "RFC 3649", status "vectors";
        /// A fixed share per RTT up, an eighth down.
        scalable => Scalable: source "Kelly 2003", status "vectors";
        /// Grows faster the longer no loss came.
        htcp => Htcp: source "Leith, Shorten 2004", status "vectors";
        /// A binary search for the window of the last loss.
        bic => Bic: source "Xu, Harfoush, Rhee 2004", status "vectors";
        /// Reno up; down to bandwidth times least RTT.
        westwood => Westwood: source "Grieco, Mascolo 2004", status "vectors";
        /// Reno that tells losses by chance from losses by queues.
        veno => Veno: source "Fu, Liew 2003", status "vectors";
        /// Steps that follow the queueing delay.
        illinois => Illinois: source "Liu, Basar, Srikant 2008", status "vectors";
        /// Scalable while the queue is short, Reno while it is long.
        yeah => Yeah: source "Baiocchi, Castellani, Vacirca 2007", status "vectors";
        /// Grows with time as at an RTT of 25 ms.
        hybla => Hybla: source "Caini, Firrincieli 2004", status "vectors";
        /// Reno plus a window that follows the queueing delay.
        compound => Compound: source "Tan et al. 2006", status "vectors";
        /// Keeps alpha segments in the queue, by an equation.
        fast => Fast: source "Jin, Wei, Low 2004", status "vectors, era ns-2; era paper: unit tests of its equation";
        /// Reno led by the congestion that delay shows.
        adaptive_reno => AdaptiveReno: source "Shimonishi, Hama, Murase 2006", status "unverified";
        /// Takes as much as the share of marked segments says.
        dctcp => Dctcp: source "RFC 8257", status "vectors";
        /// Keeps two to four segments in the queue.
        vegas => Vegas: source "Brakmo, Peterson 1995", status "vectors";
        /// Yields to others: keeps the queueing delay at a target.
        ledbat => Ledbat: source "RFC 6817; draft-irtf-iccrg-ledbat-plus-plus", status "paper: unit tests of its sections";
        /// As DCTCP, for the Internet: paced, and independent of the RTT.
        prague => Prague: source "draft-briscoe-iccrg-prague-congestion-control-04", status "paper: unit tests of its sections";
        /// BBR with bounds that it learns from losses.
        bbr3 => Bbr3: source "draft-ietf-ccwg-bbr-02", status "unverified: unit tests of its sections on a simple path";
        /// Backs off by chance when the delay grows.
        cdg => Cdg: source "Hayes, Armitage 2011", status "vectors";
        /// Paces at the rate that the path delivers, keeps its queue short.
        bbr => Bbr: source "Cardwell et al. 2017; Linux 6.x", status "vectors";
    }
    aliases: "reno" => newreno;
    foreign: ControlMaker;
    planned:
}

/// Makes a controller for one connection.
pub type ControlMaker = dyn Fn(&Context) -> Box<dyn CongestionControl> + Send + Sync;

impl Algorithm {
    /// A controller of this kind for one connection.
    pub fn build(&self, context: &Context) -> Box<dyn CongestionControl> {
        match self {
            Algorithm::Newreno(params) => params.build(context),
            Algorithm::Cubic(params) => params.build(context),
            Algorithm::Hstcp(params) => params.build(context),
            Algorithm::Scalable(params) => params.build(context),
            Algorithm::Htcp(params) => params.build(context),
            Algorithm::Bic(params) => params.build(context),
            Algorithm::Westwood(params) => params.build(context),
            Algorithm::Veno(params) => params.build(context),
            Algorithm::Illinois(params) => params.build(context),
            Algorithm::Yeah(params) => params.build(context),
            Algorithm::Hybla(params) => params.build(context),
            Algorithm::Compound(params) => params.build(context),
            Algorithm::Fast(params) => params.build(context),
            Algorithm::AdaptiveReno(params) => params.build(context),
            Algorithm::Dctcp(params) => params.build(context),
            Algorithm::Vegas(params) => params.build(context),
            Algorithm::Bbr(params) => params.build(context),
            Algorithm::Cdg(params) => params.build(context),
            Algorithm::Bbr3(params) => params.build(context),
            Algorithm::Ledbat(params) => params.build(context),
            Algorithm::Prague(params) => params.build(context),
            Algorithm::Foreign(it) => it.maker()(context),
        }
    }
}

/// What a controller promises to whoever tests it.
#[derive(Clone, Copy, Debug)]
pub struct Promise {
    /// Window after a timeout, in segments.
    pub timeout_window: f64,
    /// Least share of the window that ssthresh keeps at a timeout, before anything is known of the path; `None` where a
    /// timeout sets no ssthresh.
    pub timeout_share: Option<f64>,
    /// How it answers a loss.
    pub loss: LossAnswer,
    /// Factor by which a window may grow that is not used: 1 for all but those that bound it by what the path holds.
    pub unused_growth: f64,
    /// Least ssthresh, in segments.
    pub least_ssthresh: f64,
}

/// How a controller answers a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossAnswer {
    /// Its window is ssthresh at once, smaller than before.
    Reduces,
    /// By its model of the path: one loss does not change the window for good.
    Models,
}

impl Algorithm {
    /// How far this controller, with its era, was held against something: `vectors` (recorded traces of other people's
    /// code), `paper` (tests of what its source says), or `unverified`.
    pub fn validation(&self) -> &'static str {
        match self {
            Algorithm::Newreno(newreno::Params { era: newreno::Era::Rfc5681, .. })
            | Algorithm::Cubic(cubic::Params { era: cubic::Era::Rfc9438, .. })
            | Algorithm::Cubic(cubic::Params { hystart: cubic::Hystart::PlusPlus, .. })
            | Algorithm::Fast(fast::Params { era: fast::Era::Paper, .. }) => "paper",
            _ => {
                let entry = Self::REGISTRY.entries.iter().find(|entry| entry.name == self.name());
                let words = ["vectors", "paper", "unverified"].into_iter();
                words
                    .clone()
                    .find(|word| entry.is_some_and(|entry| entry.status.starts_with(word)))
                    .unwrap_or("unverified")
            }
        }
    }

    /// What the conformance tests hold it to: RFC 5681 §3.1, unless its source says otherwise.
    pub fn promise(&self) -> Promise {
        let rfc = Promise {
            timeout_window: LOSS_WINDOW,
            timeout_share: Some(0.5),
            loss: LossAnswer::Reduces,
            unused_growth: 1.0,
            least_ssthresh: MIN_SSTHRESH,
        };
        match self {
            // Bandwidth times RTT, which is nothing before the first sample.
            Algorithm::Westwood(_) => Promise { timeout_share: Some(0.0), ..rfc },
            // HyStart ends slow start at any window, as in Linux.
            Algorithm::Cdg(_) => Promise { least_ssthresh: 1.0, ..rfc },
            // The first ten segments that arrive enlarge it in any case.
            Algorithm::Bbr(_) | Algorithm::Bbr3(_) => {
                Promise { timeout_share: None, loss: LossAnswer::Models, unused_growth: 2.0, ..rfc }
            }
            _ => rfc,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use lasthop_units::{Duration, Time};

    use super::*;

    pub fn context(growth: GrowthMode) -> Context {
        Context {
            initial_window: 10.0,
            initial_ssthresh: f64::INFINITY,
            mss_bytes: 1000,
            growth: Growth::both(growth),
            tick: Duration::from_millis(1),
            abe: false,
            draws: Draws::seeded(1),
        }
    }

    /// An ACK of `segments` segments at `now`, in a round trip of `rtt`.
    pub fn ack(now: Time, segments: u32, rtt: Duration, growth: GrowthMode) -> AckSample {
        let credit = if growth == GrowthMode::PerAck { 1.0 } else { f64::from(segments) };
        AckSample {
            now,
            acked_segments: segments,
            acked_bytes: u64::from(segments) * 1000,
            delivered_bytes: u64::from(segments) * 1000,
            slow_start_credit: credit,
            avoidance_credit: credit,
            delivered_segments: segments,
            total_delivered: u64::from(segments),
            rtt_sample: Some(rtt),
            srtt: Some(rtt),
            ..AckSample::default()
        }
    }

    /// The same with a rate sample: `delivered` segments so far, one in an RTT.
    fn rated(sample: AckSample, delivered: u64, is_app_limited: bool) -> AckSample {
        let rate = RateSample {
            delivered: sample.delivered_segments,
            delivered_ce: sample.ce_segments,
            lost: sample.lost_segments,
            interval: sample.rtt_sample.unwrap_or(RTT),
            prior_delivered: delivered - u64::from(sample.delivered_segments),
            flight_at_send: 1,
            is_app_limited,
            is_ack_delayed: false,
        };
        AckSample { rate: Some(rate), total_delivered: delivered, ..sample }
    }

    pub fn loss(now: Time, window: f64) -> CongestionEvent {
        let cause = CongestionCause::Loss;
        CongestionEvent { now, cause, window, flight_bytes: 0, repeated: false, snd_una: 0, snd_nxt: 0, total_lost: 0 }
    }

    const RTT: Duration = Duration::from_millis(50);

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn every_controller_starts_as_told_and_doubles_in_slow_start() {
        for algorithm in Algorithm::all() {
            let mut control = algorithm.build(&context(GrowthMode::PerByte));
            assert_eq!((control.cwnd(), control.ssthresh()), (10.0, f64::INFINITY), "{algorithm:?}");
            (0..10).for_each(|i| control.on_ack(&ack(at(50 + i), 1, RTT, GrowthMode::PerByte)));
            assert_eq!(control.cwnd(), 20.0, "{algorithm:?}");
        }
    }

    #[test]
    fn every_controller_shrinks_on_loss_and_never_below_its_floor() {
        for algorithm in Algorithm::all() {
            let mut control = algorithm.build(&context(GrowthMode::PerByte));
            let reduces = algorithm.promise().loss == LossAnswer::Reduces;
            assert!(reduces || control.owns_recovery(), "{algorithm:?}");
            for i in 0..20 {
                let before = control.cwnd();
                control.on_congestion(&loss(at(i * 100), before));
                assert!(control.cwnd() <= before && control.cwnd() >= MIN_SSTHRESH, "{algorithm:?} {}", control.cwnd());
                assert!(!reduces || control.cwnd() == control.ssthresh(), "{algorithm:?}");
            }
        }
    }

    #[test]
    fn a_timeout_leaves_one_segment_and_a_repeated_timeout_holds_ssthresh() {
        for algorithm in Algorithm::all() {
            let mut control = algorithm.build(&context(GrowthMode::PerByte));
            let timeout = CongestionEvent { cause: CongestionCause::Timeout, ..loss(at(1000), 10.0) };
            control.on_timeout(&timeout);
            let ssthresh = control.ssthresh();
            let promise = algorithm.promise();
            assert_eq!(control.cwnd(), promise.timeout_window, "{algorithm:?}");
            match promise.timeout_share {
                Some(share) => {
                    let least = (10.0 * share).max(MIN_SSTHRESH);
                    assert!((least..10.0).contains(&ssthresh), "{algorithm:?} {ssthresh}");
                }
                None => assert_eq!(ssthresh, f64::INFINITY, "{algorithm:?}"),
            }
            control.on_timeout(&CongestionEvent { now: at(3000), window: 1.0, repeated: true, ..timeout });
            assert_eq!((control.cwnd(), control.ssthresh()), (promise.timeout_window, ssthresh), "{algorithm:?}");
        }
    }

    #[test]
    fn no_controller_grows_while_the_window_is_not_used_or_in_recovery() {
        for algorithm in Algorithm::all() {
            let mut control = algorithm.build(&context(GrowthMode::PerByte));
            let Promise { unused_growth, .. } = algorithm.promise();
            for i in 0..200 {
                let sample = rated(ack(at(50 * i), 1, RTT, GrowthMode::PerByte), i + 1, true);
                control.on_ack(&AckSample { app_limited: true, ..sample });
                if !control.owns_recovery() {
                    control.on_ack(&AckSample { in_recovery: true, ..sample });
                }
            }
            assert!(control.cwnd() <= 10.0 * unused_growth, "{algorithm:?} {}", control.cwnd());
            assert!(unused_growth > 1.0 || control.cwnd() == 10.0, "{algorithm:?} {}", control.cwnd());
        }
    }

    /// Every controller, and the eras of those that have some.
    fn with_eras() -> Vec<Algorithm> {
        use lasthop_registry::{Parameter, Value};
        let mut all = Algorithm::all();
        for index in 0..all.len() {
            for era in ["linux", "linux-2.6", "ns-2"] {
                let kind = Value::text(all[index].name());
                let table = Value::Table(vec![("kind".into(), kind), ("era".into(), Value::text(era))]);
                all.extend(Algorithm::parse(&table, "").ok());
            }
        }
        all
    }

    /// Events at random: RTTs from 1 µs to 35 minutes, ACKs that cover up to a thousand segments; `huge`: RTTs to a day, and
    /// ACKs and windows of up to 2^30 segments.
    fn storm(control: &mut dyn CongestionControl, least_ssthresh: f64, seed: u64, huge: bool) {
        let (days, bits) = if huge { (40, 31) } else { (1, 10) };
        let mut state = seed;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let (mut now, mut una) = (Time::from_nanos(1), 1u64);
        control.on_established(&Moment { now, snd_una: una, snd_nxt: una, app_limited: false }, None);
        let (mut delivered, mut lost) = (0, 0);
        for _ in 0..3000 {
            let (pause, long, many) = (4 + draw(24), draw(31), draw(bits));
            now += Duration::from_micros(draw(1 << pause));
            let rtt = Duration::from_micros(1 + days * draw(1 << long));
            let nxt = una + 1000 * (1 + draw(5000));
            let at = Moment { now, snd_una: una, snd_nxt: nxt, app_limited: draw(2) == 0 };
            if huge && draw(50) == 0 {
                control.set_window(1.0 + draw(1 << 30) as f64);
            }
            let event = CongestionEvent { snd_una: una, snd_nxt: nxt, ..loss(now, control.cwnd()) };
            let segments = (1 + draw(1 << many)) as u32;
            let sample = ack(now, segments, rtt, GrowthMode::PerByte);
            delivered += u64::from(segments);
            let newly_lost = if draw(20) == 0 { draw(30) as u32 } else { 0 };
            lost += u64::from(newly_lost);
            let sample = if draw(8) == 0 {
                AckSample { total_delivered: delivered, ..sample }
            } else {
                rated(sample, delivered, draw(5) == 0)
            };
            let sample = AckSample {
                snd_una: una,
                snd_nxt: nxt,
                lost_segments: newly_lost,
                total_lost: lost,
                ce_segments: draw(u64::from(segments) + 1) as u32,
                ece: draw(9) == 0,
                flight_segments: draw(2000) as u32,
                prior_flight_segments: draw(2000) as u32,
                next_departure: now + Duration::from_micros(draw(5000)),
                ..sample
            };
            let prior = Prior { cwnd: 1.0 + draw(500) as f64, ssthresh: 2.0 + draw(500) as f64 };
            let event = CongestionEvent { total_lost: lost, ..event };
            match draw(60) {
                0 => control.on_congestion(&event),
                1 => control.on_recovery_exit(&at),
                2 => control.on_timeout(&CongestionEvent { cause: CongestionCause::Timeout, ..event }),
                3 => control.on_transmit_start(&at),
                4 => control.on_ack(&AckSample { in_recovery: true, acked_segments: 0, ..sample }),
                5 => control.on_ack(&AckSample { ends_timeout: true, rtt_sample: None, ..sample }),
                6 => control.on_idle(10.0),
                7 => control.on_spurious(&at, &prior),
                8 => control.on_congestion(&CongestionEvent { cause: CongestionCause::Ecn, ..event }),
                _ => control.on_ack(&sample),
            }
            una += u64::from(segments) * 1000;
            assert!(control.cwnd() >= 1.0 && control.cwnd().is_finite(), "{control:?}");
            assert!(control.ssthresh() >= least_ssthresh, "{control:?}");
            assert!(control.pacing_rate().is_none_or(|rate| rate.as_bps() > 0), "{control:?}");
        }
    }

    #[test]
    fn no_path_drives_a_controller_out_of_bounds() {
        for algorithm in with_eras() {
            for seed in 0..30 {
                let mut control = algorithm.build(&context(GrowthMode::PerByte));
                storm(&mut *control, algorithm.promise().least_ssthresh, seed, false);
            }
        }
    }

    #[test]
    fn no_arithmetic_wraps_at_windows_of_a_thousand_million_segments() {
        for algorithm in with_eras() {
            for seed in 0..30 {
                let mut control = algorithm.build(&context(GrowthMode::PerByte));
                storm(&mut *control, algorithm.promise().least_ssthresh, seed, true);
            }
        }
    }

    #[test]
    fn every_row_says_first_how_far_it_is_validated() {
        for entry in Algorithm::REGISTRY.entries {
            let word = entry.status.split([' ', ',', ';', ':']).next();
            assert!(matches!(word, Some("vectors" | "paper" | "unverified")), "{}: {}", entry.name, entry.status);
        }
        let of = |name: &str| Algorithm::all().into_iter().find(|one| one.name() == name).unwrap().validation();
        assert_eq!((of("bbr"), of("cubic"), of("adaptive_reno")), ("vectors", "paper", "unverified"));
    }

    #[test]
    fn slow_start_stops_at_ssthresh_and_leaves_the_rest() {
        let mut cwnd = 9.0;
        let sample = ack(at(0), 4, RTT, GrowthMode::PerByte);
        assert_eq!(slow_start(&mut cwnd, 10.0, &sample), 0.75);
        assert_eq!(cwnd, 10.0);
    }
}
