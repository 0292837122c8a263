//! A toy without parameters.
lasthop_registry::params! {
    /// Parameters.
    pub struct Params {}
}
