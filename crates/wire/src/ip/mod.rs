//! IP packets, of either version.

mod v4;
mod v6;

pub use v4::{Fragment, Ipv4};
pub use v6::Ipv6;

use lasthop_units::Ecn;

use crate::address::Addresses;
use crate::error::Error;
use crate::part::Part;

/// Numbers of protocols above IP.
pub mod protocol {
    /// IPv4 in IP.
    pub const IPV4: u8 = 4;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// IPv6 in IP.
    pub const IPV6: u8 = 41;
    /// GRE.
    pub const GRE: u8 = 47;
    /// MPLS in IP.
    pub const MPLS: u8 = 137;
}

/// Sets the ECN field of the packet at the front of `bytes` to CE, as a marking router does, and updates the checksum
/// of IPv4. Bytes that are not an IP packet stay unchanged. [RFC 3168 §5; RFC 1624]
pub fn set_ce(bytes: &mut [u8]) {
    const CE: u8 = 0b11;
    match bytes.first().map(|byte| byte >> 4) {
        Some(4) if bytes.len() >= 20 => {
            let before = u16::from_be_bytes([bytes[0], bytes[1]]);
            bytes[1] |= CE;
            let after = u16::from_be_bytes([bytes[0], bytes[1]]);
            let checksum = u16::from_be_bytes([bytes[10], bytes[11]]);
            let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
            let folded = (sum & 0xffff) + (sum >> 16);
            let folded = (folded & 0xffff) + (folded >> 16);
            bytes[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
        }
        // The two lowest bits of the traffic class are the upper half of the lower half of the second byte.
        Some(6) if bytes.len() >= 2 => bytes[1] |= CE << 4,
        _ => {}
    }
}

/// An IP packet of either version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ip<'a> {
    /// IPv4.
    V4(Ipv4<'a>),
    /// IPv6.
    V6(Ipv6),
}

impl<'a> Ip<'a> {
    /// Reads the header at the front of `bytes`; returns it with the captured part of its payload.
    ///
    /// # Errors
    /// If the version is neither 4 nor 6, and those of [`Ipv4::parse`] and [`Ipv6::parse`].
    pub fn parse(bytes: &'a [u8]) -> Result<(Ip<'a>, &'a [u8]), Error> {
        Ip::parse_part(Part::whole(bytes)).map(|(header, payload)| (header, payload.bytes))
    }

    /// Reads the header of a packet that may have been captured in part; returns it with its payload.
    ///
    /// # Errors
    /// Those of [`parse`](Ip::parse).
    pub fn parse_part(packet: Part<'a>) -> Result<(Ip<'a>, Part<'a>), Error> {
        match packet.bytes.first().map(|byte| byte >> 4) {
            None => Err(Error::short(0, "IP header", 1, 0)),
            Some(4) => Ipv4::parse_part(packet).map(|(header, payload)| (Ip::V4(header), payload)),
            Some(6) => Ipv6::parse_part(packet).map(|(header, payload)| (Ip::V6(header), payload)),
            Some(version) => Err(Error::value(0, "IP version", version, "it is 4 or 6")),
        }
    }

    /// Source and destination.
    pub fn addresses(&self) -> Addresses {
        match self {
            Ip::V4(header) => header.addresses(),
            Ip::V6(header) => header.addresses(),
        }
    }

    /// Protocol of its payload, behind extension headers.
    pub fn protocol(&self) -> u8 {
        match self {
            Ip::V4(header) => header.protocol,
            Ip::V6(header) => header.protocol,
        }
    }

    /// Differentiated services code point, 0 to 63.
    pub fn dscp(&self) -> u8 {
        match self {
            Ip::V4(header) => header.dscp,
            Ip::V6(header) => header.dscp,
        }
    }

    /// ECN field.
    pub fn ecn(&self) -> Ecn {
        match self {
            Ip::V4(header) => header.ecn,
            Ip::V6(header) => header.ecn,
        }
    }

    /// Bytes of the payload, captured or not; 0 if there are more than 65535, as [`parse_part`](Ip::parse_part) counts.
    pub fn payload_length(&self) -> usize {
        match self {
            Ip::V4(header) => header.payload_length.into(),
            Ip::V6(header) => header.payload_length.into(),
        }
    }

    /// True if other fragments follow it, so that it has a part of the packet.
    pub fn has_more_fragments(&self) -> bool {
        match self {
            Ip::V4(header) => header.fragment.more,
            Ip::V6(header) => header.has_more_fragments,
        }
    }

    /// True if it is a fragment other than the first, which has no transport header.
    pub fn is_later_fragment(&self) -> bool {
        match self {
            Ip::V4(header) => header.fragment.offset > 0,
            Ip::V6(header) => header.fragment_offset > 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_changes_the_ecn_field_and_keeps_the_checksum_good() {
        for (dscp, identification) in [(0, 0), (46, 0x1234), (63, 0xffff)] {
            for ecn in [Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
                let mut bytes = Vec::new();
                let before = Ipv4 { dscp, identification, ecn, payload_length: 4, ..Ipv4::default() };
                before.append(&mut bytes);
                bytes.extend([1, 2, 3, 4]);
                set_ce(&mut bytes);
                let (after, _) = Ipv4::parse(&bytes).unwrap();
                assert_eq!(after, Ipv4 { ecn: Ecn::Ce, ..before });
                assert!(Ipv4::checksum_is_good(&bytes), "{before:?}");
            }
        }
    }

    #[test]
    fn a_mark_of_ipv6_stands_in_its_traffic_class() {
        let mut bytes = Vec::new();
        Ipv6 { dscp: 46, ecn: Ecn::Ect0, protocol: protocol::UDP, ..Ipv6::default() }.append(&mut bytes);
        set_ce(&mut bytes);
        let (after, _) = Ipv6::parse(&bytes).unwrap();
        assert_eq!((after.dscp, after.ecn), (46, Ecn::Ce));
    }

    #[test]
    fn bytes_that_are_no_packet_stay_unchanged() {
        for bytes in [vec![], vec![0x45], vec![0x45, 0, 0], vec![0x10; 40]] {
            let mut marked = bytes.clone();
            set_ce(&mut marked);
            assert_eq!(marked, bytes);
        }
    }
}
