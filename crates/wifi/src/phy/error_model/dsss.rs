//! Errors of DSSS and CCK over white noise. [Pei, Henderson 2009; Pursley, Royster 2009]
//!
//! DBPSK: `P_b = exp(-E_b/N_0) / 2`. DQPSK: the usual approximation of its error probability.
//! CCK at 5.5 Mbit/s: one of 16 biorthogonal codewords; at 11 Mbit/s a pair of them on the two
//! axes, with half the energy each. The energy of a codeword counts half, as in ns-3: 3 dB that an
//! ideal coherent receiver would gain.

use core::f64::consts::{PI, SQRT_2};

use super::independent::all_succeed;
use crate::phy::{Mode, Modulation};

/// Codewords of CCK per second: 11 Mchip/s in words of eight chips.
const CODEWORDS_PER_SECOND: f64 = 1.375e6;

/// The model, with a memory of its results: on links that do not move, the same few SINRs recur.
pub(super) struct Dsss {
    memo: Box<[Remembered; SLOTS]>,
}

/// Power of two.
const SLOTS: usize = 256;

/// A codeword energy and its error probability.
#[derive(Clone, Copy)]
struct Remembered {
    energy: f64,
    error: f64,
}

impl Default for Dsss {
    fn default() -> Self {
        Dsss { memo: Box::new([Remembered { energy: f64::NAN, error: 1.0 }; SLOTS]) }
    }
}

impl Dsss {
    /// Probability that `bits` of a DSSS or CCK `mode` all arrive at `sinr`.
    pub fn success_probability(&mut self, mode: &Mode, bits: u64, sinr: f64) -> f64 {
        let bits = bits as f64;
        let ebn0 = sinr * mode.bandwidth_hz / mode.rate.as_bps() as f64;
        if mode.modulation != Modulation::Cck {
            let error =
                if mode.modulation == Modulation::Dbpsk { 0.5 * libm::exp(-ebn0) } else { dqpsk_bit_error(ebn0) };
            return all_succeed(error, bits);
        }
        let energy = sinr * mode.bandwidth_hz / CODEWORDS_PER_SECOND / 2.0;
        let words = bits / f64::from(mode.bits_per_symbol);
        match mode.bits_per_symbol {
            4 => all_succeed(self.codeword_error(energy), words),
            _ => all_succeed(self.codeword_error(energy / 2.0), 2.0 * words),
        }
    }

    /// [`biorthogonal_16_error`], computed once for each energy.
    fn codeword_error(&mut self, energy: f64) -> f64 {
        let hash = energy.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
        let slot = &mut self.memo[hash as usize % SLOTS];
        if slot.energy != energy {
            *slot = Remembered { energy, error: biorthogonal_16_error(energy) };
        }
        slot.error
    }
}

/// Bit error probability of DQPSK, accurate if errors are rare; at most 1/2.
/// `(1 + sqrt 2) / sqrt(8 pi sqrt 2) / sqrt(x) exp(-(2 - sqrt 2) x)`, `x = E_b/N_0`. [Pei, Henderson 2009]
fn dqpsk_bit_error(ebn0: f64) -> f64 {
    let factor = (SQRT_2 + 1.0) / libm::sqrt(8.0 * PI * SQRT_2 * ebn0);
    (factor * libm::exp(-(2.0 - SQRT_2) * ebn0)).min(0.5)
}

/// Probability that a coherent receiver mistakes one of 16 biorthogonal codewords for another,
/// `energy` being that of a codeword over the noise density. [Proakis 2001 §5.2]
///
/// With `b = sqrt(2 energy)` and phi, Q the density and the tail of the normal distribution: `integral over x > -b of
/// (1 - (1 - 2 Q(x + b))^7) phi(x) dx + Q(b)`. The integrand is smooth and vanishes fast at both ends, so the trapezium
/// rule is almost exact.
fn biorthogonal_16_error(energy: f64) -> f64 {
    const STEP: f64 = 0.25;
    const END: i32 = 36;
    let b = libm::sqrt(2.0 * energy);
    let at = |i: i32| {
        let x = f64::from(i) * STEP;
        // 2 Q(x + b) = erfc((x + b) / sqrt 2); left of -b the decision is surely wrong.
        let y = libm::erfc((x + b) / SQRT_2).min(1.0);
        // 1 - (1 - y)^7, multiplied out so that small y lose nothing.
        let wrong = y * (7.0 + y * (-21.0 + y * (35.0 + y * (-35.0 + y * (21.0 + y * (-7.0 + y))))));
        wrong * libm::exp(-x * x / 2.0)
    };
    let sum: f64 = (-END..=END).map(at).sum();
    (sum * STEP / libm::sqrt(2.0 * PI)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{mode, phy, sinr_db_for};
    use super::super::{ErrorModel, nist};
    use super::*;

    #[test]
    fn eight_percent_of_frames_are_lost_at_the_snr_of_the_formulas() {
        // 1024 bytes, the frames of the standard's sensitivity; computed separately from this code with a finer grid.
        let (phy, mut model) = (phy("802.11b"), nist::Nist::default());
        assert!(model.needs_sinr());
        for (rate, expected) in [(10, -3.0891), (20, 1.5529), (55, 4.0827), (110, 7.093)] {
            let found = sinr_db_for(&mut model, mode(&phy, rate), 8192, 0.92);
            assert!((found - expected).abs() < 1e-3, "{rate}: {found}");
        }
    }

    #[test]
    fn without_energy_one_codeword_in_sixteen_is_guessed() {
        assert!((biorthogonal_16_error(0.0) - 15.0 / 16.0).abs() < 1e-3, "{}", biorthogonal_16_error(0.0));
    }

    #[test]
    fn cached_values_equal_computed_ones() {
        let mut dsss = Dsss::default();
        for round in 0..2 {
            for i in 0..1000 {
                let energy = f64::from(i) * 0.01;
                assert_eq!(dsss.codeword_error(energy), biorthogonal_16_error(energy), "{round}");
            }
        }
    }
}
