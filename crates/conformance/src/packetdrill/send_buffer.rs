//! The send buffer as Linux accounts for it.
//!
//! The charge includes more than bytes: every buffer that holds them costs its own overhead. A buffer holds as much
//! as one large send, and is freed when all of it is acknowledged. A write takes a new buffer only while the charge
//! is below the limit, but then fills it, so that a write may exceed the limit by nearly one buffer.

use std::collections::VecDeque;

/// Charge for a buffer beside its data, in bytes: the descriptor, the room for headers and the table of pages.
const OVERHEAD: u64 = 1280;

/// One buffer: offset after its last byte, from the first byte of the stream.
#[derive(Clone, Copy, Debug)]
struct Buffer {
    end: u64,
    /// no more data is added
    is_closed: bool,
}

/// The buffers of a connection.
#[derive(Clone, Debug)]
pub(crate) struct SendBuffer {
    /// `SO_SNDBUF` as shown by getsockopt, twice the value for setsockopt
    pub limit: u64,
    /// the application has set it
    pub is_locked: bool,
    /// `TCP_NOTSENT_LOWAT`, in bytes
    pub notsent_lowat: Option<u64>,
    buffers: VecDeque<Buffer>,
    written: u64,
    acked: u64,
    /// a write has found no room since room was last reported to the application
    pub was_full: bool,
}

/// The capacity of a buffer, and the unsent bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill {
    pub goal: u64,
    pub unsent: u64,
}

impl SendBuffer {
    pub fn new(limit: u64) -> Self {
        SendBuffer {
            limit,
            is_locked: false,
            notsent_lowat: None,
            buffers: VecDeque::new(),
            written: 0,
            acked: 0,
            was_full: false,
        }
    }

    fn charged(&self) -> u64 {
        self.written - self.acked + OVERHEAD * self.buffers.len() as u64
    }

    /// True if a new buffer may be taken.
    pub fn has_room(&self, unsent: u64) -> bool {
        self.charged() < self.limit && self.notsent_lowat.is_none_or(|lowat| unsent < lowat)
    }

    /// True if the application can write: a third is free, and little waits to be sent.
    pub fn is_writable(&self, unsent: u64) -> bool {
        let charged = self.charged();
        let free = self.limit.saturating_sub(charged);
        free >= charged / 2 && self.notsent_lowat.is_none_or(|lowat| 2 * unsent < lowat)
    }

    /// Takes up to `bytes` into one buffer; returns their number.
    pub fn take(&mut self, bytes: u64, fill: Fill, ends_record: bool) -> u64 {
        let sent = self.written - fill.unsent;
        // A buffer sent in part continues as its unsent part.
        let goes_on = self.buffers.back().is_some_and(|last| !last.is_closed && last.end > sent);
        let mut held = if goes_on { self.held_by_last(sent) } else { fill.goal };
        if held >= fill.goal {
            if !self.has_room(fill.unsent) {
                self.was_full = true;
                return 0;
            }
            self.buffers.push_back(Buffer { end: self.written, is_closed: false });
            held = 0;
        }
        let taken = (fill.goal - held).min(bytes);
        self.written += taken;
        if let Some(last) = self.buffers.back_mut() {
            last.end = self.written;
            last.is_closed = ends_record && taken == bytes;
        }
        taken
    }

    fn held_by_last(&self, sent: u64) -> u64 {
        let before = self.buffers.len().checked_sub(2).map_or(0, |place| self.buffers[place].end);
        self.written - before.max(sent)
    }

    /// Frees the buffers below `acked`.
    pub fn on_acked(&mut self, acked: u64) {
        self.acked = acked.min(self.written);
        while self.buffers.front().is_some_and(|buffer| buffer.end <= acked) {
            self.buffers.pop_front();
        }
    }

    /// Autotuning lets the buffer grow with the window.
    pub fn grow_to(&mut self, limit: u64) {
        if !self.is_locked {
            self.limit = self.limit.max(limit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_may_go_over_the_limit_by_the_last_buffer() {
        let mut buffer = SendBuffer::new(20_000);
        let fill = Fill { goal: 16_000, unsent: 0 };
        // the second buffer is taken at 17280 of 20000, and filled
        assert_eq!(buffer.take(50_000, fill, false), 16_000);
        assert_eq!(buffer.take(34_000, Fill { unsent: 16_000, ..fill }, false), 16_000);
        assert_eq!(buffer.take(18_000, Fill { unsent: 32_000, ..fill }, false), 0);
        assert!(buffer.was_full && !buffer.is_writable(32_000));
        buffer.on_acked(16_000);
        assert!(buffer.has_room(16_000) && !buffer.is_writable(16_000));
        buffer.on_acked(32_000);
        assert!(buffer.is_writable(0));
    }

    #[test]
    fn little_unsent_data_is_asked_for() {
        let mut buffer = SendBuffer::new(1_000_000);
        buffer.notsent_lowat = Some(4000);
        let mut taken = 0;
        for _ in 0..5 {
            taken += buffer.take(50_000 - taken, Fill { goal: 2000, unsent: taken }, false);
        }
        assert_eq!(taken, 4000);
        assert!(!buffer.is_writable(2000) && buffer.is_writable(1999));
    }
}
