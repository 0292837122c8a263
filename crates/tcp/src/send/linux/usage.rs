//! Whether the congestion window is used, so that it may grow. [RFC 7661, RFC 9438 §5.8]
//!
//! As in Linux: a round trip that was once limited by the window counts as limited; in slow start half the window
//! is enough.

/// See the module. In segments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowUsage {
    is_limited: bool,
    /// most that were out, in this round trip
    peak: u32,
    /// the round trip ends when this offset is acknowledged
    round_end: u64,
    rounds: u64,
}

impl WindowUsage {
    /// Something was sent, or would have been but for the window (`limited`).
    pub fn note(&mut self, una: u64, nxt: u64, out: u32, limited: bool) {
        let round_ends = una >= self.round_end;
        if round_ends || limited || (!self.is_limited && out > self.peak) {
            self.rounds += u64::from(round_ends);
            *self = WindowUsage { is_limited: limited, peak: out, round_end: nxt, rounds: self.rounds };
        }
    }

    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// A larger window would have been used.
    pub fn is_limited(&self, cwnd: f64, slow_start: bool) -> bool {
        self.is_limited || (slow_start && cwnd < 2.0 * f64::from(self.peak))
    }
}
