//! Deferral: a send that would be short waits for the next ACK, so that large sends are cut once.
//!
//! Source: `docs/model/tcp-recovery.md` §10.

use lasthop_units::Time;

use super::super::Sender;

impl Sender {
    /// True if new data that could be sent is held back for the next ACK. Data that is let go goes in whole, up to
    /// the send goal: `self.linux.released` counts the segments that may still go, `u32::MAX` without a limit, and the
    /// question is not asked again while it is above 0.
    pub(super) fn defers(&mut self, _now: Time) -> bool {
        todo!("docs/model/tcp-recovery.md §10")
    }

    /// The bytes that [`window_rate`](Self::window_rate) sends in 1/1024 s.
    pub(super) fn window_in_a_tick(&self) -> u64 {
        todo!("docs/model/tcp-recovery.md §10, the window's rate")
    }
}
