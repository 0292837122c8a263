//! The memory of a connection to which its controller has a pointer.

use lasthop_tcp::congestion_control::Draws;

use crate::abi::Sock;

/// The sock, followed by the state for host functions.
#[repr(C)]
pub(crate) struct Shared {
    pub sock: Sock,
    pub draws: Draws,
}
