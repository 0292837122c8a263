//! What a recorded trace holds of BBR's state.

use super::{Bbr, Mode};

/// State after an event, in the units of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct View {
    /// in bytes/s
    pub pacing: u64,
    /// 0 Startup, 1 Drain, 2 ProbeBW, 3 ProbeRTT
    pub mode: u32,
    pub cycle_index: u32,
    /// in 1/256
    pub pacing_gain: u32,
    pub cwnd_gain: u32,
    /// segments per µs times 2^24
    pub max_rate: u32,
    pub rate: u32,
    pub min_rtt_us: u32,
    pub rounds: u32,
    pub round_begins: bool,
    pub is_full: bool,
    pub is_policed: bool,
    pub extra_acked: u32,
}

impl Bbr {
    pub(crate) fn view(&self) -> View {
        View {
            pacing: self.pacing,
            mode: match self.mode {
                Mode::Startup => 0,
                Mode::Drain => 1,
                Mode::ProbeBw => 2,
                Mode::ProbeRtt => 3,
            },
            cycle_index: self.cycle_index as u32,
            pacing_gain: self.pacing_gain,
            cwnd_gain: self.cwnd_gain,
            max_rate: self.max_rate(),
            rate: self.rate(),
            min_rtt_us: self.min_rtt.us,
            rounds: self.rounds.count,
            round_begins: self.rounds.begins,
            is_full: self.full.reached,
            is_policed: self.long_term.in_use().is_some(),
            extra_acked: self.aggregation.largest(),
        }
    }
}
