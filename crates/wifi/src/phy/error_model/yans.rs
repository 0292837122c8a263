//! Bit errors over white noise with the first terms of the convolutional code. [Lacage, Henderson 2006]
//!
//! For OFDM: the raw bit error probability from the energy per coded bit; then the probability that hard decisions
//! prefer one of the sequences at the free distance or the next (BPSK: the free distance alone). It uses the
//! probability of an error event for each bit and is some 3 dB more optimistic than `nist`. DSSS: see `dsss`.
//! Left out: fading within a frame, imperfect synchronisation, errors of preamble and header.

use super::convolutional::paths;
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
pub struct Yans {
    dsss: Dsss,
}

impl ErrorModel for Yans {
    fn success_probability(&mut self, frame: &ReceivedFrame) -> f64 {
        let sinr = frame.sinr * frame.mode.antennas_per_stream;
        match raw_bit_error(frame.mode, sinr) {
            Some(raw) => all_succeed(event_probability(frame.mode, raw), frame.bits as f64),
            None => self.dsss.success_probability(frame.mode, frame.bits, sinr),
        }
    }
    fn needs_sinr(&self) -> bool {
        true
    }
}

/// Bit error probability of square QAM with Gray mapping, from `E_b/N_0 = SINR * bandwidth / coded
/// rate of a stream`; `None` for modulations of DSSS. [Lacage, Henderson 2006; Proakis 2001 §5.2]
fn raw_bit_error(mode: &Mode, sinr: f64) -> Option<f64> {
    let coded_bps = mode.rate.as_bps() as f64 / f64::from(mode.streams) / mode.code_rate.ratio();
    let ebn0 = sinr * mode.bandwidth_hz / coded_bps;
    let bits: f64 = match mode.modulation {
        Modulation::Dbpsk | Modulation::Dqpsk | Modulation::Cck => return None,
        Modulation::Bpsk => return Some(0.5 * libm::erfc(libm::sqrt(ebn0))),
        Modulation::Qpsk => 2.0,
        Modulation::Qam16 => 4.0,
        Modulation::Qam64 => 6.0,
        Modulation::Qam256 => 8.0,
        Modulation::Qam1024 => 10.0,
    };
    let points = libm::exp2(bits);
    let one_axis = (1.0 - libm::exp2(-bits / 2.0)) * libm::erfc(libm::sqrt(1.5 * bits * ebn0 / (points - 1.0)));
    // 1 - (1 - e)^2, without the cancellation.
    Some(one_axis * (2.0 - one_axis) / bits)
}

/// Probability that an error event begins at a bit: the first terms of the union bound.
fn event_probability(mode: &Mode, raw: f64) -> f64 {
    let spectrum = paths(mode.code_rate);
    let terms = if mode.modulation == Modulation::Bpsk { 1 } else { spectrum.weights.len() };
    let distances = spectrum.free_distance..;
    spectrum.weights[..terms].iter().zip(distances).map(|(weight, d)| weight * prefers_wrong(raw, d)).sum()
}

/// Probability that hard decisions find a sequence at distance `d` nearer than the sent one; ties are
/// lost half the time. `sum over i > d/2 of C(d, i) p^i (1 - p)^(d - i)`. [Proakis 2001 §8.2]
fn prefers_wrong(p: f64, d: u32) -> f64 {
    let (mut sum, mut choose) = (0.0, 1.0);
    // From i = d, all bits wrong, downwards.
    for i in (d.div_ceil(2)..=d).rev() {
        let share = if 2 * i == d { 0.5 } else { 1.0 };
        sum += share * choose * power(p, i) * power(1.0 - p, d - i);
        choose *= f64::from(i) / f64::from(d - i + 1);
    }
    sum
}

/// `base^exponent` by multiplication.
fn power(base: f64, exponent: u32) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * base)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{mcs_mode, mode, phy, sinr_db_for};
    use super::*;

    #[test]
    fn a_tenth_of_frames_is_lost_at_the_snr_of_the_formulas() {
        // 1000 bytes; computed separately from this code, to 1e-4 dB.
        let (phy, mut model) = (phy("802.11a"), Yans::default());
        for (rate, expected) in [
            (60, 0.5942),
            (90, 2.878),
            (120, 3.5799),
            (180, 6.4798),
            (240, 9.9576),
            (360, 13.1542),
            (480, 17.5674),
            (540, 19.0929),
        ] {
            let found = sinr_db_for(&mut model, mode(&phy, rate), 8000, 0.9);
            assert!((found - expected).abs() < 1e-3, "{rate}: {found}");
        }
    }

    #[test]
    fn dense_constellations_lose_a_tenth_of_frames_at_the_snr_of_the_formulas() {
        // 1000 bytes on 20 MHz, one stream; computed separately from this code, to 1e-4 dB.
        let mut model = Yans::default();
        for (standard, mcs, expected) in [
            ("802.11n", 7, 21.1881),
            ("802.11ac", 8, 25.2411),
            ("802.11ax", 9, 28.2924),
            ("802.11ax", 10, 32.2421),
            ("802.11ax", 11, 34.1586),
        ] {
            let found = sinr_db_for(&mut model, &mcs_mode(standard, 1, mcs), 8000, 0.9);
            assert!((found - expected).abs() < 1e-3, "{standard} {mcs}: {found}");
        }
    }

    #[test]
    fn a_coin_toss_prefers_the_wrong_sequence_half_the_time() {
        for d in 1..=10 {
            assert!((prefers_wrong(0.5, d) - 0.5).abs() < 1e-12, "{d}");
        }
        // d = 2: both wrong, or a tie lost: p^2 + p (1 - p).
        assert!((prefers_wrong(0.1, 2) - 0.1).abs() < 1e-12);
    }
}
