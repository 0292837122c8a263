//! Parameters of CUBIC.

use lasthop_registry::{ParamError, params, words};

use super::hystart::Hystart;

words! {
    /// The version of CUBIC.
    pub enum CubicEra {
        /// As standardised.
        Rfc9438 = "rfc9438",
        /// As in a current Linux kernel: whole segments, at least 5 % per round trip before the first loss.
        Linux = "linux",
        /// As in Linux 2.6.16 to 2.6.22: counts ACKs, at most 16 segments per 100 ms above the origin.
        Linux26 = "linux-2.6",
    }
}

params! {
    /// Parameters of CUBIC.
    pub struct Params {
        /// Factor by which a loss multiplies the window; 819/1024 until Linux 2.6.24. [RFC 9438 §4.6]
        pub beta: f64 = 0.7,
        /// C: steepness of the cubic function, in segments/s^3. [RFC 9438 §5.1]
        pub c: f64 = 0.4,
        /// Release bandwidth when windows shrink from loss to loss (fast convergence). [RFC 9438 §4.7]
        pub fast_convergence: bool = true,
        /// Grow at least as fast as Reno. [RFC 9438 §4.3]
        pub reno_friendly: bool = true,
        /// Which CUBIC: rfc9438 (the RFC), linux (current, beta 0.7002), or linux-2.6 (beta 0.7998).
        pub era: CubicEra = CubicEra::Rfc9438,
        /// HyStart, which leaves slow start when a queue builds up: off, classic (or true; era linux only) [Ha, Rhee
        /// 2011], or plus_plus (eras rfc9438 and linux) [RFC 9406].
        pub hystart: Hystart = Hystart::Off,
    }
    check |params, path| {
        if params.beta <= 0.0 || params.beta >= 1.0 {
            return Err(ParamError::new(format!("{path}.beta"), "must lie between 0 and 1"));
        }
        if params.c <= 0.0 {
            return Err(ParamError::new(format!("{path}.c"), "must be above 0"));
        }
        if params.c > 1000.0 {
            return Err(ParamError::new(format!("{path}.c"), "at most 1000 segments/s^3"));
        }
        let at = format!("{path}.hystart");
        match (params.hystart, params.era) {
            (Hystart::Classic, CubicEra::Rfc9438 | CubicEra::Linux26) => {
                return Err(ParamError::new(at, "classic HyStart needs era = \"linux\""));
            }
            (Hystart::PlusPlus, CubicEra::Linux26) => {
                return Err(ParamError::new(at, "HyStart++ needs era = \"rfc9438\" or \"linux\""));
            }
            _ => {}
        }
        Ok(())
    }
}
