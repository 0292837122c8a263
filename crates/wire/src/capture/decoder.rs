//! Captures of any format, cut into records.

use super::pcap::{self, Pcap};
use super::pcapng::{self, Sections, block};
use super::record::Record;
use crate::error::Error;

/// State of reading a capture.
#[derive(Clone, Debug, Default)]
pub(super) struct Decoder {
    format: Format,
    /// Offset of the next record, in bytes from the beginning of the file.
    offset: u64,
}

/// The format of a capture.
#[derive(Clone, Debug, Default)]
enum Format {
    /// The format is not known yet.
    #[default]
    Unknown,
    Pcap(Pcap),
    PcapNg(Sections),
}

/// The length of the next record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// Not known; this many bytes are needed to determine it.
    Unknown(usize),
    /// Known, in bytes.
    Known(usize),
}

/// Longest record that is read: no packet is as long, and a longer record would only exhaust memory.
const LONGEST: u64 = 1 << 26;

impl Decoder {
    /// The length of the record at the front of `bytes`. Detects the format at the first record.
    pub(super) fn length(&mut self, bytes: &[u8]) -> Result<Length, Error> {
        self.length_here(bytes).map_err(|error| error.moved_by(self.offset))
    }

    fn length_here(&mut self, bytes: &[u8]) -> Result<Length, Error> {
        let Some(magic) = bytes.first_chunk() else { return Ok(Length::Unknown(4)) };
        match &mut self.format {
            Format::Unknown => {
                self.format = format_of(*magic)?;
                self.length_here(bytes)
            }
            Format::Pcap(file) if file.is_at_start() => match bytes.first_chunk() {
                None => Ok(Length::Unknown(pcap::VERSION_END)),
                Some(begin) => file.check_version(begin).map(|()| Length::Known(pcap::FILE_HEADER)),
            },
            Format::Pcap(file) => match bytes.first_chunk() {
                None => Ok(Length::Unknown(pcap::PACKET_HEADER)),
                Some(header) => known(file.packet_length(header), 8),
            },
            Format::PcapNg(sections) => block_length(sections, bytes),
        }
    }

    /// Offset of the next record, in bytes from the beginning of the file.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads a record that is complete.
    pub(super) fn read<'a>(&mut self, bytes: &'a [u8]) -> Result<Record<'a>, Error> {
        let offset = self.offset;
        self.offset += bytes.len() as u64;
        match &mut self.format {
            Format::Unknown => unreachable!("the length of a record is asked for before it is read"),
            Format::Pcap(file) => file.read(bytes),
            Format::PcapNg(sections) => sections.read(bytes),
        }
        .map_err(|error| error.moved_by(offset))
    }

    /// The error of a file that ends within a record of `needs` bytes, with only `has` left.
    pub(super) fn cut_off(&self, needs: usize, has: usize) -> Error {
        Error::short(0, "the last record", needs, has).moved_by(self.offset)
    }
}

/// The format of a file that begins with these bytes.
fn format_of(magic: [u8; 4]) -> Result<Format, Error> {
    if u32::from_le_bytes(magic) == block::SECTION {
        // The byte order is that of the first section, which is found with its length.
        return Ok(Format::PcapNg(Sections::new(super::fields::Order::Little)));
    }
    let found = u32::from_be_bytes(magic);
    Pcap::of(magic)
        .map(Format::Pcap)
        .ok_or_else(|| Error::value(0, "the file's magic number", found, "it is pcap's or pcapng's"))
}

/// The length of a block; adopts the byte order of a section that begins.
fn block_length(sections: &mut Sections, bytes: &[u8]) -> Result<Length, Error> {
    let Some([a, b, c, d, e, f, g, h]) = bytes.first_chunk() else {
        return Ok(Length::Unknown(pcapng::BLOCK_HEADER));
    };
    if u32::from_le_bytes([*a, *b, *c, *d]) == block::SECTION {
        let Some(header) = bytes.first_chunk() else { return Ok(Length::Unknown(12)) };
        sections.order = pcapng::section_order(header)?;
    }
    let length = sections.order.u32([*e, *f, *g, *h]);
    let least = (pcapng::BLOCK_HEADER + pcapng::BLOCK_TRAILER) as u32;
    if length < least || !length.is_multiple_of(4) {
        return Err(Error::value(4, "block length", length, "it is a multiple of 4, and 12 or more"));
    }
    let record = known(length.into(), 4)?;
    let trailer = bytes.get(length as usize - pcapng::BLOCK_TRAILER..length as usize).and_then(|t| t.first_chunk());
    match trailer.map(|trailer| sections.order.u32(*trailer)) {
        Some(again) if again != length => {
            let place = length as usize - pcapng::BLOCK_TRAILER;
            Err(Error::value(place, "block length at the end", again, "it is that at the beginning"))
        }
        _ => Ok(record),
    }
}

/// Checks a length found at `offset` against the longest allowed.
fn known(length: u64, offset: usize) -> Result<Length, Error> {
    match length <= LONGEST {
        true => Ok(Length::Known(length as usize)),
        false => Err(Error::value(offset, "length of a record", length, "records of up to 64 MiB are read")),
    }
}

/// The records of a capture in memory, in their order.
///
/// A record with wrong content is an error, and reading continues behind it. After a wrong length, or if the file ends
/// within a record, the error is the last item.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    bytes: &'a [u8],
    decoder: Decoder,
}

impl<'a> Records<'a> {
    /// The records of the capture in `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Records { bytes, decoder: Decoder::default() }
    }

    /// Cuts off the next record.
    fn cut(&mut self) -> Result<&'a [u8], Error> {
        let needs = match self.decoder.length(self.bytes)? {
            Length::Known(length) | Length::Unknown(length) => length,
        };
        let (record, rest) =
            self.bytes.split_at_checked(needs).ok_or_else(|| self.decoder.cut_off(needs, self.bytes.len()))?;
        self.bytes = rest;
        Ok(record)
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() {
            return None;
        }
        let record = self.cut();
        if record.is_err() {
            self.bytes = &[];
        }
        Some(record.and_then(|record| self.decoder.read(record)))
    }
}
