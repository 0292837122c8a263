//! A simulated network between real Linux network stacks.
//!
//! Each station and each server is a network namespace with a TUN device. A packet that the stack of a namespace sends
//! is read from its device, and a packet that the simulated network delivers is written to it. The crate makes and ends
//! such hosts, carries data between them over real sockets, and reads the kernel's state of those sockets. All of it is
//! for Linux.

#![cfg(target_os = "linux")]

mod clock;
pub mod device;
pub mod diag;
pub mod driver;
mod error;
pub mod host;
mod lateness;
pub mod live;
mod system_calls;
pub mod traffic;

pub use error::{Error, Result};
pub use lateness::Lateness;
pub use live::{Live, Machine, Options, settle};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
