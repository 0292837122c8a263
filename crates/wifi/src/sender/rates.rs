//! The place of an MSDU or A-MPDU in its chain of rates.

use crate::rate_control::{RateChain, RateEntry};

/// The chain of rates that an MSDU or A-MPDU goes through.
#[derive(Clone, Copy, Default)]
pub(crate) struct Rates {
    chain: Option<RateChain>,
    tried: u32,
}

impl Rates {
    /// The rate of the next attempt; if the last chain is used up, a new one is obtained and returned too.
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

    /// Returns whether the chain is a probe of a mode: only one MPDU goes through it.
    pub(crate) fn is_probe(&self) -> bool {
        self.chain.is_some_and(|chain| chain.is_probe())
    }

    /// Takes back the last [`next`](Self::next): the attempt is not made after all.
    pub(crate) fn put_back(&mut self) {
        self.tried -= 1;
    }
}
