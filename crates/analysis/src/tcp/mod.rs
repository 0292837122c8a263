//! TCP, read passively from both directions.

mod beyond;
mod connection;
mod ranges;
mod stalls;
mod stamps;
mod stream;
mod timer;
mod window;

pub(crate) use connection::Connection;
pub(crate) use stalls::{Ended, Reason, StallTally};
pub(crate) use stream::{Arrival, Told};
pub(crate) use window::{Advertised, WindowTally};
