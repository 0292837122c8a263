//! Less or more severe than Rayleigh: the power is gamma distributed with shape `m`. [Nakagami 1960]
//!
//! `m` = 1 is Rayleigh; the variance of the power is `1 / m` of its mean squared.

use lasthop_registry::ParamError;
use lasthop_units::Duration;

use super::coherence::{COHERENCE_TIME, check_coherence};

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {
        /// Shape, at least 0.5: the larger, the steadier.
        pub m: f64 = 3.0,
        /// Time for which the channel of a pair stays constant.
        pub coherence_time: Duration = COHERENCE_TIME,
    }
    check |this, path| {
        if this.m < 0.5 {
            return Err(ParamError::new(format!("{path}.m"), format!("{} is below 0.5, the most severe fading", this.m)));
        }
        check_coherence(this.coherence_time, path)
    }
}
