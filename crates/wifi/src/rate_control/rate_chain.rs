//! The modes of the next attempts at a frame.

use crate::phy::ModeId;

/// One mode, and its number of attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateEntry {
    /// the mode
    pub mode: ModeId,
    /// attempts in it, at least one
    pub tries: u8,
    /// true if RTS/CTS precedes them, whatever the threshold
    pub rts: bool,
}

/// The modes of the next attempts at a frame, in order. When they are used up, the MAC requests another chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateChain {
    entries: [RateEntry; RateChain::MAX],
    used: u8,
    probes: bool,
}

impl RateChain {
    /// The longest chain.
    pub const MAX: usize = 4;

    /// A chain with one mode for `tries` attempts.
    pub const fn single(mode: ModeId, tries: u8) -> Self {
        RateChain { entries: [RateEntry { mode, tries, rts: false }; Self::MAX], used: 1, probes: false }
    }
    /// Adds `tries` attempts in `mode` to this chain.
    ///
    /// # Panics
    /// If the chain is full.
    pub const fn then(mut self, mode: ModeId, tries: u8) -> Self {
        self.entries[self.used as usize] = RateEntry { mode, tries, rts: false };
        self.used += 1;
        self
    }
    /// Puts RTS/CTS before the attempts of the last entry if `rts`.
    pub const fn protected_if(mut self, rts: bool) -> Self {
        self.entries[self.used as usize - 1].rts = rts;
        self
    }
    /// Replaces the first entry of this chain by `tries` attempts in `mode`.
    pub const fn with_first(mut self, mode: ModeId, tries: u8) -> Self {
        self.entries[0] = RateEntry { mode, tries, rts: false };
        self
    }
    /// Marks the first attempt of this chain as a probe of its mode.
    pub const fn probing(mut self) -> Self {
        self.probes = true;
        self
    }
    /// Returns whether the first attempt probes its mode: only one MPDU goes through this chain, to limit the loss, as
    /// in Linux's ath9k.
    pub const fn is_probe(&self) -> bool {
        self.probes
    }
    /// Its entries.
    pub fn entries(&self) -> &[RateEntry] {
        &self.entries[..usize::from(self.used)]
    }
    /// The mode of the first attempt.
    pub const fn first(&self) -> ModeId {
        self.entries[0].mode
    }
    /// The entry for attempt `n` of this chain, counted from 0; `None` if it is used up.
    pub fn entry_of_attempt(&self, n: u32) -> Option<RateEntry> {
        let mut left = n;
        for entry in self.entries() {
            match left.checked_sub(u32::from(entry.tries)) {
                None => return Some(*entry),
                Some(rest) => left = rest,
            }
        }
        None
    }
    /// The mode of attempt `n` of this chain, counted from 0; `None` if it is used up.
    pub fn mode_of_attempt(&self, n: u32) -> Option<ModeId> {
        self.entry_of_attempt(n).map(|entry| entry.mode)
    }
}
