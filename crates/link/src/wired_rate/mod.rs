//! Rates of a wired link that change with time.
//!
//! A constant rate is not one of them.

use lasthop_registry::registry;

registry! {
    /// The choice `wired.rate = { kind = "…" }`.
    pub enum VaryingRate as "wired_rate" {
        /// Delivers when a Mahimahi trace has an opportunity.
        trace => Trace: source "[Netravali et al. 2015]", status "unit tests; a twin in Python";
    }
    planned:
}
