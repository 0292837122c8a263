//! Names of payloads that lead to no packet with a transport header.

use core::fmt;

use crate::link_layer::EtherType;

/// A payload that leads to no packet with a transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// A frame of this type.
    Type(EtherType),
    /// LLC with this destination.
    Llc(u8),
    /// SNAP whose type is that of an organisation.
    Snap([u8; 3]),
    /// PPP of this protocol.
    Ppp(u16),
    /// An address family of a BSD host other than IP.
    Family(u32),
    /// Labels of MPLS before no IP packet.
    Mpls,
    /// GRE of an unknown version, or with source routing.
    Gre,
    /// IP of this protocol.
    Protocol(u8),
    /// A fragment of an IP packet other than the first.
    LaterFragment,
    /// TZSP: frames of another capture in datagrams.
    Tzsp,
    /// More headers than any network has.
    TooDeep,
    /// A packet whose headers are invalid or cut off.
    Unparsed,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match *self {
            LeftOut::Type(EtherType(number)) => match type_name(number) {
                Some(name) => name,
                None => return write!(f, "EtherType 0x{number:04x}"),
            },
            LeftOut::Llc(sap) => match sap_name(sap) {
                Some(name) => name,
                None => return write!(f, "LLC of SAP 0x{sap:02x}"),
            },
            LeftOut::Protocol(number) => match protocol_name(number) {
                Some(name) => name,
                None => return write!(f, "IP protocol {number}"),
            },
            LeftOut::Snap([a, b, c]) => return write!(f, "SNAP of {a:02x}-{b:02x}-{c:02x}"),
            LeftOut::Ppp(number) => return write!(f, "PPP protocol 0x{number:04x}"),
            LeftOut::Family(number) => return write!(f, "address family {number}"),
            LeftOut::Mpls => "MPLS without IP",
            LeftOut::Gre => "GRE of another version",
            LeftOut::LaterFragment => "later fragments",
            LeftOut::Tzsp => "TZSP",
            LeftOut::TooDeep => "too many headers",
            LeftOut::Unparsed => "unreadable headers",
        };
        f.write_str(name)
    }
}

/// [RFC 9542 Appendix B; IEEE registration authority]
fn type_name(number: u16) -> Option<&'static str> {
    Some(match number {
        0x0806 => "ARP",
        0x8035 => "RARP",
        0x809b => "AppleTalk",
        0x8137 => "IPX",
        0x8809 => "slow protocols",
        0x8863 => "PPPoE discovery",
        0x888e => "EAPOL",
        0x88cc => "LLDP",
        0x88e5 => "MACsec",
        0x88e7 => "PBB",
        0x88f7 => "PTP",
        0x890d => "802.11 over Ethernet",
        0x9000 => "loopback test",
        _ => return None,
    })
}

/// [IEEE 802 LSAPs]
fn sap_name(sap: u8) -> Option<&'static str> {
    Some(match sap {
        0x42 => "spanning tree",
        0xe0 | 0xff => "IPX",
        0xf0 => "NetBIOS",
        0xfe => "IS-IS",
        _ => return None,
    })
}

/// [IANA protocol numbers]
fn protocol_name(number: u8) -> Option<&'static str> {
    Some(match number {
        1 => "ICMP",
        2 => "IGMP",
        33 => "DCCP",
        50 => "ESP",
        58 => "ICMPv6",
        59 => "IPv6 without payload",
        88 => "EIGRP",
        89 => "OSPF",
        103 => "PIM",
        112 => "VRRP",
        115 => "L2TP",
        132 => "SCTP",
        136 => "UDP-Lite",
        _ => return None,
    })
}
