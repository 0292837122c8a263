//! What the sending half tells [`Info`].

use lasthop_units::{Duration, Time};

use super::{Phase, Sender};
use crate::info::{CaState, Info, microseconds};

impl Sender {
    /// Fills in what is known here.
    pub fn report(&self, now: Time, info: &mut Info) {
        info.ca_state = self.ca_state();
        info.backoff = self.rtt.backoff().ilog2();
        info.rto_us = microseconds(self.rtt.rto());
        info.rtt_us = microseconds(self.rtt.srtt().unwrap_or(Duration::ZERO));
        info.rttvar_us = microseconds(self.rtt.variation());
        info.snd_mss = self.mss;
        info.snd_cwnd = self.control.cwnd() as u32;
        let ssthresh = self.control.ssthresh();
        info.snd_ssthresh = if ssthresh.is_finite() { ssthresh as u32 } else { Info::INFINITE_SSTHRESH };
        info.reordering = self.config.duplicate_ack_threshold;
        info.unacked = self.board.count();
        info.snd_wnd = self.window.end.saturating_sub(self.window.set_at) as u32;
        info.bytes_acked = self.acked_bytes();
        info.notsent_bytes = self.unsent_bytes().min(u64::from(u32::MAX)) as u32;
        info.last_data_sent_us = if self.last_sent.is_never() { 0 } else { microseconds(now.since(self.last_sent)) };
    }

    fn ca_state(&self) -> CaState {
        match self.recovery.phase {
            Phase::Open if self.recovery.duplicate_acks > 0 => CaState::Disorder,
            Phase::Open => CaState::Open,
            Phase::FastRecovery => CaState::Recovery,
            Phase::AfterTimeout => CaState::Loss,
        }
    }
}
