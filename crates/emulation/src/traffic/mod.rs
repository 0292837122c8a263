//! Data over real sockets, for bulk flows of a scenario over real network stacks.
//!
//! One child process carries all of it, and sleeps until a socket or the clock wakes it: with virtual time, a process
//! that spins on the clock would stop it.

mod carrier;
mod control;
mod http;
mod listeners;
mod message;
mod sender;
mod sockets;
mod transfer;

pub use control::Traffic;
pub use http::HttpServer;
pub use message::Completion;
pub use transfer::{Offers, Side, SocketOptions, Transfer};
