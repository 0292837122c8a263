//! IPv4. [RFC 791 §3.1]

use core::net::Ipv4Addr;

use lasthop_units::Ecn;

use crate::address::Addresses;
use crate::checksum::Checksum;
use crate::cursor::Cursor;
use crate::error::Error;
use crate::part::Part;

/// An IPv4 header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4<'a> {
    /// Differentiated services code point, 0 to 63. [RFC 2474 §3]
    pub dscp: u8,
    /// ECN field. [RFC 3168 §5]
    pub ecn: Ecn,
    /// Identification.
    pub identification: u16,
    /// State of fragmentation.
    pub fragment: Fragment,
    /// Time to live, in hops.
    pub ttl: u8,
    /// Protocol of its payload.
    pub protocol: u8,
    /// Source.
    pub source: Ipv4Addr,
    /// Destination.
    pub destination: Ipv4Addr,
    /// Raw options, filled up to whole words: at most 40 bytes.
    pub options: &'a [u8],
    /// Bytes behind the header; 0 if there are more than the total length can count.
    pub payload_length: u16,
}

/// The fragmentation fields of an IPv4 header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fragment {
    /// True if it may not be fragmented.
    pub dont: bool,
    /// True if other fragments follow.
    pub more: bool,
    /// Offset of this fragment, in units of 8 bytes, at most 8191.
    pub offset: u16,
}

/// Bytes of a header without options.
const HEADER: usize = 20;

impl Default for Ipv4<'_> {
    /// A packet of a host without fragmentation, with 64 hops to live.
    fn default() -> Self {
        Ipv4 {
            dscp: 0,
            ecn: Ecn::NotEct,
            identification: 0,
            fragment: Fragment { dont: true, more: false, offset: 0 },
            ttl: 64,
            protocol: 0,
            source: Ipv4Addr::UNSPECIFIED,
            destination: Ipv4Addr::UNSPECIFIED,
            options: &[],
            payload_length: 0,
        }
    }
}

impl<'a> Ipv4<'a> {
    /// Reads the header at the front of `bytes`; returns it with the captured part of its payload, without the padding
    /// of a link.
    ///
    /// The checksum is not verified; see [`checksum_is_good`](Ipv4::checksum_is_good). Hosts write a total length of 0
    /// if they leave it to their network card, or if a packet is longer than it can count; all bytes count then.
    ///
    /// # Errors
    /// If bytes end within the header, or if version or one of the lengths is impossible.
    pub fn parse(bytes: &'a [u8]) -> Result<(Ipv4<'a>, &'a [u8]), Error> {
        Ipv4::parse_part(Part::whole(bytes)).map(|(header, payload)| (header, payload.bytes))
    }

    /// The same, from a packet that may have been captured in part.
    pub(super) fn parse_part(packet: Part<'a>) -> Result<(Ipv4<'a>, Part<'a>), Error> {
        const PART: &str = "IPv4 header";
        let mut at = Cursor::new(packet.bytes);
        let [version_and_length, traffic_class] = at.array(PART)?;
        if version_and_length >> 4 != 4 {
            return Err(Error::value(0, "IPv4 version", version_and_length >> 4, "it is 4"));
        }
        let header = usize::from(version_and_length & 0x0f) * 4;
        if header < HEADER {
            return Err(Error::value(0, "IPv4 header length", header as u64, "it is 20 bytes or more"));
        }
        let total = at.u16_be(PART)?;
        let identification = at.u16_be(PART)?;
        let fragment = Fragment::of(at.u16_be(PART)?);
        let [ttl, protocol] = at.array(PART)?;
        at.u16_be(PART)?;
        let (source, destination) = (Ipv4Addr::from(at.array(PART)?), Ipv4Addr::from(at.array(PART)?));
        let options = at.take(header - HEADER, "IPv4 options")?;
        let total = if total == 0 { packet.length } else { total.into() };
        let length = total
            .checked_sub(header)
            .ok_or_else(|| Error::value(2, "IPv4 total length", total as u64, "it is that of the header or more"))?;
        let payload = packet.after(header, PART)?.first(length);
        let payload_length = u16::try_from(payload.length).unwrap_or(0);
        let (dscp, ecn) = (traffic_class >> 2, Ecn::from_bits(traffic_class));
        let ip =
            Ipv4 { dscp, ecn, identification, fragment, ttl, protocol, source, destination, options, payload_length };
        Ok((ip, payload))
    }

    /// Appends the header with its checksum.
    ///
    /// # Panics
    /// If options do not fill whole words or have more than 40 bytes, or if the packet exceeds 65535 bytes.
    pub fn append(&self, out: &mut Vec<u8>) {
        let words = self.options.len() / 4;
        assert!(self.options.len().is_multiple_of(4) && words <= 10, "options of IPv4 are up to ten words");
        let header = HEADER + self.options.len();
        let total = u16::try_from(header + usize::from(self.payload_length)).expect("a packet has at most 65535 bytes");
        let start = out.len();
        out.extend_from_slice(&[0x45 + words as u8, self.dscp << 2 | self.ecn.bits()]);
        out.extend_from_slice(&total.to_be_bytes());
        out.extend_from_slice(&self.identification.to_be_bytes());
        out.extend_from_slice(&self.fragment.bits().to_be_bytes());
        out.extend_from_slice(&[self.ttl, self.protocol, 0, 0]);
        out.extend_from_slice(&self.source.octets());
        out.extend_from_slice(&self.destination.octets());
        out.extend_from_slice(self.options);
        let mut sum = Checksum::default();
        sum.add(&out[start..]);
        out[start + 10..start + 12].copy_from_slice(&sum.value().to_be_bytes());
    }

    /// Source and destination.
    pub fn addresses(&self) -> Addresses {
        Addresses::V4(self.source, self.destination)
    }

    /// True if the checksum fits the header at the front of `bytes`, an IPv4 header that was captured whole.
    pub fn checksum_is_good(bytes: &[u8]) -> bool {
        let length = bytes.first().map_or(0, |byte| usize::from(byte & 0x0f) * 4);
        bytes.get(..length).is_some_and(|header| {
            let mut sum = Checksum::default();
            sum.add(header);
            length >= HEADER && sum.value() == 0
        })
    }
}

impl Fragment {
    fn of(bits: u16) -> Fragment {
        Fragment { dont: bits & 0x4000 != 0, more: bits & 0x2000 != 0, offset: bits & 0x1fff }
    }

    fn bits(self) -> u16 {
        u16::from(self.dont) << 14 | u16::from(self.more) << 13 | self.offset & 0x1fff
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_the_sum_of_its_words() {
        let header = Ipv4 {
            ecn: Ecn::Ect0,
            identification: 0x1c46,
            protocol: 6,
            source: Ipv4Addr::new(172, 16, 10, 99),
            destination: Ipv4Addr::new(172, 16, 10, 12),
            payload_length: 40,
            ..Ipv4::default()
        };
        let mut bytes = Vec::new();
        header.append(&mut bytes);
        // 4502 + 003c + 1c46 + 4000 + 4006 + ac10 + 0a63 + ac10 + 0a0c = 24e19; carried 4e1b; complemented b1e4.
        let expected = [0x45, 0x02, 0, 60, 0x1c, 0x46, 0x40, 0, 64, 6, 0xb1, 0xe4, 172, 16, 10, 99, 172, 16, 10, 12];
        assert_eq!(bytes, expected);
        assert!(Ipv4::checksum_is_good(&bytes));
        bytes.extend_from_slice(&[7; 50]);
        assert_eq!(Ipv4::parse(&bytes), Ok((header, &[7; 40][..])));
        assert_eq!(Ipv4::parse(&bytes[..30]).unwrap().1, [7; 10]);
        bytes[8] = 63;
        assert!(
            !Ipv4::checksum_is_good(&bytes) && !Ipv4::checksum_is_good(&bytes[..19]) && !Ipv4::checksum_is_good(&[])
        );
    }

    #[test]
    fn lengths_that_cannot_be_are_refused() {
        let mut bytes = Vec::new();
        Ipv4 { options: &[1; 8], ..Ipv4::default() }.append(&mut bytes);
        assert_eq!(Ipv4::parse(&bytes).unwrap().0.options, [1; 8]);
        assert_eq!(Ipv4::parse(&bytes[..24]).unwrap_err().to_string(), "byte 20: IPv4 options: of 8 bytes there are 4");
        bytes[3] = 27;
        let error = Ipv4::parse(&bytes).unwrap_err();
        assert_eq!(error.to_string(), "byte 2: IPv4 total length is 27, but it is that of the header or more");
        bytes[0] = 0x44;
        assert_eq!(
            Ipv4::parse(&bytes).unwrap_err().to_string(),
            "byte 0: IPv4 header length is 16, but it is 20 bytes or more"
        );
        bytes[0] = 0x65;
        assert!(Ipv4::parse(&bytes).is_err());
    }

    #[test]
    fn zero_length_left_to_the_network_card_means_all_bytes() {
        let mut bytes = Vec::new();
        Ipv4::default().append(&mut bytes);
        bytes[3] = 0;
        bytes.extend_from_slice(&[7; 5]);
        let (header, payload) = Ipv4::parse(&bytes).unwrap();
        assert_eq!((header.payload_length, payload), (5, &[7; 5][..]));
    }
}
