//! ACK aggregation: segments acknowledged at once beyond those that the rate explains.
//!
//! Source: draft-cardwell-iccrg-bbr-congestion-control-02 §4.5.4. The excess is the data acknowledged since an
//! epoch began, less the rate times the epoch's length. Its largest value over five to ten round trips is added to
//! the window, and bridges the silence between bunches of ACKs.

use super::rate::carried;

/// Round trips that each of the two halves of the filter covers.
const HALF_ROUNDS: u32 = 5;
/// Bound of the extra window, as a time at the rate in use, in µs.
const MOST_US: u64 = 100_000;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    /// in µs
    epoch_start: u64,
    epoch_acked: u64,
    halves: [u32; 2],
    current: usize,
    rounds: u32,
}

impl Aggregation {
    /// Begins a new epoch.
    pub fn begin(&mut self, at_us: u64) {
        self.epoch_start = at_us;
        self.epoch_acked = 0;
    }

    pub fn on_ack(&mut self, acked: u32, at_us: u64, rate: u32, cwnd: u32, round_begins: bool) {
        if acked == 0 {
            return;
        }
        if round_begins {
            self.turn();
        }
        let mut expected = carried(rate, at_us.saturating_sub(self.epoch_start));
        if self.epoch_acked <= expected {
            self.begin(at_us);
            expected = 0;
        }
        self.epoch_acked += u64::from(acked);
        let extra = self.epoch_acked.saturating_sub(expected).min(u64::from(cwnd)) as u32;
        let largest = &mut self.halves[self.current];
        *largest = (*largest).max(extra);
    }

    fn turn(&mut self) {
        self.rounds += 1;
        if self.rounds >= HALF_ROUNDS {
            self.rounds = 0;
            self.current = 1 - self.current;
            self.halves[self.current] = 0;
        }
    }

    /// The largest excess of the last round trips.
    pub fn largest(&self) -> u32 {
        self.halves[0].max(self.halves[1])
    }

    /// Extra window for the largest excess.
    pub fn extra(&self, rate: u32) -> u32 {
        self.largest().min(carried(rate, MOST_US) as u32)
    }
}
