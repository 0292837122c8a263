//! Rates as fixed-point numbers.

/// 1 as a rate: segments per µs.
pub(super) const RATE_SHIFT: u32 = 24;
pub(super) const RATE_UNIT: u64 = 1 << RATE_SHIFT;

/// Segments in `us` at `rate`.
pub(super) fn carried(rate: u32, us: u64) -> u64 {
    ((u128::from(rate) * u128::from(us)) >> RATE_SHIFT) as u64
}
