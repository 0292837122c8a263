//! Layers, and the steps from one to the next.

use super::left_out::LeftOut;
use crate::error::Error;
use crate::ip::Ip;
use crate::link_layer::EtherType;
use crate::part::Part;

/// The content of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried<'a> {
    /// The innermost IP packet: its header, and its payload without extension headers.
    Packet(Ip<'a>, Part<'a>),
    /// No IP packet, or one without a transport header.
    LeftOut(LeftOut),
}

/// The protocol of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// An Ethernet frame.
    Ethernet,
    /// The protocol that a frame's type names.
    Typed(EtherType),
    /// LLC, perhaps with SNAP.
    Llc,
    /// PPP, perhaps with address and control of HDLC, and perhaps with a protocol of one byte.
    Ppp,
    /// A PPPoE session.
    PppoeSession,
    /// IPv4 or IPv6.
    Ip,
    /// BSD's address family in four bytes of either order, then IP.
    Family,
}

/// A header that was passed.
pub(super) enum Step<'a> {
    /// The next header.
    Down(Layer, Part<'a>),
    /// The end of the way.
    End(Carried<'a>),
}

impl<'a> Step<'a> {
    /// The end of a way that leads to no packet.
    pub(super) fn left_out(what: LeftOut) -> Result<Step<'a>, Error> {
        Ok(Step::End(Carried::LeftOut(what)))
    }
}
