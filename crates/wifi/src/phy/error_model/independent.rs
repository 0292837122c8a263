//! Errors that do not depend on one another.

/// Probability that `count` independent symbols or bits all escape an error of probability `error`.
pub(super) fn all_succeed(error: f64, count: f64) -> f64 {
    if count == 0.0 { 1.0 } else { libm::exp(count * libm::log1p(-error.min(1.0))) }
}
