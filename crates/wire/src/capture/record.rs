//! What a capture holds.

use super::clock::Clock;
use super::facts::{Interface, LinkType, PacketOptions, Section, Statistics};
use super::names::Names;

/// A block of pcapng, or its like in pcap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Record<'a> {
    /// A section begins: its interfaces count from 0 again. Pcap has none.
    Section(Section<'a>),
    /// An interface, with its number in the section. In pcap the file header.
    Interface {
        /// Its number in the section.
        number: u32,
        /// What is said of it.
        interface: Interface<'a>,
        /// How its time stamps count.
        clock: Clock,
    },
    /// A packet.
    Packet(Packet<'a>),
    /// Names of addresses.
    Names(Names<'a>),
    /// What an interface counted.
    Statistics {
        /// The interface's number in the section.
        interface: u32,
        /// What it counted.
        statistics: Statistics,
    },
    /// A block of somebody's own: the number of the enterprise, and what follows it, filled up to a multiple of 4.
    Custom {
        /// Private Enterprise Number.
        enterprise: u32,
        /// Data, and options if there are any.
        data: &'a [u8],
    },
    /// A block of another type, which is passed over.
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
    /// What it begins with.
    pub link_type: LinkType,
    /// When it was captured, in ns since 1970; Simple Packet Blocks do not say.
    pub time_ns: Option<i64>,
    /// Bytes that it had; at least those that there are.
    pub original_length: u32,
    /// What was captured.
    pub bytes: &'a [u8],
    /// What is said of it besides.
    pub options: PacketOptions<'a>,
}
