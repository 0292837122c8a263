//! Replays recorded loss recovery: a kernel's TCP sender on a scripted path, compared with an endpoint of
//! `lasthop-tcp` on the same path.
//!
//! ```text
//!             ┌──────────── Path ───────────┐
//!  Endpoint ──► bottleneck, drops, rtt / 2 ──► Receiver (SACK, DSACK, delayed ACKs, window)
//!      ▲                                          │
//!      └──────────────── rtt / 2 ◄────────────────┘
//! ```
//!
//! The loop is closed: the receiver acknowledges the segments of the endpoint under test. Its actions become rows like
//! those of the recording, and the two lists are compared row by row. Only the lateness of the recording host is taken
//! from the file, within a tolerance (see [`Host`]): the delay of a timer, or of an incoming ACK.
//!
//! Leaves out: recordings of receivers, paths with random losses.

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
