//! Complex numbers, as far as channels need them.

use core::ops::{Add, Mul};

/// An amplitude and a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Complex {
    pub re: f64,
    pub im: f64,
}

impl Complex {
    /// Length 1, turned by this many full circles.
    pub(super) fn turned(circles: f64) -> Complex {
        let (im, re) = libm::sincos(2.0 * core::f64::consts::PI * (circles - libm::floor(circles)));
        Complex { re, im }
    }

    pub(super) fn scaled(self, by: f64) -> Complex {
        Complex { re: self.re * by, im: self.im * by }
    }

    pub(super) fn conjugate(self) -> Complex {
        Complex { re: self.re, im: -self.im }
    }

    /// The square of its length.
    pub(super) fn power(self) -> f64 {
        self.re * self.re + self.im * self.im
    }
}

impl Add for Complex {
    type Output = Complex;
    fn add(self, other: Complex) -> Complex {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }
}

impl Mul for Complex {
    type Output = Complex;
    fn mul(self, other: Complex) -> Complex {
        Complex { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}
