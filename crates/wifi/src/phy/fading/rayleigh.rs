//! No path is stronger than the others: the power is exponential. [Rappaport 2002 §5.6]

use lasthop_units::Duration;

use super::coherence::{COHERENCE_TIME, check_coherence};

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {
        /// Time for which the channel of a pair stays constant.
        pub coherence_time: Duration = COHERENCE_TIME,
    }
    check |this, path| { check_coherence(this.coherence_time, path) }
}
