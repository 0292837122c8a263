//! The event engine: one clock, one queue of events in a total order, and random streams by name.

mod random;
mod scheduler;

pub use random::Stream;
pub use scheduler::{Scheduler, Turn};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
