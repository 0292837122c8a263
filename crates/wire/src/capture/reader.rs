//! Captures of any size, read through a buffer.

use std::fmt;
use std::io::{self, Read};

use super::decoder::{Decoder, Length};
use super::record::Record;
use crate::error::Error;

/// Reads a capture record by record. It needs memory for the longest record, at most 64 MiB, and 64 KiB more.
///
/// ```
/// # fn main() -> Result<(), lasthop_wire::capture::ReadError> {
/// # let file: &[u8] = &[];
/// let mut reader = lasthop_wire::capture::Reader::new(file);
/// while let Some(record) = reader.record()? {
///     println!("{record:?}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    decoder: Decoder,
    buffer: Vec<u8>,
    /// Offset in the buffer at which the next record begins.
    start: usize,
    /// End of the bytes that were read.
    end: usize,
    /// True if no more can be read: the input is at its end, or a length was wrong.
    ended: bool,
    /// True if a wrong length ended the reading.
    stopped: bool,
}

/// The reason why a capture cannot be read further.
#[derive(Debug)]
pub enum ReadError {
    /// The input failed.
    Io(io::Error),
    /// The capture has a fault. If it is in the content of a record, the next record can be read.
    Format(Error),
}

/// Bytes read at once.
const CHUNK: usize = 1 << 16;

impl<R: Read> Reader<R> {
    /// Reads from `input`, which needs no buffering.
    pub fn new(input: R) -> Self {
        Reader {
            input,
            decoder: Decoder::default(),
            buffer: Vec::new(),
            start: 0,
            end: 0,
            ended: false,
            stopped: false,
        }
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// If the input fails, or if the capture has a fault. After a wrong length, or if the file ends within a record,
    /// the error is the last answer; otherwise the next call returns the next record.
    pub fn record(&mut self) -> Result<Option<Record<'_>>, ReadError> {
        let length = match self.fill() {
            Ok(0) => return Ok(None),
            Ok(length) => length,
            Err(error) => {
                self.ended = true;
                return Err(error);
            }
        };
        let record = self.start..self.start + length;
        self.start = record.end;
        self.decoder.read(&self.buffer[record]).map(Some).map_err(ReadError::Format)
    }

    /// The offset at which a wrong length ended the reading, in bytes from the beginning; `None` if none has.
    pub fn stopped_at(&self) -> Option<u64> {
        self.stopped.then(|| self.decoder.offset())
    }

    /// Reads until the next record is complete; returns its length, 0 at the end.
    fn fill(&mut self) -> Result<usize, ReadError> {
        if self.ended {
            return Ok(0);
        }
        loop {
            let there = &self.buffer[self.start..self.end];
            let length = self.decoder.length(there).map_err(|error| {
                self.stopped = true;
                ReadError::Format(error)
            })?;
            match length {
                Length::Known(length) if length <= there.len() => return Ok(length),
                Length::Known(needs) | Length::Unknown(needs) => {
                    if !self.more(needs)? {
                        self.ended = true;
                        return match self.end - self.start {
                            0 => Ok(0),
                            has => Err(ReadError::Format(self.decoder.cut_off(needs, has))),
                        };
                    }
                }
            }
        }
    }

    /// Reads more bytes; false at the end of the input. Makes room for a record of `needs` bytes.
    fn more(&mut self, needs: usize) -> Result<bool, ReadError> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        // Room grows with the bytes that arrive, so that a length alone cannot allocate memory.
        let room = needs.min(2 * self.end).max(self.end + CHUNK);
        if self.buffer.len() < room {
            self.buffer.resize(room, 0);
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(ReadError::Io(error)),
            }
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Io(error) => error.fmt(f),
            ReadError::Format(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReadError {}
