//! Captures: pcapng written and read, pcap read. [draft-ietf-opsawg-pcapng; draft-ietf-opsawg-pcap]
//!
//! [`PcapNg`] writes a file block by block. [`Records`] reads one that is in memory and borrows from it; [`Reader`]
//! reads one of any size through a buffer that holds a block. Both detect format and byte order by themselves, and
//! return the same [`Record`]s.

mod clock;
mod decoder;
mod facts;
mod fields;
mod link_type;
mod names;
mod pcap;
mod pcapng;
mod reader;
mod record;
mod writer;

pub use clock::Clock;
pub use decoder::Records;
pub use facts::{Interface, PacketFlags, PacketOptions, Section, Statistics};
pub use link_type::LinkType;
pub use names::{Name, NamedAddress, Names};
pub use reader::{ReadError, Reader};
pub use record::{Packet, Record};
pub use writer::PcapNg;
