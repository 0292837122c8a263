//! The window offered to the peer.
//!
//! Its edge never moves back [RFC 9293 §3.8.6]. It moves on by steps that are worth a segment [RFC 9293 §3.8.6.2.2, RFC
//! 1122 §4.2.3.3], and a separate ACK announces a window that has at least doubled. The rules are in
//! `docs/model/tcp-receiver.md`, "The offer"; for a buffer counted in memory they are those observed on Linux 6.18,
//! whose windows the scripts `window-*.pkt` have.

use crate::config::Config;

/// The largest window field without scaling.
pub(super) const LARGEST_FIELD: u64 = u16::MAX as u64;

/// The use of the buffer.
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
    /// payload that fits now
    pub fits: u64,
    /// largest window from this buffer
    pub ceiling: u64,
    /// payload of a full segment
    pub segment: u64,
}

impl MemoryRoom {
    /// True if `bytes` are less than a segment of the peer's, or a small part of the buffer.
    fn is_too_little(&self, bytes: u64) -> bool {
        bytes < self.segment.max(self.ceiling / 16)
    }

    /// The bytes worth offering, where fields count in `unit`: as long as half the buffer is free, all of it.
    fn worth_offering(&self, unit: u64) -> u64 {
        if self.fits >= self.ceiling / 2 {
            return self.fits;
        }
        let told = self.fits - self.fits % unit;
        if self.is_too_little(told) { 0 } else { told }
    }
}

/// The steps in which a window is announced.
#[derive(Clone, Copy, Debug)]
enum Grain {
    /// that of the field
    Unit(u64),
    /// a full segment
    Segment(u64),
}

impl Grain {
    /// A window of about `bytes`, where the last ACK had `before`.
    fn round(self, bytes: u64, before: u64) -> u64 {
        match self {
            Grain::Unit(unit) => bytes.next_multiple_of(unit),
            Grain::Segment(segment) if (before..before + segment).contains(&bytes) => before,
            Grain::Segment(segment) => bytes - bytes % segment,
        }
    }
}

/// The window that may be offered. Offsets are those of the peer's data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// largest window, in bytes
    capacity: u64,
    /// shift of the window field that the own SYN offers
    scale: u8,
    /// first offset beyond the data offered
    end: u64,
    /// window of the last ACK, in bytes
    before: u64,
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
            before: 0,
            mss: config.payload_bytes(),
        }
    }

    pub fn begin(&mut self, nxt: u64) {
        self.end = nxt;
    }

    /// Turns off scaling in this direction, as the peer does not scale windows. [RFC 7323 §2.2]
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
    /// First offset beyond the data offered.
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

    /// The step of the field, in bytes.
    fn unit(&self) -> u64 {
        1 << self.scale
    }

    /// The window to be offered at `nxt`.
    fn next(&self, nxt: u64, room: Room) -> u64 {
        match room {
            Room::Unread(unread) => self.next_by_payload(nxt, unread),
            // Rounded up too where the edge stands still.
            Room::Memory(room) => self.wanted(&room).max(self.offered(nxt)).next_multiple_of(self.unit()),
        }
    }

    fn next_by_payload(&self, nxt: u64, unread: u64) -> u64 {
        let possible = nxt + self.capacity.saturating_sub(unread);
        // With nothing unread, arriving data gets room at once: there is nothing to save up.
        let step = if unread == 0 { 0 } else { self.step() };
        if possible >= self.end + step { possible - nxt } else { self.offered(nxt) }
    }

    /// The offer of a buffer counted in memory, if the edge could move back.
    fn wanted(&self, room: &MemoryRoom) -> u64 {
        let grain = if self.scale > 0 { Grain::Unit(self.unit()) } else { Grain::Segment(room.segment) };
        grain.round(room.worth_offering(self.unit()).min(self.capacity), self.before)
    }

    /// True if the window could be offered as large as `before`.
    pub fn moves_on(&self, room: Room, before: u64) -> bool {
        match room {
            Room::Unread(unread) => unread == 0 || self.capacity.saturating_sub(unread) >= before,
            Room::Memory(room) => self.wanted(&room) >= before,
        }
    }

    /// True if the peer should learn of the window: it has opened, or at least doubled.
    pub fn opens(&self, nxt: u64, room: Room) -> bool {
        let left = self.offered(nxt);
        let (wanted, least) = match room {
            Room::Unread(unread) => (self.next_by_payload(nxt, unread), self.step()),
            Room::Memory(room) => (self.wanted(&room), 1),
        };
        wanted >= left + left.max(least)
    }

    /// The window field of the next segment, which offers it. A SYN's is not scaled. [RFC 7323 §2.2]
    pub fn offer(&mut self, nxt: u64, room: Room, on_syn: bool) -> u16 {
        let (shift, room) = if on_syn { (0, Room::Unread(0)) } else { (self.scale, room) };
        let field = (self.next(nxt, room) >> shift).min(LARGEST_FIELD) as u16;
        self.before = u64::from(field) << shift;
        self.end = self.end.max(nxt + self.before);
        field
    }

    /// The field of an ACK of `nxt`, with nothing new offered.
    pub fn field_at(&self, nxt: u64) -> u16 {
        (self.offered(nxt) >> self.scale).min(LARGEST_FIELD) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Buffers of 60,000, 131,072 and 200,000 B that were full and are read by segments of 1460 B, as Linux 6.18 has them.
    #[test]
    fn a_full_buffer_opens_by_a_segment_or_a_sixteenth() {
        let opens = |ceiling, fits| MemoryRoom { fits, ceiling, segment: 1460 }.worth_offering(128);
        assert_eq!([opens(37_968, 1518), opens(37_968, 2976)], [0, 2944]);
        // a sixteenth is 5184 B, and 7910 B
        assert_eq!([opens(82_944, 4212), opens(82_944, 5670)], [0, 5632]);
        assert_eq!([opens(126_562, 7006), opens(126_562, 8464)], [0, 8448]);
    }
}
