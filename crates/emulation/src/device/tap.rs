//! A tap at a network device: the IP packets that its host sends over it and receives, as copies. [packet(7)]

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{SocketFlags, SocketType, sockopt};

use crate::error::{Context, Result};
use crate::host::Namespace;
use crate::system_calls;

/// `PACKET_OUTGOING`: the host has sent it.
const OUTGOING: u8 = 4;
/// Room for packets that were not read yet, in bytes.
const ROOM: usize = 64 << 20;

/// A tap at all devices of a namespace but its loopback device.
#[derive(Debug)]
pub(crate) struct Tap {
    socket: OwnedFd,
}

impl Tap {
    /// Opens it.
    ///
    /// # Errors
    /// The process has no `CAP_NET_RAW` in the namespace.
    pub(crate) fn open(namespace: &Namespace) -> Result<Tap> {
        let family = rustix::net::AddressFamily::PACKET;
        let socket = namespace
            .enter(|| {
                let all = system_calls::all_protocols();
                rustix::net::socket_with(family, SocketType::DGRAM, SocketFlags::CLOEXEC, Some(all))
            })?
            .context(|| "packets of a station cannot be seen".to_owned())?;
        sockopt::set_socket_recv_buffer_size_force(&socket, ROOM)
            .context(|| "a packet socket cannot have its room".to_owned())?;
        Ok(Tap { socket })
    }

    /// The next IP packet: its length in `packet`, and whether the host has sent it.
    ///
    /// # Errors
    /// The device is gone.
    pub(crate) fn next(&self, packet: &mut [u8]) -> Result<Option<(usize, bool)>> {
        loop {
            match system_calls::receive_packet(self.socket.as_fd(), packet) {
                Ok(Some(seen)) if seen.is_ipv4 && !seen.is_local => {
                    return Ok(Some((seen.length, seen.kind == OUTGOING)));
                }
                Ok(Some(_)) => {}
                Ok(None) => return Ok(None),
                Err(error) => return Err(error).context(|| "packets of a station cannot be seen".to_owned()),
            }
        }
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
