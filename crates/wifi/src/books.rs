//! What went in and out.

/// What went in and out, for the conservation check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// packets handed to nodes
    pub offered: u64,
    /// MSDUs that arrived, once each
    pub delivered: u64,
    /// dropped by queues
    pub dropped_by_queue: u64,
    /// given up by the MAC without having arrived
    pub dropped_by_mac: u64,
    /// given up by the MAC although they had arrived: only the acknowledgement was missing
    pub unacknowledged: u64,
}

/// What senders count together.
#[derive(Debug, Default)]
pub(crate) struct Books {
    pub counts: Counts,
    /// Senders with something to send.
    pub contenders: u32,
}

impl Books {
    /// The MAC has given up so many packets.
    pub(crate) fn give_up(&mut self, packets: u64, arrived: bool) {
        *if arrived { &mut self.counts.unacknowledged } else { &mut self.counts.dropped_by_mac } += packets;
    }
}
