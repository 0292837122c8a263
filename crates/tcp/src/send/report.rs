//! The sending half's part of [`Info`].

use lasthop_units::{CaState, Duration, Time};

use super::linux::HeldBy;
use super::{Phase, Sender};
use crate::ecn::Feedback;
use crate::info::{Info, microseconds};

impl Sender {
    /// Fills in the fields of the sending half.
    pub fn report(&self, now: Time, info: &mut Info) {
        info.ca_state = self.ca_state();
        info.backoff = self.rtt.backoff().ilog2();
        info.rto_us = microseconds(self.rtt.rto());
        info.rtt_us = microseconds(self.rtt.srtt().unwrap_or(Duration::ZERO));
        info.rttvar_us = microseconds(self.rtt.variation());
        info.snd_mss = self.mss;
        info.snd_cwnd = self.cwnd_segments() as u32;
        let ssthresh = self.control.ssthresh();
        info.snd_ssthresh = if ssthresh.is_finite() { ssthresh as u32 } else { Info::INFINITE_SSTHRESH };
        info.reordering = self.config.duplicate_ack_threshold;
        info.unacked = self.board.count();
        info.snd_wnd = self.window.end.saturating_sub(self.window.set_at) as u32;
        info.bytes_acked = self.acked_bytes();
        if self.is_linux() {
            self.report_linux(now, info);
        }
        if let Some(bytes) = &self.marks.bytes {
            [info.delivered_e1_bytes, info.delivered_ce_bytes, info.delivered_e0_bytes] = bytes.totals;
        }
        info.notsent_bytes = self.unsent_bytes().min(u64::from(u32::MAX)) as u32;
        info.last_data_sent_us = if self.last_sent.is_never() { 0 } else { microseconds(now.since(self.last_sent)) };
    }

    /// State of congestion control.
    pub fn ca_state(&self) -> CaState {
        match self.recovery.phase {
            _ if self.is_linux() => self.linux.phase,
            Phase::Open if self.recovery.duplicate_acks > 0 => CaState::Disorder,
            Phase::Open => CaState::Open,
            Phase::FastRecovery => CaState::Recovery,
            Phase::AfterTimeout => CaState::Loss,
        }
    }

    fn report_linux(&self, now: Time, info: &mut Info) {
        let linux = &self.linux;
        info.retransmits = linux.timeouts;
        info.sacked = self.sacked_segments();
        info.lost = self.board.lost_segments();
        info.retrans = self.board.resent_segments();
        info.total_retrans = self.retransmissions as u32;
        info.reordering = linux.reordering;
        info.reord_seen = linux.reordering_seen;
        info.dsack_dups = linux.dsacks;
        info.delivered = linux.rate.delivered as u32;
        info.delivered_ce = match self.marks.feedback {
            Feedback::Accurate => self.marks.total + u32::from(self.marks.syn_ack_was_marked),
            _ => linux.rate.delivered_ce,
        };
        info.min_rtt_us = microseconds(linux.min_rtt().unwrap_or(Duration::ZERO));
        info.pacing_rate = self.pacing_rate().unwrap_or(0.0) as u64;
        info.busy_us = microseconds(linux.held.busy(now));
        info.rwnd_limited_us = microseconds(linux.held.total(now, HeldBy::PeerWindow));
        info.sndbuf_limited_us = microseconds(linux.held.total(now, HeldBy::SendBuffer));
        if let Some(rate) = linux.rate.last {
            info.delivery_rate_app_limited = rate.is_app_limited;
            let bytes = f64::from(rate.delivered) * f64::from(self.mss);
            info.delivery_rate = (bytes / rate.interval.as_secs_f64()) as u64;
        }
    }
}
