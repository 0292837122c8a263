//! For how long there was something to send, and what held it back.
//!
//! Source: `tcp_info` of Linux (`tcpi_busy_time`, `tcpi_rwnd_limited`, `tcpi_sndbuf_limited`): of the reasons that hold
//! at one time the gravest counts.

use lasthop_units::{Duration, Time};

use super::super::Sender;

/// What is measured, from the least grave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// data is waiting or outstanding
    Busy,
    /// the peer's window holds data back
    PeerWindow,
    /// the send buffer is full of what is outstanding
    SendBuffer,
}

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chronograph {
    running: Option<(Phase, Time)>,
    totals: [Duration; 3],
}

impl Chronograph {
    fn set(&mut self, now: Time, phase: Option<Phase>) {
        if let Some((old, since)) = self.running {
            self.totals[old as usize] += now.since(since);
        }
        self.running = phase.map(|phase| (phase, now));
    }

    pub fn start(&mut self, now: Time, phase: Phase) {
        if self.running.is_none_or(|(old, _)| phase > old) {
            self.set(now, Some(phase));
        }
    }

    /// Something goes out: the peer's window holds nothing back.
    pub fn go_on(&mut self, now: Time) {
        match self.running {
            None | Some((Phase::PeerWindow, _)) => self.set(now, Some(Phase::Busy)),
            Some((Phase::Busy | Phase::SendBuffer, _)) => {}
        }
    }

    /// Ends a phase; what remains is being busy, unless nothing is left.
    pub fn stop(&mut self, now: Time, phase: Phase, nothing_left: bool) {
        if nothing_left {
            self.set(now, None);
        } else if self.running.is_some_and(|(old, _)| old == phase) {
            self.set(now, Some(Phase::Busy));
        }
    }

    /// Time spent in a phase so far.
    pub fn total(&self, now: Time, phase: Phase) -> Duration {
        let so_far = self.running.filter(|(old, _)| *old == phase).map(|(_, since)| now.since(since));
        self.totals[phase as usize] + so_far.unwrap_or(Duration::ZERO)
    }

    /// All phases together.
    pub fn busy(&self, now: Time) -> Duration {
        [Phase::Busy, Phase::PeerWindow, Phase::SendBuffer]
            .iter()
            .fold(Duration::ZERO, |sum, phase| sum + self.total(now, *phase))
    }
}

impl Sender {
    /// There is something to send: is it the peer that holds it back?
    pub(in crate::send) fn note_hold(&mut self, now: Time) {
        self.linux.chronograph.start(now, Phase::Busy);
        let nxt = self.board.nxt();
        let wanted = self.offered.unsent_in_piece(nxt).min(u64::from(self.mss));
        let held = self.has_unsent() && self.window_has_room() && self.window.end < nxt + wanted.max(1);
        if held {
            self.linux.chronograph.start(now, Phase::PeerWindow);
        } else {
            self.linux.chronograph.stop(now, Phase::PeerWindow, false);
        }
        let starved = self.buffer_is_full && !self.has_unsent() && self.window_has_room();
        if starved {
            self.linux.chronograph.start(now, Phase::SendBuffer);
        }
    }

    /// The application waits for room in the send buffer, or no longer does.
    pub fn set_buffer_full(&mut self, now: Time, full: bool) {
        self.buffer_is_full = full;
        if !full {
            let nothing_left = self.board.is_empty() && !self.has_unsent();
            self.linux.chronograph.stop(now, Phase::SendBuffer, nothing_left);
        }
    }

    /// All that was sent is acknowledged: perhaps there is nothing left at all.
    pub(in crate::send) fn note_rest(&mut self, now: Time) {
        if self.board.is_empty() && !self.has_unsent() {
            self.linux.chronograph.stop(now, Phase::Busy, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn the_gravest_reason_counts_and_busy_is_the_sum() {
        let mut watch = Chronograph::default();
        watch.start(at(0), Phase::Busy);
        watch.start(at(10), Phase::PeerWindow);
        watch.start(at(15), Phase::Busy);
        watch.stop(at(30), Phase::PeerWindow, false);
        watch.stop(at(50), Phase::Busy, true);
        assert_eq!(watch.total(at(99), Phase::PeerWindow), Duration::from_millis(20));
        assert_eq!(watch.busy(at(99)), Duration::from_millis(50));
    }
}
