//! Free space between isotropic antennas. [Friis 1946]

use lasthop_units::Db;

use super::free_space::free_space;
use super::interface::PathLoss;
use super::position::Position;

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {}
}

impl PathLoss for Params {
    fn loss(&self, tx: Position, rx: Position, frequency_hz: f64) -> Db {
        free_space(tx.distance(rx), frequency_hz)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::loss_db;
    use super::*;

    #[test]
    fn a_hundred_metres_at_two_point_four_gigahertz_cost_80_db() {
        // 20 log10(100) + 20 log10(2.4e9) - 147.55 = 40 + 187.60 - 147.55.
        assert!((loss_db(&Params {}, 100.0) - 80.05).abs() < 0.01);
        assert!((loss_db(&Params {}, 1000.0) - loss_db(&Params {}, 100.0) - 20.0).abs() < 1e-9);
    }
}
