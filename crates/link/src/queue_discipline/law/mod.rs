//! Laws of active queue management, separate from the queues that they control.
//!
//! A law sees no packet. It receives what a router may measure of one and returns a verdict, so one law serves one
//! queue or a thousand, and is tested without any.

pub mod codel;
pub mod dual;
pub mod pi2;
pub mod pie;
pub mod red;

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// it passes unchanged
    Forward,
    /// it passes with CE
    Mark,
    /// it is dropped
    Drop,
}
