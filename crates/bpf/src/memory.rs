//! Memory in regions, of which every access is checked.

use std::sync::Arc;

use crate::limits::{FRAME_BYTES, STACK_BYTES};
use crate::program::{Region, place, region};

/// Permissions of a byte: none, or these.
pub(crate) const READABLE: u8 = 1;
pub(crate) const WRITABLE: u8 = 2;

/// Bytes of a word; one word of padding lies behind all regions.
const WORD: usize = 8;

/// An access that is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub address: u64,
    pub size: usize,
    pub writes: bool,
}

/// The rule for accesses to a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Free,
    ReadOnly,
    /// from the lowest frame in use on
    Stack,
    /// byte by byte
    Fields,
}

#[derive(Clone, Copy, Debug)]
struct Extent {
    start: usize,
    len: usize,
    rule: Rule,
}

/// All memory of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    bytes: Vec<u8>,
    extents: Vec<Extent>,
    /// permissions of the socket and the samples, which lie one behind the other
    permits: Arc<Vec<u8>>,
    permits_from: usize,
    /// lowest byte of the stack that may be used now
    pub stack_floor: usize,
}

impl Memory {
    /// Regions with their initial bytes; the permits are of the bytes of the socket and the samples.
    pub fn new(regions: &[Region], permits: &[Vec<u8>; 3]) -> Memory {
        let mut memory = Memory {
            bytes: Vec::new(),
            extents: Vec::new(),
            permits: Arc::new(permits.concat()),
            permits_from: 0,
            stack_floor: STACK_BYTES - FRAME_BYTES,
        };
        for (index, part) in regions.iter().enumerate() {
            if index == region::SOCKET {
                memory.permits_from = memory.bytes.len();
            }
            let rule = match index {
                region::STACK => Rule::Stack,
                region::SOCKET | region::ACK_SAMPLE | region::RATE_SAMPLE => Rule::Fields,
                _ if part.is_writable => Rule::Free,
                _ => Rule::ReadOnly,
            };
            memory.extents.push(Extent { start: memory.bytes.len(), len: part.bytes.len(), rule });
            memory.bytes.extend_from_slice(&part.bytes);
        }
        memory.bytes.extend_from_slice(&[0; WORD]);
        memory
    }

    /// The regions of the socket and the samples, as large as their permits.
    pub fn size_fields(regions: &mut [Region], permits: &[Vec<u8>; 3]) {
        for (index, permits) in [region::SOCKET, region::ACK_SAMPLE, region::RATE_SAMPLE].into_iter().zip(permits) {
            regions[index].bytes = vec![0; permits.len()];
        }
    }

    /// The start of an access among all bytes, if it is allowed.
    #[inline(always)]
    fn check(&self, address: u64, size: usize, writes: bool) -> Option<usize> {
        let (region, offset) = place(address);
        let extent = self.extents.get(region as usize)?;
        if size > extent.len || offset > extent.len - size {
            return None;
        }
        let start = extent.start + offset;
        let allowed = match extent.rule {
            Rule::Free => true,
            Rule::ReadOnly => !writes,
            Rule::Stack => offset >= self.stack_floor,
            Rule::Fields => {
                let from = start - self.permits_from;
                let permits = &self.permits[from..from + size];
                let wanted = if writes { WRITABLE } else { READABLE };
                permits.iter().fold(wanted, |all, permit| all & permit) != 0
            }
        };
        allowed.then_some(start)
    }

    #[inline(always)]
    pub fn load<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        let start = self.check(address, N, false)?;
        self.bytes[start..].first_chunk().copied()
    }

    #[inline(always)]
    pub fn store<const N: usize>(&mut self, address: u64, value: [u8; N]) -> Option<()> {
        let start = self.check(address, N, true)?;
        *self.bytes[start..].first_chunk_mut()? = value;
        Some(())
    }

    /// Bytes that a program may read.
    pub fn read(&self, address: u64, size: usize) -> Result<&[u8], Refused> {
        let start = self.check(address, size, false).ok_or(Refused { address, size, writes: false })?;
        Ok(&self.bytes[start..start + size])
    }

    /// Bytes that a program may write.
    pub fn write(&mut self, address: u64, size: usize) -> Result<&mut [u8], Refused> {
        let start = self.check(address, size, true).ok_or(Refused { address, size, writes: true })?;
        Ok(&mut self.bytes[start..start + size])
    }

    /// The start of a region among all bytes.
    pub fn start(&self, region: usize) -> usize {
        self.extents[region].start
    }

    /// The eight bytes from `start` on, counted among all bytes, for the kernel's side.
    #[inline(always)]
    pub fn word(&self, start: usize) -> u64 {
        u64::from_le_bytes(*self.bytes[start..].first_chunk().expect("a word lies behind all regions"))
    }

    #[inline(always)]
    pub fn set_word(&mut self, start: usize, word: u64) {
        *self.bytes[start..].first_chunk_mut().expect("a word lies behind all regions") = word.to_le_bytes();
    }

    /// A part of a region, for the kernel's side.
    #[inline]
    pub fn part_mut(&mut self, region: usize, offset: usize, len: usize) -> &mut [u8] {
        let start = self.extents[region].start + offset;
        &mut self.bytes[start..start + len]
    }
}
