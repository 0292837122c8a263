//! Sizes of frequently handled types, for the test of them; not part of the interface.

use crate::endpoint::Endpoint;
use crate::segment::Segment;

/// Names and sizes in bytes.
pub fn sizes_in_bytes() -> Vec<(&'static str, usize)> {
    vec![("Segment", size_of::<Segment>()), ("Endpoint", size_of::<Endpoint>())]
}
