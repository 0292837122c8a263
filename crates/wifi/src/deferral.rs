//! Reasons for which a radio waits longer than its inter-frame space.

use lasthop_observe::NodeId;
use lasthop_units::{Duration, Time};

/// EIFS and NAV of a radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deferral {
    /// Zero: DIFS.
    pub eifs: Duration,
    pub nav_until: Time,
    /// The initiator of the exchange that has set the NAV.
    pub nav_holder: NodeId,
}

impl Deferral {
    /// The part of it that makes a difference from `now` on.
    pub(crate) fn from(self, now: Time) -> (Duration, Option<(Time, NodeId)>) {
        (self.eifs, Some((self.nav_until, self.nav_holder)).filter(|(until, _)| *until > now))
    }
}
