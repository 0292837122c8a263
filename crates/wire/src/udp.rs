//! UDP. [RFC 768]

use crate::address::Addresses;
use crate::cursor::Cursor;
use crate::error::Error;
use crate::ip::protocol;
use crate::payload::Payload;
use crate::transport::checksum;

/// A UDP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Udp {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Bytes behind the header.
    pub payload_length: u16,
}

/// Bytes of the header.
const HEADER: u16 = 8;

impl Udp {
    /// Reads the header at the front of `bytes`; returns it with the captured part of its payload.
    ///
    /// # Errors
    /// If bytes end within the header, or if its length is below 8.
    pub fn parse(bytes: &[u8]) -> Result<(Udp, &[u8]), Error> {
        const PART: &str = "UDP header";
        let mut at = Cursor::new(bytes);
        let (source_port, destination_port, length) = (at.u16_be(PART)?, at.u16_be(PART)?, at.u16_be(PART)?);
        at.u16_be(PART)?;
        let payload_length =
            length.checked_sub(HEADER).ok_or_else(|| Error::value(4, "UDP length", length, "it is 8 or more"))?;
        let payload = &at.rest()[..at.rest().len().min(payload_length.into())];
        Ok((Udp { source_port, destination_port, payload_length }, payload))
    }

    /// Appends the header with the checksum over all of the payload, and the bytes of it that exist.
    ///
    /// # Panics
    /// If the payload has another length than the header, or more than 65527 bytes.
    pub fn append(&self, addresses: &Addresses, payload: Payload<'_>, out: &mut Vec<u8>) {
        assert_eq!(payload.length(), usize::from(self.payload_length), "the payload has the length of its header");
        let length = self.payload_length.checked_add(HEADER).expect("a datagram has at most 65535 bytes");
        let start = out.len();
        for field in [self.source_port, self.destination_port, length, 0] {
            out.extend_from_slice(&field.to_be_bytes());
        }
        // Zero means that there is no checksum; a sum of zero is sent in its other form.
        let check = match checksum(addresses, protocol::UDP, &out[start..], payload) {
            0 => u16::MAX,
            check => check,
        };
        out[start + 6..start + 8].copy_from_slice(&check.to_be_bytes());
        out.extend_from_slice(payload.bytes);
    }

    /// Returns whether the checksum fits the datagram in `bytes`; unknown if there is none, or if not all was captured.
    pub fn checksum_is_good(addresses: &Addresses, bytes: &[u8]) -> Option<bool> {
        let length = usize::from(u16::from_be_bytes(*bytes.get(4..)?.first_chunk()?));
        let datagram = bytes.get(..length).filter(|datagram| datagram.len() >= HEADER.into())?;
        (datagram[6..8] != [0, 0]).then(|| checksum(addresses, protocol::UDP, datagram, Payload::bytes(&[])) == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;

    fn addresses() -> Addresses {
        Addresses::V4(Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2))
    }

    #[test]
    fn a_datagram_has_the_sum_of_pseudo_header_header_and_payload() {
        let header = Udp { source_port: 1000, destination_port: 2000, payload_length: 2 };
        let mut bytes = Vec::new();
        header.append(&addresses(), Payload::bytes(&[0xab, 0xcd]), &mut bytes);
        // 0a00 + 0001 + 0a00 + 0002 + 0011 + 000a; 03e8 + 07d0 + 000a; abcd: cbad; complemented 3452.
        assert_eq!(bytes, [0x03, 0xe8, 0x07, 0xd0, 0, 10, 0x34, 0x52, 0xab, 0xcd]);
        assert_eq!(Udp::checksum_is_good(&addresses(), &bytes), Some(true));
        assert_eq!(Udp::parse(&bytes), Ok((header, &[0xab, 0xcd][..])));
        bytes[9] ^= 1;
        assert_eq!(Udp::checksum_is_good(&addresses(), &bytes), Some(false));
        assert_eq!(Udp::checksum_is_good(&addresses(), &bytes[..9]), None);
    }

    #[test]
    fn a_sum_of_zero_is_sent_as_ones() {
        // All but the payload sum up to 1fe0; the payload completes that to ffff.
        let header = Udp { source_port: 1000, destination_port: 2000, payload_length: 2 };
        let mut bytes = Vec::new();
        header.append(&addresses(), Payload::bytes(&[0xe0, 0x1f]), &mut bytes);
        assert_eq!(bytes[6..8], [0xff, 0xff]);
        assert_eq!(Udp::checksum_is_good(&addresses(), &bytes), Some(true));
    }

    #[test]
    fn zeros_count_though_they_are_not_there() {
        let header = Udp { source_port: 1, destination_port: 2, payload_length: 1001 };
        let (mut implied, mut whole) = (Vec::new(), Vec::new());
        header.append(&addresses(), Payload { bytes: b"x", zeros: 1000 }, &mut implied);
        header.append(&addresses(), Payload::bytes(&[&b"x"[..], &[0; 1000]].concat()), &mut whole);
        assert_eq!(implied, whole[..9]);
    }

    #[test]
    fn a_length_below_its_own_header_is_refused() {
        assert_eq!(
            Udp::parse(&[0, 1, 0, 2, 0, 7, 0, 0]).unwrap_err().to_string(),
            "byte 4: UDP length is 7, but it is 8 or more"
        );
    }
}
