//! Blocks of pcapng, for reading. [draft-ietf-opsawg-pcapng §3, §4]

use super::clock::Clock;
use super::facts::{Interface, PacketFlags, PacketOptions, Section, Statistics};
use super::fields::{COMMENT, Fields, Order, number_32, number_64, text};
use super::link_type::LinkType;
use super::names::Names;
use super::record::{Packet, Record};
use crate::error::Error;

/// Types of blocks. [draft-ietf-opsawg-pcapng §10.1]
pub(super) mod block {
    pub(in crate::capture) const SECTION: u32 = 0x0a0d_0d0a;
    pub(in crate::capture) const INTERFACE: u32 = 1;
    /// Obsolete, but still in use. [draft-ietf-opsawg-pcapng appendix A]
    pub(in crate::capture) const PACKET: u32 = 2;
    pub(in crate::capture) const SIMPLE_PACKET: u32 = 3;
    pub(in crate::capture) const NAMES: u32 = 4;
    pub(in crate::capture) const STATISTICS: u32 = 5;
    pub(in crate::capture) const ENHANCED_PACKET: u32 = 6;
    pub(in crate::capture) const CUSTOM: u32 = 0x0000_0bad;
    /// Custom block that unaware programs may not copy.
    pub(in crate::capture) const CUSTOM_NO_COPY: u32 = 0x4000_0bad;
    /// Magic number that shows the byte order.
    pub(in crate::capture) const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
}

/// Codes of options, by block. [draft-ietf-opsawg-pcapng §4]
pub(super) mod option {
    pub(in crate::capture) const SHB_HARDWARE: u16 = 2;
    pub(in crate::capture) const SHB_OS: u16 = 3;
    pub(in crate::capture) const SHB_APPLICATION: u16 = 4;
    pub(in crate::capture) const IF_NAME: u16 = 2;
    pub(in crate::capture) const IF_DESCRIPTION: u16 = 3;
    pub(in crate::capture) const IF_TSRESOL: u16 = 9;
    pub(in crate::capture) const IF_FCSLEN: u16 = 13;
    pub(in crate::capture) const IF_TSOFFSET: u16 = 14;
    pub(in crate::capture) const EPB_FLAGS: u16 = 2;
    pub(in crate::capture) const EPB_DROPCOUNT: u16 = 4;
    pub(in crate::capture) const EPB_PACKETID: u16 = 5;
    pub(in crate::capture) const ISB_START: u16 = 2;
    pub(in crate::capture) const ISB_END: u16 = 3;
    pub(in crate::capture) const ISB_IFRECV: u16 = 4;
    pub(in crate::capture) const ISB_IFDROP: u16 = 5;
}

/// Bytes of type and length before the body of a block.
pub(super) const BLOCK_HEADER: usize = 8;
/// Bytes of the length after the body.
pub(super) const BLOCK_TRAILER: usize = 4;

/// Facts of an interface that its packets need.
#[derive(Clone, Copy, Debug)]
struct Known {
    link_type: LinkType,
    snap_length: u32,
    clock: Clock,
}

/// State of reading a section.
#[derive(Clone, Debug)]
pub(super) struct Sections {
    pub(super) order: Order,
    interfaces: Vec<Known>,
}

/// The byte order of a Section Header Block, from its first 12 bytes.
pub(super) fn section_order(header: &[u8; 12]) -> Result<Order, Error> {
    let [.., a, b, c, d] = *header;
    let magic = [a, b, c, d];
    [Order::Little, Order::Big].into_iter().find(|order| order.u32(magic) == block::BYTE_ORDER_MAGIC).ok_or_else(|| {
        Error::value(8, "pcapng byte order magic", u32::from_be_bytes(magic), "it is 1a2b3c4d in either order")
    })
}

/// Sets an option that was not set before, if it has a value.
fn first<T>(slot: &mut Option<T>, value: Option<T>) {
    if slot.is_none() {
        *slot = value;
    }
}

impl Sections {
    /// The state before the first section.
    pub(super) fn new(order: Order) -> Self {
        Sections { order, interfaces: Vec::new() }
    }

    /// Reads a whole block, whose length has been checked.
    pub(super) fn read<'a>(&mut self, bytes: &'a [u8]) -> Result<Record<'a>, Error> {
        let body_end = bytes.len().saturating_sub(BLOCK_TRAILER).max(BLOCK_HEADER.min(bytes.len()));
        let mut fields = Fields::new(&bytes[..body_end], self.order);
        let block_type = fields.u32("block type")?;
        fields.u32("block length")?;
        match block_type {
            block::SECTION => self.section(fields).map(Record::Section),
            block::INTERFACE => self.interface(fields),
            block::PACKET => self.obsolete_packet(fields).map(Record::Packet),
            block::SIMPLE_PACKET => self.simple_packet(fields).map(Record::Packet),
            block::NAMES => Ok(Record::Names(Names::new(fields))),
            block::STATISTICS => self.statistics(fields),
            block::ENHANCED_PACKET => self.packet(fields).map(Record::Packet),
            block::CUSTOM | block::CUSTOM_NO_COPY => {
                let enterprise = fields.u32("Custom Block")?;
                Ok(Record::Custom { enterprise, data: fields.at.rest() })
            }
            _ => Ok(Record::Other { block_type }),
        }
    }

    fn section<'a>(&mut self, mut fields: Fields<'a>) -> Result<Section<'a>, Error> {
        const PART: &str = "Section Header Block";
        self.interfaces.clear();
        fields.u32(PART)?;
        let (major, _minor) = (fields.u16(PART)?, fields.u16(PART)?);
        if major != 1 {
            return Err(Error::value(12, "pcapng major version", major, "it is 1"));
        }
        fields.u64(PART)?;
        let mut section = Section::default();
        fields.options(|code, value, _| match code {
            option::SHB_HARDWARE => first(&mut section.hardware, text(value)),
            option::SHB_OS => first(&mut section.os, text(value)),
            option::SHB_APPLICATION => first(&mut section.application, text(value)),
            COMMENT => first(&mut section.comment, text(value)),
            _ => {}
        })?;
        Ok(section)
    }

    fn interface<'a>(&mut self, mut fields: Fields<'a>) -> Result<Record<'a>, Error> {
        const PART: &str = "Interface Description Block";
        let link_type = LinkType(fields.u16(PART)?);
        fields.u16(PART)?;
        let snap_length = fields.u32(PART)?;
        let number = self.interfaces.len() as u32;
        // Packets refer to interfaces by their order, so an interface with wrong options must not shift the next.
        self.interfaces.push(Known { link_type, snap_length, clock: Clock::default() });
        let mut interface = Interface { link_type, snap_length, ..Interface::default() };
        let mut clock = Clock::default();
        fields.options(|code, value, order| match (code, value) {
            (option::IF_NAME, _) => first(&mut interface.name, text(value)),
            (option::IF_DESCRIPTION, _) => first(&mut interface.description, text(value)),
            (option::IF_TSRESOL, &[resolution]) => clock.resolution = resolution,
            (option::IF_FCSLEN, &[length]) => {
                interface.fcs_length = Some(if matches!(length, 16 | 32) { length / 8 } else { length });
            }
            (option::IF_TSOFFSET, _) => clock.offset_s = number_64(value, order).map_or(0, u64::cast_signed),
            (COMMENT, _) => first(&mut interface.comment, text(value)),
            _ => {}
        })?;
        self.interfaces[number as usize].clock = clock;
        Ok(Record::Interface { number, interface, clock })
    }

    /// The facts of an interface whose number was read at `offset`.
    fn known(&self, number: u32, offset: usize) -> Result<&Known, Error> {
        self.interfaces
            .get(number as usize)
            .ok_or_else(|| Error::value(offset, "interface number", number, "the section has no such interface"))
    }

    fn packet<'a>(&self, mut fields: Fields<'a>) -> Result<Packet<'a>, Error> {
        const PART: &str = "Enhanced Packet Block";
        let interface = fields.u32(PART)?;
        self.timed_packet(interface, None, fields)
    }

    fn obsolete_packet<'a>(&self, mut fields: Fields<'a>) -> Result<Packet<'a>, Error> {
        const PART: &str = "Packet Block";
        const UNKNOWN: u16 = 0xffff;
        let (interface, dropped) = (fields.u16(PART)?, fields.u16(PART)?);
        self.timed_packet(interface.into(), (dropped != UNKNOWN).then_some(dropped.into()), fields)
    }

    /// The common part of the two blocks with a time.
    fn timed_packet<'a>(
        &self,
        interface: u32,
        dropped: Option<u64>,
        mut fields: Fields<'a>,
    ) -> Result<Packet<'a>, Error> {
        const PART: &str = "packet block";
        let known = self.known(interface, BLOCK_HEADER)?;
        let time_ns = known.clock.ns(fields.ticks(PART)?);
        let (captured, original) = (fields.u32(PART)?, fields.u32(PART)?);
        let bytes = fields.padded(captured as usize, "packet")?;
        let mut options = PacketOptions { dropped, ..PacketOptions::default() };
        fields.options(|code, value, order| match code {
            COMMENT => first(&mut options.comment, text(value)),
            option::EPB_FLAGS => first(&mut options.flags, number_32(value, order).map(PacketFlags)),
            option::EPB_DROPCOUNT => first(&mut options.dropped, number_64(value, order)),
            option::EPB_PACKETID => first(&mut options.packet_id, number_64(value, order)),
            _ => {}
        })?;
        let (link_type, original_length) = (known.link_type, original.max(captured));
        Ok(Packet { interface, link_type, time_ns, original_length, bytes, options })
    }

    /// A packet of the first interface, without a time. [draft-ietf-opsawg-pcapng §4.4]
    fn simple_packet<'a>(&self, mut fields: Fields<'a>) -> Result<Packet<'a>, Error> {
        let known = self.known(0, BLOCK_HEADER)?;
        let original_length = fields.u32("Simple Packet Block")?;
        let captured = match known.snap_length {
            0 => original_length,
            snap_length => original_length.min(snap_length),
        };
        let bytes = fields.padded(captured as usize, "packet")?;
        let (link_type, options) = (known.link_type, PacketOptions::default());
        Ok(Packet { interface: 0, link_type, time_ns: None, original_length, bytes, options })
    }

    fn statistics<'a>(&self, mut fields: Fields<'a>) -> Result<Record<'a>, Error> {
        const PART: &str = "Interface Statistics Block";
        let interface = fields.u32(PART)?;
        let clock = self.known(interface, BLOCK_HEADER)?.clock;
        fields.ticks(PART)?;
        let mut statistics = Statistics::default();
        let time = |value, order| Fields::new(value, order).ticks(PART).ok().and_then(|ticks| clock.ns(ticks));
        fields.options(|code, value, order| match code {
            option::ISB_START => first(&mut statistics.start_ns, time(value, order)),
            option::ISB_END => first(&mut statistics.end_ns, time(value, order)),
            option::ISB_IFRECV => first(&mut statistics.received, number_64(value, order)),
            option::ISB_IFDROP => first(&mut statistics.dropped, number_64(value, order)),
            _ => {}
        })?;
        Ok(Record::Statistics { interface, statistics })
    }
}
