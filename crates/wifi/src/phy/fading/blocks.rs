//! Block fading: the channel of a pair of nodes has one gain for a coherence time, then another that is independent of
//! it; the blocks of different pairs begin at different times. A gain is drawn from a stream named by pair and block.

use lasthop_engine::Stream;
use lasthop_units::{Duration, Time};

use super::draws::gamma;

/// Gains that last for a block.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    pub coherence_time: Duration,
    /// Shape of the gamma distribution; 1 for Rayleigh.
    pub m: f64,
}

impl Blocks {
    /// The block to which `at` belongs, of the pair with this seed.
    pub(super) fn block(&self, seed: u64, at: Time) -> u64 {
        let coherence = self.coherence_time.as_nanos();
        (at.as_nanos() + seed % coherence) / coherence
    }

    /// The gain of that pair in a block.
    pub(super) fn gain(&self, seed: u64, block: u64) -> f64 {
        gamma(self.m, &mut Stream::new(seed, "block", block)) / self.m
    }
}
