//! How large what is handled often is, for the test that holds it; no part of the interface.

use crate::hosts::{Body, FlowEvent, connection_sizes};

/// Names and sizes in bytes, of all crates that a run goes through.
pub fn sizes() -> Vec<(&'static str, usize)> {
    [
        lasthop_network::sizes::<FlowEvent>(),
        lasthop_wifi::sizes::<Body>(),
        lasthop_link::sizes::<Body>(),
        lasthop_observe::sizes(),
        lasthop_tcp::sizes(),
        connection_sizes(),
    ]
    .concat()
}
