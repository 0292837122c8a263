//! Updates of the stopwatches of `held_time`.

use lasthop_units::Time;

use super::super::Sender;
use super::held_time::{Facts, HeldBy, hold};

impl Sender {
    /// Notes a poll of the sender: a segment leaves (`sends`), or data is held back.
    pub(super) fn note_hold(&mut self, now: Time, sends: bool) {
        if sends && !self.buffer_is_full {
            return self.linux.held.note(now, Some(HeldBy::Path));
        }
        let has_unsent = self.has_unsent();
        let facts = Facts {
            has_data: sends || has_unsent || !self.board.is_empty(),
            peer_holds: !sends && has_unsent && self.window_has_room() && self.peer_window_is_short(),
            buffer_is_full: self.buffer_is_full,
            is_empty_handed: !sends && !has_unsent && self.window_has_room(),
            before: self.linux.held.now,
        };
        self.linux.held.note(now, hold(&facts));
    }

    fn peer_window_is_short(&self) -> bool {
        let nxt = self.board.nxt();
        let wanted = self.offered.unsent_in_piece(nxt).min(u64::from(self.mss));
        self.window.end < nxt + wanted.max(1)
    }

    /// Notes whether the application waits for room in the send buffer.
    pub fn set_buffer_full(&mut self, now: Time, full: bool) {
        self.buffer_is_full = full;
        let before = self.linux.held.now;
        if full || before.is_none() {
            return;
        }
        let facts = Facts {
            has_data: !self.board.is_empty() || self.has_unsent(),
            peer_holds: before == Some(HeldBy::PeerWindow),
            buffer_is_full: false,
            is_empty_handed: false,
            before,
        };
        self.linux.held.note(now, hold(&facts));
    }

    /// Notes that all sent data is acknowledged: perhaps no data is left at all.
    pub(in crate::send) fn note_rest(&mut self, now: Time) {
        if self.board.is_empty() && !self.has_unsent() {
            self.linux.held.note(now, None);
        }
    }
}
