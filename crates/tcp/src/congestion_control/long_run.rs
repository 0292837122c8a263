//! The long-run behaviour of each controller, which the conformance tests check.

use super::Algorithm;

/// Convergence of equal flows on a plain wired bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convergence {
    /// Equal shares: Jain's index is above 0.95.
    Equal,
    /// A late flow takes the others' queue for part of the path, and keeps more of it full.
    LateComersGain,
    /// Shares grow and shrink in proportion: on a path without randomness unequal ones stay unequal.
    Multiplicative,
}

/// Long-run behaviour on a plain wired bottleneck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongRun {
    /// Least and largest share of the window after a loss, at a full queue or at random; `None` where a loss by itself
    /// changes nothing.
    pub keeps: Option<(f64, f64)>,
    /// Convergence of equal flows.
    pub convergence: Convergence,
    /// Buffer that equal flows need to converge, in products of bandwidth and RTT.
    pub buffer_bdps: f64,
    /// Least share of the bottleneck that one flow uses with a buffer of one product of bandwidth and RTT.
    pub utilisation: f64,
}

impl LongRun {
    /// A half on loss [RFC 5681 §3.1 (4)], equal shares, a full bottleneck.
    pub const RENO: LongRun =
        LongRun { keeps: Some((0.5, 0.5)), convergence: Convergence::Equal, buffer_bdps: 1.0, utilisation: 0.98 };
}

impl Algorithm {
    /// The behaviour that tests expect on a plain wired bottleneck.
    pub fn long_run(&self) -> LongRun {
        let equal = |least: f64, most: f64| LongRun { keeps: Some((least, most)), ..LongRun::RENO };
        match self {
            // A half [RFC 5681 §3.1 (4)]; others come down to it here, with equal RTTs and without marks.
            Algorithm::Newreno(_) | Algorithm::Hybla(_) | Algorithm::Compound(_) | Algorithm::Dctcp(_) => {
                equal(0.5, 0.5)
            }
            // [RFC 9438 §4.6]
            Algorithm::Cubic(_) => equal(0.7, 0.7),
            // b(w) falls from a half at 38 segments to a tenth at 83000 [RFC 3649 §5]
            Algorithm::Hstcp(_) => equal(0.5, 0.9),
            Algorithm::Scalable(_) => LongRun { convergence: Convergence::Multiplicative, ..equal(0.875, 0.875) },
            // The ratio of the least to the greatest RTT, in these bounds.
            Algorithm::Htcp(_) => equal(0.5, 0.8),
            Algorithm::Bic(_) => equal(0.8, 0.8),
            // Bandwidth times the least RTT: at most all that is in flight.
            Algorithm::Westwood(_) => equal(0.4, 1.0),
            // A fifth where the queue is short, else a half.
            Algorithm::Veno(_) => equal(0.5, 0.8),
            // An eighth where delay is low, else up to a half.
            Algorithm::Yeah(_) => equal(0.5, 0.875),
            // Its steps shrink as delay grows over the least RTT seen, which late-comers overestimate.
            Algorithm::Illinois(_) => LongRun { convergence: Convergence::LateComersGain, ..equal(0.5, 0.875) },
            Algorithm::AdaptiveReno(_) => equal(0.5, 1.0),
            // These aim at a queue over the least RTT that they have seen, which late-comers overestimate.
            Algorithm::Fast(_) | Algorithm::Vegas(_) => {
                LongRun { convergence: Convergence::LateComersGain, ..equal(0.5, 0.5) }
            }
            // Backs off by chance as delay grows, before the queue is full: beta, and a shadow window for losses.
            Algorithm::Cdg(_) => LongRun { utilisation: 0.75, ..equal(0.4, 1.0) },
            // Two windows do not fit into a smaller buffer; BBR then takes losses for a policer.
            Algorithm::Bbr(_) => LongRun { keeps: None, buffer_bdps: 4.0, utilisation: 0.95, ..equal(1.0, 1.0) },
            // Reacts by its bounds in the long run, not to each loss; probing leaves room to others.
            Algorithm::Bbr3(_) => LongRun { keeps: None, buffer_bdps: 4.0, utilisation: 0.95, ..equal(1.0, 1.0) },
            // A half on loss [RFC 6817 §2.4.2]; the answers to marks of Prague and DCTCP are in `conformance/tests/marks.rs`.
            Algorithm::Ledbat(_) | Algorithm::Prague(_) => equal(0.5, 0.5),
            // The limits of any TCP: at least a half remains, and no more than there was.
            Algorithm::Foreign(_) => equal(0.5, 1.0),
        }
    }
}
