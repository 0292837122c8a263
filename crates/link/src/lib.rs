//! Packets, the queues in which they wait, and the wired link.
//!
//! A packet is a few facts that lower layers may read and a body that they may not, so the same
//! queues and links carry simulated segments and real ones.

pub mod loss;
mod packet;
pub mod queue_discipline;
mod replay;
mod sizes;
mod wire_use;
mod wired;
pub mod wired_rate;

pub use loss::LossKind;
pub use packet::{AckFacts, Content, Packet, PacketMeta};
pub use queue_discipline::{
    AirtimeSource, AirtimeUse, Below, ByClass, Drop, Held, Marks, QueueDiscipline, QueueDisciplineKind, QueueMaker,
    Serving, Ticket, Wanted,
};
/// For the test of the sizes of frequently used types.
#[doc(hidden)]
pub use sizes::sizes_in_bytes;
pub use wire_use::WireUse;
pub use wired::{WiredEvent, WiredLink};
pub use wired_rate::VaryingRate;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
