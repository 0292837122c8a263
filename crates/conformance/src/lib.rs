//! Tests of a transport against its sources: recorded traces, packet scripts, and promises of all plug-ins.
//!
//! | module | subject | compared with |
//! |---|---|---|
//! | [`cc`] | a congestion controller | recorded traces of other people's; the demands of RFC 5681; a bottleneck |
//! | [`queue`] | a queue discipline | demands of a MAC and a wire on all |
//! | [`recovery`] | the sender of an endpoint | recordings of a Linux kernel on scripted paths |
//! | [`packetdrill`] | an endpoint behind system calls | scripts in packetdrill's language |
//!
//! Nothing here is part of a simulation; no model depends on it.

pub mod cc;
mod failure;
pub mod packetdrill;
pub mod queue;
pub mod recovery;

pub use failure::{Command, Failure};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
