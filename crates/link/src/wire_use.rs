//! The use of one direction of a wired link.

use lasthop_observe::Histogram;
use lasthop_units::Duration;

/// The use of one direction of a link since the last reset.
#[derive(Clone, Debug, Default)]
pub struct WireUse {
    /// packets handed over
    pub offered: u64,
    /// total time for which its transmitter was on; a packet counts when it begins. Behind a trace, the time for which
    /// packets waited for an opportunity
    pub busy: Duration,
    /// times that packets waited for the transmitter
    pub waits: Histogram,
    /// the longest of these waits
    pub longest_wait: Duration,
}

impl WireUse {
    /// Counts a transmission that takes this long, for a packet that has waited.
    #[inline(always)]
    pub(crate) fn note(&mut self, takes: Duration, waited: Duration) {
        self.busy += takes;
        self.waits.add(waited);
        self.longest_wait = self.longest_wait.max(waited);
    }
}
