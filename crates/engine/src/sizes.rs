//! Sizes of frequently used types, for the test that checks them; not part of the interface.

use crate::scheduler::Scheduled;

/// Names and sizes in bytes; `E` is the event.
pub fn sizes_in_bytes<E>() -> Vec<(&'static str, usize)> {
    vec![("Scheduled", size_of::<Scheduled<E>>())]
}
