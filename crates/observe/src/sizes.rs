//! How large what is handled often is, for the test that holds it; no part of the interface.

use crate::record::Record;

/// Names and sizes in bytes.
pub fn sizes_in_bytes() -> Vec<(&'static str, usize)> {
    vec![("Record", size_of::<Record>())]
}
