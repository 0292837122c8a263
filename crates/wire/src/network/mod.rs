//! The way from a link to the innermost IP packet, through tags, labels, sessions and tunnels.
//!
//! ```text
//! Ethernet   VLAN tags  MPLS labels  PPPoE     IP   GRE   Ethernet   IP   TCP
//! LLC, PPP   -------------------------------   IP   UDP VXLAN        IP   UDP
//!                                              IP   IP
//! ```
//!
//! A payload that leads to no IP packet is left out, and [`LeftOut`] names it.

mod layer;
mod left_out;
mod link;
mod mpls;
mod tunnel;

pub use layer::{Carried, Layer};
pub use left_out::LeftOut;
pub use tunnel::is_tunnel;

use self::layer::Step;
use crate::error::Error;
use crate::link_layer::EtherType;
use crate::part::Part;

/// Most headers before an IP packet: more are an attack.
const DEEPEST: usize = 24;

/// The content of `part`, which begins with `layer`.
///
/// # Errors
/// If captured bytes end within a header, or if a header is impossible.
pub fn carried(mut layer: Layer, part: Part<'_>) -> Result<Carried<'_>, Error> {
    let mut rest = part;
    for _ in 0..DEEPEST {
        let before = rest.bytes.as_ptr().addr() - part.bytes.as_ptr().addr();
        match step(layer, rest).map_err(|error| error.moved_by(before as u64))? {
            Step::Down(next, part) => (layer, rest) = (next, part),
            Step::End(carried) => return Ok(carried),
        }
    }
    Ok(Carried::LeftOut(LeftOut::TooDeep))
}

fn step(layer: Layer, part: Part<'_>) -> Result<Step<'_>, Error> {
    match layer {
        Layer::Ethernet => link::ethernet(part),
        Layer::Typed(ether_type) => typed(ether_type, part),
        Layer::Llc => link::llc(part),
        Layer::Ppp => link::ppp(part),
        Layer::PppoeSession => link::pppoe_session(part),
        Layer::Ip => tunnel::ip(part),
        Layer::Family => link::family(part),
    }
}

/// The protocol that a frame's type names.
fn typed(ether_type: EtherType, part: Part<'_>) -> Result<Step<'_>, Error> {
    /// Tags of VLANs: customer, service, and before 802.1ad.
    const TAGS: [u16; 5] = [EtherType::VLAN.0, 0x88a8, 0x9100, 0x9200, 0x9300];
    match ether_type {
        EtherType::IPV4 | EtherType::IPV6 => Ok(Step::Down(Layer::Ip, part)),
        EtherType(tag) if TAGS.contains(&tag) => link::vlan(part),
        EtherType::MPLS | EtherType::MPLS_MULTICAST => mpls::labels(part),
        EtherType::PPPOE_SESSION => Ok(Step::Down(Layer::PppoeSession, part)),
        EtherType::TRANSPARENT_ETHERNET => Ok(Step::Down(Layer::Ethernet, part)),
        EtherType::PPP => Ok(Step::Down(Layer::Ppp, part)),
        EtherType(length) if length < EtherType::LEAST => Ok(Step::Down(Layer::Llc, part.first(length.into()))),
        other => Step::left_out(LeftOut::Type(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip::{Ipv4, Ipv6, protocol};
    use crate::{Ethernet, MacAddress};

    /// An IPv4 packet of 24 bytes.
    fn packet(protocol: u8) -> Vec<u8> {
        let mut bytes = Vec::new();
        Ipv4 { protocol, payload_length: 4, ..Ipv4::default() }.append(&mut bytes);
        bytes.extend(b"data");
        bytes
    }

    fn ethernet(ether_type: u16, rest: &[&[u8]]) -> Vec<u8> {
        let mut bytes = Vec::new();
        Ethernet { destination: MacAddress([2; 6]), ether_type: EtherType(ether_type), ..Ethernet::default() }
            .append(&mut bytes);
        rest.iter().for_each(|part| bytes.extend_from_slice(part));
        bytes
    }

    /// The payload of the packet in `bytes`.
    fn payload(layer: Layer, bytes: &[u8]) -> &[u8] {
        match carried(layer, Part::whole(bytes)) {
            Ok(Carried::Packet(_, payload)) => payload.bytes,
            other => panic!("{other:?}"),
        }
    }

    fn left_out(layer: Layer, bytes: &[u8]) -> String {
        match carried(layer, Part::whole(bytes)) {
            Ok(Carried::LeftOut(what)) => what.to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn tags_labels_and_sessions_lead_to_the_packet() {
        let tcp = packet(protocol::TCP);
        let inner = ethernet(0x0800, &[&tcp]);
        let ppp: &[u8] = &[0x11, 0, 0, 9, 0, 26, 0, 0x21];
        for (ether_type, before) in [
            (0x0800, &[][..]),
            (0x8100, &[0, 5, 8, 0]),
            (0x88a8, &[0, 5, 0x81, 0, 0x20, 6, 8, 0]),
            (0x9100, &[0, 5, 0x91, 0, 0, 6, 0x81, 0, 0, 7, 8, 0]),
            (0x8847, &[0, 1, 0, 64, 0, 2, 1, 64]),
            (0x8847, &[&[0, 1, 1, 64, 0, 0, 0, 0][..], &inner[..14]].concat()),
            (0x8100, &[&[0, 5, 0x88, 0x64][..], ppp].concat()),
            (0x0020, &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0]),
            (0x0020, &[0xaa, 0xaa, 3, 0, 0, 0xf8, 8, 0]),
            (0x001b, &[6, 6, 3]),
        ] {
            let bytes = ethernet(ether_type, &[before, &tcp, b"padding"]);
            assert_eq!(payload(Layer::Ethernet, &bytes), b"data", "{ether_type:04x} {before:02x?}");
        }
    }

    #[test]
    fn tunnels_lead_to_the_inner_packet() {
        let tcp = packet(protocol::TCP);
        let inner = ethernet(0x0800, &[&tcp]);
        let outer = |protocol, rest: &[&[u8]]| {
            let payload_length = rest.iter().map(|part| part.len()).sum::<usize>() as u16;
            let mut bytes = Vec::new();
            Ipv4 { protocol, payload_length, ..Ipv4::default() }.append(&mut bytes);
            rest.iter().for_each(|part| bytes.extend_from_slice(part));
            bytes
        };
        let vxlan_length = 16 + inner.len() as u8;
        for bytes in [
            outer(protocol::IPV4, &[&tcp]),
            outer(protocol::GRE, &[&[0, 0, 8, 0], &tcp]),
            // With checksum, key and sequence number.
            outer(protocol::GRE, &[&[0xb0, 0, 8, 0, 1, 2, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1], &tcp]),
            outer(protocol::GRE, &[&[0, 0, 0x65, 0x58], &inner]),
            // Version 1, with key, sequence number and acknowledgement, before PPP.
            outer(
                protocol::GRE,
                &[&[0x30, 0x81, 0x88, 0x0b, 0, 28, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 255, 3, 0, 0x21], &tcp],
            ),
            outer(protocol::UDP, &[&[1, 2, 0x12, 0xb5, 0, vxlan_length, 0, 0, 8, 0, 0, 0, 0, 0, 9, 0], &inner]),
            outer(
                protocol::UDP,
                &[&[1, 2, 0x17, 0xc1, 0, vxlan_length + 4, 0, 0, 1, 0, 0x65, 0x58, 0, 0, 9, 0, 1, 2, 3, 4], &inner],
            ),
            outer(protocol::UDP, &[&[1, 2, 0x12, 0x92, 0, 36, 0, 0, 0, 0, 8, 0], &tcp]),
            outer(protocol::MPLS, &[&[0, 1, 1, 64], &tcp]),
        ] {
            assert_eq!(payload(Layer::Ip, &bytes), b"data", "{bytes:02x?}");
        }
        let mut six = Vec::new();
        Ipv6 { payload_length: 24, protocol: protocol::IPV4, ..Ipv6::default() }.append(&mut six);
        assert_eq!(payload(Layer::Ip, &[six, tcp].concat()), b"data");
    }

    #[test]
    fn links_without_ethernet_lead_to_the_packet() {
        let tcp = packet(protocol::TCP);
        for (layer, before) in [
            (Layer::Family, &[2, 0, 0, 0][..]),
            (Layer::Family, &[0, 0, 0, 2]),
            (Layer::Ppp, &[0xff, 3, 0, 0x21]),
            (Layer::Ppp, &[0x21]),
            (Layer::Ppp, &[0x0f, 0, 8, 0]),
            (Layer::Ppp, &[0, 0x21]),
            (Layer::PppoeSession, &[0x11, 0, 0, 9, 0, 26, 0, 0x21]),
        ] {
            assert_eq!(payload(layer, &[before, &tcp].concat()), b"data");
        }
    }

    #[test]
    fn a_session_bounds_the_packet_and_a_cut_frame_does_not() {
        let tcp = packet(protocol::TCP);
        // PPPoE has 24 - 2 bytes of a packet of 24; a sniffer that lost the end of a frame has fewer than the packet.
        let session = [&[0x11, 0, 0, 9, 0, 24, 0, 0x21][..], &tcp].concat();
        assert_eq!(payload(Layer::PppoeSession, &session), b"da");
        match carried(Layer::Ip, Part::whole(&tcp[..22])) {
            Ok(Carried::Packet(_, payload)) => assert_eq!((payload.bytes, payload.length), (&b"da"[..], 4)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_leads_to_no_packet_is_named() {
        for (ether_type, rest, name) in [
            (0x0806, &[0; 28][..], "ARP"),
            (0x1234, &[], "EtherType 0x1234"),
            (0x0026, &[0x42, 0x42, 3, 0, 0], "spanning tree"),
            (0x0026, &[0xaa, 0xaa, 3, 0, 0, 0xc, 0x20, 0], "SNAP of 00-00-0c"),
            (0x8847, &[0, 0, 0xd1, 64, 0x10, 0, 0, 0], "MPLS without IP"),
            (0x8864, &[0x11, 0, 0, 9, 0, 4, 0xc0, 0x21, 1, 1], "PPP protocol 0xc021"),
        ] {
            assert_eq!(left_out(Layer::Ethernet, &ethernet(ether_type, &[rest])), name);
        }
        assert_eq!(left_out(Layer::Ip, &packet(1)), "ICMP");
        let mut fragment = packet(protocol::TCP);
        fragment[7] = 5;
        assert_eq!(left_out(Layer::Ip, &fragment), "later fragments");
        let tags: Vec<u8> = [0, 5, 0x81, 0].repeat(40);
        assert_eq!(left_out(Layer::Ethernet, &ethernet(0x8100, &[&tags])), "too many headers");
    }

    #[test]
    fn a_header_that_is_cut_off_has_its_place() {
        let bytes = ethernet(0x8100, &[&[0, 5, 8, 0], &packet(6)[..10]]);
        assert_eq!(carried(Layer::Ethernet, Part::whole(&bytes)).unwrap_err().offset, 28);
    }
}
