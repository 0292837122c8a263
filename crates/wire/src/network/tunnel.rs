//! IP packets, and tunnels within them: IP in IP, GRE, MPLS, VXLAN, Geneve. [RFC 2003; RFC 2784; RFC 4023; RFC 7348]

use super::layer::{Carried, Layer, Step};
use super::left_out::LeftOut;
use super::mpls;
use crate::error::Error;
use crate::ip::{Ip, protocol};
use crate::link_layer::EtherType;
use crate::part::Part;

/// Port of VXLAN. [RFC 7348 §5]
const VXLAN: u16 = 4789;
/// Its default port in Linux, from before the RFC. [ip-link(8)]
const VXLAN_OF_LINUX: u16 = 8472;
/// Port of Geneve. [RFC 8926 §3.3]
const GENEVE: u16 = 6081;
/// Port of GRE in UDP. [RFC 8086 §3.2]
const GRE_IN_UDP: u16 = 4754;
/// Port of TZSP. [IANA service names]
const TZSP: u16 = 37008;

/// Whether datagrams to a port of UDP contain frames or packets.
pub fn is_tunnel(port: u16) -> bool {
    matches!(port, VXLAN | VXLAN_OF_LINUX | GENEVE | GRE_IN_UDP | TZSP)
}

/// An IP packet, or the tunnel that it is for.
pub(super) fn ip(part: Part<'_>) -> Result<Step<'_>, Error> {
    let (ip, payload) = Ip::parse_part(part)?;
    if ip.is_later_fragment() {
        return Step::left_out(LeftOut::LaterFragment);
    }
    let payload = if ip.has_more_fragments() { payload.unbound() } else { payload };
    match ip.protocol() {
        protocol::TCP => Ok(Step::End(Carried::Packet(ip, payload))),
        protocol::UDP => Ok(within_udp(payload).unwrap_or(Step::End(Carried::Packet(ip, payload)))),
        protocol::IPV4 | protocol::IPV6 => Ok(Step::Down(Layer::Ip, payload)),
        protocol::GRE => gre(payload),
        protocol::MPLS => mpls::labels(payload),
        other => Step::left_out(LeftOut::Protocol(other)),
    }
}

/// The tunnel that a datagram belongs to, if it does.
fn within_udp(datagram: Part<'_>) -> Option<Step<'_>> {
    let ([_, _, high, low, ..], payload) = datagram.split::<8>("UDP header").ok()?;
    match u16::from_be_bytes([high, low]) {
        VXLAN => {
            /// The identifier of the network is valid.
            const VALID: u8 = 0x08;
            let ([flags, ..], frame) = payload.split::<8>("VXLAN header").ok()?;
            (flags & VALID != 0).then_some(Step::Down(Layer::Ethernet, frame))
        }
        VXLAN_OF_LINUX => {
            // Others use the port too: all but the identifier has one value.
            let (head, frame) = payload.split::<8>("VXLAN header").ok()?;
            matches!(head, [0x08, 0, 0, 0, _, _, _, 0]).then_some(Step::Down(Layer::Ethernet, frame))
        }
        GENEVE => geneve(payload),
        GRE_IN_UDP => gre(payload).ok(),
        TZSP => Some(Step::End(Carried::LeftOut(LeftOut::Tzsp))),
        _ => None,
    }
}

/// Geneve of version 0, behind its options. [RFC 8926 §3.4]
fn geneve(part: Part<'_>) -> Option<Step<'_>> {
    let ([first, _, high, low, ..], rest) = part.split::<8>("Geneve header").ok()?;
    let (version, options) = (first >> 6, usize::from(first & 0x3f) * 4);
    let inner = rest.after(options, "Geneve options").ok().filter(|_| version == 0)?;
    Some(Step::Down(Layer::Typed(EtherType(u16::from_be_bytes([high, low]))), inner))
}

/// GRE of version 0, and of version 1, which is PPTP's. [RFC 2784 §2; RFC 2890 §2; RFC 2637 §4.1]
fn gre(part: Part<'_>) -> Result<Step<'_>, Error> {
    const PART: &str = "GRE header";
    const CHECKSUM: u16 = 0x8000;
    const ROUTING: u16 = 0x4000;
    const KEY: u16 = 0x2000;
    const SEQUENCE: u16 = 0x1000;
    const ACKNOWLEDGEMENT: u16 = 0x0080;
    const VERSION: u16 = 0x0007;
    let ([a, b, c, d], rest) = part.split::<4>(PART)?;
    let (flags, ether_type) = (u16::from_be_bytes([a, b]), EtherType(u16::from_be_bytes([c, d])));
    let version = flags & VERSION;
    if version > 1 || flags & ROUTING != 0 {
        return Step::left_out(LeftOut::Gre);
    }
    let acknowledgement = if version == 1 { ACKNOWLEDGEMENT } else { 0 };
    let fields = [CHECKSUM, KEY, SEQUENCE, acknowledgement].iter().filter(|&field| flags & field != 0).count();
    let payload = rest.after(4 * fields, PART)?;
    if payload.length == 0 {
        // PPTP acknowledges without data; version 0 keeps a tunnel alive.
        return Step::left_out(LeftOut::Protocol(protocol::GRE));
    }
    Ok(Step::Down(Layer::Typed(ether_type), payload))
}
