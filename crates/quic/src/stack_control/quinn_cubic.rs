//! The CUBIC of quinn-proto: `src/congestion/cubic.rs` there.
//!
//! Its initial window is a key of `[quic]`; it has no other parameter.

lasthop_registry::params! {
    /// Parameters of `quinn_cubic`; there is no key but `kind`.
    pub struct Params {}
}
