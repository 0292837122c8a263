//! Sizes of frequently handled objects, for the test that limits them; not part of the interface.

use crate::hosts::{Body, FlowEvent, connection_sizes};

/// Names and sizes in bytes, from all crates that a run uses.
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
