//! What of a flow waits in the queue of its own station, so that it need not fill that queue.
//!
//! A packet waits until its frame is acknowledged, given up or dropped. Servers have no queue of their own: the wired
//! link is the path to the AP, whose queue is a bottleneck like any other.

use lasthop_tcp::{Endpoint, LocalDrop, SmallQueue};
use lasthop_units::Duration;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnQueue {
    /// someone wants to know what waits
    counts: bool,
    /// that wait, as IP packets
    bytes: u64,
    /// that may wait without further question: two full packets
    always: u64,
    /// that may wait; of use while `waits`
    limit: u64,
    /// data waits above for room
    waits: bool,
}

/// 2^-7 s, for which mac80211 asks, where other drivers have 2^-10 s.
const WIFI: Duration = Duration::from_nanos(1_000_000_000 >> 7);

impl OwnQueue {
    /// Of an upload with this configuration.
    pub(super) fn new(config: &lasthop_tcp::Config) -> OwnQueue {
        OwnQueue {
            counts: config.small_queue != SmallQueue::Off || config.local_drop == LocalDrop::Cwr,
            bytes: 0,
            always: 2 * config.packet_size.0,
            limit: 0,
            waits: false,
        }
    }

    /// Of a flow that has none.
    pub(super) fn none(config: &lasthop_tcp::Config) -> OwnQueue {
        OwnQueue { counts: false, ..OwnQueue::new(config) }
    }

    pub(super) fn counts(&self) -> bool {
        self.counts
    }

    pub(super) fn enter(&mut self, bytes: u32) {
        self.bytes += u64::from(bytes);
    }

    /// True if there is room again for which data waits.
    pub(super) fn leave(&mut self, bytes: u32) -> bool {
        self.bytes -= u64::from(bytes);
        let roomy = self.waits && self.bytes <= self.limit;
        self.waits &= !roomy;
        roomy
    }

    /// Whether data is to wait above. As in Linux, what waits may pass the limit by one packet.
    pub(super) fn is_full(&mut self, sender: &Endpoint) -> bool {
        if self.bytes <= self.always {
            return false;
        }
        let Some(limit) = sender.small_queue_bytes(WIFI) else { return false };
        self.limit = limit.max(self.always);
        self.waits = self.bytes > self.limit;
        self.waits
    }
}
