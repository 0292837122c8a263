//! IPv6, with the extension headers that may precede a transport. [RFC 8200 §3, §4]

use core::net::Ipv6Addr;

use lasthop_units::Ecn;

use crate::address::Addresses;
use crate::cursor::Cursor;
use crate::error::Error;
use crate::part::Part;

/// An IPv6 header, and the protocol behind its extension headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv6 {
    /// Differentiated services code point, 0 to 63. [RFC 2474 §3]
    pub dscp: u8,
    /// ECN field. [RFC 3168 §5]
    pub ecn: Ecn,
    /// Flow label, 20 bits.
    pub flow_label: u32,
    /// Bytes behind this header and its extension headers; 0 for a jumbogram.
    pub payload_length: u16,
    /// Protocol behind the extension headers.
    pub protocol: u8,
    /// Hop limit.
    pub hop_limit: u8,
    /// Source.
    pub source: Ipv6Addr,
    /// Destination.
    pub destination: Ipv6Addr,
    /// Offset of this fragment in units of 8 bytes; 0 for the first, and for packets that are whole.
    pub fragment_offset: u16,
    /// True if other fragments follow.
    pub has_more_fragments: bool,
}

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const NO_NEXT_HEADER: u8 = 59;
const DESTINATION: u8 = 60;
const MOBILITY: u8 = 135;
const HOST_IDENTITY: u8 = 139;
const SHIM6: u8 = 140;

/// Option with the length of a packet of 64 KiB and more. [RFC 2675 §2]
const JUMBO_PAYLOAD: u8 = 0xc2;
/// Option of one byte without a length. [RFC 8200 §4.2]
const PAD_1: u8 = 0;

impl Default for Ipv6 {
    /// A packet with 64 hops to live.
    fn default() -> Self {
        Ipv6 {
            dscp: 0,
            ecn: Ecn::NotEct,
            flow_label: 0,
            payload_length: 0,
            protocol: 0,
            hop_limit: 64,
            source: Ipv6Addr::UNSPECIFIED,
            destination: Ipv6Addr::UNSPECIFIED,
            fragment_offset: 0,
            has_more_fragments: false,
        }
    }
}

impl Ipv6 {
    /// Reads the headers at the front of `bytes`; returns them with the captured part of the payload. A payload length
    /// of 0 means that a jumbogram has its own [RFC 2675 §3]. Without one all bytes count: hosts leave it to their network card.
    ///
    /// # Errors
    /// If bytes end within a header, if the version is not 6, or if extension headers exceed the payload length.
    pub fn parse(bytes: &[u8]) -> Result<(Ipv6, &[u8]), Error> {
        Ipv6::parse_part(Part::whole(bytes)).map(|(header, payload)| (header, payload.bytes))
    }

    /// The same, from a packet that may have been captured in part.
    pub(super) fn parse_part(packet: Part<'_>) -> Result<(Ipv6, Part<'_>), Error> {
        const PART: &str = "IPv6 header";
        let mut at = Cursor::new(packet.bytes);
        let first = at.u32_be(PART)?;
        if first >> 28 != 6 {
            return Err(Error::value(0, "IPv6 version", first >> 28, "it is 6"));
        }
        let length = at.u16_be(PART)?;
        let [protocol, hop_limit] = at.array(PART)?;
        let (source, destination) = (Ipv6Addr::from(at.array(PART)?), Ipv6Addr::from(at.array(PART)?));
        let traffic_class = (first >> 20) as u8;
        let mut ip = Ipv6 {
            dscp: traffic_class >> 2,
            ecn: Ecn::from_bits(traffic_class),
            flow_label: first & 0x000f_ffff,
            payload_length: 0,
            protocol,
            hop_limit,
            source,
            destination,
            fragment_offset: 0,
            has_more_fragments: false,
        };
        let start = at.at();
        let mut jumbo = None;
        while ip.pass_extension(&mut at, &mut jumbo)? {}
        let whole = match (length, jumbo) {
            (0, Some(jumbo)) => jumbo as usize,
            (0, None) if ip.protocol != NO_NEXT_HEADER => packet.length.saturating_sub(start),
            _ => length.into(),
        };
        let rest = whole
            .checked_sub(at.at() - start)
            .ok_or_else(|| Error::value(4, "IPv6 payload length", length, "it holds the extension headers"))?;
        let payload = packet.after(at.at(), PART)?.first(rest);
        ip.payload_length = u16::try_from(payload.length).unwrap_or(0);
        Ok((ip, payload))
    }

    /// Skips an extension header; false if there is none, or if no header follows. [RFC 8200 §4] Sets the length of a
    /// jumbogram.
    fn pass_extension(&mut self, at: &mut Cursor<'_>, jumbo: &mut Option<u32>) -> Result<bool, Error> {
        const PART: &str = "IPv6 extension header";
        let is_extension = matches!(
            self.protocol,
            HOP_BY_HOP | ROUTING | FRAGMENT | AUTHENTICATION | DESTINATION | MOBILITY | HOST_IDENTITY | SHIM6
        );
        if self.fragment_offset > 0 || !is_extension {
            return Ok(false);
        }
        let [next, length] = at.array(PART)?;
        match self.protocol {
            FRAGMENT => {
                let field = at.u16_be(PART)?;
                (self.fragment_offset, self.has_more_fragments) = (field >> 3, field & 1 == 1);
                at.take(4, PART)?;
            }
            // Its length is in words of 4 bytes, less 2. [RFC 4302 §2.2]
            AUTHENTICATION => drop(at.take((usize::from(length) + 2) * 4 - 2, PART)?),
            protocol => {
                let options = at.take((usize::from(length) + 1) * 8 - 2, PART)?;
                if protocol == HOP_BY_HOP {
                    *jumbo = jumbo_length(options);
                }
            }
        }
        self.protocol = next;
        Ok(true)
    }

    /// Appends the header: 40 bytes, without extension headers.
    ///
    /// # Panics
    /// If it is a fragment.
    pub fn append(&self, out: &mut Vec<u8>) {
        assert!(self.fragment_offset == 0 && !self.has_more_fragments, "fragments are not written");
        let traffic_class = self.dscp << 2 | self.ecn.bits();
        let first = 6 << 28 | u32::from(traffic_class) << 20 | self.flow_label & 0x000f_ffff;
        out.extend_from_slice(&first.to_be_bytes());
        out.extend_from_slice(&self.payload_length.to_be_bytes());
        out.extend_from_slice(&[self.protocol, self.hop_limit]);
        out.extend_from_slice(&self.source.octets());
        out.extend_from_slice(&self.destination.octets());
    }

    /// Source and destination.
    pub fn addresses(&self) -> Addresses {
        Addresses::V6(self.source, self.destination)
    }
}

/// The length that a jumbo payload option has. [RFC 2675 §2]
fn jumbo_length(options: &[u8]) -> Option<u32> {
    let mut rest = options;
    loop {
        rest = match *rest {
            [JUMBO_PAYLOAD, 4, a, b, c, d, ..] => return Some(u32::from_be_bytes([a, b, c, d])),
            [PAD_1, ..] => &rest[1..],
            [_, length, ..] => rest.get(2 + usize::from(length)..)?,
            _ => return None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Ipv6 {
        Ipv6 {
            dscp: 46,
            ecn: Ecn::Ce,
            flow_label: 0xabcde,
            payload_length: 4,
            protocol: 6,
            source: Ipv6Addr::LOCALHOST,
            destination: Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
            ..Ipv6::default()
        }
    }

    #[test]
    fn a_header_has_40_bytes() {
        let mut bytes = Vec::new();
        header().append(&mut bytes);
        // Version 6, traffic class 46 * 4 + 3 = bb, flow label abcde.
        assert_eq!(bytes[..8], [0x6b, 0xba, 0xbc, 0xde, 0, 4, 6, 64]);
        bytes.extend_from_slice(b"data and padding");
        assert_eq!(Ipv6::parse(&bytes), Ok((header(), &b"data"[..])));
        assert!(Ipv6::parse(&bytes[..39]).is_err());
    }

    #[test]
    fn extension_headers_are_passed_over() {
        let mut bytes = Vec::new();
        Ipv6 { payload_length: 8 + 16 + 8 + 12 + 4, protocol: HOP_BY_HOP, ..header() }.append(&mut bytes);
        bytes.extend_from_slice(&[ROUTING, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend_from_slice(&[FRAGMENT, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend_from_slice(&[AUTHENTICATION, 0, 0, 1, 0, 0, 0, 9]);
        bytes.extend_from_slice(&[6, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend_from_slice(b"data");
        assert_eq!(Ipv6::parse(&bytes), Ok((Ipv6 { has_more_fragments: true, ..header() }, &b"data"[..])));
        // Offset 185 of the fragment: no header follows it.
        bytes[40 + 8 + 16 + 2..][..2].copy_from_slice(&(185u16 << 3).to_be_bytes());
        let (later, _) = Ipv6::parse(&bytes).unwrap();
        assert_eq!((later.fragment_offset, later.protocol, later.payload_length), (185, AUTHENTICATION, 16));
    }

    #[test]
    fn extension_headers_beyond_the_payload_are_refused() {
        let mut bytes = Vec::new();
        Ipv6 { payload_length: 4, protocol: DESTINATION, ..header() }.append(&mut bytes);
        bytes.extend_from_slice(&[6, 0, 0, 0, 0, 0, 0, 0]);
        let error = Ipv6::parse(&bytes).unwrap_err();
        assert_eq!(error.to_string(), "byte 4: IPv6 payload length is 4, but it holds the extension headers");
    }
    #[test]
    fn lengths_beyond_64_kib_come_from_the_jumbo_option_or_the_capture() {
        let mut bytes = Vec::new();
        Ipv6 { payload_length: 0, protocol: HOP_BY_HOP, ..header() }.append(&mut bytes);
        bytes.extend_from_slice(&[6, 0, JUMBO_PAYLOAD, 4, 0, 1, 0x38, 0x80]);
        bytes.extend_from_slice(b"data");
        // 0x13880 = 80000 bytes, 8 of which are the hop-by-hop header.
        let (jumbogram, payload) = Ipv6::parse_part(Part::of(&bytes, 80_040)).unwrap();
        assert_eq!((jumbogram.protocol, payload.bytes, payload.length), (6, &b"data"[..], 79_992));
        let mut bytes = Vec::new();
        Ipv6 { payload_length: 0, ..header() }.append(&mut bytes);
        bytes.extend_from_slice(b"data");
        assert_eq!(Ipv6::parse_part(Part::of(&bytes, 80_040)).unwrap().1.length, 80_000);
        bytes[6] = NO_NEXT_HEADER;
        assert_eq!(Ipv6::parse_part(Part::of(&bytes, 60)).unwrap().1.length, 0);
    }
}
