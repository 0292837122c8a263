//! Replays recorded loss recovery: what a kernel's TCP sender did on a scripted path, against an endpoint of
//! `lasthop-tcp` on the same path.
//!
//! ```text
//!             ┌──────────── Path ───────────┐
//!  Endpoint ──► bottleneck, drops, rtt / 2 ──► Receiver (SACK, DSACK, delayed ACKs, window)
//!      ▲                                          │
//!      └──────────────── rtt / 2 ◄────────────────┘
//! ```
//!
//! The loop is closed: the receiver acknowledges what the endpoint under test sends. What it does becomes rows like
//! those of the recording, and the two lists are compared row by row. Only the lateness of the recording host is taken
//! from the file, within a tolerance (see [`Host`]): how much later than ideal a timer ran, or an ACK came in.
//!
//! Leaves out: recordings of receivers, paths with losses by chance.

mod compare;
mod host;
mod path;
mod receiver;
mod recorded;
mod replay;
mod report;
mod row;
mod scenario;
mod trace;

pub use host::Host;
pub use replay::replay;
pub use report::{Difference, ReplayVerdict, Report};
pub use row::{Ack, Cause, Happening, Info, Out, Row};
pub use scenario::Scenario;
pub use trace::Trace;
