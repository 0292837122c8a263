//! Congestion control: how much may be in flight.
//!
//! The sender determines which data was delivered and which was lost; a controller turns that into a window in segments
//! (a real number). The window during recovery (inflation, PRR) is the sender's: after
//! [`CongestionControl::on_congestion`] a controller's window is the one after recovery.
//!
//! | source | use |
//! |---|---|
//! | RFC 5681, RFC 6582 | `newreno` |
//! | RFC 9438 | `cubic` |
//! | `docs/model/congestion-control-rules.md` | units, rounding and guards of controllers in whole segments |
//! | recorded traces of Linux 2.6.22 and 6.12 (`docs/vectors.md`) | `linux`, the frame of whole segments, and its laws |
//! | draft-ietf-ccwg-bbr-02 | the form of [`AckSample`], for controllers that model the path |

use lasthop_registry::registry;

mod draws;
mod growth;
mod held;
mod hystart_plus_plus;
mod interface;
mod linux;
mod long_run;
mod needs;
mod round;

pub use draws::Draws;
pub use growth::{Growth, GrowthMode};
pub use held::hold;
pub use interface::{
    AckSample, CongestionCause, CongestionControl, CongestionEvent, Context, GaveUp, Moment, Outside, Prior,
    RateSample, give_up, slow_start,
};
use interface::{LOSS_WINDOW, MIN_SSTHRESH};
pub use linux::KernelEra;
pub use long_run::{Convergence, LongRun};
pub use needs::{MarkReports, Needs};

registry! {
    /// Congestion control algorithms.
    pub enum Algorithm as "congestion_control" {
        /// Adds one segment per RTT and halves the window on a loss.
        newreno => Newreno: source "RFC 5681, RFC 6582", status "vectors, eras of Linux; era rfc5681: unit tests of its clauses";
        /// Grows the window as a cubic function of the time since the last loss.
        cubic => Cubic: source "RFC 9438; Ha, Rhee, Xu 2008", status "vectors, eras of Linux; era rfc9438: unit tests of its clauses";
        /// Reno up to 38 segments; above, larger steps up and smaller ones down.
        hstcp => Hstcp: source "RFC 3649", status "vectors";
        /// Grows by a fixed share per RTT and gives up an eighth on a loss.
        scalable => Scalable: source "Kelly 2003", status "vectors";
        /// Grows faster the longer the time since the last loss.
        htcp => Htcp: source "Leith, Shorten 2004", status "vectors";
        /// Searches for the window of the last loss by bisection.
        bic => Bic: source "Xu, Harfoush, Rhee 2004", status "vectors";
        /// Reno's growth; a loss sets the window to the bandwidth times the least RTT.
        westwood => Westwood: source "Grieco, Mascolo 2004", status "vectors";
        /// Reno that tells random losses from losses by congestion.
        veno => Veno: source "Fu, Liew 2003", status "vectors";
        /// Reno with step sizes that follow the queueing delay.
        illinois => Illinois: source "Liu, Basar, Srikant 2008", status "vectors";
        /// Scalable while the queue is short, Reno while it is long.
        yeah => Yeah: source "Baiocchi, Castellani, Vacirca 2007", status "vectors";
        /// Grows in time as a connection with an RTT of 25 ms.
        hybla => Hybla: source "Caini, Firrincieli 2004", status "vectors";
        /// Reno plus a window that follows the queueing delay.
        compound => Compound: source "Tan et al. 2006", status "vectors";
        /// Keeps alpha segments in the queue by an equation for the window.
        fast => Fast: source "Jin, Wei, Low 2004", status "vectors, era ns-2; era paper: unit tests of its equation";
        /// Reno with steps that follow the congestion seen in the delay.
        adaptive_reno => AdaptiveReno: source "Shimonishi, Hama, Murase 2006", status "unverified";
        /// Reduces the window in proportion to the share of marked segments.
        dctcp => Dctcp: source "RFC 8257", status "vectors";
        /// Keeps two to four segments in the queue.
        vegas => Vegas: source "Brakmo, Peterson 1995", status "vectors";
        /// Yields to other traffic: keeps the queueing delay at a target.
        ledbat => Ledbat: source "RFC 6817; draft-irtf-iccrg-ledbat-plus-plus", status "paper: unit tests of its sections";
        /// DCTCP for the Internet: paced, and less dependent on the RTT.
        prague => Prague: source "draft-briscoe-iccrg-prague-congestion-control-04", status "paper: unit tests of its sections";
        /// BBR version 3, with bounds learned from losses.
        bbr3 => Bbr3: source "draft-ietf-ccwg-bbr-02", status "unverified: unit tests of its sections on a simple path";
        /// Backs off at random when the delay grows.
        cdg => Cdg: source "Hayes, Armitage 2011", status "vectors";
        /// Paces at the measured delivery rate and keeps the queue short.
        bbr => Bbr: source "Cardwell et al. 2017; Linux 6.x", status "vectors";
    }
    aliases: "reno" => newreno;
    foreign: ControlMaker, plain_newreno;
    code: Python, C, Bpf;
    planned:
}

/// Makes a controller for one connection.
pub type ControlMaker = dyn Fn(&Context) -> Box<dyn CongestionControl> + Send + Sync;

fn plain_newreno(context: &Context) -> Box<dyn CongestionControl> {
    newreno::Params::default().build(context)
}

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

/// Properties of a controller that the conformance tests check.
#[derive(Clone, Copy, Debug)]
pub struct Promise {
    /// Window after a timeout, in segments.
    pub timeout_window: f64,
    /// Least share of the window that ssthresh keeps at a timeout, before the path was measured; `None` where a timeout
    /// sets no ssthresh.
    pub timeout_share: Option<f64>,
    /// Reaction to a loss.
    pub loss: LossAnswer,
    /// Factor by which an unused window may grow: 1, except for controllers that bound it by the capacity of the path.
    pub unused_growth: f64,
    /// Least ssthresh, in segments.
    pub least_ssthresh: f64,
}

impl Promise {
    /// The requirements of RFC 5681 §3.1.
    pub const RFC5681: Promise = Promise {
        timeout_window: LOSS_WINDOW,
        timeout_share: Some(0.5),
        loss: LossAnswer::Reduces,
        unused_growth: 1.0,
        least_ssthresh: MIN_SSTHRESH,
    };
}

/// Reaction of a controller to a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossAnswer {
    /// The window is ssthresh at once, smaller than before.
    Reduces,
    /// The model of the path decides: one loss does not change the window for good.
    Models,
}

impl Algorithm {
    /// Validation of this controller, with its era: `vectors` (recorded traces of other people's code), `paper` (tests
    /// of the statements of its source), or `unverified`.
    pub fn validation(&self) -> &'static str {
        match self {
            Algorithm::Newreno(newreno::Params { era: newreno::NewrenoEra::Rfc5681, .. })
            | Algorithm::Cubic(cubic::Params { era: cubic::CubicEra::Rfc9438, .. })
            | Algorithm::Cubic(cubic::Params { hystart: cubic::Hystart::PlusPlus, .. })
            | Algorithm::Fast(fast::Params { era: fast::FastEra::Paper, .. }) => "paper",
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

    /// Properties that the conformance tests check: those of RFC 5681 §3.1, or the source's exceptions.
    pub fn promise(&self) -> Promise {
        let rfc = Promise::RFC5681;
        match self {
            // Bandwidth times RTT, which is 0 before the first sample.
            Algorithm::Westwood(_) => Promise { timeout_share: Some(0.0), ..rfc },
            // HyStart ends slow start at any window, as in Linux.
            Algorithm::Cdg(_) => Promise { least_ssthresh: 1.0, ..rfc },
            // The first ten segments that arrive enlarge the window in any case.
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

    pub fn loss(now: Time, window: f64) -> CongestionEvent {
        let cause = CongestionCause::Loss;
        CongestionEvent { now, cause, window, flight_bytes: 0, repeated: false, snd_una: 0, snd_nxt: 0, total_lost: 0 }
    }

    const RTT: Duration = Duration::from_millis(50);

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn every_row_begins_with_its_validation() {
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
