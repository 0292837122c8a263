//! The event engine: one clock, one queue of events in a total order, and random streams by name.

mod random;
mod scheduler;
mod sizes;

pub use random::Stream;
pub use scheduler::{Scheduler, Turn};
/// For the test of the sizes of frequently used types.
#[doc(hidden)]
pub use sizes::sizes_in_bytes;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
