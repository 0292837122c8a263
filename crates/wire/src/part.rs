//! Bytes of which only the beginning may have been captured.

use crate::error::Error;

/// The captured beginning of some bytes, and their length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part<'a> {
    /// The captured bytes: at most `length`.
    pub bytes: &'a [u8],
    /// The number of bytes, captured or not.
    pub length: usize,
    /// Whether a header has the length, so that a header within cannot exceed it. Sniffers cut frames and lose their length.
    is_bound: bool,
}

impl<'a> Part<'a> {
    /// The first of `bytes`, as far as there are `length`: others are padding.
    pub fn of(bytes: &'a [u8], length: usize) -> Part<'a> {
        Part { bytes: &bytes[..bytes.len().min(length)], length, is_bound: false }
    }

    /// Bytes that were captured whole.
    pub fn whole(bytes: &'a [u8]) -> Part<'a> {
        Part { bytes, length: bytes.len(), is_bound: false }
    }

    /// The bytes behind the first `count`, which belong to `part`.
    pub(crate) fn after(self, count: usize, part: &'static str) -> Result<Part<'a>, Error> {
        let has = self.bytes.len();
        let bytes = self.bytes.get(count..).ok_or_else(|| Error::short(0, part, count, has))?;
        Ok(Part { bytes, length: self.length - count, ..self })
    }

    /// The first `N` bytes, and those behind them.
    pub(crate) fn split<const N: usize>(self, part: &'static str) -> Result<([u8; N], Part<'a>), Error> {
        let first = self.bytes.first_chunk().ok_or_else(|| Error::short(0, part, N, self.bytes.len()))?;
        Ok((*first, self.after(N, part)?))
    }

    /// The first `length` bytes, as a header has it, within the length of the headers before.
    pub(crate) fn first(self, length: usize) -> Part<'a> {
        let length = if self.is_bound { length.min(self.length) } else { length };
        Part { is_bound: true, ..Part::of(self.bytes, length) }
    }

    /// The same bytes, whose length does not bound headers within.
    pub(crate) fn unbound(self) -> Part<'a> {
        Part { is_bound: false, ..self }
    }
}
