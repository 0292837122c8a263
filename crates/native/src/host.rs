//! Functions that a controller may call.
#![expect(unsafe_code, reason = "a controller hands back the address of its connection")]

use crate::abi::{Host, Sock};
use crate::shared::Shared;

/// The functions, with the same results on every machine.
pub(crate) static HOST: Host = Host { cbrt, exp, log, pow, random_u32, random_below };

extern "C" fn cbrt(x: f64) -> f64 {
    libm::cbrt(x)
}

extern "C" fn exp(x: f64) -> f64 {
    libm::exp(x)
}

extern "C" fn log(x: f64) -> f64 {
    libm::log(x)
}

extern "C" fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

unsafe extern "C" fn random_u32(sock: *mut Sock) -> u32 {
    // SAFETY: every sock that a controller sees is the first field of a `Shared`, and comes with the whole of it.
    // Nothing else reads the draws meanwhile: the caller of the controller waits for it.
    unsafe { (*sock.cast::<Shared>()).draws.bits() }
}

unsafe extern "C" fn random_below(sock: *mut Sock, end: u32) -> u32 {
    // SAFETY: as above.
    unsafe { (*sock.cast::<Shared>()).draws.below(end) }
}
