#![doc = include_str!("../README.md")]
//!
//! `abi` has the structs of the header, `told` fills them from what an endpoint tells, `controller` has the rules of who is
//! called when. What is unsafe stands in `library` (the table), `connection` (the calls), `crash`
//! (signals raised in them) and `host` (calls back).

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
