//! A recording's memory of PPDUs on the air: their rows, and their exchanges.

use crate::NodeId;

/// The PPDUs on the air, by sender, and the exchanges in progress, by initiator.
pub(super) struct Airborne {
    /// number of the PPDU that a node is sending, if it is recorded, and of its parts that have not ended
    sending: Vec<Option<(u32, u32)>>,
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

    /// Begins a recorded PPDU of `node`, or a further part of it. Returns its number.
    pub(super) fn begin(&mut self, node: NodeId) -> u32 {
        let ppdu = self.next;
        self.next += 1;
        let (_, open) = self.sending[node.index()].get_or_insert((ppdu, 0));
        *open += 1;
        ppdu
    }

    /// Number of the PPDU that a node is sending, if it is recorded; of its part with this number.
    pub(super) fn sent_by(&self, node: NodeId, part: u32) -> Option<u32> {
        self.sending[node.index()].map(|(first, _)| first + part)
    }

    /// Ends the PPDU of a node, or a part of it.
    pub(super) fn end(&mut self, node: NodeId, part: u32) -> Option<u32> {
        let (first, open) = self.sending[node.index()].as_mut()?;
        let ppdu = *first + part;
        *open -= 1;
        if *open == 0 {
            self.sending[node.index()] = None;
        }
        Some(ppdu)
    }

    /// The first PPDU that has not ended, or the next to begin.
    pub(super) fn first_open(&self) -> u32 {
        self.sending.iter().flatten().map(|(first, _)| *first).min().unwrap_or(self.next)
    }
}
