//! A direct ray and one reflected by flat ground. [Rappaport 2002 §4.6]
//!
//! Free space alone within the crossover distance `4 pi h^2 / lambda`, and `P_r = P_t h^4 / d^4` beyond it, as in ns-2;
//! the two agree at that distance, so the loss has no step.
//! Left out: antenna gains, and antennas of different heights.

use lasthop_units::{Db, Metres};

use super::free_space::{LIGHT_M_S, free_space};
use super::interface::PathLoss;
use super::position::Position;

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {
        /// Height of every antenna above the ground; 1.5 m as in ns-2.
        pub antenna_height: Metres = Metres(1.5),
    }
    check |this, path| {
        if this.antenna_height.0 > 0.0 {
            return Ok(());
        }
        let message = format!("{} is not above the ground", this.antenna_height);
        Err(lasthop_registry::ParamError::new(format!("{path}.antenna_height"), message))
    }
}

impl PathLoss for Params {
    fn loss(&self, tx: Position, rx: Position, frequency_hz: f64) -> Db {
        let distance = tx.distance(rx);
        let height = self.antenna_height.0;
        let crossover = 4.0 * core::f64::consts::PI * height * height * frequency_hz / LIGHT_M_S;
        if distance.0 < crossover {
            free_space(distance, frequency_hz)
        } else {
            Db((40.0 * libm::log10(distance.0 / height)).max(0.0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::loss_db;
    use super::*;

    #[test]
    fn beyond_the_crossover_the_loss_grows_with_the_fourth_power() {
        // Crossover at 2.4 GHz: 4 pi * 2.25 * 8.0055 = 226.35 m.
        let law = Params::default();
        // 40 log10(2) = 12.0412.
        assert!((loss_db(&law, 2000.0) - loss_db(&law, 1000.0) - 12.0412).abs() < 1e-4);
        assert!((loss_db(&law, 226.3) - loss_db(&law, 226.4)).abs() < 0.01);
        assert!((loss_db(&law, 200.0) - loss_db(&law, 100.0) - 6.0206).abs() < 1e-3);
    }

    #[test]
    fn an_antenna_in_the_ground_is_an_error() {
        use lasthop_registry::{Parameter, Value};
        let table = vec![("kind".into(), Value::text("two_ray_ground")), ("antenna_height".into(), Value::text("0 m"))];
        let error = super::super::PathLossKind::parse(&Value::Table(table), "channel.path_loss").unwrap_err();
        assert_eq!(error.to_string(), "channel.path_loss.antenna_height: 0 m is not above the ground");
    }
}
