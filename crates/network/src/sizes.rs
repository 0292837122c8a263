//! Sizes of frequently used types, for the test that checks them; not part of the interface.

use crate::event::Event;

/// Names and sizes in bytes; `E` is the event of the hosts.
pub fn sizes_in_bytes<E>() -> Vec<(&'static str, usize)> {
    let mut sizes = vec![("Event", size_of::<Event<E>>())];
    sizes.extend(lasthop_engine::sizes_in_bytes::<Event<E>>());
    sizes
}
