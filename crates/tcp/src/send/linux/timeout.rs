//! The retransmission timeout: the lost data, the new window, and whether the reduction can be undone.
//!
//! Source: `docs/model/tcp-recovery.md` §6.1, after RFC 6298 §5, RFC 5681 §3.1, RFC 8985 §6.3; F-RTO after RFC 5682.

use lasthop_units::Time;

use super::super::Sender;

impl Sender {
    /// The purpose *retransmission* of §6.2 fell due: §6.1.
    pub(super) fn on_retransmission_timeout(&mut self, _now: Time) {
        todo!("docs/model/tcp-recovery.md §6.1")
    }
}
