//! The state of BBR that a recorded trace holds.

use super::{Bbr, Mode};

/// State after an event, in the units of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// in bytes/s
    pub pacing: u64,
    /// 0 Startup, 1 Drain, 2 ProbeBW, 3 ProbeRTT
    pub mode: u32,
    /// place in the cycle of gains, from 0
    pub cycle_index: u32,
    /// in 1/256
    pub pacing_gain: u32,
    /// in 1/256
    pub cwnd_gain: u32,
    /// largest delivery rate of the last ten round trips, in segments per µs times 2^24
    pub max_rate: u32,
    /// the rate in use, in the same unit
    pub rate: u32,
    /// least RTT
    pub min_rtt_us: u32,
    /// round trips so far
    pub rounds: u32,
    /// the last ACK began a round trip
    pub round_begins: bool,
    /// Startup has filled the pipe
    pub is_full: bool,
    /// the rate in use is that of a policer
    pub is_policed: bool,
    /// segments that arrived beyond the rate, by aggregation
    pub extra_acked: u32,
}

impl Bbr {
    /// The present state.
    pub fn view(&self) -> View {
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
