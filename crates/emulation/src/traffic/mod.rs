//! Data over real sockets, as a bulk flow of a scenario has it where the network stacks are real.
//!
//! One child process carries all of it, and sleeps until a socket or the clock wakes it: where time is virtual, a process that
//! spins on the clock would stop it.

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
