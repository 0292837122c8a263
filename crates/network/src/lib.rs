//! The last hop without hosts: the medium, the wired link of each AP, and what lies between a wired link and a server.
//!
//! ```text
//! station ── medium ── AP ── wired link ── detour of a flow ── server
//! ```
//!
//! [`Network`] owns the clock and passes packets from one component to the next. Their body is opaque, so the same network
//! carries simulated segments and real ones. Three kinds of code stand above it:
//!
//! - A simulation implements [`Hosts`]: the network tells it what arrives and asks what its hosts do next.
//! - A driver with packets of its own has no hosts. It calls [`Network::inject`] and [`Network::run_until`], and takes what
//!   arrived from [`Network::arrivals`].
//! - An [`Observer`](lasthop_observe::Observer) is told what happens; with `()` that costs nothing.

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
pub use injection::Refusal;
pub use network::Network;
pub use outside::{Arrival, NoEvent, Outside};
/// For the test that holds how large what is handled often is.
#[doc(hidden)]
pub use sizes::sizes_in_bytes;
pub use topology::Topology;
pub use wires::Wires;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
