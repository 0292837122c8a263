//! The SINR of a flat channel on which a PPDU is lost as often as on one whose subcarriers and streams differ.
//!
//! Exponential effective SINR mapping: `-β ln(mean of exp(-γ/β))` over the SINRs `γ` of all subcarriers and streams. The
//! weakest count most, as after interleaving they decide about the codeword. `β` by modulation and code rate is fitted to
//! TGax's channel models B and D [Jin, Roy, Henderson 2021]; for BPSK and QPSK at 1/2 it is the Chernoff bound's own, 1
//! and 2. DSSS spreads each bit over the whole band, and a receiver combines the echoes: the mean decides.

use crate::phy::code_rate::CodeRate;
use crate::phy::{Mode, Modulation};

/// β of a mode; `None` for DSSS.
pub(super) fn beta(mode: &Mode) -> Option<f64> {
    use CodeRate::{FiveSixths, Half, ThreeQuarters};
    Some(match (mode.modulation, mode.code_rate) {
        (Modulation::Dbpsk | Modulation::Dqpsk | Modulation::Cck, _) => return None,
        (Modulation::Bpsk, _) => 1.0,
        (Modulation::Qpsk, Half) => 2.0,
        (Modulation::Qpsk, _) => 1.5,
        (Modulation::Qam16, Half) => 5.0,
        (Modulation::Qam16, _) => 7.0,
        (Modulation::Qam64, ThreeQuarters) => 33.0,
        (Modulation::Qam64, FiveSixths) => 43.0,
        (Modulation::Qam64, _) => 26.0,
        (Modulation::Qam256, FiveSixths) => 170.0,
        (Modulation::Qam256, _) => 111.0,
        (Modulation::Qam1024, FiveSixths) => 650.0,
        (Modulation::Qam1024, _) => 410.0,
    })
}

/// The effective SINR of these, as ratios.
pub(super) fn effective(beta: Option<f64>, sinrs: &[f64]) -> f64 {
    let n = sinrs.len() as f64;
    let Some(beta) = beta else { return sinrs.iter().sum::<f64>() / n };
    // Relative to the least, so that no exponential vanishes.
    let least = sinrs.iter().copied().fold(f64::INFINITY, f64::min);
    let sum: f64 = sinrs.iter().map(|sinr| libm::exp((least - sinr) / beta)).sum();
    least - beta * libm::log(sum / n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{PhyOptions, Standard};

    #[test]
    fn it_is_the_formula_and_a_flat_channel_keeps_its_sinr() {
        // -ln((e^-1 + e^-10) / 2), and -43 ln((e^(-1/43) + e^(-10/43)) / 2).
        assert!((effective(Some(1.0), &[1.0, 10.0]) - 1.693_024).abs() < 1e-6);
        assert!((effective(Some(43.0), &[1.0, 10.0]) - 5.264_963).abs() < 1e-6);
        assert_eq!(effective(None, &[1.0, 10.0]), 5.5);
        for beta in [1.0, 43.0, 650.0] {
            assert!((effective(Some(beta), &[7.5; 16]) - 7.5).abs() < 1e-9);
            // Far above β, too, where each exponential alone is zero.
            assert!((effective(Some(beta), &[1e6; 16]) - 1e6).abs() < 1e-3);
        }
    }

    #[test]
    fn denser_modes_see_more_of_the_mean() {
        for name in ["802.11g", "802.11ax"] {
            let phy = PhyOptions::new(Standard::named(name).unwrap()).resolve("bss").unwrap();
            let mut modes: Vec<&Mode> = phy.modes().iter().filter(|mode| beta(mode).is_some()).collect();
            modes.sort_by_key(|mode| mode.bits_per_symbol);
            let found: Vec<f64> = modes.iter().map(|mode| effective(beta(mode), &[10.0, 100.0])).collect();
            assert!(found.iter().all(|sinr| (10.0..55.0).contains(sinr)), "{name} {found:?}");
            assert!(found[0] < 11.0 && found[found.len() - 1] > 25.0, "{name} {found:?}");
        }
    }
}
