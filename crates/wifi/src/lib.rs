//! 802.11 above a shared medium, generic over the body of packets.
//!
//! [`Medium`] holds the nodes of all BSSs, on one or several channels, their queues and their MAC. Its caller hands it
//! the time and the events it scheduled. Through an [`Environment`] it says what happens next: events to schedule,
//! packets that arrived, records for observers. It never looks into a packet's body.

mod access;
mod aggregation;
mod air;
mod books;
mod bursts;
mod channel;
mod config;
mod deferral;
mod details;
mod edca;
mod environment;
mod exchange;
mod group;
mod hearing;
mod ids;
mod interferer;
mod joint;
mod layout;
mod medium;
mod moves;
pub mod multi_user;
pub mod phy;
mod ppdu;
pub mod rate_control;
#[cfg(test)]
mod seams;
mod sender;
mod sequence;
mod sizes;
mod steps;
mod transmission;

pub use access::view::Countdown;
pub use aggregation::Aggregation;
pub use air::carrier_sense::{Capture, LateCapture};
pub use books::Counts;
pub use channel::{CcaLevels, Channel, Matrix, Movement};
pub use config::{
    Access, AfterLoss, BssConfig, ChannelAccess, Driver, Legacy, MediumConfig, NodeConfig, Protection, Queues,
    Security, TxopProtection,
};
pub use edca::{AccessCategory, EdcaParameters};
pub use environment::{Agenda, Attempted, Environment, GroupFrame, MediumEvent};
pub use interferer::{Burst, Emission, Interferer, Interferers};
pub use layout::widths_differ;
pub use medium::{Failed, Medium};
pub use multi_user::{Acknowledge, MuEdca, MultiUser, RandomAccess};
/// For the test of the sizes of frequently used types.
#[doc(hidden)]
pub use sizes::sizes_in_bytes;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
