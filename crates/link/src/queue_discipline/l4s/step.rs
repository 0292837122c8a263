//! A step: each ECT(1) packet that waited longer than a threshold in the queue of its flow is marked.

use lasthop_registry::params;
use lasthop_units::Duration;

params! {
    /// Parameters of `step`.
    pub struct Params {
        /// Sojourn time above which an ECT(1) packet is marked as it leaves; 1 ms is DualPI2's. [tc-dualpi2(8)]
        pub step: Duration = Duration::from_millis(1),
    }
}
