//! The memory of a connection that its controller has a pointer to.

use lasthop_tcp::congestion_control::Draws;

use crate::abi::Sock;

/// The sock, and behind it what host functions need.
#[repr(C)]
pub(crate) struct Shared {
    pub sock: Sock,
    pub draws: Draws,
}
