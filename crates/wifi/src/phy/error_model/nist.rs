//! Bit errors over white noise with the union bound of the convolutional code. [Pei, Henderson 2010]
//!
//! For OFDM: the raw bit error probability `p` of the constellation at the SINR, each subcarrier with all the energy of
//! its symbol; then, with hard decisions,
//! `P_b <= 1/(2 k) sum over d of c_d D^d`, `D = sqrt(4 p (1 - p))`. DSSS: see `dsss`.
//! Left out: fading within a frame, imperfect synchronisation, errors of preamble and header.

use super::convolutional::bits;
use super::dsss::Dsss;
use super::independent::all_succeed;
use super::interface::{ErrorModel, ReceivedFrame};
use crate::phy::{Mode, Modulation};

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {}
}

/// The model.
#[derive(Default)]
pub struct Nist {
    dsss: Dsss,
}

impl ErrorModel for Nist {
    fn success_probability(&mut self, frame: &ReceivedFrame) -> f64 {
        let sinr = frame.sinr * frame.mode.antennas_per_stream;
        match raw_bit_error(frame.mode.modulation, sinr) {
            Some(raw) => all_succeed(coded_bit_error(frame.mode, raw), frame.bits as f64),
            None => self.dsss.success_probability(frame.mode, frame.bits, sinr),
        }
    }
    fn needs_sinr(&self) -> bool {
        true
    }
}

/// Bit error probability of a constellation with Gray mapping, nearest neighbours only, where the
/// SINR is the energy of a symbol over the noise; `None` for those of DSSS. [Pei, Henderson 2010]
fn raw_bit_error(modulation: Modulation, sinr: f64) -> Option<f64> {
    // (share of bits next to another decision, mean energy in units of half the distance squared)
    let (neighbours, energy) = match modulation {
        Modulation::Dbpsk | Modulation::Dqpsk | Modulation::Cck => return None,
        Modulation::Bpsk => (1.0, 1.0),
        Modulation::Qpsk => (1.0, 2.0),
        Modulation::Qam16 => (3.0 / 4.0, 10.0),
        Modulation::Qam64 => (7.0 / 12.0, 42.0),
        Modulation::Qam256 => (15.0 / 32.0, 170.0),
        Modulation::Qam1024 => (31.0 / 80.0, 682.0),
    };
    Some(neighbours * 0.5 * libm::erfc(libm::sqrt(sinr / energy)))
}

/// The union bound after decoding.
fn coded_bit_error(mode: &Mode, raw: f64) -> f64 {
    let (spectrum, information_bits) = bits(mode.code_rate);
    let bhattacharyya = libm::sqrt(4.0 * raw * (1.0 - raw));
    let mut power = (0..spectrum.free_distance).fold(1.0, |p, _| p * bhattacharyya);
    let step = (0..spectrum.step).fold(1.0, |p, _| p * bhattacharyya);
    let mut sum = 0.0;
    for weight in spectrum.weights {
        sum += weight * power;
        power *= step;
    }
    sum / (2.0 * information_bits)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{mcs_mode, mode, phy, sinr_db_for};
    use super::*;

    #[test]
    fn a_tenth_of_frames_is_lost_at_the_snr_of_the_formulas() {
        // 1000 bytes; computed separately from this code, to 1e-4 dB. Receivers that just meet the standard
        // (sensitivity, noise figure 10 dB, implementation loss 5 dB) need 4 dB at 6 Mbit/s and 21 dB at 54.
        let (phy, mut model) = (phy("802.11a"), Nist::default());
        for (rate, expected) in [
            (60, 3.847),
            (90, 6.7337),
            (120, 6.8573),
            (180, 9.744),
            (240, 13.3813),
            (360, 16.4841),
            (480, 21.229),
            (540, 22.4872),
        ] {
            let found = sinr_db_for(&mut model, mode(&phy, rate), 8000, 0.9);
            assert!((found - expected).abs() < 1e-3, "{rate}: {found}");
        }
    }

    #[test]
    fn dense_constellations_lose_a_tenth_of_frames_at_the_snr_of_the_formulas() {
        // 1000 bytes on 20 MHz, one stream; computed separately from this code, to 1e-4 dB.
        let mut model = Nist::default();
        for (standard, mcs, expected) in [
            ("802.11n", 7, 23.6524),
            ("802.11ac", 8, 28.3501),
            ("802.11ax", 9, 29.5621),
            ("802.11ax", 10, 34.1935),
            ("802.11ax", 11, 35.4495),
        ] {
            let found = sinr_db_for(&mut model, &mcs_mode(standard, 1, mcs), 8000, 0.9);
            assert!((found - expected).abs() < 1e-3, "{standard} {mcs}: {found}");
        }
    }

    #[test]
    fn bpsk_at_seven_decibels_errs_in_eight_of_ten_thousand_bits() {
        // erfc(sqrt(10^0.7)) / 2 = 7.727e-4, the textbook's curve.
        let raw = raw_bit_error(Modulation::Bpsk, libm::pow(10.0, 0.7)).unwrap();
        assert!((raw - 7.727e-4).abs() < 1e-6, "{raw}");
    }
}
