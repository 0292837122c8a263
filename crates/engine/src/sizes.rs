//! How large what is handled often is, for the test that holds it; no part of the interface.

use crate::scheduler::Scheduled;

/// Names and sizes in bytes; `E` is the event.
pub fn sizes_in_bytes<E>() -> Vec<(&'static str, usize)> {
    vec![("Scheduled", size_of::<Scheduled<E>>())]
}
