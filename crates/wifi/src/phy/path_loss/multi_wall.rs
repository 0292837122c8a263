//! Log-distance, and the loss of each wall between the antennas. [COST 231 1999 §4.7]
//!
//! `L(d) = L(d_0) + 10 n log10(d / d_0) + sum of the walls that the straight line crosses`; the walls are those of
//! `[[wall]]`, see `wall`. Left out: floors, paths round a wall, the angle at which it is crossed.

use lasthop_units::{Db, Metres};

use super::interface::PathLoss;
use super::log_distance;
use super::position::Position;

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {
        /// How fast the loss grows between walls: 2 in free space.
        pub exponent: f64 = 2.0,
        /// Distance at which the reference loss is known.
        pub reference_distance: Metres = Metres(1.0),
        /// Loss at that distance; default: free space on the BSS's channel.
        pub reference_loss: Option<Db> = None,
    }
    check |this, path| { lasthop_registry::Parameters::check(&this.between_walls(), path) }
}

impl Params {
    fn between_walls(&self) -> log_distance::Params {
        let Params { exponent, reference_distance, reference_loss } = self.clone();
        log_distance::Params { exponent, reference_distance, reference_loss }
    }
}

impl PathLoss for Params {
    fn loss(&self, tx: Position, rx: Position, frequency_hz: f64) -> Db {
        self.between_walls().loss(tx, rx, frequency_hz)
    }
}
