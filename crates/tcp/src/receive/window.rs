//! The receive buffer, and the window that it lets the peer have.
//!
//! The window's edge never moves back [RFC 9293 §3.8.6], and forward only by a segment or half the buffer at least, so
//! that no silly windows arise [RFC 9293 §3.8.6.2.2]. A window update goes out of its own when the application has read
//! so much that the window is at least twice what the peer knows of, as in Linux.
//!
//! A buffer counted in memory offers as Linux does (`__tcp_select_window`): what is free, rounded up to what the field can
//! say; nothing below a sixteenth of the buffer, or below a full segment once more than half is taken.

use crate::config::Config;

/// The largest window field without scaling.
pub(super) const LARGEST_FIELD: u64 = u16::MAX as u64;

/// What is taken of the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Room {
    /// a buffer counted in payload, of which so much is not read
    Unread(u64),
    /// a buffer counted in memory
    Memory(MemoryRoom),
}

/// A buffer counted in memory, as payload.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryRoom {
    /// that fits now
    pub free: u64,
    /// that would fit, were it empty
    pub whole: u64,
    /// of a full segment
    pub full_segment: u64,
}

/// What may be offered. Offsets are those of the peer's data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// largest window, in bytes
    capacity: u64,
    /// shift of the window field that the own SYN offers
    scale: u8,
    /// first offset beyond what was offered
    end: u64,
    /// payload of a full segment
    mss: u32,
}

impl Window {
    pub fn new(config: &Config) -> Self {
        let largest = config.largest_receive_window();
        let scale = (0..14).find(|shift| largest >> shift <= LARGEST_FIELD).unwrap_or(14);
        let capacity = config.receive_window_bytes();
        Window {
            capacity: if config.window_scaling { capacity } else { capacity.min(LARGEST_FIELD) },
            scale: if config.window_scaling { scale } else { 0 },
            end: 0,
            mss: config.payload_bytes(),
        }
    }

    pub fn begin(&mut self, nxt: u64) {
        self.end = nxt;
    }

    /// The peer does not scale windows, so neither does this side. [RFC 7323 §2.2]
    pub fn without_scaling(&mut self) {
        self.scale = 0;
        self.capacity = self.capacity.min(LARGEST_FIELD);
    }

    pub fn scale(&self) -> u8 {
        self.scale
    }
    pub fn capacity(&self) -> u64 {
        self.capacity
    }
    pub fn set_capacity(&mut self, bytes: u64) {
        self.capacity = bytes.min(LARGEST_FIELD << self.scale);
    }
    /// First offset beyond what was offered.
    pub fn end(&self, nxt: u64) -> u64 {
        self.end.max(nxt)
    }
    /// Bytes offered and not yet used.
    pub fn offered(&self, nxt: u64) -> u64 {
        self.end.saturating_sub(nxt)
    }

    /// The least step by which the edge moves.
    fn step(&self) -> u64 {
        u64::from(self.mss).min(self.capacity / 2).max(1)
    }

    /// Where the edge may be.
    fn possible_end(&self, nxt: u64, room: Room) -> u64 {
        match room {
            Room::Unread(unread) => self.possible_end_by_payload(nxt, unread),
            Room::Memory(room) => {
                let (known, selected) = (self.offered(nxt), self.select(nxt, &room));
                nxt + if selected < known { known.next_multiple_of(1 << self.scale) } else { selected }
            }
        }
    }

    /// What a buffer counted in memory would offer.
    fn select(&self, nxt: u64, room: &MemoryRoom) -> u64 {
        let (step, mut free) = (1u64 << self.scale, room.free.min(room.whole));
        let full_segment = room.full_segment.min(room.whole).max(1);
        if free < room.whole / 2 {
            free = free / step * step;
            if free < room.whole / 16 || free < full_segment {
                return 0;
            }
        }
        let (free, known) = (free.min(self.capacity), self.offered(nxt));
        if self.scale > 0 {
            return free.next_multiple_of(step);
        }
        // Without scaling the edge moves by whole segments.
        if known + full_segment <= free || known > free {
            free / full_segment * full_segment
        } else if full_segment == room.whole && free > known + room.whole / 2 {
            free
        } else {
            known
        }
    }

    fn possible_end_by_payload(&self, nxt: u64, unread: u64) -> u64 {
        let possible = nxt + self.capacity.saturating_sub(unread);
        // With nothing unread what arrives is made room for at once: there is nothing to save up.
        if unread == 0 || possible >= self.end + self.step() { possible.max(self.end) } else { self.end(nxt) }
    }

    /// The window could be offered as large as `before`.
    pub fn moves_on(&self, nxt: u64, room: Room, before: u64) -> bool {
        match room {
            Room::Unread(unread) => unread == 0 || self.capacity.saturating_sub(unread) >= before,
            Room::Memory(room) => self.select(nxt, &room) >= before,
        }
    }

    /// The peer should hear of the window: it has at least doubled, or opened. (Linux, `tcp_cleanup_rbuf`)
    pub fn opens(&self, nxt: u64, room: Room) -> bool {
        let known = self.offered(nxt);
        match room {
            Room::Unread(unread) => {
                let possible = self.possible_end_by_payload(nxt, unread) - nxt;
                2 * known <= self.capacity && possible >= 2 * known && possible >= known + self.step()
            }
            Room::Memory(room) => {
                let selected = self.select(nxt, &room);
                2 * known <= room.whole && selected > 0 && selected >= 2 * known
            }
        }
    }

    /// The window field of the next segment, which thereby is offered. A SYN's is not scaled. [RFC 7323 §2.2]
    pub fn offer(&mut self, nxt: u64, room: Room, on_syn: bool) -> u16 {
        let (shift, room) = if on_syn { (0, Room::Unread(0)) } else { (self.scale, room) };
        let field = ((self.possible_end(nxt, room) - nxt) >> shift).min(LARGEST_FIELD) as u16;
        self.end = self.end.max(nxt + (u64::from(field) << shift));
        field
    }

    /// The field of an ACK of `nxt`, with nothing new offered.
    pub fn field_at(&self, nxt: u64) -> u16 {
        (self.offered(nxt) >> self.scale).min(LARGEST_FIELD) as u16
    }
}
