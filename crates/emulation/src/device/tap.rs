//! Taps at network devices: the IP packets that a host sends and receives, as copies, and the stations that an access point
//! announces. [packet(7)]

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
        let socket = socket_for(libc::ETH_P_ALL, namespace)?;
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

fn socket_for(protocol: libc::c_int, namespace: &Namespace) -> Result<OwnedFd> {
    let (family, protocol) = (rustix::net::AddressFamily::PACKET, system_calls::packet_protocol(protocol));
    let open = || rustix::net::socket_with(family, SocketType::DGRAM, SocketFlags::CLOEXEC, Some(protocol));
    namespace.enter(open)?.context(|| "packets of a node cannot be seen".to_owned())
}

/// A tap for the frames by which an access point announces a new station to the switch behind it: Layer 2 Update frames, which
/// have the station's address as their sender's. [IEEE 802.11F-2003 §6.3]
#[derive(Debug)]
pub(crate) struct Announcements {
    socket: OwnedFd,
}

impl Announcements {
    /// Opens it.
    ///
    /// # Errors
    /// The process has no `CAP_NET_RAW` in the namespace.
    pub(crate) fn open(namespace: &Namespace) -> Result<Announcements> {
        // Frames of 802.2 have a length in place of a protocol.
        Ok(Announcements { socket: socket_for(libc::ETH_P_802_2, namespace)? })
    }

    /// The address of the next station that has joined.
    ///
    /// # Errors
    /// The device is gone.
    pub(crate) fn next(&self) -> Result<Option<[u8; 6]>> {
        /// Null DSAP, null SSAP with the response bit, and XID.
        const UPDATE: [u8; 3] = [0, 1, 0xaf];
        let mut frame = [0; 64];
        loop {
            match system_calls::receive_packet(self.socket.as_fd(), &mut frame) {
                Ok(Some(seen)) if frame[..seen.length.min(frame.len())].starts_with(&UPDATE) => {
                    return Ok(Some(seen.sender));
                }
                Ok(Some(_)) => {}
                Ok(None) => return Ok(None),
                Err(error) => return Err(error).context(|| "packets of an access point cannot be seen".to_owned()),
            }
        }
    }
}

impl AsFd for Announcements {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
