//! A dual queue for each station and TID: [DualPI2](super::super::dualpi2) in place of the queues of flows.
//!
//! It decides as packets leave, which is when a PSDU is made. All stations together share the limits.

use lasthop_registry::params;
use lasthop_units::{Duration, Packets, Probability};

use super::super::dualpi2::{self, Preset};
use super::super::law::dual::Settings;
use super::super::law::pi2::Overload;

params! {
    /// Parameters of `dual`.
    pub struct Params {
        /// Source of the values that are not given: linux (tc-dualpi2(8)), or rfc9332 (RFC 9332 §A.1).
        pub preset: Preset = Preset::Linux,
        /// Queueing delay to keep in the classic queue. [RFC 9332 §A.1]
        pub target: Duration = Duration::from_millis(15),
        /// How often the base probability is calculated, at least 1 us: 16 ms with linux, 15 ms with rfc9332. [RFC 9332 §A.1]
        pub t_update: Option<Duration> = None,
        /// Integral gain in Hz: 0.16 with linux, 0.15 with rfc9332. [RFC 9332 §A.1]
        pub alpha: Option<f64> = None,
        /// Proportional gain in Hz: 3.2 with linux, 3 with rfc9332. [RFC 9332 §A.1]
        pub beta: Option<f64> = None,
        /// Coupling factor, from 1 to 64: the marks of L4S packets per unit of the base probability. [RFC 9332 §2.1]
        pub coupling: f64 = 2.0,
        /// Delay in the L4S queue above which packets are marked: 1 ms with linux, 800 us with rfc9332. [RFC 9332 §A.1]
        pub step: Option<Duration> = None,
        /// Delay beyond the step in which the probability of such a mark rises to 1: 0 s with linux, a step; 400 us with
        /// rfc9332, a ramp. [RFC 9332 §A.1]
        pub range: Option<Duration> = None,
        /// Packets in the L4S queue up to which none is marked for its delay: 0 with linux, 1 with rfc9332. [RFC 9332 §A.2]
        pub min_qlen_step: Option<Packets> = None,
        /// The classic queue's share of the bytes while both have packets: 0.1 with linux, 1/16 with rfc9332. [RFC 9332 §A.2]
        pub classic_share: Option<Probability> = None,
        /// At the top of the coupled probability: drop in both queues, or mark and let the queue grow to its limit. [RFC 9332 §4.2.2]
        pub overload: Overload = Overload::Drop,
    }
    check |this, path| {
        this.settings().check(path)
    }
}

impl Params {
    /// The settings of the law.
    pub(in super::super) fn settings(&self) -> Settings {
        let Params { preset, target, t_update, alpha, beta, coupling, step, range, .. } = *self;
        let Params { min_qlen_step, classic_share, overload, .. } = *self;
        let of = dualpi2::Params { preset, target, t_update, alpha, beta, coupling, step, range, ..Default::default() };
        dualpi2::Params { min_qlen_step, classic_share, overload, ..of }.settings()
    }
}
