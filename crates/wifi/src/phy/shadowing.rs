//! Shadowing: furniture, people and walls that the scenario does not name weaken one path and spare another.
//!
//! In dB it is normal about the path loss, with a standard deviation of `deviation`. It is a property of places: if
//! one end of a path moves by `s`, the correlation falls as `exp(-s / distance)` [Gudmundson 1991], and if both ends
//! move, by both factors [Wang, Tameh, Nix 2008]. So stations that stand together share a shadow, two paths from one
//! place to far ends do not, and both directions of a path are equal.
//!
//! The field over pairs of places is a sum of waves in space, which gives the value anywhere without its neighbours
//! [Cai, Giannakis 2003]: wave vectors of either end are drawn from the spectrum of the exponential on the plane,
//! `1 / (1 + (k d)²)^(3/2)`, so that the mean over fields has exactly this correlation. Left out: correlation with
//! `[[wall]]`s, change with time.

use lasthop_engine::Stream;
use lasthop_registry::ParamError;
use lasthop_units::{Db, Metres};

use super::path_loss::Position;

const CIRCLE: f64 = 2.0 * core::f64::consts::PI;

/// Waves of a field.
const WAVES: usize = 128;

lasthop_registry::params! {
    /// Shadowing by place.
    pub struct Shadowing {
        /// Standard deviation of the loss about the path loss.
        pub deviation: Db = Db(6.0),
        /// Distance over which the correlation falls to 1/e. [Gudmundson 1991]
        pub distance: Metres = Metres(10.0),
    }
    check |this, path| {
        if !(0.0..=100.0).contains(&this.deviation.0) {
            let message = format!("{} is not a standard deviation of shadowing: from 0 dB to 100 dB", this.deviation);
            return Err(ParamError::new(format!("{path}.deviation"), message));
        }
        if this.distance.0 < 0.001 {
            let message = "shadows are as large as the things that cast them, at least 1 mm";
            return Err(ParamError::new(format!("{path}.distance"), message));
        }
        Ok(())
    }
}

/// The shadowing between any two places.
#[derive(Clone, Debug)]
pub struct Shadows {
    deviation: Db,
    distance: Metres,
    waves: Vec<Wave>,
}

/// A wave over pairs of places: radians per metre of either end, and the phase.
#[derive(Clone, Copy, Debug)]
struct Wave {
    ends: [[f64; 2]; 2],
    phase: f64,
}

impl Shadowing {
    /// The shadows of the run under `seed`.
    pub fn shadows(&self, seed: u64) -> Shadows {
        let mut stream = Stream::new(seed, "shadowing", 0);
        let wave = |n: usize| {
            let [spread, other, towards, away, phase] = core::array::from_fn(|_| stream.unit());
            let ends = [((n as f64 + spread) / WAVES as f64, towards), (other, away)];
            Wave { ends: ends.map(|(rank, angle)| self.wave_vector(rank, angle)), phase: CIRCLE * phase }
        };
        let waves = (0..WAVES).map(wave).collect();
        Shadows { deviation: self.deviation, distance: self.distance, waves }
    }

    /// The wave vector below which this share of all lies, in this direction as a share of the circle.
    fn wave_vector(&self, rank: f64, angle: f64) -> [f64; 2] {
        // The share below k is 1 - 1 / sqrt(1 + (k d)^2).
        let reach = 1.0 / (1.0 - rank);
        let k = libm::sqrt(reach * reach - 1.0) / self.distance.0;
        let (sin, cos) = libm::sincos(CIRCLE * angle);
        [k * cos, k * sin]
    }
}

impl Shadows {
    /// Loss between two places in addition to the path loss; negative for a path that is clearer than most.
    pub fn loss(&self, a: Position, b: Position) -> Db {
        let along = |k: [f64; 2], at: Position| k[0] * at.x.0 + k[1] * at.y.0;
        // Both ways: cos x + cos y = 2 cos((x + y) / 2) cos((x - y) / 2).
        let both = |wave: &Wave| {
            let [one, other] = wave.ends;
            let there = along(one, a) + along(other, b);
            let back = along(one, b) + along(other, a);
            2.0 * libm::cos((there + back) / 2.0 + wave.phase) * libm::cos((there - back) / 2.0)
        };
        let sum: f64 = self.waves.iter().map(both).sum();
        // The two ways are correlated if their ends are close to one another.
        let together = libm::exp(-2.0 * a.distance(b).0 / self.distance.0);
        let variance = WAVES as f64 * (1.0 + together);
        Db(self.deviation.0 * sum / libm::sqrt(variance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f64, y: f64) -> Position {
        Position { x: Metres(x), y: Metres(y) }
    }

    /// The mean over fields of what `of` makes of one with a deviation of 1 dB and a distance of 10 m.
    fn mean(fields: u64, of: impl Fn(&dyn Fn(Position, Position) -> f64) -> f64) -> f64 {
        let shadowing = Shadowing { deviation: Db(1.0), ..Shadowing::default() };
        let one = |seed| {
            let shadows = shadowing.shadows(seed);
            of(&|a, b| shadows.loss(a, b).0)
        };
        (0..fields).map(one).sum::<f64>() / fields as f64
    }

    #[test]
    fn it_is_log_normal_about_the_path_loss() {
        let n = 20_000;
        for (a, b) in [(at(0.0, 0.0), at(30.0, 4.0)), (at(3.0, 3.0), at(4.0, 3.0)), (at(7.0, 7.0), at(7.0, 7.0))] {
            let moment = |power: i32| mean(n, |loss| loss(a, b).powi(power));
            // Deviations of the moments of a standard normal: 1, 2, 15 and 96 over n.
            let error = |variance: f64| 5.0 * (variance / n as f64).sqrt();
            assert!(moment(1).abs() < error(1.0), "{}", moment(1));
            assert!((moment(2) - 1.0).abs() < error(2.0), "{}", moment(2));
            assert!(moment(3).abs() < error(15.0), "{}", moment(3));
            // A wave both ways has up to four times the power of one: 3 - 1.5 (1 to 2.25) / 128.
            assert!((moment(4) - 3.0).abs() < error(96.0) + 0.03, "{}", moment(4));
        }
    }

    #[test]
    fn correlation_falls_with_the_distance_that_either_end_moves() {
        let n = 20_000;
        // Ends so far apart that the way back adds nothing: e^-20.
        let (ap, sta) = (at(0.0, 0.0), at(100.0, 0.0));
        for (moved, expected) in [
            ((ap, at(100.0, 2.0)), libm::exp(-0.2)),
            ((ap, at(100.0, 10.0)), libm::exp(-1.0)),
            ((ap, at(110.0, 0.0)), libm::exp(-1.0)),
            ((at(-3.0, 4.0), at(100.0, 5.0)), libm::exp(-1.0)),
            ((ap, at(-100.0, 0.0)), 0.0),
        ] {
            let found = mean(n, |loss| loss(ap, sta) * loss(moved.0, moved.1));
            assert!((found - expected).abs() < 5.0 * (2.0 / n as f64).sqrt(), "{moved:?}: {found} {expected}");
        }
    }

    #[test]
    fn both_directions_are_equal_and_seeds_are_not() {
        let shadows = |seed| Shadowing::default().shadows(seed);
        let (a, b) = (at(1.0, 2.0), at(17.0, -3.0));
        assert_eq!(shadows(1).loss(a, b), shadows(1).loss(b, a));
        assert_ne!(shadows(1).loss(a, b), shadows(2).loss(a, b));
    }
}
