//! Random draws of several laws.

use lasthop_engine::Stream;

use super::complex::Complex;

/// Exponential with mean 1.
pub(super) fn exponential(stream: &mut Stream) -> f64 {
    -libm::log1p(-stream.unit())
}

/// Gamma distributed with this shape and scale 1. [Marsaglia, Tsang 2000]
pub(super) fn gamma(shape: f64, stream: &mut Stream) -> f64 {
    if shape == 1.0 {
        return exponential(stream);
    }
    if shape < 1.0 {
        return gamma(shape + 1.0, stream) * libm::pow(stream.unit(), 1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    loop {
        let x = normal(stream);
        let v = 1.0 + c * x;
        let v = v * v * v;
        if v > 0.0 && libm::log(1.0 - stream.unit()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v;
        }
    }
}

/// Standard normal. [Box, Muller 1958]
fn normal(stream: &mut Stream) -> f64 {
    let radius = libm::sqrt(2.0 * exponential(stream));
    radius * libm::cos(2.0 * core::f64::consts::PI * stream.unit())
}

/// Complex normal with mean power 1.
pub(super) fn complex_normal(stream: &mut Stream) -> Complex {
    let radius = libm::sqrt(exponential(stream));
    Complex::turned(stream.unit()).scaled(radius)
}
