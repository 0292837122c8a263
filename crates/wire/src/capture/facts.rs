//! What captures say of sections, interfaces and packets, in writing as in reading.

use crate::bit_set::bit_set;

/// What packets of an interface begin with. [draft-ietf-opsawg-pcaplinktype]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkType(pub u16);

impl LinkType {
    /// Ethernet.
    pub const ETHERNET: LinkType = LinkType(1);
    /// IPv4 or IPv6, told apart by the version.
    pub const RAW_IP: LinkType = LinkType(101);
    /// 802.11.
    pub const IEEE_802_11: LinkType = LinkType(105);
    /// Radiotap before 802.11.
    pub const RADIOTAP: LinkType = LinkType(127);
    /// What a Linux host gives of all its interfaces at once, `tcpdump -i any`.
    pub const LINUX_SLL: LinkType = LinkType(113);
    /// The same, of newer versions of libpcap.
    pub const LINUX_SLL2: LinkType = LinkType(276);
}

/// What a section says of its making. [draft-ietf-opsawg-pcapng §4.1]
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

/// Where packets were captured. [draft-ietf-opsawg-pcapng §4.2]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interface<'a> {
    /// What packets begin with.
    pub link_type: LinkType,
    /// Most bytes of a packet that are kept; 0 for all.
    pub snap_length: u32,
    /// Its name.
    pub name: Option<&'a str>,
    /// What it is.
    pub description: Option<&'a str>,
    /// Bytes of the FCS at the end of packets. On reading, 16 and 32 are taken for bits, as the option has been understood both
    /// ways.
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

/// What is said of a packet beside its bytes. [draft-ietf-opsawg-pcapng §4.3]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketOptions<'a> {
    /// A remark; of several, the first.
    pub comment: Option<&'a str>,
    /// Direction and errors.
    pub flags: Option<PacketFlags>,
    /// Packets lost since the one before.
    pub dropped: Option<u64>,
    /// A number that is the same wherever the same packet was captured.
    pub packet_id: Option<u64>,
}

/// What an interface counted. [draft-ietf-opsawg-pcapng §4.6]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// When capturing began, in ns since 1970.
    pub start_ns: Option<i64>,
    /// When it ended, in ns since 1970.
    pub end_ns: Option<i64>,
    /// Packets received.
    pub received: Option<u64>,
    /// Packets dropped by the interface.
    pub dropped: Option<u64>,
}
