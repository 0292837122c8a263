//! The body of packets where some hosts are simulated and others are not.

use lasthop_link::Packet;
use lasthop_observe::detail::TcpHeader;
use lasthop_units::Time;

use crate::hosts::{Body, Headed};

/// A packet of a real network stack.
#[derive(Debug)]
pub(crate) struct Datagram {
    /// its bytes as the stack wrote them, from the IP header on
    pub(crate) bytes: Vec<u8>,
    /// its TCP header, if it has one
    pub(crate) tcp: Option<TcpHeader>,
    /// time at which it entered the network
    pub(crate) entered_at: Time,
    /// whether a kernel that is no end of its flow has passed it on
    pub(crate) is_forwarded: bool,
}

/// The body of a packet from either kind of host.
#[derive(Debug)]
pub(crate) enum Carriage {
    /// A packet of a simulated host; its facts are the outer ones.
    Simulated(Packet<Body>),
    Real(Box<Datagram>),
    /// A frame of a kernel's radio, whose number its packet has.
    Frame,
}

impl Carriage {
    /// Converts a packet of a simulated host to a packet of this network.
    pub(crate) fn simulated(packet: Packet<Body>) -> Packet<Carriage> {
        Packet::new(packet.meta, Carriage::Simulated(packet))
    }
}

impl Headed for Datagram {
    fn header(&self) -> Option<TcpHeader> {
        self.tcp
    }

    fn datagram(&self) -> Option<u64> {
        None
    }

    fn sack(&self) -> (u32, Option<(u32, u32)>) {
        let Some(options) = self.tcp.and_then(|header| header.options) else { return (0, None) };
        (options.sack_blocks.into(), (options.sack_blocks > 0).then(|| options.sack[0]))
    }
}

impl Headed for Carriage {
    fn header(&self) -> Option<TcpHeader> {
        match self {
            Carriage::Simulated(packet) => packet.body.header(),
            Carriage::Real(datagram) => datagram.header(),
            Carriage::Frame => None,
        }
    }

    fn datagram(&self) -> Option<u64> {
        match self {
            Carriage::Simulated(packet) => packet.body.datagram(),
            Carriage::Real(datagram) => datagram.datagram(),
            Carriage::Frame => None,
        }
    }

    fn sack(&self) -> (u32, Option<(u32, u32)>) {
        match self {
            Carriage::Simulated(packet) => packet.body.sack(),
            Carriage::Real(datagram) => datagram.sack(),
            Carriage::Frame => (0, None),
        }
    }

    fn payload(&self) -> Option<&[u8]> {
        match self {
            Carriage::Simulated(packet) => packet.body.payload(),
            Carriage::Real(datagram) => datagram.payload(),
            Carriage::Frame => None,
        }
    }
}
