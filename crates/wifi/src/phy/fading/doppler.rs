//! Movement in wavelengths, which makes a channel fade: of the surroundings, and of the two nodes.
//!
//! The paths between two nodes change their phases with the distances that people, doors and the nodes themselves
//! travel. Measured in wavelengths, that distance is time times the Doppler shift. A station that walks adds the length
//! of its way, so its channel fades as fast as the station walks, and slowly while it rests.

use lasthop_registry::ParamError;
use lasthop_units::{Hertz, Speed, Time};

use super::antenna::Antenna;
use crate::phy::path_loss::Way;

/// Speed of light in m/s.
const LIGHT: f64 = 299_792_458.0;

/// Speed of people around still nodes: 1.2 km/h. [TGn 2004 §4.7.1]
pub const TGN_SPEED: Speed = Speed(1.2 / 3.6);

/// The same by TGac and TGax, after measurements with fewer people: 0.089 km/h. [TGac 2010 §4]
pub const TGAC_SPEED: Speed = Speed(0.089 / 3.6);

/// Faster than anything that carries a station.
const FASTEST: Speed = Speed(1000.0);

/// The Doppler shift at [`FASTEST`] in the 5 GHz band.
const HIGHEST: Hertz = Hertz(20_000.0);

/// The cause of fading around nodes at rest.
#[derive(Clone, Copy, Debug)]
enum Surroundings {
    Shift(Hertz),
    Speed(Speed),
}

/// The movement of all nodes and of their surroundings.
#[derive(Clone, Debug)]
pub(super) struct Movement {
    surroundings: Surroundings,
    nodes: Vec<Mover>,
}

#[derive(Clone, Debug)]
struct Mover {
    frequency_hz: f64,
    /// Its way, if it moves.
    way: Option<Way>,
}

impl Movement {
    pub(super) fn new(doppler: Option<Hertz>, speed: Option<Speed>, nodes: &[Antenna]) -> Movement {
        let by_speed = || Surroundings::Speed(speed.unwrap_or(TGN_SPEED));
        let mover =
            |node: &Antenna| Mover { frequency_hz: node.frequency_hz, way: node.way.moves().then(|| node.way.clone()) };
        Movement {
            surroundings: doppler.map_or_else(by_speed, Surroundings::Shift),
            nodes: nodes.iter().map(mover).collect(),
        }
    }

    /// Wavelengths travelled between the nodes `a` and `b` until `at`.
    pub(super) fn wavelengths(&self, a: usize, b: usize, at: Time) -> f64 {
        let (a, b) = (&self.nodes[a], &self.nodes[b]);
        // Nodes that hear one another are on one channel.
        let wavelength = LIGHT / a.frequency_hz.max(b.frequency_hz);
        let travelled = |node: &Mover| node.way.as_ref().map_or(0.0, |way| way.travelled(at).0);
        let around = match self.surroundings {
            Surroundings::Shift(shift) => shift.0 * at.as_secs_f64(),
            Surroundings::Speed(speed) => speed.0 * at.as_secs_f64() / wavelength,
        };
        around + (travelled(a) + travelled(b)) / wavelength
    }
}

/// Checks the keys `doppler` and `speed`.
pub(super) fn check(doppler: Option<Hertz>, speed: Option<Speed>, path: &str) -> Result<(), ParamError> {
    if let (Some(_), Some(_)) = (doppler, speed) {
        let message = ("the Doppler shift follows from speed", "give doppler or speed, not both");
        return Err(ParamError::new(format!("{path}.doppler"), message));
    }
    if doppler.is_some_and(|shift| !(0.0..=HIGHEST.0).contains(&shift.0)) {
        return Err(ParamError::new(format!("{path}.doppler"), format!("a Doppler shift is from 0 Hz to {HIGHEST}")));
    }
    if speed.is_some_and(|speed| !(0.0..=FASTEST.0).contains(&speed.0)) {
        return Err(ParamError::new(format!("{path}.speed"), format!("a speed is from 0 m/s to {FASTEST}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::path_loss::Position;
    use lasthop_units::Metres;

    fn at(s: u64) -> Time {
        Time::from_nanos(s * 1_000_000_000)
    }

    #[test]
    fn shift_is_speed_over_wavelength_and_walks_add_their_length() {
        let place = |x| Position { x: Metres(x), y: Metres(0.0) };
        let still = Way::from(place(0.0));
        // 2 m/s for ten seconds, then a rest.
        let walk = Way::through(vec![(at(0), place(5.0)), (at(10), place(25.0))]).unwrap();
        // A wavelength of 0.05 m.
        let antenna = |way| Antenna { name: "x", way, frequency_hz: 20.0 * LIGHT, bandwidth_hz: 20e6, antennas: 1 };
        let nodes = [antenna(&still), antenna(&still), antenna(&walk), antenna(&walk)];
        let found = |doppler, speed, s| {
            let movement = Movement::new(doppler, speed, &nodes);
            [(0, 1), (0, 2), (3, 2)].map(|(a, b)| {
                assert_eq!(movement.wavelengths(a, b, at(s)), movement.wavelengths(b, a, at(s)));
                movement.wavelengths(a, b, at(s))
            })
        };
        let near = |found: [f64; 3], expected: [f64; 3]| {
            assert!(found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-6), "{found:?} {expected:?}");
        };
        near(found(Some(Hertz(6.0)), None, 10), [60.0, 460.0, 860.0]);
        near(found(None, Some(Speed(0.5)), 10), [100.0, 500.0, 900.0]);
        near(found(None, Some(Speed(0.0)), 20), [0.0, 400.0, 800.0]);
        // 1.2 km/h: a third of a metre in a second.
        near(found(None, None, 3), [20.0, 140.0, 260.0]);
    }
}
