//! Loss that grows with a power of the distance beyond a reference. [Rappaport 2002 §4.9]
//!
//! `L(d) = L(d_0) + 10 n log10(d / d_0)`; nearer than the reference, `L(d_0)`. Left out: shadowing.

use lasthop_units::{Db, Metres};

use super::free_space::free_space;
use super::interface::PathLoss;
use super::position::Position;

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {
        /// How fast the loss grows: 2 in free space, 3 among offices.
        pub exponent: f64 = 3.0,
        /// Distance at which the reference loss is known.
        pub reference_distance: Metres = Metres(1.0),
        /// Loss at that distance; default: free space on the BSS's channel.
        pub reference_loss: Option<Db> = None,
    }
    check |this, path| {
        if this.exponent < 0.0 {
            return lasthop_registry::refuse(path, "exponent", format!("{} is negative: signals do not grow on their way", this.exponent));
        }
        if this.reference_distance.0 <= 0.0 {
            return lasthop_registry::refuse(path, "reference_distance", format!("{} is not positive", this.reference_distance));
        }
        Ok(())
    }
}

impl PathLoss for Params {
    fn loss(&self, tx: Position, rx: Position, frequency_hz: f64) -> Db {
        let reference = self.reference_loss.unwrap_or_else(|| free_space(self.reference_distance, frequency_hz));
        let ratio = (tx.distance(rx).0 / self.reference_distance.0).max(1.0);
        Db((reference.0 + 10.0 * self.exponent * libm::log10(ratio)).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::loss_db;
    use super::*;

    #[test]
    fn each_tenfold_distance_costs_ten_times_the_exponent() {
        let law = Params { reference_loss: Some(Db(40.0)), ..Params::default() };
        assert!((loss_db(&law, 0.5) - 40.0).abs() < 1e-9);
        assert!((loss_db(&law, 10.0) - 70.0).abs() < 1e-9);
        assert!((loss_db(&law, 100.0) - 100.0).abs() < 1e-9);
    }

    #[test]
    fn the_reference_defaults_to_free_space() {
        // 20 log10(4 pi * 2.4e9 / c) = 40.05 dB.
        assert!((loss_db(&Params::default(), 1.0) - 40.05).abs() < 0.01);
    }
}
