//! Thermal noise.

use lasthop_units::{Db, Dbm};

/// k T at 290 K, the convention of the field, in dBm/Hz.
const THERMAL_DENSITY_DBM_HZ: f64 = -174.0;

/// Power of the noise in a receiver: `-174 dBm/Hz + 10 log10(bandwidth) + noise figure`.
pub fn noise_floor(bandwidth_hz: f64, noise_figure: Db) -> Dbm {
    Dbm(THERMAL_DENSITY_DBM_HZ + 10.0 * libm::log10(bandwidth_hz)) + noise_figure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_megahertz_and_seven_decibels_give_minus_94_dbm() {
        // -174 + 73.01 + 7.
        assert!((noise_floor(20e6, Db(7.0)).0 + 93.99).abs() < 0.01);
    }
}
