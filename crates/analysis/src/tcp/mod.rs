//! TCP, read passively from both directions.

mod ranges;
mod stream;

pub(crate) use stream::{Arrival, Stream, Told};
