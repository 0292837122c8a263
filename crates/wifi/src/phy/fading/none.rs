//! No fading.

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {}
}
