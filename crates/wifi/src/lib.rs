//! 802.11 above a shared medium, generic over the body of packets.
//!
//! [`Medium`] holds the nodes of all BSSs, on one or several channels, their queues and their MAC. It is handed the time and
//! events it asked for, and says through an [`Environment`] what happens next: events to schedule,
//! packets that arrived, records for observers. It never looks into a packet's body.

mod channel;
mod config;
mod mac;
mod medium;
pub mod phy;
pub mod rate_control;

pub use channel::{CcaLevels, Channel, Matrix, Movement};
pub use config::{AfterLoss, BssConfig, MediumConfig, Protection, Queues};
pub use mac::aggregation::Aggregation;
pub use mac::carrier_sense::{Capture, LateCapture};
pub use mac::contention::Countdown;
pub use mac::edca::{AccessCategory, EdcaParameters};
pub use mac::node::{Access, ChannelAccess, NodeConfig};
pub use medium::{Counts, Environment, Medium, MediumEvent};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
