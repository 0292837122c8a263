//! The last hop without hosts: the medium, the wired link of each AP, and the path between a wired link and a server.
//!
//! ```text
//! station ── medium ── AP ── wired link ── detour of a flow ── server
//! ```
//!
//! [`Network`] owns the clock and passes packets from one component to the next. Their body is opaque, so the same
//! network carries simulated segments and real ones. Three kinds of code stand above it:
//!
//! - A simulation implements [`Hosts`]: the network passes it arrivals and carries out its orders.
//! - A driver with its own packets has no hosts. It calls [`Network::inject`] and [`Network::run_until`], and takes
//!   arrivals from [`Network::arrivals`].
//! - An [`Observer`](lasthop_observe::Observer) receives records of the run; with `()` this costs nothing.

mod adjust;
mod detour;
mod event;
mod hosts;
mod injection;
mod network;
mod outside;
mod sizes;
mod surroundings;
mod topology;
mod wires;

pub use event::Alarm;
pub use hosts::{Context, Hosts, Order};
pub use injection::{Door, Refusal};
pub use network::Network;
pub use outside::{Arrival, NoEvent, Outside};
/// For the test of the sizes of frequently used types.
#[doc(hidden)]
pub use sizes::sizes_in_bytes;
pub use topology::Topology;
pub use wires::Wires;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
