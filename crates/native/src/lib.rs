#![doc = include_str!("../README.md")]
//!
//! `abi` has the structs of the header, `told` fills them from the facts of an endpoint, `controller` has the order of
//! the calls. Unsafe code is in `library` (the table), `connection` (the calls), `crash` (signals raised in them) and
//! `host` (calls back).

mod abi;
mod connection;
mod controller;
mod crash;
mod error;
mod host;
mod library;
mod shared;
mod told;

pub use error::Error;
pub use library::{Library, SYMBOL, Setting};
