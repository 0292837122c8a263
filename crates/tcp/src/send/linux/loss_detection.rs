//! Loss detection by the rule in force: RACK, counts of SACKed segments, or duplicate ACKs.
//!
//! Source: RFC 8985 §6.2 step 5 and §6.3, RFC 6675 §4, RFC 6582 §3.2.

use lasthop_units::{CaState as Phase, Duration, Time};

use super::super::Sender;
use super::rack::MAX_REORDERING;
use super::timer::Occasion;
use crate::config::LossDetection;

impl Sender {
    fn reordering_window(&self) -> Duration {
        let linux = &self.linux;
        if linux.reordering_seen == 0 {
            let in_recovery = matches!(linux.phase, Phase::Recovery | Phase::Loss);
            if in_recovery || self.sacked_segments() >= linux.reordering {
                return Duration::ZERO;
            }
        }
        let quarter = linux.min_rtt().unwrap_or(Duration::ZERO) / 4;
        let most = self.rtt.srtt().unwrap_or(Duration::ZERO);
        (quarter * u64::from(linux.rack.steps)).min(most)
    }

    /// Marks late segments as lost; returns the time until the next one would be. [RFC 8985 §6.2 step 5]
    fn detect_late(&mut self, now: Time) -> Option<Duration> {
        let patience = self.linux.rack.rtt + self.reordering_window();
        let latest = self.linux.rack.latest;
        let waiting = self.board.detect_by_time(&latest, |sent_at| sent_at + patience <= now)?;
        Some((waiting + patience).since(now))
    }

    /// Looks for losses by the rule in force; the time for which RACK waits for late segments, if it does.
    pub(super) fn detect_losses(&mut self, now: Time, advances: bool) -> Option<Duration> {
        if self.board.is_empty() {
            return None;
        }
        if !self.sack {
            self.detect_by_duplicates(advances);
            return None;
        }
        match self.config.loss_detection {
            LossDetection::Count => self.board.detect_by_count(self.linux.reordering),
            LossDetection::Fack => {
                self.board.detect_by_distance(self.linux.reordering);
                // Linux gave up forward acknowledgements where reordering was seen.
                if self.linux.phase == Phase::Recovery && self.linux.reordering_seen == 0 {
                    self.board.detect_resends_by_distance();
                }
            }
            LossDetection::Rack => {
                if core::mem::take(&mut self.linux.rack.advanced) {
                    return self.detect_late(now);
                }
            }
        }
        None
    }

    /// Without SACK: the head is lost, by duplicate ACKs, and again by each partial ACK. [RFC 6582 §3.2]
    fn detect_by_duplicates(&mut self, advances: bool) {
        let lost = match self.linux.phase {
            Phase::Recovery => advances,
            Phase::Loss => false,
            _ => self.linux.duplicates >= self.linux.reordering,
        };
        if lost {
            self.board.lose_head();
        }
    }

    /// Handles the reordering timer: late segments are lost by now. True if recovery begins. [RFC 8985 §6.3]
    pub(super) fn on_reordering_timeout(&mut self, now: Time) -> bool {
        let lost = self.board.total_lost();
        let waits = self.detect_late(now);
        let begins = self.board.total_lost() > lost && self.conclude_from_timer(now);
        self.set_timer_or_wait(now, Occasion::Interlude, waits);
        begins
    }

    /// Notes that the data at `low` came after data that was sent later: so far packets are reordered.
    pub(super) fn note_reordering(&mut self, low: u64) {
        let highest = if self.linux.duplicates == 0 { self.board.highest_report() } else { self.board.nxt() };
        if low >= highest {
            return;
        }
        let distance = (highest - low).div_ceil(u64::from(self.mss)) as u32;
        self.linux.reordering = self.linux.reordering.max(distance.min(MAX_REORDERING));
        self.linux.reordering_seen += 1;
    }
}
