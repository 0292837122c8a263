//! Packets of TCP and UDP, and the fields of their headers that are read.

use std::net::IpAddr;

use lasthop_wire::ip::{Ip, protocol};
use lasthop_wire::tcp::{Mptcp, Tcp, TcpFlags, Timestamps};
use lasthop_wire::{Carried, Layer, LeftOut, Part, Quic, Udp, carried};

use crate::echo::Content;

/// An end of a connection.
pub(crate) type End = (IpAddr, u16);

/// A packet of TCP or UDP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub from: End,
    pub to: End,
    pub transport: Transport,
}

/// The fields read from its transport header.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Transport {
    Tcp(Segment),
    Udp {
        content: Content,
        /// its headers, if it may be QUIC
        quic: Option<Quic>,
    },
}

/// A TCP segment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Segment {
    pub seq: u32,
    pub ack: u32,
    pub flags: TcpFlags,
    pub payload: u32,
    /// bytes of the TCP header and its options
    pub header: u32,
    /// as in the header, not scaled
    pub window: u16,
    pub window_scale: Option<u8>,
    pub timestamps: Option<Timestamps>,
    pub sack: [Option<(u32, u32)>; 4],
    /// the option that opens a subflow of MPTCP
    pub mptcp: Option<Mptcp>,
}

impl Packet {
    /// The innermost packet of TCP or UDP in `part`, which begins with `layer`; otherwise the name of its content.
    pub(crate) fn within(layer: Layer, part: Part<'_>) -> Result<Result<Packet, LeftOut>, lasthop_wire::Error> {
        match carried(layer, part)? {
            Carried::Packet(ip, payload) => Packet::of(&ip, payload).map(Ok),
            Carried::LeftOut(what) => Ok(Err(what)),
        }
    }

    /// Reads the transport header of an IP packet.
    fn of(ip: &Ip<'_>, payload: Part<'_>) -> Result<Packet, lasthop_wire::Error> {
        let addresses = ip.addresses();
        let (source, destination) = (addresses.source(), addresses.destination());
        let (ports, transport) = if ip.protocol() == protocol::TCP {
            let tcp = Tcp::parse(payload.bytes)?;
            ((tcp.header.source_port, tcp.header.destination_port), Transport::Tcp(Segment::of(&tcp, payload.length)))
        } else {
            let (udp, datagram) = Udp::parse(payload.bytes)?;
            let (content, quic) = (Content::of(datagram, udp.payload_length.into()), Quic::parse(datagram));
            ((udp.source_port, udp.destination_port), Transport::Udp { content, quic })
        };
        Ok(Packet { from: (source, ports.0), to: (destination, ports.1), transport })
    }
}

impl Segment {
    /// The segment in an IP packet with a payload of `length` bytes.
    fn of(tcp: &lasthop_wire::tcp::Segment<'_>, length: usize) -> Segment {
        let header = &tcp.header;
        let mut sack = [None; 4];
        for (place, block) in sack.iter_mut().zip(header.options.sack.as_slice()) {
            *place = Some(*block);
        }
        Segment {
            seq: header.sequence,
            ack: header.acknowledgement,
            flags: header.flags,
            payload: length.saturating_sub(tcp.header_length) as u32,
            header: tcp.header_length as u32,
            window: header.window,
            window_scale: header.options.window_scale,
            timestamps: header.options.timestamps,
            sack,
            mptcp: header.options.mptcp.and_then(Mptcp::read),
        }
    }
}
