//! Bytes that look random and are the same each time: SplitMix64 [Steele, Lea, Flood 2014].

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A stream of bytes; runs differ by the kernel's command line, not by this stream.
pub struct Stream(AtomicU64);

impl Stream {
    /// The stream at its start.
    pub const fn new() -> Stream {
        Stream(AtomicU64::new(0))
    }

    /// The next eight bytes.
    pub fn next(&self) -> [u8; 8] {
        const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut z = self.0.fetch_add(GAMMA, Relaxed).wrapping_add(GAMMA);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)).to_le_bytes()
    }

    /// Fills `bytes` with the next ones, and drops the rest of the last eight.
    pub fn fill(&self, bytes: &mut [u8]) {
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&self.next()[..part.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_filled_by_eights() {
        let mut bytes = [0; 11];
        Stream::new().fill(&mut bytes);
        assert_eq!(bytes, [0xaf, 0xcd, 0x1d, 0x7b, 0x39, 0xa8, 0x20, 0xe2, 0xf4, 0x65, 0xb9]);
        Stream::new().fill(&mut []);
    }

    #[test]
    fn the_stream_is_that_of_the_paper() {
        // The first three of `java.util.SplittableRandom(0)`, whose 64-bit output is that of the paper.
        let stream = Stream::new();
        let expected: [u64; 3] = [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f];
        for number in expected {
            assert_eq!(u64::from_le_bytes(stream.next()), number);
        }
    }
}
