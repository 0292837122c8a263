//! Columns of a recording that are written by a dictionary: names, words and small numbers.
//!
//! Rows hold indices of names, or small numbers, so that the place of a value in the dictionary is looked up in an
//! array. The writer of the `parquet` crate would hash each of them, and copy names before that: with it a recording
//! takes about twice the time. The file has the same form: a page with the values in the order of their first
//! occurrence, one with their places, in runs and packed bits [Parquet format, Encodings: RLE_DICTIONARY]. Larger
//! numbers are left to the crate.

use std::fs::File;

use lasthop_scenario::recording::NONE;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use zstd::bulk::Compressor;

/// Values below this are looked up in an array.
const VALUES: usize = 1 << 16;
/// zstd's level, the same as for other pages.
const LEVEL: i32 = 1;

/// Encodes columns one after another.
pub(crate) struct Coder {
    /// 1 plus the place of each value, 0 for a value that is not in the dictionary
    places: Vec<u32>,
    /// the values of the dictionary
    values: Vec<u32>,
    /// for each row that is not null, the place of its value
    rows: Vec<u32>,
    compressor: Compressor<'static>,
}

impl Coder {
    pub(crate) fn new() -> Result<Coder, std::io::Error> {
        let (places, values, rows) = (vec![0; VALUES], Vec::new(), Vec::new());
        Ok(Coder { places, values, rows, compressor: Compressor::new(LEVEL)? })
    }

    /// Writes the next column of `group`; `plain` writes a value of the dictionary. Returns false, with nothing
    /// written, if some value is too large.
    pub(crate) fn write(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, File>,
        column: &ColumnDescPtr,
        raw: &[u32],
        plain: impl Fn(u32, &mut Vec<u8>),
    ) -> Result<bool, ParquetError> {
        let optional = column.max_def_level() > 0;
        let all_small = self.look_up(raw, optional);
        let done = if all_small { self.write_coded(group, column, raw, optional, plain) } else { Ok(()) };
        for value in self.values.drain(..) {
            self.places[value as usize] = 0;
        }
        self.rows.clear();
        done.map(|()| all_small)
    }

    /// Finds the dictionary and the place of each row; false if some value is too large.
    fn look_up(&mut self, raw: &[u32], optional: bool) -> bool {
        for &value in raw {
            if optional && value == NONE {
                continue;
            }
            let Some(place) = self.places.get_mut(value as usize) else { return false };
            if *place == 0 {
                self.values.push(value);
                *place = self.values.len() as u32;
            }
            self.rows.push(*place - 1);
        }
        true
    }

    fn write_coded(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, File>,
        column: &ColumnDescPtr,
        raw: &[u32],
        optional: bool,
        plain: impl Fn(u32, &mut Vec<u8>),
    ) -> Result<(), ParquetError> {
        let mut dictionary = Vec::new();
        self.values.iter().for_each(|value| plain(*value, &mut dictionary));
        let mut data = Vec::with_capacity(raw.len() * 2);
        if optional {
            let there: Vec<u32> = raw.iter().map(|value| u32::from(*value != NONE)).collect();
            let mut levels = Vec::new();
            put_hybrid(&there, 1, &mut levels);
            data.extend((levels.len() as u32).to_le_bytes());
            data.append(&mut levels);
        }
        let width = u32::BITS - (self.values.len().saturating_sub(1) as u32).leading_zeros();
        data.push(width as u8);
        put_hybrid(&self.rows, width as usize, &mut data);
        let chunk = self.chunk(column, raw.len(), &dictionary, &data)?;
        group.append_column(&chunk.0, chunk.1)
    }

    /// The pages of a column, and their metadata.
    fn chunk(
        &mut self,
        column: &ColumnDescPtr,
        rows: usize,
        dictionary: &[u8],
        data: &[u8],
    ) -> Result<(bytes::Bytes, ColumnCloseResult), ParquetError> {
        let mut sink = TrackedWrite::new(Vec::new());
        let mut pages = SerializedPageWriter::new(&mut sink);
        let (encoding, num_values) = (Encoding::PLAIN, self.values.len() as u32);
        let buf = self.compressor.compress(dictionary)?.into();
        let page = Page::DictionaryPage { buf, num_values, encoding, is_sorted: false };
        let first = pages.write_page(CompressedPage::new(page, dictionary.len()))?;
        let page = Page::DataPage {
            buf: self.compressor.compress(data)?.into(),
            num_values: rows as u32,
            encoding: Encoding::RLE_DICTIONARY,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let second = pages.write_page(CompressedPage::new(page, data.len()))?;
        pages.close()?;
        let metadata = ColumnChunkMetaData::builder(column.clone())
            .set_compression(Compression::ZSTD(Default::default()))
            .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
            .set_num_values(rows as i64)
            .set_total_compressed_size((first.compressed_size + second.compressed_size) as i64)
            .set_total_uncompressed_size((first.uncompressed_size + second.uncompressed_size) as i64)
            .set_dictionary_page_offset(Some(first.offset as i64))
            .set_data_page_offset(second.offset as i64)
            .build()?;
        let bytes_written = first.bytes_written + second.bytes_written;
        let told = ColumnCloseResult {
            bytes_written,
            rows_written: rows as u64,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok((sink.into_inner()?.into(), told))
    }
}

/// Encodes values below 2^`width`, at most 16 bits, as runs of equal values and as packed bits. [Parquet format,
/// Encodings: RLE]
///
/// Bits are packed eight values at a time, so that the first values of a run may be packed with those before it.
fn put_hybrid(values: &[u32], width: usize, out: &mut Vec<u8>) {
    let (mut packed_from, mut at) = (0, 0);
    while at < values.len() {
        let run = values[at..].iter().take_while(|value| **value == values[at]).count();
        let lent = (at - packed_from).next_multiple_of(8) - (at - packed_from);
        if run >= lent + 8 {
            put_packed(&values[packed_from..at + lent], width, out);
            put_varint(((run - lent) << 1) as u64, out);
            out.extend(&values[at].to_le_bytes()[..width.div_ceil(8)]);
            packed_from = at + run;
        }
        at += run;
    }
    put_packed(&values[packed_from..], width, out);
}

/// Packed bits, the lowest first; the last eight values are padded with zeros.
fn put_packed(values: &[u32], width: usize, out: &mut Vec<u8>) {
    if values.is_empty() {
        return;
    }
    put_varint((values.len().div_ceil(8) << 1 | 1) as u64, out);
    for eight in values.chunks(8) {
        let bits = eight.iter().rev().fold(0_u128, |bits, value| bits << width | u128::from(*value));
        // The missing ones are above the others.
        out.extend(&bits.to_le_bytes()[..width]);
    }
}

fn put_varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
