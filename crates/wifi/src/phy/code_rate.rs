//! Rates of codes.

/// The share of information in the coded bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeRate {
    /// no convolutional code
    Uncoded,
    /// 1/2
    Half,
    /// 2/3
    TwoThirds,
    /// 3/4
    ThreeQuarters,
    /// 5/6
    FiveSixths,
}

impl CodeRate {
    /// The rate as numerator and denominator.
    pub const fn fraction(self) -> (u32, u32) {
        match self {
            CodeRate::Uncoded => (1, 1),
            CodeRate::Half => (1, 2),
            CodeRate::TwoThirds => (2, 3),
            CodeRate::ThreeQuarters => (3, 4),
            CodeRate::FiveSixths => (5, 6),
        }
    }
    /// The rate as a number.
    pub fn ratio(self) -> f64 {
        let (numerator, denominator) = self.fraction();
        f64::from(numerator) / f64::from(denominator)
    }
    /// Whole data bits in `coded` bits.
    pub(super) const fn of(self, coded: u32) -> u32 {
        let (numerator, denominator) = self.fraction();
        coded * numerator / denominator
    }
}
