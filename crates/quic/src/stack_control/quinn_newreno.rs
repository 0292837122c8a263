//! The NewReno of quinn-proto: `src/congestion/new_reno.rs` there.
//!
//! Its initial window is a key of `[quic]`; it has no other parameter.

lasthop_registry::params! {
    /// Parameters of `quinn_newreno`; there is no key but `kind`.
    pub struct Params {}
}
