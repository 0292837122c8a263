//! Rates and their groups.

use super::average::Average;
use crate::phy::ModeId;

/// A rate and its statistics.
#[derive(Clone, Debug)]
pub(super) struct Rate {
    pub mode: ModeId,
    pub group: usize,
    /// Airtime of a packet without its share of the overhead; for legacy rates all of the PPDU and a SIFS.
    pub packet_ns: f64,
    /// MPDUs in this window, and acknowledged MPDUs among them.
    pub attempts: u32,
    pub successes: u32,
    /// True if it has been tried.
    pub known: bool,
    pub average: Average,
    /// Packets a second; 0 below a probability of 10 %.
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
    pub streams: u8,
    /// True without aggregates: DSSS and OFDM.
    pub legacy: bool,
    /// Indices of its two best throughputs, and of its most probable rate.
    pub best: [usize; 2],
    pub probable: usize,
}

impl Group {
    pub fn places(&self) -> std::ops::Range<usize> {
        self.first..self.end
    }
}
