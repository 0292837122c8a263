//! Sockets with the settings of a transfer.

use std::net::SocketAddrV4;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

use super::transfer::{End, SocketOptions};
use crate::error::{Context, Error, Result};
use crate::host::Namespace;
use crate::system_calls::set_number;

/// The most connections that may wait to be accepted.
const BACKLOG: i32 = 128;

/// A listening socket at an address, whose connections will receive.
pub(super) fn listen(at: &End<'_>, options: &SocketOptions) -> Result<OwnedFd> {
    listen_with(at, options, set_for_receiver)
}

/// A listening socket at an address, whose connections will send.
pub(super) fn listen_as_sender(at: &End<'_>, options: &SocketOptions) -> Result<OwnedFd> {
    listen_with(at, options, set_for_sender)
}

/// Opens a listening socket; its connections inherit its settings.
fn listen_with(
    at: &End<'_>,
    options: &SocketOptions,
    set: fn(&OwnedFd, &SocketOptions) -> Result<()>,
) -> Result<OwnedFd> {
    let place = || format!("port {} of {} cannot be listened on", at.address.port(), at.address.ip());
    let socket = open(at.namespace)?;
    set_for_both(&socket, options)?;
    set(&socket, options)?;
    rustix::net::bind(&socket, &at.address).context(place)?;
    rustix::net::listen(&socket, BACKLOG).context(place)?;
    Ok(socket)
}

/// A socket that connects from one address to another.
pub(super) fn connect(from: &End<'_>, to: SocketAddrV4, options: &SocketOptions) -> Result<OwnedFd> {
    let socket = open(from.namespace)?;
    set_for_both(&socket, options)?;
    set_for_sender(&socket, options)?;
    bind_or_leave(&socket, from.address)?;
    match rustix::net::connect(&socket, &to) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error).context(|| format!("{to} cannot be reached from {}", from.address)),
    }
}

/// Opens a TCP socket in a namespace.
fn open(namespace: &Namespace) -> Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = namespace.enter(|| rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None))?;
    let socket = socket.context(|| "a TCP socket cannot be opened".to_owned())?;
    sockopt::set_socket_reuseaddr(&socket, true).context(|| "SO_REUSEADDR cannot be set".to_owned())?;
    Ok(socket)
}

/// Binds the port of the address, or one of the kernel's choice if another connection listens there.
fn bind_or_leave(socket: &OwnedFd, address: SocketAddrV4) -> Result<()> {
    match rustix::net::bind(socket, &address) {
        Err(Errno::ADDRINUSE) => rustix::net::bind(socket, &SocketAddrV4::new(*address.ip(), 0)),
        answer => answer,
    }
    .context(|| format!("{address} cannot be taken"))
}

fn set_for_both(socket: &OwnedFd, options: &SocketOptions) -> Result<()> {
    sockopt::set_ip_tos(socket, options.tos).context(|| format!("TOS {} cannot be set", options.tos))?;
    set_tcp(socket, libc::TCP_MAXSEG, "TCP_MAXSEG", options.mss)?;
    set_congestion_control(socket, options)
}

fn set_for_sender(socket: &OwnedFd, options: &SocketOptions) -> Result<()> {
    if let Some(bytes) = options.send_buffer {
        sockopt::set_socket_send_buffer_size(socket, bytes as usize)
            .context(|| format!("a send buffer of {bytes} bytes cannot be set"))?;
    }
    if let Some(rate) = options.pacing_rate {
        set_number(socket.as_fd(), libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, rate as libc::c_int)
            .context(|| format!("SO_MAX_PACING_RATE {rate} cannot be set"))?;
    }
    let timeout_ms = options.user_timeout.map(|time| (time.as_nanos() / 1_000_000) as u32);
    set_tcp(socket, libc::TCP_USER_TIMEOUT, "TCP_USER_TIMEOUT", timeout_ms)?;
    Ok(())
}

/// Sets the algorithm, which both ends need: a request for ECN is accepted only by a socket with the same algorithm.
fn set_congestion_control(socket: &OwnedFd, options: &SocketOptions) -> Result<()> {
    let Some(name) = &options.congestion_control else { return Ok(()) };
    match sockopt::set_tcp_congestion(socket, name) {
        Err(Errno::NOENT) => Err(Error::new(format!(
            "this kernel has no congestion control \"{name}\"; /proc/sys/net/ipv4/tcp_available_congestion_control lists those it has"
        ))),
        answer => answer.context(|| format!("congestion control \"{name}\" cannot be set")),
    }
}

fn set_for_receiver(socket: &OwnedFd, options: &SocketOptions) -> Result<()> {
    if let Some(bytes) = options.receive_buffer {
        sockopt::set_socket_recv_buffer_size(socket, bytes as usize)
            .context(|| format!("a receive buffer of {bytes} bytes cannot be set"))?;
    }
    set_tcp(socket, libc::TCP_WINDOW_CLAMP, "TCP_WINDOW_CLAMP", options.window_clamp)
}

/// Sets options that the kernel forgets while a connection receives: quick acknowledgements with any segment, and from
/// Linux 6.6 on the clamp of the window with the first full one.
pub(super) fn renew_for_receiver(socket: &OwnedFd, options: &SocketOptions) {
    // Both fail only if the connection has ended, which the next read reports.
    if let Some(on) = options.quick_ack {
        sockopt::set_tcp_quickack(socket, on).ok();
    }
    set_tcp(socket, libc::TCP_WINDOW_CLAMP, "TCP_WINDOW_CLAMP", options.window_clamp).ok();
}

fn set_tcp(socket: &OwnedFd, option: i32, name: &str, value: Option<u32>) -> Result<()> {
    let Some(value) = value else { return Ok(()) };
    let refused = || format!("{name} = {value} cannot be set");
    let number = i32::try_from(value).map_err(|_| Error::new(refused()))?;
    set_number(socket.as_fd(), libc::IPPROTO_TCP, option, number).context(refused)
}
