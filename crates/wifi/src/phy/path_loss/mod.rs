//! Path loss: the attenuation of a signal, from the positions of the antennas.

mod free_space;
mod interface;
mod position;
pub mod wall;
mod way;

use lasthop_registry::registry;

pub use interface::PathLoss;
pub use position::Position;
pub use wall::Wall;
pub use way::Way;

registry! {
    /// The choice `path_loss = "…"`.
    pub enum PathLossKind as "path_loss" {
        /// No loss: every signal arrives as strong as it was sent.
        none => None: source "—", status "nothing to validate";
        /// Free space: 20 dB per tenfold distance.
        friis => Friis: source "Friis 1946", status "unit tests";
        /// Free space up to the crossover distance, then a ground reflection: 40 dB per tenfold distance.
        two_ray_ground => TwoRayGround: source "Rappaport 2002 §4.6", status "unit tests; crossover as in ns-2";
        /// A chosen exponent beyond a reference distance.
        log_distance => LogDistance: source "Rappaport 2002 §4.9", status "unit tests";
        /// Log-distance plus the loss of each wall in between.
        multi_wall => MultiWall: source "COST 231 1999 §4.7", status "unit tests";
        /// Within a building, with walls and furniture included.
        itu_indoor => ItuIndoor: source "ITU-R P.1238-7", status "unit tests";
    }
    planned:
}

impl PathLossKind {
    /// Returns whether signals weaken on their way.
    pub fn weakens(&self) -> bool {
        !matches!(self, PathLossKind::None(_))
    }

    /// The law itself.
    pub fn law(&self) -> &dyn PathLoss {
        match self {
            PathLossKind::None(law) => law,
            PathLossKind::Friis(law) => law,
            PathLossKind::TwoRayGround(law) => law,
            PathLossKind::LogDistance(law) => law,
            PathLossKind::MultiWall(law) => law,
            PathLossKind::ItuIndoor(law) => law,
        }
    }

    /// Returns whether walls also weaken signals.
    pub fn has_walls(&self) -> bool {
        matches!(self, PathLossKind::MultiWall(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_units::Metres;

    /// The loss over `distance_m` at 2.4 GHz, in dB.
    pub fn loss_db(law: &dyn PathLoss, distance_m: f64) -> f64 {
        let rx = Position { x: Metres(distance_m), y: Metres(0.0) };
        law.loss(Position::default(), rx, 2.4e9).0
    }

    #[test]
    fn distance_is_along_the_straight_line() {
        let (a, b) = (Position { x: Metres(1.0), y: Metres(1.0) }, Position { x: Metres(4.0), y: Metres(5.0) });
        assert_eq!(a.distance(b), Metres(5.0));
    }

    #[test]
    fn no_law_amplifies_and_none_weakens_with_distance() {
        for kind in PathLossKind::all() {
            let losses: Vec<f64> = (0..2000).map(|i| loss_db(kind.law(), f64::from(i) * 0.5)).collect();
            let has_reference = ["log_distance", "multi_wall", "itu_indoor"].contains(&kind.name());
            assert!(losses[0] == 0.0 || has_reference, "{}", kind.name());
            assert!(losses.iter().all(|l| l.is_finite() && *l >= 0.0), "{}", kind.name());
            assert!(losses.is_sorted(), "{}", kind.name());
        }
    }
}
