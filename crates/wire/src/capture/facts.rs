//! Facts of sections, interfaces and packets, for writing and for reading.

use super::link_type::LinkType;
use crate::bit_set::bit_set;

/// Origin of a section. [draft-ietf-opsawg-pcapng §4.1]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Section<'a> {
    /// The machine.
    pub hardware: Option<&'a str>,
    /// The operating system.
    pub os: Option<&'a str>,
    /// The program.
    pub application: Option<&'a str>,
    /// A remark.
    pub comment: Option<&'a str>,
}

/// An interface at which packets were captured. [draft-ietf-opsawg-pcapng §4.2]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interface<'a> {
    /// Type of the first header of its packets.
    pub link_type: LinkType,
    /// Most bytes of a packet that are kept; 0 for all.
    pub snap_length: u32,
    /// Its name.
    pub name: Option<&'a str>,
    /// Its description.
    pub description: Option<&'a str>,
    /// Bytes of the FCS at the end of packets. On reading, 16 and 32 are taken as bits, since the option has been
    /// understood both ways.
    pub fcs_length: Option<u8>,
    /// A remark.
    pub comment: Option<&'a str>,
}

/// The flags of a packet. [draft-ietf-opsawg-pcapng §4.3.1]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketFlags(pub u32);

bit_set!(PacketFlags);

impl PacketFlags {
    /// Received.
    pub const INBOUND: PacketFlags = PacketFlags(0b01);
    /// Sent.
    pub const OUTBOUND: PacketFlags = PacketFlags(0b10);
    /// The FCS does not fit.
    pub const CRC_ERROR: PacketFlags = PacketFlags(1 << 24);
}

/// Facts of a packet besides its bytes. [draft-ietf-opsawg-pcapng §4.3]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketOptions<'a> {
    /// A remark; the first, if there are several.
    pub comment: Option<&'a str>,
    /// Direction and errors.
    pub flags: Option<PacketFlags>,
    /// Packets lost since the one before.
    pub dropped: Option<u64>,
    /// A number that is the same in all captures of the same packet.
    pub packet_id: Option<u64>,
}

/// Counters of an interface. [draft-ietf-opsawg-pcapng §4.6]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Start of capturing, in ns since 1970.
    pub start_ns: Option<i64>,
    /// End of capturing, in ns since 1970.
    pub end_ns: Option<i64>,
    /// Packets received.
    pub received: Option<u64>,
    /// Packets dropped by the interface.
    pub dropped: Option<u64>,
}
