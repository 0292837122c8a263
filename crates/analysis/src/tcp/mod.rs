//! TCP, read passively from both directions.

mod ranges;
mod stalls;
mod stream;
mod window;

pub(crate) use stalls::{End, Gaps, Reason, Stall, StallTally};
pub(crate) use stream::{Arrival, Stream, Told};
pub(crate) use window::{Advertised, ReceiveWindow, WindowTally};
