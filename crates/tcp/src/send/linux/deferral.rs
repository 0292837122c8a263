//! Deferral: a burst that would be too short waits for the next ACK, so that large sends are cut once.
//!
//! Source: the behaviour of Linux 6.18 for segmentation offload, with or without such a device (recorded): in
//! congestion avoidance segments leave in pairs, and a second duplicate ACK may send nothing. The constants are
//! defaults of its settings, from its documentation of `net.ipv4`.

use lasthop_units::{Duration, Time};

use super::super::Sender;
use super::Phase;
use crate::config::Pacing;

/// A share of the window that is worth sending at once (`net.ipv4.tcp_tso_win_divisor`).
const WORTH_SENDING: u64 = 3;
/// Time to an ACK, or length of a pause, beyond which waiting is not worth it.
const SOON: Duration = Duration::from_millis(1);
/// The largest send handed down at once, in bytes.
const LARGEST_SEND: u64 = 65_535;

impl Sender {
    /// True if new data that could be sent is held back for the next ACK. Data that is let go goes in whole, up to
    /// the send goal.
    pub(super) fn defers(&mut self, now: Time) -> bool {
        if self.linux.released > 0 {
            return false;
        }
        let limits = self.config.tso_deferral || self.config.pacing == Pacing::On || self.control.owns_recovery();
        if !limits {
            self.linux.released = u32::MAX;
            return false;
        }
        let defers = self.config.tso_deferral && self.send_would_be_short(now);
        if !defers {
            let room = self.linux.window.saturating_sub(self.flight_segments());
            let short = room <= self.config.min_burst;
            self.linux.released = if short { room } else { room.min(self.send_goal() as u32) };
        }
        defers
    }

    fn send_would_be_short(&mut self, now: Time) -> bool {
        let nxt = self.board.nxt();
        let piece = self.offered.unsent_in_piece(nxt).min(LARGEST_SEND);
        if piece <= u64::from(self.mss) || !self.ack_is_near(now) {
            return false;
        }
        if matches!(self.linux.phase, Phase::Recovery | Phase::Loss) || now.since(self.last_sent) >= SOON {
            return false;
        }
        let mss = u64::from(self.mss);
        let cwnd = u64::from(self.linux.window);
        let by_cwnd = (cwnd - u64::from(self.flight_segments()).min(cwnd)) * mss;
        let by_peer = self.window.end.saturating_sub(nxt);
        let room = by_cwnd.min(by_peer);
        let peer_window = self.window.end.saturating_sub(self.window.set_at);
        let is_enough = (nxt + piece < self.offered.end && room >= piece)
            || room >= peer_window.min(cwnd * mss) / WORTH_SENDING
            || (room >= u64::from(self.config.min_burst) * mss && room >= self.send_goal() * mss);
        let waits_for_window = room <= piece;
        let defers = !is_enough && (waits_for_window || !self.offered.piece_is_closed(nxt));
        if defers && by_cwnd < by_peer && waits_for_window {
            self.note_usage(true);
        }
        defers
    }

    /// Segments of a send that fits the rate: a millisecond's worth, more where the RTT is short.
    fn send_goal(&self) -> u64 {
        if let (Some(rate), Some(longest)) = (self.pacing_rate(), self.control.longest_send()) {
            let bytes = rate * longest.as_secs_f64();
            return (bytes as u64 / u64::from(self.mss)).max(1);
        }
        let for_rate = match self.pacing_rate() {
            Some(rate) => (rate / 1024.0) as u64,
            None => self.window_in_a_tick(),
        };
        // The largest send, halved for each 2^9 µs of RTT (`net.ipv4.tcp_tso_rtt_log`).
        let halvings = self.linux.min_rtt().map_or(64, |rtt| rtt.as_nanos() / 512_000);
        let for_short_rtt = LARGEST_SEND.checked_shr(halvings.min(64) as u32).unwrap_or(0);
        let bytes = (for_rate + for_short_rtt).min(LARGEST_SEND);
        (bytes / u64::from(self.mss)).max(u64::from(self.config.min_burst))
    }

    /// The bytes that [`window_rate`](Self::window_rate) sends in 1/1024 s.
    pub(super) fn window_in_a_tick(&self) -> u64 {
        let Some(srtt) = self.rtt.srtt().map(Duration::as_nanos).filter(|&ns| ns > 0) else { return 0 };
        let cwnd = self.cwnd_segments();
        let fifths = if cwnd < self.control.ssthresh() / 2.0 { 10 } else { 6 };
        let window = (cwnd as u64).max(u64::from(self.board.count())) * u64::from(self.mss);
        fifths * window * (1_000_000_000 / 5 / 1024) / srtt
    }

    /// True if the oldest segment's ACK is due.
    fn ack_is_near(&self, now: Time) -> bool {
        let (Some(head), Some(srtt)) = (self.board.head(), self.rtt.srtt()) else { return false };
        (head.sent_at + srtt).since(now) <= SOON.min(srtt / 2)
    }
}
