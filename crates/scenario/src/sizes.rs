//! How large what is handled often is, for the test that holds it; no part of the interface.

use crate::hosts::{Body, FlowEvent, connection_sizes};

/// Names and sizes in bytes, of all crates that a run goes through.
pub fn sizes_in_bytes() -> Vec<(&'static str, usize)> {
    [
        lasthop_network::sizes_in_bytes::<FlowEvent>(),
        lasthop_wifi::sizes_in_bytes::<Body>(),
        lasthop_link::sizes_in_bytes::<Body>(),
        lasthop_observe::sizes_in_bytes(),
        lasthop_tcp::sizes_in_bytes(),
        connection_sizes(),
    ]
    .concat()
}
