//! The kernel's services for a controller: helpers by number, functions by name.

mod borrowed;
mod calls;
mod helpers;
mod maps;

pub(crate) use helpers::{Helper, HelperFault};
pub(crate) use maps::Maps;

use lasthop_tcp::congestion_control::{AckSample, CongestionControl, Context, Draws};
use lasthop_units::Time;

use crate::socket::Socket;

/// The state behind the calls of one connection's programs.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub context: Context,
    pub draws: Draws,
    pub now: Time,
    pub socket: Socket,
    pub maps: Maps,
    /// The present ACK, for controllers of lasthop that an object calls.
    pub ack: AckSample,
    pub borrowed: Borrowed,
    /// bytes of values and keys that the last helper has copied or looked up
    pub copied: usize,
    /// records that went into ring buffers
    pub records: u64,
}

/// Controllers of lasthop that were called so far.
#[derive(Debug, Default)]
pub(crate) struct Borrowed {
    cubic: Option<Box<dyn CongestionControl>>,
    dctcp: Option<Box<dyn CongestionControl>>,
    /// window at the last loss, for `dctcp_cwnd_undo`
    loss_cwnd: u32,
}
