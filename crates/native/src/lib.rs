#![doc = include_str!("../README.md")]
//!
//! `abi` has the structs of the header, `told` fills them from the facts of an endpoint, `controller` has the order of
//! the calls. Unsafe code is in `library` (the table), `connection` (the calls), `crash` and `signal_stack`
//! (signals raised in them) and `host` (calls back).

mod abi;
mod connection;
mod controller;
mod copy;
mod crash;
mod error;
mod host;
mod library;
mod shared;
#[cfg(all(unix, not(miri)))]
mod signal_stack;
mod told;

pub use error::Error;
pub use library::{Library, SYMBOL, Setting};
