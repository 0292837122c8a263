//! The site-general model of ITU-R P.1238 within a building. [ITU-R P.1238-7 §3.1]
//!
//! `L(d) = 20 log10(f / MHz) + N log10(d / m) - 28` dB from a metre on, where `N` depends on band and surroundings;
//! walls on the way are part of `N`. Left out: floors, as all nodes stand on one plane, and shadowing.

use lasthop_registry::{ParamError, words};
use lasthop_units::Db;

use super::interface::PathLoss;
use super::position::Position;

words! {
    /// Kind of building.
    pub enum Environment {
        /// flats and houses
        Residential = "residential",
        /// offices
        Office = "office",
        /// shops and halls
        Commercial = "commercial",
    }
}

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {
        /// Kind of building: "residential", "office" or "commercial".
        pub environment: Environment = Environment::Office,
        /// Distance power loss coefficient N in dB per tenfold distance, in place of the recommendation's.
        pub coefficient: Option<f64> = None,
    }
    check |this, path| {
        match this.coefficient {
            Some(n) if n < 0.0 => {
                let message = format!("{n} is negative: signals do not grow on their way");
                Err(ParamError::new(format!("{path}.coefficient"), message))
            }
            _ => Ok(()),
        }
    }
}

/// The frequency between the rows of 2.4 GHz and 5.2 GHz.
const BETWEEN_BANDS_HZ: f64 = 4e9;

impl Params {
    /// N. [ITU-R P.1238-7 Table 2]: rows of 2.4 and 5.2 GHz; for shops, that of the neighbouring 2 and 4 GHz.
    fn coefficient(&self, frequency_hz: f64) -> f64 {
        let low = frequency_hz < BETWEEN_BANDS_HZ;
        self.coefficient.unwrap_or(match (self.environment, low) {
            (Environment::Residential, true) => 28.0,
            (Environment::Residential, false) => 30.0,
            (Environment::Office, true) => 30.0,
            (Environment::Office, false) => 31.0,
            (Environment::Commercial, _) => 22.0,
        })
    }
}

impl PathLoss for Params {
    fn loss(&self, tx: Position, rx: Position, frequency_hz: f64) -> Db {
        let distance = tx.distance(rx).0.max(1.0);
        let mhz = frequency_hz / 1e6;
        Db((20.0 * libm::log10(mhz) + self.coefficient(frequency_hz) * libm::log10(distance) - 28.0).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::loss_db;
    use super::*;
    use lasthop_units::Metres;

    #[test]
    fn ten_metres_of_office_cost_seventy_decibels() {
        // 20 log10(2400) + 30 - 28 = 67.604 + 2.
        assert!((loss_db(&Params::default(), 10.0) - 69.604).abs() < 1e-3);
        assert_eq!(loss_db(&Params::default(), 0.1), loss_db(&Params::default(), 1.0));
    }

    #[test]
    fn coefficients_are_those_of_band_and_building() {
        let tenfold = |environment, hz| {
            let (law, at) =
                (Params { environment, ..Params::default() }, |x| Position { x: Metres(x), y: Metres(0.0) });
            law.loss(at(0.0), at(100.0), hz).0 - law.loss(at(0.0), at(10.0), hz).0
        };
        let found = [Environment::Residential, Environment::Office, Environment::Commercial]
            .map(|e| [tenfold(e, 2.412e9), tenfold(e, 5.18e9)].map(|n| libm::round(n * 1e6) / 1e6));
        assert_eq!(found, [[28.0, 30.0], [30.0, 31.0], [22.0, 22.0]]);
    }
}
