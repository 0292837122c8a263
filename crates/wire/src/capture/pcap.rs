//! Pcap, read only. [draft-ietf-opsawg-pcap §4, §5]

use super::clock::Clock;
use super::facts::{Interface, PacketOptions};
use super::fields::{Fields, Order};
use super::link_type::LinkType;
use super::record::{Packet, Record};
use crate::error::Error;

/// Bytes of the file header.
pub(super) const FILE_HEADER: usize = 24;
/// Bytes up to the end of the major version.
pub(super) const VERSION_END: usize = 6;
/// Bytes before each packet.
pub(super) const PACKET_HEADER: usize = 16;

/// Magic number of files with times in µs.
const MICROSECONDS: u32 = 0xa1b2_c3d4;
/// Magic number of files with times in ns.
const NANOSECONDS: u32 = 0xa1b2_3c4d;
/// Bit in the word of the link type: the length of the FCS is present.
const FCS_KNOWN: u32 = 0x0400_0000;

/// State of reading a pcap file.
#[derive(Clone, Debug)]
pub(super) struct Pcap {
    pub(super) order: Order,
    /// Nanoseconds in a unit of the lower part of times.
    unit_ns: u32,
    /// Link type of the interface; unknown before the file header was read.
    link_type: Option<LinkType>,
}

impl Pcap {
    /// The reader for a file that begins with these bytes, if it is pcap.
    pub(super) fn of(magic: [u8; 4]) -> Option<Pcap> {
        [
            (Order::Little, MICROSECONDS),
            (Order::Big, MICROSECONDS),
            (Order::Little, NANOSECONDS),
            (Order::Big, NANOSECONDS),
        ]
        .into_iter()
        .find(|(order, begin)| order.u32(magic) == *begin)
        .map(|(order, begin)| Pcap {
            order,
            unit_ns: if begin == NANOSECONDS { 1 } else { 1000 },
            link_type: None,
        })
    }

    /// True if the file header is still to come.
    pub(super) fn is_at_start(&self) -> bool {
        self.link_type.is_none()
    }

    /// Refuses a file of another version, in which records cannot be located.
    pub(super) fn check_version(&self, begin: &[u8; VERSION_END]) -> Result<(), Error> {
        let mut fields = Fields::new(&begin[4..], self.order);
        match fields.u16("pcap file header")? {
            2 => Ok(()),
            major => Err(Error::value(4, "pcap major version", major, "it is 2")),
        }
    }

    /// Bytes of a packet with this header, header included.
    pub(super) fn packet_length(&self, header: &[u8; PACKET_HEADER]) -> u64 {
        let [.., a, b, c, d, _, _, _, _] = *header;
        PACKET_HEADER as u64 + u64::from(self.order.u32([a, b, c, d]))
    }

    /// Reads the file header, or a packet with its header.
    pub(super) fn read<'a>(&mut self, bytes: &'a [u8]) -> Result<Record<'a>, Error> {
        let fields = Fields::new(bytes, self.order);
        match self.link_type {
            None => self.file_header(fields),
            Some(link_type) => self.packet(link_type, fields).map(Record::Packet),
        }
    }

    fn file_header<'a>(&mut self, mut fields: Fields<'a>) -> Result<Record<'a>, Error> {
        const PART: &str = "pcap file header";
        fields.u32(PART)?;
        fields.u16(PART)?;
        fields.u16(PART)?;
        fields.u64(PART)?;
        let (snap_length, link) = (fields.u32(PART)?, fields.u32(PART)?);
        let link_type = LinkType(link as u16);
        self.link_type = Some(link_type);
        // The unit of the FCS length is two bytes.
        let fcs_length = (link & FCS_KNOWN != 0).then_some((link >> 28) as u8 * 2);
        let interface = Interface { link_type, snap_length, fcs_length, ..Interface::default() };
        let clock = Clock { resolution: if self.unit_ns == 1 { 9 } else { 6 }, offset_s: 0 };
        Ok(Record::Interface { number: 0, interface, clock })
    }

    fn packet<'a>(&self, link_type: LinkType, mut fields: Fields<'a>) -> Result<Packet<'a>, Error> {
        const PART: &str = "pcap packet header";
        let (seconds, part) = (fields.u32(PART)?, fields.u32(PART)?);
        let (captured, original) = (fields.u32(PART)?, fields.u32(PART)?);
        let bytes = fields.at.take(captured as usize, "packet")?;
        let time_ns = Some(i64::from(seconds) * 1_000_000_000 + i64::from(part) * i64::from(self.unit_ns));
        let (original_length, options) = (original.max(captured), PacketOptions::default());
        Ok(Packet { interface: 0, link_type, time_ns, original_length, bytes, options })
    }
}
