//! Random streams by name.
//!
//! A stream is derived from (seed, purpose, entity), e.g. (7, "backoff", station 3). Adding a station or a metric
//! changes no other draws, and two policies are compared on the same numbers.
//! The generator is xoshiro256++ [Blackman, Vigna 2021]; seeds are spread by SplitMix64.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// An independent stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

/// One step of SplitMix64 [Steele, Lea, Flood 2014]: spreads every bit over the whole word.
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Stream {
    /// The stream for `purpose` of the `which`-th entity under `seed`.
    pub fn new(seed: u64, purpose: &str, which: u64) -> Self {
        let named = purpose.bytes().fold(mix(seed), |h, byte| mix(h ^ u64::from(byte)));
        Stream(Xoshiro256PlusPlus::seed_from_u64(mix(named ^ which)))
    }

    /// The stream for `purpose` of the entity called `name` under `seed`.
    pub fn named(seed: u64, purpose: &str, name: &str) -> Self {
        Stream::new(seed, purpose, name.bytes().fold(mix(name.len() as u64), |h, byte| mix(h ^ u64::from(byte))))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A whole number from 0 to `max`, both included, each equally likely [Lemire 2019].
    pub fn up_to(&mut self, max: u32) -> u32 {
        let range = u64::from(max) + 1;
        loop {
            let product = u64::from((self.bits() >> 32) as u32) * range;
            let low = product as u32;
            // The lowest `2^32 mod range` values of `low` would come once too often.
            if u64::from(low) >= range || u64::from(low) >= (1u64 << 32) % range {
                return (product >> 32) as u32;
            }
        }
    }

    /// A number in [0, 1), on a grid of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with probability `p`. Draws even if `p` is 0 or 1, so that a change of `p` shifts no later draws.
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_always_gives_the_same_stream_and_another_name_another() {
        let take =
            |s, p, w| (0..4).map(|_| 0).scan(Stream::new(s, p, w), |r, _: i32| Some(r.bits())).collect::<Vec<_>>();
        assert_eq!(take(1, "backoff", 3), take(1, "backoff", 3));
        for (s, p, w) in [(2, "backoff", 3), (1, "backofg", 3), (1, "backoff", 4)] {
            assert_ne!(take(1, "backoff", 3), take(s, p, w));
        }
    }

    #[test]
    fn every_value_up_to_the_bound_is_equally_likely() {
        let mut stream = Stream::new(1, "test", 0);
        let mut seen = [0u32; 32];
        for _ in 0..320_000 {
            seen[stream.up_to(31) as usize] += 1;
        }
        // Binomial with mean 10,000 and deviation 98: five deviations.
        assert!(seen.iter().all(|&n| (9_500..10_500).contains(&n)), "{seen:?}");
        assert_eq!(stream.up_to(0), 0);
    }

    #[test]
    fn neighbouring_streams_are_not_correlated() {
        let n = 20_000;
        let (mut a, mut b) = (Stream::new(1, "backoff", 1), Stream::new(1, "backoff", 2));
        let covariance: f64 = (0..n).map(|_| (a.unit() - 0.5) * (b.unit() - 0.5)).sum::<f64>() / f64::from(n);
        // Deviation of the mean: (1/12)/sqrt(20,000) = 5.9e-4.
        assert!(covariance.abs() < 3e-3, "{covariance}");
    }
}
