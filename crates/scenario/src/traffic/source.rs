//! The interface of an application that only sends.

use lasthop_units::Duration;

/// A write of an application: its time after the start, and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    pub at: Duration,
    pub bytes: u32,
}

/// An application that only sends.
pub(crate) trait Source: Send {
    /// The next write, never before the last one; `None` when there are no more.
    fn next(&mut self) -> Option<Offer>;
}
