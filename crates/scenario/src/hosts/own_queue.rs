//! What of a connection waits in the queue of its own station, so that it need not fill that queue.
//!
//! A packet waits until its frame is acknowledged, given up or dropped. Servers have no queue of their own: the wired
//! link is the path to the AP, whose queue is a bottleneck like any other.

use lasthop_tcp::{Endpoint, LocalDrop, SmallQueue};
use lasthop_units::Duration;

use super::Side;

/// The bytes that a connection has in its station's queue, and how many it may have there.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnQueue {
    /// the end that is at the station
    side: Side,
    /// somebody wants to know what waits
    counts: bool,
    /// bytes of IP packets that wait
    bytes: u64,
    /// bytes that may wait without further question: two full packets
    always: u64,
    /// bytes that may wait; of use while `waits`
    limit: u64,
    /// data waits above for room
    waits: bool,
}

/// 2^-7 s, for which mac80211 asks, where other drivers have 2^-10 s.
const WIFI: Duration = Duration::from_nanos(1_000_000_000 >> 7);

impl OwnQueue {
    /// Of a connection of a flow; where its station is `asked` for data when there is room, nothing is counted.
    pub(super) fn new(config: &lasthop_tcp::Config, up: bool, asked: bool) -> OwnQueue {
        let matters = config.small_queue != SmallQueue::Off || config.local_drop == LocalDrop::Cwr;
        OwnQueue {
            side: if up { Side::Sender } else { Side::Receiver },
            counts: matters && !asked,
            bytes: 0,
            always: 2 * config.packet_size.0,
            limit: 0,
            waits: false,
        }
    }

    /// The end that is at the station.
    pub(super) fn side(&self) -> Side {
        self.side
    }

    pub(super) fn counts(&self) -> bool {
        self.counts
    }

    pub(super) fn enter(&mut self, bytes: u32) {
        self.bytes += u64::from(bytes);
    }

    /// True if there is room again for which data waits.
    pub(super) fn leave(&mut self, bytes: u32) -> bool {
        self.bytes = self.bytes.saturating_sub(u64::from(bytes));
        let roomy = self.waits && self.bytes <= self.limit;
        self.waits &= !roomy;
        roomy
    }

    /// Whether data of the end `side`, `endpoint`, is to wait above. As in Linux, what waits may pass the limit by one
    /// packet.
    #[inline(always)]
    pub(super) fn is_full(&mut self, side: Side, endpoint: &Endpoint) -> bool {
        if self.bytes <= self.always || side != self.side {
            return false;
        }
        let Some(limit) = endpoint.small_queue_bytes(WIFI) else { return false };
        self.limit = limit.max(self.always);
        self.waits = self.bytes > self.limit;
        self.waits
    }
}
