//! No path loss: all nodes hear one another equally well.

use lasthop_units::Db;

use super::interface::PathLoss;
use super::position::Position;

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {}
}

impl PathLoss for Params {
    fn loss(&self, _tx: Position, _rx: Position, _frequency_hz: f64) -> Db {
        Db(0.0)
    }
}
