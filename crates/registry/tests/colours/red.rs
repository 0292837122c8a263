//! A toy.
lasthop_registry::params! {
    /// Parameters.
    pub struct Params {
        /// How dark.
        pub shade: u32 = 3,
    }
}
