//! Bulk transfer: the application always has data, or offers it at the flow's rate.
//!
//! Its size, repetition and rate are keys of the flow itself, so it has no parameters of its own.

lasthop_registry::params! {
    /// Parameters of `bulk`: none.
    pub struct Params {}
}
