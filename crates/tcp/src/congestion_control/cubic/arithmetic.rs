//! The cubic function in whole numbers, as Linux has computed it since 2.6.22.
//!
//! Time is in ticks of 1/1024 s. K comes from a cube root that guesses by a table and improves the guess once, right to
//! about 0.2 %; the distance from the origin is cut to whole segments.

use super::Params;

/// Ticks per second, as a power of two.
const TICK_SHIFT: u32 = 10;

/// What follows from the parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arithmetic {
    /// C in 1/1024 segments/s^3
    c: u64,
    /// in 1/1024
    beta: u32,
    /// Windows of ACKs for a segment of Reno's growth, in eighths.
    reno_eighths: u32,
}

impl Arithmetic {
    pub fn new(params: &Params) -> Self {
        let beta = libm::round(params.beta * 1024.0).clamp(1.0, 1023.0) as u32;
        // The kernel's C is a multiple of 10/1024.
        let c = 10 * (libm::round(params.c * 102.4) as u64).max(1);
        Arithmetic { c, beta, reno_eighths: 8 * (1024 + beta) / 3 / (1024 - beta) }
    }

    /// beta times a window.
    pub fn reduced(&self, window: u32) -> u32 {
        (u64::from(window) * u64::from(self.beta) / 1024) as u32
    }

    /// What a mark leaves of a window with ABE: 0.85. [RFC 8511 §3]
    pub fn eased(window: u32) -> u32 {
        (u64::from(window) * 17 / 20) as u32
    }

    /// (1 + beta) / 2 times a window.
    pub fn given_way(&self, window: u32) -> u32 {
        (u64::from(window) * u64::from(1024 + self.beta) / 2048) as u32
    }

    /// ACKs or segments for one segment of Reno's growth. [RFC 9438 §4.3]
    pub fn reno_per_segment(&self, cwnd: u32) -> u32 {
        ((u64::from(cwnd) * u64::from(self.reno_eighths)) >> 3).max(1) as u32
    }

    /// K = cbrt((W_max - cwnd) / C), in ticks. [RFC 9438 §4.2 (2)]
    pub fn k(&self, below: u32) -> u64 {
        let per_segment = (1u64 << (TICK_SHIFT + 3 * TICK_SHIFT)) / self.c;
        cube_root(per_segment.saturating_mul(u64::from(below)))
    }

    /// Ticks of this function in so many of a clock with `hz` in a second.
    pub fn ticks(jiffies: u64, hz: u32) -> u64 {
        (jiffies << TICK_SHIFT) / u64::from(hz)
    }

    /// W(t): the origin, less the distance from it before K, plus it after. [RFC 9438 §4.2 (1)]
    pub fn target(&self, origin: u32, k: u64, t: u64) -> u32 {
        let offset = u128::from(t.abs_diff(k));
        let distance = (u128::from(self.c) * offset * offset * offset) >> (TICK_SHIFT + 3 * TICK_SHIFT);
        let distance = distance.min(u128::from(u32::MAX)) as u32;
        if t < k { origin.saturating_sub(distance) } else { origin.saturating_add(distance) }
    }
}

/// First guesses: 64 times the cube root of the leading bits, less ten.
const GUESSES: [u8; 64] = [
    0, 54, 54, 54, 118, 118, 118, 118, 123, 129, 134, 138, 143, 147, 151, 156, 157, 161, 164, 168, 170, 173, 176, 179,
    181, 185, 187, 190, 192, 194, 197, 199, 200, 202, 204, 206, 209, 211, 213, 215, 217, 219, 221, 222, 224, 225, 227,
    229, 231, 232, 234, 236, 237, 239, 240, 242, 244, 245, 246, 248, 250, 251, 252, 254,
];

/// One step of Newton's method from a guess.
fn cube_root(a: u64) -> u64 {
    let bits = 64 - a.leading_zeros();
    if bits < 7 {
        return (u64::from(GUESSES[a as usize]) + 35) >> 6;
    }
    let third = ((bits * 84) >> 8) - 1;
    let guess = ((u64::from(GUESSES[(a >> (3 * third)) as usize]) + 10) << third) >> 6;
    // A division by three: 341/1024.
    ((2 * guess + a / (guess * (guess - 1))) * 341) >> 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cube_root_is_right_to_half_a_per_cent() {
        for exponent in 0..50 {
            for a in [1u64 << exponent << 10, 3 << exponent << 10, (1 << exponent << 10) + 12_345] {
                let (got, want) = (cube_root(a) as f64, libm::cbrt(a as f64));
                assert!((got - want).abs() <= (0.006 * want).max(1.0), "{a}: {got} {want}");
            }
        }
    }

    #[test]
    fn k_of_a_thousand_segments_is_nine_seconds() {
        // cbrt(300 / 0.4) = 9.0856 s
        let k = Arithmetic::new(&Params::default()).k(300);
        assert!((k as f64 / 1024.0 - 9.0856).abs() < 0.05, "{k}");
    }
}
