//! The packets of a connection in the queue of its own station, and the limit on them.
//!
//! A packet waits until its frame is acknowledged, given up or dropped. Servers have no queue of their own: the wired
//! link is the path to the AP, whose queue is a bottleneck like any other.

use lasthop_tcp::{Endpoint, LocalDrop, SmallQueue, truesize};
use lasthop_units::Duration;

use super::Side;

/// The bytes that a connection has in its station's queue, and its limit there.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnQueue {
    /// the end at the station
    side: Side,
    /// whether waiting bytes are counted
    counts: bool,
    /// memory of waiting packets
    bytes: u64,
    /// memory of two full packets, which is always granted
    always: u64,
    /// memory that may be taken; valid if `waits`
    limit: u64,
    /// whether data waits above for room
    waits: bool,
}

/// 2^-7 s, the value that mac80211 sets; other drivers have 2^-10 s.
const WIFI: Duration = Duration::from_nanos(1_000_000_000 >> 7);

impl OwnQueue {
    /// The queue of a connection's packets. If its station pulls data (`asked`), nothing is counted.
    pub(super) fn new(config: &lasthop_tcp::Config, up: bool, asked: bool) -> OwnQueue {
        let matters = config.small_queue != SmallQueue::Off || config.local_drop == LocalDrop::Cwr;
        OwnQueue {
            side: if up { Side::Sender } else { Side::Receiver },
            counts: matters && !asked,
            bytes: 0,
            always: 2 * truesize(config.packet_size.0),
            limit: 0,
            waits: false,
        }
    }

    /// The end at the station.
    pub(super) fn side(&self) -> Side {
        self.side
    }

    pub(super) fn counts(&self) -> bool {
        self.counts
    }

    pub(super) fn enter(&mut self, bytes: u32) {
        self.bytes += truesize(u64::from(bytes));
    }

    /// True if there is room again and data waits for it.
    pub(super) fn leave(&mut self, bytes: u32) -> bool {
        self.bytes = self.bytes.saturating_sub(truesize(u64::from(bytes)));
        let roomy = self.waits && self.bytes <= self.limit;
        self.waits &= !roomy;
        roomy
    }

    /// Whether data of the end `side`, `endpoint`, has to wait above. As in Linux, waiting data may exceed the limit
    /// by one send.
    #[inline(always)]
    pub(super) fn is_full(&mut self, side: Side, endpoint: &Endpoint) -> bool {
        if self.bytes <= self.always || side != self.side || endpoint.is_within_send() {
            return false;
        }
        let Some(limit) = endpoint.small_queue_bytes(WIFI) else { return false };
        self.limit = limit.max(self.always);
        self.waits = self.bytes > self.limit;
        self.waits
    }
}
