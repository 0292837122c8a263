//! The free-space loss, from which other laws start.

use lasthop_units::{Db, Metres};

/// Speed of light, in m/s.
pub(super) const LIGHT_M_S: f64 = 299_792_458.0;

/// Loss of free space between isotropic antennas: `(4 pi d / lambda)^2`. [Friis 1946]
pub(super) fn free_space(distance: Metres, frequency_hz: f64) -> Db {
    let wavelengths = distance.0 * frequency_hz / LIGHT_M_S;
    if wavelengths == 0.0 {
        return Db(0.0);
    }
    Db((20.0 * libm::log10(4.0 * core::f64::consts::PI * wavelengths)).max(0.0))
}
