//! Parameters of FAST.

use lasthop_registry::{ParamError, params, words};
use lasthop_units::Duration;

words! {
    /// The version of FAST.
    pub enum FastEra {
        /// As published.
        Paper = "paper",
        /// As in its module for ns-2.
        Ns2 = "ns-2",
    }
}

params! {
    /// Parameters of FAST.
    pub struct Params {
        /// Number of segments to keep in the queue.
        pub alpha: f64 = 20.0,
        /// Share of the way to the target per round trip.
        pub gamma: f64 = 0.5,
        /// Mean queueing delay that ends slow start.
        pub mi_threshold: Duration = Duration::from_micros(750),
        /// Which FAST: paper, or ns-2, which averages 64 times more slowly and updates half as often.
        pub era: FastEra = FastEra::Paper,
    }
    check |params, path| {
        if params.alpha <= 0.0 {
            return Err(ParamError::new(format!("{path}.alpha"), "must be above 0"));
        }
        if params.gamma <= 0.0 || params.gamma > 1.0 {
            return Err(ParamError::new(format!("{path}.gamma"), "must be above 0, at most 1"));
        }
        Ok(())
    }
}
