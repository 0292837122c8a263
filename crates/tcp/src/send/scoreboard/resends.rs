//! Retransmissions in flight, each with the end of new data when it was sent.
//!
//! Source: forward acknowledgements [Mathis, Mahdavi 1996], as Linux applied them to retransmissions up to 4.3: a
//! receiver that reports data first sent after a retransmission ought to have reported the retransmission too. New
//! data only moves on, so the queue is in order, and each retransmission is checked once.

use std::collections::VecDeque;

/// One retransmission.
#[derive(Clone, Copy, Debug)]
struct Resend {
    /// of the segment
    index: u64,
    /// SND.NXT when it was sent
    nxt: u64,
}

/// The queue of retransmissions in flight, by which FACK finds lost ones.
#[derive(Clone, Debug)]
pub(super) struct Resends {
    is_kept: bool,
    queue: VecDeque<Resend>,
}

impl Resends {
    pub fn new(is_kept: bool) -> Self {
        Resends { is_kept, queue: VecDeque::new() }
    }

    /// Adds the segment at `place` above `base`. Segments acknowledged meanwhile are dropped.
    pub fn push(&mut self, base: u64, place: usize, nxt: u64) {
        if !self.is_kept {
            return;
        }
        while self.queue.front().is_some_and(|resend| resend.index < base) {
            self.queue.pop_front();
        }
        self.queue.push_back(Resend { index: base + place as u64, nxt });
    }

    /// Takes out the next one that was sent when SND.NXT was below `highest`, and returns its index.
    pub fn overtaken(&mut self, highest: u64) -> Option<u64> {
        let is_overtaken = self.queue.front()?.nxt < highest;
        if is_overtaken { self.queue.pop_front().map(|resend| resend.index) } else { None }
    }

    /// Forgets them all: a timeout has lost them.
    pub fn clear(&mut self) {
        self.queue.clear();
    }
}
