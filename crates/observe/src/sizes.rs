//! Sizes of frequently handled objects, for the test that limits them; not part of the interface.

use crate::record::Record;

/// Names and sizes in bytes.
pub fn sizes_in_bytes() -> Vec<(&'static str, usize)> {
    vec![("Record", size_of::<Record>())]
}
