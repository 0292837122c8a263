//! Quantities with their units: time, sizes, rates, powers, distances, probabilities; and vocabularies that crates
//! share: the ECN field, the states of a TCP sender, and the frames of QUIC.
//!
//! Every quantity is a type of its own, so that adding two powers in dBm or passing bytes for microseconds
//! does not compile. Text is read as written by `tc` and in the field (`"50 ms"`, `"11 Mbit/s"`, `"64 KiB"`);
//! a bare number where a unit is needed is an error that names the units.

mod ecn;
mod parse;
mod present;
mod quantity;
mod quic;
mod sender_state;
mod time;

pub use ecn::Ecn;
pub use parse::{Measured, Unit, UnitError};
pub use present::Present;
pub use quantity::{Bytes, DataRate, Db, Dbm, Hertz, Metres, Milliwatts, Packets, Ppm, Probability, Speed};
pub use quic::{QuicFrameKind, QuicSpace};
pub use sender_state::{CaState, Hold};
pub use time::{Duration, Time};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
