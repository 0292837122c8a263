//! Rates and their groups.

use super::average::Average;
use crate::phy::ModeId;

/// A rate and its statistics.
#[derive(Clone, Debug)]
pub(super) struct Rate {
    pub mode: ModeId,
    /// Index of its group.
    pub group: usize,
    /// Airtime of a packet of 1200 bytes without its share of the overhead: a sixteenth of sixteen such packets in whole symbols;
    /// for legacy rates all of the PPDU and a SIFS.
    pub packet_ns: f64,
    /// MPDUs sent at this rate in this window, retries included, and acknowledged ones among them: `att` and `suc` of the
    /// kernel's `rc_stats`.
    pub attempts: u32,
    pub successes: u32,
    /// True if it has been tried.
    pub known: bool,
    /// Success probability `p`, the filtered share `successes / attempts` of the windows: `avg(prob)` of `rc_stats`.
    pub average: Average,
    /// `min(p, 0.9) / (overhead + packet_ns)` in packets a second, 0 if `p` is below 10 %, with the overhead of an aggregate
    /// shared by its packets.
    pub throughput: f64,
}

impl Rate {
    pub fn probability(&self) -> f64 {
        self.average.value()
    }
}

/// Rates that differ only in their MCS.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Range of its rates, slowest first.
    pub first: usize,
    pub end: usize,
    /// Number of spatial streams of all its rates.
    pub streams: u8,
    /// True without aggregates: DSSS and OFDM.
    pub legacy: bool,
    /// Indices of the rates with its two best throughputs, and of its most probable rate, by the rules of all rates.
    pub best: [usize; 2],
    pub probable: usize,
}

impl Group {
    pub fn places(&self) -> std::ops::Range<usize> {
        self.first..self.end
    }
}
