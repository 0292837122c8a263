//! Rates and their groups.

use super::average::Average;
use crate::phy::ModeId;

/// A rate and what is known of it.
#[derive(Clone, Debug)]
pub(super) struct Rate {
    pub mode: ModeId,
    pub group: usize,
    /// Airtime of a packet, its share of the overhead left aside; for legacy rates all of the PPDU and a SIFS.
    pub packet_ns: f64,
    /// MPDUs in this window, and of these acknowledged.
    pub attempts: u32,
    pub successes: u32,
    /// It has been tried.
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

/// Rates that differ in their MCS alone.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Where its rates lie, slowest first.
    pub first: usize,
    pub end: usize,
    pub streams: u8,
    /// Without aggregates: DSSS and OFDM.
    pub legacy: bool,
    /// Places of its two best throughputs, and of its most probable rate.
    pub best: [usize; 2],
    pub probable: usize,
}

impl Group {
    pub fn places(&self) -> std::ops::Range<usize> {
        self.first..self.end
    }
}
