//! How far an MSDU or A-MPDU has come in its chain of rates.

use crate::rate_control::{RateChain, RateEntry};

/// The chain of rates that an MSDU or A-MPDU goes through.
#[derive(Clone, Copy, Default)]
pub(crate) struct Rates {
    chain: Option<RateChain>,
    tried: u32,
}

impl Rates {
    /// The rate of the next attempt; a new chain is asked for where the last one is used up, and given back, too.
    #[inline(always)]
    pub(crate) fn next(&mut self, ask: impl FnOnce() -> RateChain) -> (RateEntry, Option<&RateChain>) {
        let left = self.chain.as_ref().and_then(|chain| chain.entry_of_attempt(self.tried));
        self.tried += 1;
        if let Some(entry) = left {
            return (entry, None);
        }
        self.tried = 1;
        let chain = self.chain.insert(ask());
        (chain.entries()[0], Some(chain))
    }

    /// Whether the chain is there to learn of a mode: one MPDU alone goes through it.
    pub(crate) fn is_probe(&self) -> bool {
        self.chain.is_some_and(|chain| chain.is_probe())
    }

    /// The attempt for which [`next`](Self::next) was asked is not made after all.
    pub(crate) fn put_back(&mut self) {
        self.tried -= 1;
    }
}
