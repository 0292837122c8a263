//! The share that the sniffer missed: frames that were acknowledged, so they existed, but were not
//! heard.

use crate::sequence::Numbers;

/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// Answers, and whether the answered frames were heard.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Missed {
    /// MPDUs that were acknowledged
    pub acknowledged: u64,
    /// number of these that were not heard
    pub unheard: u64,
    /// sequence numbers of all transmitters, and those that were never heard, at any attempt
    pub numbers: u64,
    pub numbers_never_heard: u64,
}

impl Missed {
    /// Counts an acknowledged MPDU, heard or not.
    pub(crate) fn answer(&mut self, was_heard: bool) {
        self.acknowledged += 1;
        self.unheard += u64::from(!was_heard);
    }

    pub(crate) fn add_numbers(&mut self, numbers: &Numbers) {
        self.numbers += numbers.spanned;
        self.numbers_never_heard += numbers.never_heard;
    }

    /// The fraction missed with its 95 % interval [Wilson 1927]; none without acknowledged MPDUs.
    pub(crate) fn fraction(&self) -> Option<(f64, f64, f64)> {
        if self.acknowledged == 0 {
            return None;
        }
        let n = self.acknowledged as f64;
        let p = self.unheard as f64 / n;
        let centre = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
        let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt() / (1.0 + Z * Z / n);
        // Rounding must not move a bound past the estimate.
        Some((p, (centre - half).clamp(0.0, p), (centre + half).clamp(p, 1.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_wilsons() {
        let of = |unheard, acknowledged| Missed { acknowledged, unheard, ..Missed::default() }.fraction();
        assert_eq!(of(0, 0), None);
        // 10 of 100: (0.1 + 0.0192 ± 0.0606) / 1.0384.
        let (p, low, high) = of(10, 100).unwrap();
        assert_eq!(p, 0.1);
        assert!((low - 0.05523).abs() < 1e-4 && (high - 0.17437).abs() < 1e-4, "{low} {high}");
        let (p, low, high) = of(0, 100).unwrap();
        assert!(p == 0.0 && low == 0.0 && (high - 0.03699).abs() < 1e-4, "{high}");
    }
}
