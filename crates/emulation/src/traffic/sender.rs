//! The sending end of a connection: writes zeros as long as the socket has room and data remains to be sent.

use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{SendFlags, Shutdown, sockopt};

use super::transfer::Offers;

/// The largest write, in bytes, which is that of iperf3.
const BLOCK: usize = 128 * 1024;

/// The content of all data.
pub(super) static ZEROS: [u8; BLOCK] = [0; BLOCK];

/// State of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// data is still to be written, or to be acknowledged
    Open,
    /// the receiver has closed after all data
    Complete,
}

/// The sending end of a connection.
pub(super) struct Sender {
    socket: OwnedFd,
    connected: bool,
    written: u64,
    offered: u64,
    size: u64,
    ended: bool,
}

impl Sender {
    /// A sender of `size` bytes, or without end; sends bytes as they are offered, or at any rate.
    pub fn new(socket: OwnedFd, size: Option<u64>, rate: Option<Offers>) -> Sender {
        let size = size.unwrap_or(u64::MAX);
        let offered = rate.map_or(u64::MAX, |offers| offers.bytes);
        Sender { socket, connected: false, written: 0, offered, size, ended: false }
    }

    pub fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// Offers more bytes to be sent.
    pub fn offer(&mut self, bytes: u64) {
        self.offered = self.offered.saturating_add(bytes);
    }

    /// Returns whether all bytes to be sent have been offered.
    pub fn is_offered_all(&self) -> bool {
        self.offered >= self.size
    }

    /// Returns whether it waits for room in the socket, or for the connection.
    pub fn waits_for_room(&self) -> bool {
        !self.connected || self.may_write() > 0
    }

    fn may_write(&self) -> u64 {
        self.offered.min(self.size) - self.written
    }

    /// Writes one block if there is room, and notices the end of the connection by the receiver.
    ///
    /// For more data the caller calls it again, so that no connection keeps the others waiting.
    pub fn advance(&mut self) -> rustix::io::Result<Progress> {
        if !self.connected {
            sockopt::socket_error(&self.socket)??;
            self.connected = rustix::net::getpeername(&self.socket).is_ok();
        }
        if self.connected && self.may_write() > 0 {
            let length = self.may_write().min(BLOCK as u64) as usize;
            match rustix::net::send(&self.socket, &ZEROS[..length], SendFlags::NOSIGNAL) {
                Ok(taken) => self.written += taken as u64,
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        if self.connected && self.written == self.size && !self.ended {
            rustix::net::shutdown(&self.socket, Shutdown::Write)?;
            self.ended = true;
        }
        self.look_for_end()
    }

    fn look_for_end(&self) -> rustix::io::Result<Progress> {
        match rustix::io::read(&self.socket, &mut [0; 64]) {
            Ok(0) if self.ended => Ok(Progress::Complete),
            // The receiver never closes first, and never sends.
            Ok(_) => Err(Errno::PROTO),
            Err(Errno::AGAIN | Errno::INTR | Errno::NOTCONN) => Ok(Progress::Open),
            Err(error) => Err(error),
        }
    }
}
