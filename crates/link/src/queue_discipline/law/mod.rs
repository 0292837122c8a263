//! Laws of active queue management, apart from the queues that they rule.
//!
//! A law sees no packet. It is told what a router may measure of one, and answers with a verdict, so
//! that one law serves one queue or a thousand, and is tested without any.

pub mod codel;
pub mod pie;
pub mod red;

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// it goes on as it is
    Forward,
    /// it goes on with CE
    Mark,
    /// it is dropped
    Drop,
}
