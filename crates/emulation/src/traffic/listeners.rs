//! Sockets that wait for connections, each as long as one is awaited.

use std::net::SocketAddrV4;
use std::os::fd::OwnedFd;

use rustix::net::SocketFlags;

use super::sockets::{listen, renew_for_receiver};
use super::transfer::{End, SocketOptions};
use crate::error::Result;

/// A socket that waits for connections.
///
/// Two transfers to one station share a listener at one port, since connections of both are numbered from 0. All
/// arrivals are discarded, so their owner does not matter; the settings are those of the first transfer.
pub(super) struct Listener {
    socket: OwnedFd,
    address: SocketAddrV4,
    awaited: u32,
    options: SocketOptions,
}

impl Listener {
    /// Opens a listener for one connection.
    pub fn open(at: &End<'_>, options: &SocketOptions) -> Result<Listener> {
        let socket = listen(at, options)?;
        Ok(Listener { socket, address: at.address, awaited: 1, options: options.clone() })
    }

    pub fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    pub fn is_at(&self, address: SocketAddrV4) -> bool {
        self.address == address
    }

    /// Expects one connection more.
    pub fn await_one_more(&mut self) {
        self.awaited += 1;
    }

    pub fn is_done(&self) -> bool {
        self.awaited == 0
    }

    /// Accepts the next connection.
    pub fn accept(&mut self) -> rustix::io::Result<Sink> {
        let socket = rustix::net::accept_with(&self.socket, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK)?;
        self.awaited = self.awaited.saturating_sub(1);
        renew_for_receiver(&socket, &self.options);
        Ok(Sink { socket, options: self.options.clone() })
    }
}

/// The receiving end of a connection: reads and discards.
pub(super) struct Sink {
    socket: OwnedFd,
    options: SocketOptions,
}

impl Sink {
    pub fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// Reads the data that has come. False: its end is reached.
    pub fn read(&self, scratch: &mut [u8]) -> rustix::io::Result<bool> {
        let length = rustix::io::read(&self.socket, scratch)?;
        renew_for_receiver(&self.socket, &self.options);
        Ok(length > 0)
    }
}
