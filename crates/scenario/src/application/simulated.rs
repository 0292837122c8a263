//! No program: the flow stays simulated where others are carried by kernels.

lasthop_registry::params! {
    /// Parameters of `simulated`: none.
    pub struct Params {}
}
