//! Pcapng, written block by block. [draft-ietf-opsawg-pcapng §3, §4]

use std::io::{self, Write};

use super::facts::{Interface, PacketOptions, Section, Statistics};
use super::fields::{COMMENT, END_OF_OPTIONS};
use super::names::Name;
use super::pcapng::{block, option};

/// A pcapng file for writing: one section, lower bytes first, times in ns.
///
/// Each call writes a block; only the writer may buffer.
#[derive(Debug)]
pub struct PcapNg<W: Write> {
    writer: W,
    /// The snap length of each interface; 0 for all.
    snap_lengths: Vec<u32>,
    /// The block under construction.
    body: Vec<u8>,
}

/// The exponent of 10^-9, as the resolution of time stamps.
const NANOSECONDS: u8 = 9;
/// Bytes of type and both lengths of a block.
const FRAME: usize = 12;

impl<W: Write> PcapNg<W> {
    /// Begins a file that names lasthop as its application.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn new(writer: W) -> io::Result<Self> {
        let application = Some(concat!("lasthop ", env!("CARGO_PKG_VERSION")));
        PcapNg::with_section(writer, &Section { application, ..Section::default() })
    }

    /// Begins a file.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn with_section(writer: W, section: &Section<'_>) -> io::Result<Self> {
        let mut file = PcapNg { writer, snap_lengths: Vec::new(), body: Vec::new() };
        file.body.extend_from_slice(&block::BYTE_ORDER_MAGIC.to_le_bytes());
        file.body.extend_from_slice(&[1, 0, 0, 0]);
        // The length of the section is unknown.
        file.body.extend_from_slice(&[0xff; 8]);
        file.text(option::SHB_HARDWARE, section.hardware);
        file.text(option::SHB_OS, section.os);
        file.text(option::SHB_APPLICATION, section.application);
        file.text(COMMENT, section.comment);
        file.end(block::SECTION)?;
        Ok(file)
    }

    /// Adds an interface; returns its number.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn interface(&mut self, interface: &Interface<'_>) -> io::Result<u32> {
        self.body.extend_from_slice(&interface.link_type.0.to_le_bytes());
        self.body.extend_from_slice(&[0; 2]);
        self.body.extend_from_slice(&interface.snap_length.to_le_bytes());
        self.text(option::IF_NAME, interface.name);
        self.text(option::IF_DESCRIPTION, interface.description);
        self.option(option::IF_TSRESOL, &[NANOSECONDS]);
        if let Some(length) = interface.fcs_length {
            self.option(option::IF_FCSLEN, &[length]);
        }
        self.text(COMMENT, interface.comment);
        self.end(block::INTERFACE)?;
        self.snap_lengths.push(interface.snap_length);
        Ok(self.snap_lengths.len() as u32 - 1)
    }

    /// Adds a packet of `original_length` bytes. It keeps as many of `bytes` as the interface's snap length allows;
    /// there may be fewer, if the caller has already cut them off.
    ///
    /// # Errors
    /// Those of the writer.
    ///
    /// # Panics
    /// If there is no such interface, or if there are more than `original_length` bytes.
    pub fn packet(
        &mut self,
        interface: u32,
        time_ns: u64,
        original_length: u32,
        bytes: &[u8],
        options: &PacketOptions<'_>,
    ) -> io::Result<()> {
        assert!(bytes.len() <= original_length as usize, "a packet has no more bytes than it had");
        let kept = match self.snap_length(interface) {
            0 => bytes,
            snap_length => &bytes[..bytes.len().min(snap_length as usize)],
        };
        self.body.extend_from_slice(&interface.to_le_bytes());
        self.ticks(time_ns);
        self.body.extend_from_slice(&(kept.len() as u32).to_le_bytes());
        self.body.extend_from_slice(&original_length.to_le_bytes());
        self.padded(kept);
        self.text(COMMENT, options.comment);
        if let Some(flags) = options.flags {
            self.option(option::EPB_FLAGS, &flags.0.to_le_bytes());
        }
        if let Some(dropped) = options.dropped {
            self.option(option::EPB_DROPCOUNT, &dropped.to_le_bytes());
        }
        if let Some(id) = options.packet_id {
            self.option(option::EPB_PACKETID, &id.to_le_bytes());
        }
        self.end(block::ENHANCED_PACKET)
    }

    /// Adds names of addresses.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn names<'a>(&mut self, names: impl IntoIterator<Item = Name<'a>>) -> io::Result<()> {
        names.into_iter().for_each(|name| name.append(&mut self.body));
        Name::append_end(&mut self.body);
        self.end_without_options(block::NAMES)
    }

    /// Adds the counters of an interface up to `time_ns`.
    ///
    /// # Errors
    /// Those of the writer.
    ///
    /// # Panics
    /// If there is no such interface.
    pub fn statistics(&mut self, interface: u32, time_ns: u64, statistics: &Statistics) -> io::Result<()> {
        self.snap_length(interface);
        self.body.extend_from_slice(&interface.to_le_bytes());
        self.ticks(time_ns);
        for (code, time) in [(option::ISB_START, statistics.start_ns), (option::ISB_END, statistics.end_ns)] {
            if let Some(ns) = time {
                let [high, low] = [(ns >> 32) as u32, ns as u32].map(u32::to_le_bytes);
                self.option(code, [high, low].as_flattened());
            }
        }
        for (code, count) in [(option::ISB_IFRECV, statistics.received), (option::ISB_IFDROP, statistics.dropped)] {
            if let Some(count) = count {
                self.option(code, &count.to_le_bytes());
            }
        }
        self.end(block::STATISTICS)
    }

    /// Adds a custom block, which other programs skip: `enterprise` is a Private Enterprise Number. Readers see the
    /// data filled up by zeros to a multiple of 4 bytes.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn custom(&mut self, enterprise: u32, data: &[u8]) -> io::Result<()> {
        self.body.extend_from_slice(&enterprise.to_le_bytes());
        self.padded(data);
        self.end_without_options(block::CUSTOM)
    }

    /// Flushes the writer and returns it.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.writer.flush()?;
        Ok(self.writer)
    }

    fn snap_length(&self, interface: u32) -> u32 {
        *self.snap_lengths.get(interface as usize).expect("the interface was added before")
    }

    /// A time stamp, its upper half first.
    fn ticks(&mut self, ticks: u64) {
        self.body.extend_from_slice(&((ticks >> 32) as u32).to_le_bytes());
        self.body.extend_from_slice(&(ticks as u32).to_le_bytes());
    }

    fn padded(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
        self.body.resize(self.body.len().next_multiple_of(4), 0);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.body.extend_from_slice(&code.to_le_bytes());
        self.body.extend_from_slice(&(value.len() as u16).to_le_bytes());
        self.padded(value);
    }

    /// An option with a text, cut off where necessary.
    fn text(&mut self, code: u16, text: Option<&str>) {
        if let Some(text) = text {
            let end = (0..=text.len().min(u16::MAX.into())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
            self.option(code, &text.as_bytes()[..end]);
        }
    }

    /// Ends the options, and the block.
    fn end(&mut self, block_type: u32) -> io::Result<()> {
        self.option(END_OF_OPTIONS, &[]);
        self.end_without_options(block_type)
    }

    /// Writes the block between its type and its lengths.
    fn end_without_options(&mut self, block_type: u32) -> io::Result<()> {
        let length = ((self.body.len() + FRAME) as u32).to_le_bytes();
        self.writer.write_all(&block_type.to_le_bytes())?;
        self.writer.write_all(&length)?;
        self.writer.write_all(&self.body)?;
        self.body.clear();
        self.writer.write_all(&length)
    }
}
