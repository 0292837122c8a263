//! The memory of data in the receive buffer, and the share of a buffer that is payload.
//!
//! A buffer is counted in memory, not in payload: each segment with its overhead. The window is the share of the free
//! memory that is thought to become payload: a half, until a segment larger than any before shows its own.
//!
//! Source: observed on Linux 6.18 over a TUN device (`SO_MEMINFO`, `tcpi_rcv_ssthresh` and the windows offered): 256 B for
//! the descriptor, and a block of 576, 1024, 2048, 4096 or 8192 B, then whole pages, that holds the IP packet and 384 B.
//! Drivers differ in their blocks; these are those of a general allocator. Before 6.6 the share was always a half.
//! Leaves out: memory pressure, and segments that are merged on arrival.

use std::collections::VecDeque;

/// Descriptor of a segment, and the content of its block beside the packet.
const DESCRIPTOR_BYTES: u64 = 256;
const SURROUNDING_BYTES: u64 = 384;
const BLOCKS: [u64; 5] = [576, 1024, 2048, 4096, 8192];
const PAGE: u64 = 4096;

/// Shares are counted in this part, rounded down: 1460 B of 2304 as 162, so that a buffer for 1,051,200 B has 1,661,155 B.
const PARTS: u64 = 256;
/// Assumed size of a full segment before one has come [RFC 9293 §3.7.1]: a first one of 536 B leaves the share at a
/// half, one of 537 B does not.
const FIRST_FULL_SEGMENT: u64 = 536;

/// Memory of an IP packet.
fn memory_of(packet_bytes: u64) -> u64 {
    let wanted = packet_bytes + SURROUNDING_BYTES;
    let block = BLOCKS.into_iter().find(|&block| wanted <= block).unwrap_or(wanted.next_multiple_of(PAGE));
    DESCRIPTOR_BYTES + block
}

/// Parts of `memory` that are payload; one at least, so that a buffer always has a window.
fn share_of(payload: u64, memory: u64) -> u64 {
    (payload * PARTS / memory).max(1)
}

/// A segment that is held.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// end of its payload
    end: u64,
    memory: u64,
}

/// The receive buffer in memory: the segments that wait in it, and the share of it that is payload.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    /// IP and TCP headers of a segment
    header_bytes: u64,
    /// payload of a full segment, as the own SYN offered
    mss: u64,
    /// payload of the largest segment so far, as far as the own SYN allows
    full_segment: u64,
    /// parts of the memory that are payload
    share: u64,
    learns: bool,
    /// in order and not read, first to last
    unread: VecDeque<Held>,
    /// out of order
    held: Vec<Held>,
    used: u64,
}

impl Memory {
    pub fn new(header_bytes: u32, mss: u64, learns: bool) -> Memory {
        Memory {
            header_bytes: u64::from(header_bytes),
            mss,
            full_segment: FIRST_FULL_SEGMENT.min(mss),
            share: PARTS / 2,
            learns,
            unread: VecDeque::new(),
            held: Vec::new(),
            used: 0,
        }
    }

    pub fn full_segment(&self) -> u64 {
        self.full_segment
    }

    /// Parts of 256 that are payload.
    pub fn share(&self) -> u64 {
        self.share
    }

    /// Payload for which there is room in `memory`.
    pub fn payload_in(&self, memory: u64) -> u64 {
        memory * self.share / PARTS
    }

    /// Memory for so much payload.
    pub fn for_payload(&self, payload: u128) -> u128 {
        payload * u128::from(PARTS) / u128::from(self.share)
    }

    /// Free part of a buffer, as payload.
    pub fn free_in(&self, buffer: u64) -> u64 {
        self.payload_in(buffer.saturating_sub(self.used))
    }

    /// Takes in a segment that has arrived; its memory.
    pub fn measure(&mut self, length: u32) -> u64 {
        let length = u64::from(length);
        let memory = memory_of(length + self.header_bytes);
        if length > self.full_segment {
            self.full_segment = length.min(self.mss);
            self.share = if self.learns { share_of(length, memory) } else { self.share };
        }
        memory
    }

    /// Holds a segment that arrived out of order.
    pub fn hold(&mut self, end: u64, memory: u64) {
        self.held.push(Held { end, memory });
        self.used += memory;
    }

    /// Queues a segment in order, to be read.
    pub fn queue(&mut self, end: u64, memory: u64) {
        self.unread.push_back(Held { end, memory });
        self.used += memory;
    }

    /// Moves the data in order on to `nxt`; held segments below it are read at once, or wait.
    pub fn advance(&mut self, nxt: u64, waits: bool) {
        if self.held.is_empty() {
            return;
        }
        let mut in_order: Vec<Held> = self.held.extract_if(.., |held| held.end <= nxt).collect();
        in_order.sort_unstable_by_key(|held| held.end);
        if waits {
            self.unread.extend(in_order);
        } else {
            self.used -= in_order.iter().map(|held| held.memory).sum::<u64>();
        }
    }

    /// The end of the first segment that waits to be read.
    pub fn first_end(&self) -> Option<u64> {
        self.unread.front().map(|first| first.end)
    }

    /// Frees the memory of the data below `read`, which has been read.
    pub fn release(&mut self, read: u64) {
        while let Some(first) = self.unread.front().filter(|first| first.end <= read) {
            self.used -= first.memory;
            self.unread.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `SO_MEMINFO` of Linux 6.18 shows it for payloads at 40 B of headers.
    #[test]
    fn memory_equals_the_kernels_charge() {
        let charged = [
            (152, 832),
            (153, 1280),
            (500, 1280),
            (600, 1280),
            (604, 2304),
            (1000, 2304),
            (1460, 2304),
            (1700, 4352),
            (3600, 4352),
            (3700, 8448),
            (7800, 12_544),
            (20_000, 20_736),
        ];
        for (payload, memory) in charged {
            assert_eq!(memory_of(payload + 40), memory, "{payload}");
        }
    }

    #[test]
    fn the_share_is_that_of_the_largest_segments() {
        let mut memory = Memory::new(40, 1460, true);
        assert_eq!(memory.payload_in(131_072), 65_536);
        memory.measure(100);
        assert_eq!(memory.payload_in(131_072), 65_536, "a small segment says nothing");
        // 1460 of 2304 are 162 of 256
        memory.measure(1460);
        assert_eq!(memory.payload_in(131_072), 82_944);
        memory.measure(1000);
        assert_eq!(memory.payload_in(131_072), 82_944);
    }

    #[test]
    fn an_old_kernel_takes_a_half() {
        let mut memory = Memory::new(40, 1460, false);
        memory.measure(1460);
        assert_eq!(memory.payload_in(131_072), 65_536);
    }

    #[test]
    fn held_and_unread_data_take_memory() {
        let mut memory = Memory::new(40, 1000, true);
        let each = memory.measure(1000);
        memory.hold(3000, each);
        memory.hold(2000, each);
        memory.queue(1000, each);
        // 10,000 - 3 * 2304, of which 111 of 256 are payload
        assert_eq!(memory.free_in(10_000), 3088 * 111 / 256);
        memory.advance(3000, true);
        memory.release(1999);
        assert_eq!(memory.used, 2 * 2304);
        memory.release(3000);
        assert_eq!(memory.used, 0);
    }
}
