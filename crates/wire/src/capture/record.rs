//! Contents of a capture.

use super::clock::Clock;
use super::facts::{Interface, PacketOptions, Section, Statistics};
use super::link_type::LinkType;
use super::names::Names;

/// A block of pcapng, or its equivalent in pcap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Record<'a> {
    /// A section begins: its interfaces count from 0 again. Pcap has none.
    Section(Section<'a>),
    /// An interface, with its number in the section. In pcap this is the file header.
    Interface {
        /// Its number in the section.
        number: u32,
        /// Its facts.
        interface: Interface<'a>,
        /// Resolution and offset of its time stamps.
        clock: Clock,
    },
    /// A packet.
    Packet(Packet<'a>),
    /// Names of addresses.
    Names(Names<'a>),
    /// Counters of an interface.
    Statistics {
        /// The interface's number in the section.
        interface: u32,
        /// Its counters.
        statistics: Statistics,
    },
    /// A custom block: the number of the enterprise, and the bytes that follow, filled up to a multiple of 4.
    Custom {
        /// Private Enterprise Number.
        enterprise: u32,
        /// Data, and any options.
        data: &'a [u8],
    },
    /// A block of another type, which is skipped.
    Other {
        /// The type.
        block_type: u32,
    },
}

/// A packet of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The interface's number in the section.
    pub interface: u32,
    /// Type of its first header.
    pub link_type: LinkType,
    /// Time of capture, in ns since 1970; Simple Packet Blocks have none.
    pub time_ns: Option<i64>,
    /// Original length in bytes; at least the captured length.
    pub original_length: u32,
    /// The captured bytes.
    pub bytes: &'a [u8],
    /// Its further facts.
    pub options: PacketOptions<'a>,
}
