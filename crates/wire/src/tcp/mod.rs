//! TCP. [RFC 9293 §3.1]

mod mptcp;
mod options;
mod token;

pub use mptcp::Mptcp;
pub use options::{AccEcn, SackBlocks, TcpOptions, Timestamps};

use crate::address::Addresses;
use crate::bit_set::bit_set;
use crate::cursor::Cursor;
use crate::error::Error;
use crate::ip::protocol;
use crate::payload::Payload;
use crate::transport::checksum;

/// Control bits, from FIN (1) to AE (256). [RFC 9293 §3.1; RFC 9768 §3.1]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFlags(pub u16);

bit_set!(TcpFlags);

impl TcpFlags {
    /// No more data from the sender.
    pub const FIN: TcpFlags = TcpFlags(0x001);
    /// Synchronise sequence numbers.
    pub const SYN: TcpFlags = TcpFlags(0x002);
    /// Reset the connection.
    pub const RST: TcpFlags = TcpFlags(0x004);
    /// Push.
    pub const PSH: TcpFlags = TcpFlags(0x008);
    /// The acknowledgement number counts.
    pub const ACK: TcpFlags = TcpFlags(0x010);
    /// The urgent pointer counts.
    pub const URG: TcpFlags = TcpFlags(0x020);
    /// ECN-Echo. [RFC 3168 §6.1]
    pub const ECE: TcpFlags = TcpFlags(0x040);
    /// Congestion Window Reduced. [RFC 3168 §6.1]
    pub const CWR: TcpFlags = TcpFlags(0x080);
    /// Accurate ECN. [RFC 9768 §3.1]
    pub const AE: TcpFlags = TcpFlags(0x100);
}

/// A TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tcp<'a> {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgement number.
    pub acknowledgement: u32,
    /// Control bits.
    pub flags: TcpFlags,
    /// Window, not scaled.
    pub window: u16,
    /// Urgent pointer.
    pub urgent: u16,
    /// Options.
    pub options: TcpOptions<'a>,
}

/// A segment that may be captured only in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// The header, with the options that were captured whole.
    pub header: Tcp<'a>,
    /// Length of the header in bytes according to its own field, with unknown options and padding.
    pub header_length: usize,
    /// The captured part of the payload.
    pub payload: &'a [u8],
}

/// Bytes of a header without options.
const HEADER: usize = 20;
/// Longest options: the header has at most 15 words. [RFC 9293 §3.1, data offset]
const LONGEST_OPTIONS: usize = 40;

impl<'a> Tcp<'a> {
    /// Reads the segment from `bytes`, which is all of it that was captured.
    ///
    /// The checksum is not verified; see [`checksum_is_good`](Tcp::checksum_is_good).
    ///
    /// # Errors
    /// If bytes end before the options, or if data offset or options are impossible.
    pub fn parse(bytes: &'a [u8]) -> Result<Segment<'a>, Error> {
        const PART: &str = "TCP header";
        let mut at = Cursor::new(bytes);
        let (source_port, destination_port) = (at.u16_be(PART)?, at.u16_be(PART)?);
        let (sequence, acknowledgement) = (at.u32_be(PART)?, at.u32_be(PART)?);
        let offset_and_flags = at.u16_be(PART)?;
        let header_length = usize::from(offset_and_flags >> 12) * 4;
        if header_length < HEADER {
            return Err(Error::value(12, "TCP data offset", offset_and_flags >> 12, "it is 5 to 15 words"));
        }
        let window = at.u16_be(PART)?;
        at.u16_be(PART)?;
        let urgent = at.u16_be(PART)?;
        let rest = at.rest();
        let (options, payload) = rest.split_at(rest.len().min(header_length - HEADER));
        let is_cut_off = HEADER + options.len() < header_length;
        let options = TcpOptions::parse(options, is_cut_off).map_err(|error| error.moved_by(HEADER as u64))?;
        let flags = TcpFlags(offset_and_flags & 0x01ff);
        let header = Tcp { source_port, destination_port, sequence, acknowledgement, flags, window, urgent, options };
        Ok(Segment { header, header_length, payload })
    }

    /// Bytes of the header as it is written.
    pub fn header_length(&self) -> usize {
        HEADER + self.options.length(self.flags.contains(TcpFlags::SYN))
    }

    /// Appends the header with the checksum over all of the payload, and the bytes of it that exist.
    ///
    /// On a SYN options are packed; otherwise each is aligned by NOPs before it, as most hosts write them: 12 bytes of
    /// timestamps, 4 + 8 n of n SACK blocks.
    ///
    /// # Panics
    /// If options take more than 40 bytes.
    pub fn append(&self, addresses: &Addresses, payload: Payload<'_>, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.source_port.to_be_bytes());
        out.extend_from_slice(&self.destination_port.to_be_bytes());
        out.extend_from_slice(&self.sequence.to_be_bytes());
        out.extend_from_slice(&self.acknowledgement.to_be_bytes());
        let words = self.header_length() / 4;
        assert!(words * 4 <= HEADER + LONGEST_OPTIONS, "TCP options take at most {LONGEST_OPTIONS} bytes");
        out.extend_from_slice(&((words as u16) << 12 | self.flags.0 & 0x01ff).to_be_bytes());
        out.extend_from_slice(&self.window.to_be_bytes());
        out.extend_from_slice(&[0, 0]);
        out.extend_from_slice(&self.urgent.to_be_bytes());
        self.options.append(self.flags.contains(TcpFlags::SYN), out);
        debug_assert_eq!(out.len() - start, words * 4);
        let check = checksum(addresses, protocol::TCP, &out[start..], payload);
        out[start + 16..start + 18].copy_from_slice(&check.to_be_bytes());
        out.extend_from_slice(payload.bytes);
    }

    /// True if the checksum fits the segment: the captured part, filled up with zeros.
    ///
    /// The result is valid for segments that were captured whole, and for those whose rest is known to be zeros.
    pub fn checksum_is_good(addresses: &Addresses, segment: Payload<'_>) -> bool {
        segment.bytes.len() >= HEADER
            && checksum(addresses, protocol::TCP, segment.bytes, Payload::zeros(segment.zeros)) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;

    fn addresses() -> Addresses {
        Addresses::V4(Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2))
    }

    fn header() -> Tcp<'static> {
        Tcp {
            source_port: 0x1234,
            destination_port: 80,
            sequence: 0x0102_0304,
            acknowledgement: 0x0506_0708,
            flags: TcpFlags::ACK.with(TcpFlags::AE),
            window: 0x0a0b,
            ..Tcp::default()
        }
    }

    #[test]
    fn a_header_has_the_sum_of_pseudo_header_and_words() {
        let mut bytes = Vec::new();
        header().append(&addresses(), Payload::bytes(&[]), &mut bytes);
        // 0a00 + 0001 + 0a00 + 0002 + 0006 + 0014 = 141d; 1234 + 0050 + 0102 + 0304 + 0506 + 0708 + 5110 + 0a0b = 7db3;
        // together 91d0, complemented 6e2f.
        let expected = [0x12, 0x34, 0, 80, 1, 2, 3, 4, 5, 6, 7, 8, 0x51, 0x10, 0x0a, 0x0b, 0x6e, 0x2f, 0, 0];
        assert_eq!(bytes, expected);
        assert!(Tcp::checksum_is_good(&addresses(), Payload::bytes(&bytes)));
        assert_eq!(Tcp::parse(&bytes), Ok(Segment { header: header(), header_length: 20, payload: &[] }));
    }

    #[test]
    fn a_payload_of_zeros_counts_though_it_is_not_there() {
        let (mut implied, mut whole) = (Vec::new(), Vec::new());
        header().append(&addresses(), Payload::zeros(1447), &mut implied);
        header().append(&addresses(), Payload::bytes(&[0; 1447]), &mut whole);
        assert_eq!((implied.len(), &implied[..]), (20, &whole[..20]));
        assert!(Tcp::checksum_is_good(&addresses(), Payload { bytes: &implied, zeros: 1447 }));
        assert!(!Tcp::checksum_is_good(&addresses(), Payload { bytes: &implied, zeros: 1448 }));
        assert!(!Tcp::checksum_is_good(&addresses(), Payload::zeros(20)));
    }

    #[test]
    fn a_data_offset_below_five_words_is_refused() {
        let mut bytes = vec![0; 20];
        bytes[12] = 0x40;
        assert_eq!(
            Tcp::parse(&bytes).unwrap_err().to_string(),
            "byte 12: TCP data offset is 4, but it is 5 to 15 words"
        );
        bytes[12] = 0x60;
        bytes.extend_from_slice(&[2, 5, 0, 0]);
        assert_eq!(Tcp::parse(&bytes).unwrap_err().to_string(), "byte 22: TCP option: of 3 bytes there are 2");
    }

    #[test]
    fn options_that_were_cut_off_leave_those_before_them() {
        let timestamps = Some(Timestamps { value: 1, echo: 2 });
        let options = TcpOptions { timestamps, sack: SackBlocks::new([(3, 4), (5, 6)]), ..TcpOptions::default() };
        let (mut bytes, whole) = (Vec::new(), Tcp { options, ..header() });
        whole.append(&addresses(), Payload::zeros(100), &mut bytes);
        let (part, none) = (TcpOptions { timestamps, ..TcpOptions::default() }, TcpOptions::default());
        for (end, options) in [(52, options), (51, part), (34, part), (32, part), (31, none), (21, none), (20, none)] {
            let header = Tcp { options, ..header() };
            assert_eq!(
                Tcp::parse(&bytes[..end]),
                Ok(Segment { header, header_length: 52, payload: &[] }),
                "{end} bytes"
            );
        }
        assert_eq!(Tcp::parse(&bytes[..19]).unwrap_err().to_string(), "byte 18: TCP header: of 2 bytes there are 1");
    }
}
