//! A Poisson process: packets at independent exponential gaps, or whole transfers.
//!
//! The flow's rate is the mean. Without `size` the application writes packets of `packet_size` (TCP: of a segment's
//! payload). With `size`, on TCP, each arrival is a transfer of that size over a connection of its own, independent
//! of those before it: an open system, whose backlog grows without limit above capacity.

use lasthop_engine::Stream;
use lasthop_units::Duration;

use super::distribution::exponential;
use super::source::{Offer, Source};

lasthop_registry::params! {
    /// Parameters of `poisson`: none; the mean is the flow's rate.
    pub struct Params {}
}

/// An application that writes at the arrivals of a Poisson process.
pub(crate) struct Poisson {
    draws: Stream,
    bytes: u32,
    mean_gap: Duration,
    last: Duration,
}

impl Poisson {
    /// Writes of `bytes`, on average every `mean_gap`.
    pub(crate) fn new(draws: Stream, bytes: u32, mean_gap: Duration) -> Poisson {
        Poisson { draws, bytes, mean_gap, last: Duration::ZERO }
    }
}

impl Source for Poisson {
    fn next(&mut self) -> Option<Offer> {
        self.last += exponential(&mut self.draws, self.mean_gap);
        Some(Offer { at: self.last, bytes: self.bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::offers;
    use super::*;

    #[test]
    fn counts_have_as_much_variance_as_mean() {
        // 10 packets a second: over 10,000 s the count of a second has mean 10 (deviation of the mean 0.032) and
        // variance 10 (deviation of the variance about 10 sqrt(2/10,000) = 0.14).
        let mut counts = vec![0.0; 10_000];
        let mut source = Poisson::new(Stream::new(1, "test", 0), 100, Duration::from_millis(100));
        for offer in offers(&mut source, 10_000) {
            counts[offer.at.as_secs_f64() as usize] += 1.0;
        }
        let mean = counts.iter().sum::<f64>() / 1e4;
        let variance = counts.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / 1e4;
        assert!((mean - 10.0).abs() < 0.13, "{mean}");
        assert!((variance - 10.0).abs() < 0.6, "{variance}");
    }
}
