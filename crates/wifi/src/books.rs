//! Counts of packets that went in and out.

/// Packets that went in and out, for the conservation check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// packets offered to nodes
    pub offered: u64,
    /// MSDUs that arrived, each counted once
    pub delivered: u64,
    /// packets dropped by queues
    pub dropped_by_queue: u64,
    /// packets given up by the MAC without having arrived
    pub dropped_by_mac: u64,
    /// packets given up by the MAC although they had arrived: only the acknowledgement was missing
    pub unacknowledged: u64,
}

/// Counters that all senders share.
#[derive(Debug, Default)]
pub(crate) struct Books {
    pub counts: Counts,
    /// Senders with something to send.
    pub contenders: u32,
}

impl Books {
    /// Counts packets that the MAC has given up.
    pub(crate) fn give_up(&mut self, packets: u64, arrived: bool) {
        *if arrived { &mut self.counts.unacknowledged } else { &mut self.counts.dropped_by_mac } += packets;
    }
}
