//! The controller that a trace is about, and the tolerance.

use super::report::Tolerance;
use super::trace::{Kernel, Trace};
use lasthop_tcp::congestion_control::{
    Algorithm, KernelEra, bbr, bic, cdg, compound, cubic, dctcp, fast, hstcp, htcp, hybla, illinois, newreno, scalable,
    vegas, veno, westwood, yeah,
};

/// Traces of FAST have six digits after the point.
const FAST: Tolerance = Tolerance { segments: 1e-6, share: 0.0 };

/// The recorded kernels take an approximate cube root, 0.15 % off at most; here it is exact.
const CUBIC: Tolerance = Tolerance { segments: 1.0, share: 0.0 };

fn cubic_of(era: KernelEra, hystart: cubic::Hystart) -> cubic::Params {
    let (era, beta) = match era {
        KernelEra::Linux => (cubic::CubicEra::Linux, 717.0 / 1024.0),
        KernelEra::Linux26 => (cubic::CubicEra::Linux26, 819.0 / 1024.0),
    };
    cubic::Params { era, beta, hystart, ..Default::default() }
}

fn hstcp_of(era: KernelEra) -> hstcp::HstcpEra {
    if era == KernelEra::Linux { hstcp::HstcpEra::Linux } else { hstcp::HstcpEra::Linux26 }
}

impl Trace {
    /// The algorithm of `lasthop-tcp` that was recorded, and the tolerance; `None` if there is none.
    pub fn subject(&self) -> Option<(Algorithm, Tolerance)> {
        let era = if self.kernel == Kernel::Linux26 { KernelEra::Linux26 } else { KernelEra::Linux };
        let exact = Tolerance::EXACT;
        Some(match self.name.as_str() {
            "highspeed" => (Algorithm::Hstcp(hstcp::Params { era: hstcp_of(era) }), exact),
            "scalable" => (Algorithm::Scalable(scalable::Params { era }), exact),
            "fast" => {
                let default = fast::Params { era: fast::FastEra::Ns2, ..Default::default() };
                let (alpha, gamma) = (self.alpha.unwrap_or(default.alpha), self.gamma.unwrap_or(default.gamma));
                (Algorithm::Fast(fast::Params { alpha, gamma, ..default }), FAST)
            }
            "dctcp" => (Algorithm::Dctcp(dctcp::Params::default()), exact),
            "compound" => (Algorithm::Compound(compound::Params::default()), exact),
            "compound_g2" => (Algorithm::Compound(compound::Params { gamma: 2 }), exact),
            "reno" => {
                let era =
                    if era == KernelEra::Linux { newreno::NewrenoEra::Linux } else { newreno::NewrenoEra::Linux26 };
                (Algorithm::Newreno(newreno::Params { era, ..Default::default() }), exact)
            }
            "htcp" => (Algorithm::Htcp(htcp::Params { era, ..Default::default() }), exact),
            "bic" => (Algorithm::Bic(bic::Params { era, ..Default::default() }), exact),
            "westwood" => (Algorithm::Westwood(westwood::Params { era }), exact),
            "veno" => (Algorithm::Veno(veno::Params { era, ..Default::default() }), exact),
            "illinois" => (Algorithm::Illinois(illinois::Params { era, ..Default::default() }), exact),
            "yeah" => (Algorithm::Yeah(yeah::Params { era, ..Default::default() }), exact),
            "hybla" => (Algorithm::Hybla(hybla::Params { era, ..Default::default() }), exact),
            "vegas" => (Algorithm::Vegas(vegas::Params { era, ..Default::default() }), exact),
            "cubic" => (Algorithm::Cubic(cubic_of(era, cubic::Hystart::Off)), CUBIC),
            "cubic_hystart" => (Algorithm::Cubic(cubic_of(era, cubic::Hystart::Classic)), CUBIC),
            "cdg" => (Algorithm::Cdg(cdg::Params::default()), exact),
            "bbr" => (Algorithm::Bbr(bbr::Params::default()), exact),
            _ => return None,
        })
    }
}
