//! No losses.

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {}
}
