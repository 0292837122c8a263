//! How large what is handled often is, for the test that holds it; no part of the interface.

use crate::endpoint::Endpoint;
use crate::segment::Segment;

/// Names and sizes in bytes.
pub fn sizes_in_bytes() -> Vec<(&'static str, usize)> {
    vec![("Segment", size_of::<Segment>()), ("Endpoint", size_of::<Endpoint>())]
}
