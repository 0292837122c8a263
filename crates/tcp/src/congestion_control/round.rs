//! The RTT samples of a round trip: their least, and the least ever.
//!
//! Source: Brakmo, Peterson 1995, with the least of a round trip in the place of a single measured segment.

use super::AckSample;
use super::linux::{NO_RTT, rtt_us};

/// The RTTs of the path for Vegas and related controllers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    /// baseRTT in µs
    pub base: u32,
    /// least of this round trip in µs
    pub least: u32,
    pub samples: u32,
    /// The round ends when data beyond this offset is acknowledged.
    pub end: u64,
}

impl Round {
    pub fn new() -> Self {
        Round { base: NO_RTT, least: NO_RTT, samples: 0, end: 0 }
    }

    /// Takes in a sample, one µs longer so that none is 0.
    pub fn hear(&mut self, ack: &AckSample) {
        if let Some(rtt) = rtt_us(ack) {
            let rtt = (rtt + 1).min(NO_RTT);
            self.base = self.base.min(rtt);
            self.least = self.least.min(rtt);
            self.samples += 1;
        }
    }

    /// Forgets the samples, not the base.
    pub fn begin(&mut self, end: u64) {
        self.end = end;
        self.clear();
    }

    /// Forgets the samples, within a round.
    pub fn clear(&mut self) {
        self.least = NO_RTT;
        self.samples = 0;
    }

    /// One or two samples may be those of delayed ACKs.
    pub fn has_enough(&self) -> bool {
        self.samples > 2
    }

    /// True if this ACK is the first beyond the round.
    pub fn is_over(&self, ack: &AckSample) -> bool {
        ack.snd_una > self.end
    }

    /// The part of `window` segments that would be in flight without a queue, in `1/unit`.
    pub fn without_queue(&self, window: u32, unit: u32) -> u32 {
        let held = u128::from(window) * u128::from(self.base) * u128::from(unit) / u128::from(self.least.max(1));
        held.min(u128::from(u32::MAX)) as u32
    }
}
