//! What of a flow waits in the queue of its own host, so that it need not fill that queue.
//!
//! At a station a packet waits until its frame is acknowledged, given up or dropped; at the server until the wire
//! takes it.

use lasthop_tcp::{Endpoint, LocalDrop, SmallQueue};
use lasthop_units::Duration;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnQueue {
    /// someone wants to know what waits
    counts: bool,
    /// what Linux lets wait at such an interface
    usual: Duration,
    /// that wait, as IP packets
    bytes: u64,
    /// that may wait without further question: two full packets
    always: u64,
    /// that may wait; of use while `waits`
    limit: u64,
    /// data waits above for room
    waits: bool,
}

/// 2^-7 s, for which mac80211 asks.
const WIFI: Duration = Duration::from_nanos(1_000_000_000 >> 7);
/// 2^-10 s.
const WIRED: Duration = Duration::from_nanos(1_000_000_000 >> 10);

impl OwnQueue {
    /// Of a flow with this configuration at a station, or at the server.
    pub(super) fn new(config: &lasthop_tcp::Config, at_station: bool) -> OwnQueue {
        OwnQueue {
            counts: config.small_queue != SmallQueue::Off || config.local_drop == LocalDrop::Cwr,
            usual: if at_station { WIFI } else { WIRED },
            bytes: 0,
            always: 2 * config.packet_size.0,
            limit: 0,
            waits: false,
        }
    }

    /// Of a flow that has none.
    pub(super) fn none(config: &lasthop_tcp::Config) -> OwnQueue {
        OwnQueue { counts: false, ..OwnQueue::new(config, true) }
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
        let Some(limit) = sender.small_queue_bytes(self.usual) else { return false };
        self.limit = limit.max(self.always);
        self.waits = self.bytes > self.limit;
        self.waits
    }
}
