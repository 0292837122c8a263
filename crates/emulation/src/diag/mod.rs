//! The TCP connections of a namespace as their kernel sees them: sock_diag(7) with `struct tcp_info`.
//!
//! A kernel sends as much of the struct as it knows, and later ones know more. A field is absent here if it was not
//! sent, or if the kernel does not know it yet.

mod tcp_info;

use std::net::{IpAddr, SocketAddrV4};
use std::os::fd::OwnedFd;

use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::inet::nlas::Nla;
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

pub use tcp_info::{CongestionState, SocketInfo, State};

use crate::error::{Context, Error, Result};
use crate::host::Namespace;

/// A connection to the kernel for the sockets of one namespace.
#[derive(Debug)]
pub struct Diag {
    socket: OwnedFd,
    request: Vec<u8>,
    buffer: Vec<u8>,
}

impl Diag {
    /// Opens the connection. The socket belongs to `namespace` from then on, wherever the caller is.
    ///
    /// # Errors
    /// The namespace cannot be entered, or the kernel has no sock_diag.
    pub fn open(namespace: &Namespace) -> Result<Diag> {
        let protocol = Some(rustix::net::netlink::SOCK_DIAG);
        let socket = namespace.enter(|| {
            rustix::net::socket_with(AddressFamily::NETLINK, SocketType::DGRAM, SocketFlags::CLOEXEC, protocol)
        })?;
        let socket = socket.context(|| "a sock_diag socket cannot be opened".to_owned())?;
        Ok(Diag { socket, request: request(), buffer: vec![0; 64 * 1024] })
    }

    /// Replaces the content of `into` by all TCP connections over IPv4. Sockets that listen, that wait in TIME-WAIT or
    /// that have no state yet are left out.
    ///
    /// # Errors
    /// The kernel has no `INET_DIAG` for TCP, or its answer cannot be read.
    pub fn sockets(&mut self, into: &mut Vec<SocketInfo>) -> Result<()> {
        into.clear();
        rustix::net::send(&self.socket, &self.request, SendFlags::empty()).context(place)?;
        while self.receive(into)? {}
        Ok(())
    }

    /// Receives a part of the answer. False: it was the last.
    fn receive(&mut self, into: &mut Vec<SocketInfo>) -> Result<bool> {
        let (length, _) =
            rustix::net::recv(&self.socket, self.buffer.as_mut_slice(), RecvFlags::empty()).context(place)?;
        let mut rest = &self.buffer[..length];
        while !rest.is_empty() {
            let message = NetlinkMessage::<SockDiagMessage>::deserialize(rest)
                .map_err(|error| Error::new(format!("{}: {error}", place())))?;
            match message.payload {
                NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(response)) => into.extend(told(*response)),
                NetlinkPayload::Error(error) if error.code.is_some() => {
                    return Err(error.to_io()).context(place).map_err(|error| {
                        error.with_remedy("the kernel needs CONFIG_INET_DIAG, or the module tcp_diag")
                    });
                }
                NetlinkPayload::Done(_) => return Ok(false),
                _ => {}
            }
            // Messages begin at multiples of four bytes.
            rest = &rest[(message.header.length as usize).next_multiple_of(4).min(rest.len())..];
        }
        Ok(true)
    }
}

fn place() -> String {
    "the TCP connections of a namespace cannot be listed".to_owned()
}

/// A request for all connections, with `tcp_info` and the name of the congestion control.
fn request() -> Vec<u8> {
    let states = StateFlags::ESTABLISHED
        | StateFlags::SYN_SENT
        | StateFlags::FIN_WAIT1
        | StateFlags::FIN_WAIT2
        | StateFlags::CLOSING
        | StateFlags::CLOSE_WAIT
        | StateFlags::LAST_ACK;
    let mut message = NetlinkMessage::from(SockDiagMessage::InetRequest(InetRequest {
        family: libc::AF_INET as u8,
        protocol: libc::IPPROTO_TCP as u8,
        extensions: ExtensionFlags::INFO | ExtensionFlags::CONG,
        states,
        socket_id: SocketId::new_v4(),
    }));
    message.header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}

/// The facts of a response; `None` if it has no `tcp_info`.
fn told(response: InetResponse) -> Option<SocketInfo> {
    let id = response.header.socket_id;
    let (IpAddr::V4(source), IpAddr::V4(destination)) = (id.source_address, id.destination_address) else {
        return None;
    };
    let (mut info, mut congestion_control) = (None, None);
    for attribute in response.nlas {
        match attribute {
            Nla::TcpInfo(bytes) => info = Some(bytes),
            Nla::Congestion(name) => congestion_control = Some(name),
            _ => {}
        }
    }
    let local = SocketAddrV4::new(source, id.source_port);
    let remote = SocketAddrV4::new(destination, id.destination_port);
    SocketInfo::read(&info?, local, remote, congestion_control)
}
