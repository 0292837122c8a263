//! The time in which there was data to send, by the limit that held it back.
//!
//! Source: the documentation of `tcp_info` (busy time, and the parts limited by the receive window and by the send
//! buffer). Where two reasons hold at one time, the send buffer counts.

use lasthop_units::{Duration, Time};

/// The limit that holds back a sender with data waiting or outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeldBy {
    /// the path, or the own window
    Path,
    PeerWindow,
    SendBuffer,
}

/// The facts that decide the limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// data waits or is outstanding
    pub has_data: bool,
    /// the congestion window has room that the peer's window does not allow to use
    pub peer_holds: bool,
    /// the application waits for room in the send buffer
    pub buffer_is_full: bool,
    /// the congestion window has room and there is nothing to send
    pub is_empty_handed: bool,
    /// the limit so far
    pub before: Option<HeldBy>,
}

/// The present limit. A full send buffer is one from when the sender runs out of data until it has room again.
pub(super) fn hold(facts: &Facts) -> Option<HeldBy> {
    let starves = facts.is_empty_handed || facts.before == Some(HeldBy::SendBuffer);
    match facts {
        Facts { has_data: false, .. } => None,
        Facts { buffer_is_full: true, .. } if starves => Some(HeldBy::SendBuffer),
        Facts { peer_holds: true, .. } => Some(HeldBy::PeerWindow),
        _ => Some(HeldBy::Path),
    }
}

/// A stopwatch with a hand for each reason.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HeldTime {
    pub now: Option<HeldBy>,
    noted_at: Time,
    totals: [Duration; 3],
}

impl HeldTime {
    /// Ends the period since the last note; from now on `held` is the limit.
    pub fn note(&mut self, now: Time, held: Option<HeldBy>) {
        if held == self.now {
            return;
        }
        if let Some(before) = self.now {
            self.totals[before as usize] += now.since(self.noted_at);
        }
        self.now = held;
        self.noted_at = now;
    }

    /// Time for one reason so far.
    pub fn total(&self, now: Time, reason: HeldBy) -> Duration {
        let so_far = if self.now == Some(reason) { now.since(self.noted_at) } else { Duration::ZERO };
        self.totals[reason as usize] + so_far
    }

    /// Time for all reasons together.
    pub fn busy(&self, now: Time) -> Duration {
        self.total(now, HeldBy::Path) + self.total(now, HeldBy::PeerWindow) + self.total(now, HeldBy::SendBuffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAITING: Facts =
        Facts { has_data: true, peer_holds: false, buffer_is_full: false, is_empty_handed: false, before: None };

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn a_full_buffer_holds_back_from_when_it_starves_the_sender_until_it_has_room() {
        let full = Facts { buffer_is_full: true, ..WAITING };
        assert_eq!(hold(&full), Some(HeldBy::Path), "there is data yet");
        assert_eq!(hold(&Facts { is_empty_handed: true, ..full }), Some(HeldBy::SendBuffer));
        let starved = Facts { before: Some(HeldBy::SendBuffer), ..full };
        assert_eq!(hold(&Facts { peer_holds: true, ..starved }), Some(HeldBy::SendBuffer));
        assert_eq!(hold(&Facts { buffer_is_full: false, ..starved }), Some(HeldBy::Path));
        assert_eq!(hold(&Facts { has_data: false, ..starved }), None);
    }

    #[test]
    fn the_peer_holds_back_as_long_as_it_does() {
        assert_eq!(hold(&Facts { peer_holds: true, ..WAITING }), Some(HeldBy::PeerWindow));
        assert_eq!(hold(&Facts { before: Some(HeldBy::PeerWindow), ..WAITING }), Some(HeldBy::Path));
    }

    #[test]
    fn busy_is_the_sum_of_all() {
        let mut held = HeldTime::default();
        held.note(at(0), Some(HeldBy::Path));
        held.note(at(10), Some(HeldBy::PeerWindow));
        held.note(at(15), Some(HeldBy::PeerWindow));
        held.note(at(30), Some(HeldBy::SendBuffer));
        held.note(at(50), None);
        assert_eq!(held.total(at(99), HeldBy::PeerWindow), Duration::from_millis(20));
        assert_eq!(held.busy(at(99)), Duration::from_millis(50));
    }
}
