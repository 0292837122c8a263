//! A recording's memory of PPDUs on the air: their rows, and their exchanges.

use crate::NodeId;

/// The PPDUs on the air, by sender, and the exchanges in progress, by initiator.
pub(super) struct Airborne {
    /// number of the PPDU that a node is sending, if it is recorded
    sending: Vec<Option<u32>>,
    /// number of the exchange that a node has begun
    exchanges: Vec<Option<u32>>,
    next: u32,
    next_exchange: u32,
}

impl Airborne {
    pub(super) fn new(nodes: usize) -> Airborne {
        Airborne { sending: vec![None; nodes], exchanges: vec![None; nodes], next: 0, next_exchange: 0 }
    }

    /// The exchange of `initiator` for a PPDU that begins now: the one in progress, or the next.
    pub(super) fn exchange_of(&mut self, initiator: NodeId) -> u32 {
        *self.exchanges[initiator.index()].get_or_insert_with(|| {
            self.next_exchange += 1;
            self.next_exchange - 1
        })
    }

    /// The exchange of `initiator` is over.
    pub(super) fn exchange_ends(&mut self, initiator: NodeId) {
        self.exchanges[initiator.index()] = None;
    }

    /// Begins a recorded PPDU of `node`. Returns its number.
    pub(super) fn begin(&mut self, node: NodeId) -> u32 {
        let ppdu = self.next;
        self.next += 1;
        self.sending[node.index()] = Some(ppdu);
        ppdu
    }

    /// Number of the PPDU that a node is sending, if it is recorded.
    pub(super) fn sent_by(&self, node: NodeId) -> Option<u32> {
        self.sending[node.index()]
    }

    /// Ends the PPDU of a node.
    pub(super) fn end(&mut self, node: NodeId) -> Option<u32> {
        self.sending[node.index()].take()
    }

    /// The first PPDU that has not ended, or the next to begin.
    pub(super) fn first_open(&self) -> u32 {
        self.sending.iter().flatten().copied().min().unwrap_or(self.next)
    }
}
