//! Loss by time: what was sent well before something that has arrived is lost.
//!
//! Source: RFC 8985 §6. As in Linux, the reordering window is a quarter of the least RTT, wider after DSACKs
//! (§6.2 step 4), and nothing while no reordering has been seen and `reordering` segments are reported.

use lasthop_units::{Duration, Time};

use super::super::Sender;
use super::super::scoreboard::{Delivered, Latest};
use crate::config::LossDetection;
use crate::info::CaState;

/// Recoveries for which a wider reordering window lasts. [RFC 8985 §6.2 step 4]
const PERSIST: u32 = 16;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rack {
    /// of the segment sent last that has arrived
    pub latest: Latest,
    pub rtt: Duration,
    /// something new has arrived since losses were last looked for
    pub advanced: bool,
    /// reordering window in quarters of the least RTT
    pub steps: u32,
    /// recoveries left for which `steps` lasts
    pub persist: u32,
    /// a DSACK since `steps` was changed
    pub dsack_seen: bool,
    /// segments delivered when `steps` was changed
    changed_at: u64,
}

impl Default for Rack {
    fn default() -> Self {
        Rack {
            latest: Latest::default(),
            rtt: Duration::ZERO,
            advanced: false,
            steps: 1,
            persist: 0,
            dsack_seen: false,
            changed_at: 0,
        }
    }
}

impl Rack {
    /// What has arrived. [RFC 8985 §6.2 step 2]
    pub fn advance(&mut self, delivered: &Delivered) {
        let Some((latest, rtt)) = delivered.latest else { return };
        self.advanced = true;
        self.rtt = rtt;
        if latest.is_after(self.latest.sent_at, self.latest.end) {
            self.latest = latest;
        }
    }

    /// A DSACK widens the window, once for each round trip. [RFC 8985 §6.2 step 4]
    pub fn adapt(&mut self, prior_delivered: Option<u64>, total_delivered: u64) {
        let Some(prior_delivered) = prior_delivered else { return };
        if prior_delivered < self.changed_at {
            self.dsack_seen = false;
        }
        if self.dsack_seen {
            self.steps = (self.steps + 1).min(255);
            self.dsack_seen = false;
            self.changed_at = total_delivered;
            self.persist = PERSIST;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// An undo by DSACK makes the window last a recovery longer.
    pub fn last_longer(&mut self) {
        self.persist = (self.persist + 1).min(PERSIST);
    }
}

impl Sender {
    fn reordering_window(&self) -> Duration {
        let linux = &self.linux;
        if linux.reordering_seen == 0 {
            let in_recovery = matches!(linux.state, CaState::Recovery | CaState::Loss);
            if in_recovery || self.sacked_segments() >= linux.reordering {
                return Duration::ZERO;
            }
        }
        let quarter = linux.min_rtt().unwrap_or(Duration::ZERO) / 4;
        let most = self.rtt.srtt().unwrap_or(Duration::ZERO);
        (quarter * u64::from(linux.rack.steps)).min(most)
    }

    /// Marks what is late; how long until the next would be. [RFC 8985 §6.2 step 5]
    fn detect_late(&mut self, now: Time) -> Option<Duration> {
        let patience = self.linux.rack.rtt + self.reordering_window();
        let latest = self.linux.rack.latest;
        let waiting = self.board.detect_by_time(&latest, |sent_at| sent_at + patience <= now)?;
        Some((waiting + patience).since(now))
    }

    /// Looks for losses by whatever rule is in force. True if RACK waits for what may come yet.
    pub(super) fn detect_losses(&mut self, now: Time, advances: bool) -> bool {
        if self.board.is_empty() {
            return false;
        }
        if !self.sack {
            self.detect_by_duplicates(advances);
            return false;
        }
        match self.config.loss_detection {
            LossDetection::Count => self.board.detect_by_count(self.linux.reordering),
            LossDetection::Fack => {
                self.board.detect_by_distance(self.linux.reordering);
                // Linux gave up forward acknowledgements where reordering was seen.
                if self.linux.state == CaState::Recovery && self.linux.reordering_seen == 0 {
                    self.board.detect_resends_by_distance();
                }
            }
            LossDetection::Rack => {
                if !core::mem::take(&mut self.linux.rack.advanced) {
                    return false;
                }
                let waiting = self.detect_late(now);
                if let Some(wait) = waiting {
                    self.set_reordering_timer(now, wait);
                }
                return waiting.is_some();
            }
        }
        false
    }

    /// Without SACK: the head, by duplicate ACKs, and again by each partial ACK. [RFC 6582 §3.2]
    fn detect_by_duplicates(&mut self, advances: bool) {
        let lost = match self.linux.state {
            CaState::Recovery => advances,
            CaState::Loss => false,
            _ => self.linux.duplicates >= self.linux.reordering,
        };
        if lost {
            self.board.lose_head();
        }
    }

    /// The reordering timer: what was waited for is lost by now. [RFC 8985 §6.3]
    pub(super) fn on_reordering_timeout(&mut self, now: Time) {
        let before = self.flight_segments();
        let waiting = self.detect_late(now);
        if self.flight_segments() != before {
            if self.linux.state != CaState::Recovery {
                self.enter_recovery(now, false);
                if !self.control.owns_recovery() {
                    self.step_reduction(1, 0, false);
                }
            }
            self.linux.sends = super::Sends::LostFirst;
        }
        if let Some(wait) = waiting {
            self.set_reordering_timer(now, wait);
        } else if self.linux.pending != super::Pending::Retransmit {
            self.rearm_timer(now);
        }
    }

    /// Something lower than `high` came late, without having been sent again: that far packets are reordered.
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

/// The most that reordering is thought to reach, in segments (`tcp_max_reordering`).
const MAX_REORDERING: u32 = 300;
