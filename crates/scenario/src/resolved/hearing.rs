//! Whether all nodes receive each other well enough: from the distances of nodes, and from single pairs only where
//! distances leave it open.
//!
//! Where loss grows with distance, a signal that is strong enough over some distance is so over any shorter one. The
//! rectangle around all nodes of a channel settles most scenarios at once, in as many steps as there are nodes;
//! otherwise only pairs further apart than all pairs found good so far are worked out. Until a pair is worked out, all
//! walls count as if they stood between its nodes.

use lasthop_units::{Db, Dbm, Metres, Time};
use lasthop_wifi::phy::path_loss::{PathLossKind, Position};

use super::space::{Antenna, Space};

/// Factor on the square of a distance at which its loss is certainly no greater, despite rounding.
const SURELY_NEARER: f64 = 1.0 - 1e-9;

/// A bound on the rounding error of a sum of losses.
const ROUNDING: Db = Db(1e-6);

/// Whether loss never decreases as distance grows.
fn grows_with_distance(law: &PathLossKind) -> bool {
    match law {
        PathLossKind::None(_)
        | PathLossKind::Friis(_)
        | PathLossKind::TwoRayGround(_)
        | PathLossKind::LogDistance(_)
        | PathLossKind::MultiWall(_)
        | PathLossKind::ItuIndoor(_) => true,
    }
}

/// Senders that differ only in their places.
#[derive(Clone, Copy, PartialEq)]
struct Class {
    tx_power: Dbm,
    frequency_hz: f64,
}

impl Class {
    fn of(antenna: &Antenna) -> Class {
        Class { tx_power: antenna.tx_power, frequency_hz: antenna.frequency_hz }
    }
}

impl Space {
    /// Whether at the start each node receives all others of its channel at `weakest` or above.
    pub(super) fn all_hear(&self, weakest: Dbm) -> bool {
        if !grows_with_distance(&self.path_loss) {
            return self.all_pairs_hear(weakest);
        }
        let is_hidden = |&(a, b): &(usize, usize)| self.nodes[a].channel == self.nodes[b].channel;
        if weakest.0 > f64::NEG_INFINITY && self.hidden.iter().any(is_hidden) {
            return false;
        }
        let channels = self.nodes.iter().map(|node| node.channel as usize + 1).max().unwrap_or(0);
        let mut members = vec![Vec::new(); channels];
        for (index, node) in self.nodes.iter().enumerate() {
            members[node.channel as usize].push((index, node.way.at(Time::ZERO)));
        }
        members.iter().all(|members| self.members_hear(members, weakest))
    }

    /// The same for the nodes of a channel, with their places.
    fn members_hear(&self, members: &[(usize, Position)], weakest: Dbm) -> bool {
        let mut classes: Vec<Class> = Vec::new();
        for &(index, _) in members {
            let class = Class::of(&self.nodes[index]);
            if !classes.contains(&class) {
                classes.push(class);
            }
        }
        let [low, high] = corners(members.iter().map(|member| member.1));
        classes
            .into_iter()
            .all(|class| self.reaches(class, low, high, weakest) || self.class_is_heard(class, members, weakest))
    }

    /// The same for the senders of a class.
    fn class_is_heard(&self, class: Class, members: &[(usize, Position)], weakest: Dbm) -> bool {
        let mut good_until: f64 = -1.0;
        for &(tx, from) in members.iter().filter(|(tx, _)| Class::of(&self.nodes[*tx]) == class) {
            for &(rx, to) in members {
                let apart = square(from, to);
                if apart <= good_until || tx == rx {
                    continue;
                }
                if self.reaches(class, from, to, weakest) {
                    good_until = good_until.max(apart * SURELY_NEARER);
                } else if self.mean_power(Time::ZERO, tx, rx) < weakest {
                    return false;
                }
            }
        }
        true
    }

    /// Whether a signal is strong enough between two places, and over any shorter path, even with all walls in between.
    fn reaches(&self, class: Class, from: Position, to: Position, weakest: Dbm) -> bool {
        let walls = self.walls.iter().fold(ROUNDING, |sum, wall| sum + Db(wall.loss.0.max(0.0)));
        let loss = self.path_loss.law().loss(from, to, class.frequency_hz);
        class.tx_power - loss - walls >= weakest
    }

    /// The same as [`all_hear`](Self::all_hear), pair by pair.
    fn all_pairs_hear(&self, weakest: Dbm) -> bool {
        let pairs = |rx: usize| (0..rx).flat_map(move |tx| [(tx, rx), (rx, tx)]);
        (0..self.nodes.len()).flat_map(pairs).all(|(tx, rx)| {
            self.nodes[tx].channel != self.nodes[rx].channel || self.mean_power(Time::ZERO, tx, rx) >= weakest
        })
    }
}

/// The corners of the smallest axis-parallel rectangle around all places.
fn corners(places: impl Iterator<Item = Position> + Clone) -> [Position; 2] {
    let extreme = |of: fn(Position) -> f64, choose: fn(f64, f64) -> f64| places.clone().map(of).reduce(choose);
    let corner = |choose| {
        let [x, y] = [extreme(|p| p.x.0, choose), extreme(|p| p.y.0, choose)].map(|side| Metres(side.unwrap_or(0.0)));
        Position { x, y }
    };
    [corner(f64::min), corner(f64::max)]
}

/// The square of a distance, in square metres.
fn square(a: Position, b: Position) -> f64 {
    let (x, y) = (a.x.0 - b.x.0, a.y.0 - b.y.0);
    x * x + y * y
}

#[cfg(test)]
mod tests {
    use lasthop_registry::{Parameter, Value};
    use lasthop_wifi::phy::path_loss::{Wall, Way};
    use proptest::prelude::*;

    use super::*;

    fn law(kind: &str, key: &str, value: Option<f64>) -> PathLossKind {
        let mut table = vec![("kind".to_string(), Value::text(kind))];
        table.extend(value.map(|value| (key.to_string(), Value::Float(value))));
        PathLossKind::parse(&Value::Table(table), "path_loss").expect("it is a law")
    }

    fn any_law() -> impl Strategy<Value = PathLossKind> {
        let exponent = |kind: &'static str| (0.0..5.0).prop_map(move |n| law(kind, "exponent", Some(n)));
        prop_oneof![
            Just(law("friis", "", None)),
            Just(law("two_ray_ground", "", None)),
            Just(law("itu_indoor", "", None)),
            Just(law("none", "", None)),
            exponent("log_distance"),
            exponent("multi_wall"),
        ]
    }

    /// Places on a coarse grid, so that some coincide and distances repeat.
    fn place(scale: f64) -> impl Strategy<Value = Position> {
        (-6_i32..7, -6_i32..7)
            .prop_map(move |(x, y)| Position { x: Metres(f64::from(x) * scale), y: Metres(f64::from(y) * scale) })
    }

    fn antenna(scale: f64) -> impl Strategy<Value = Antenna> {
        (place(scale), 0_u32..3, 0_u32..2).prop_map(|(place, power, channel)| Antenna {
            way: Way::from(place),
            moves: false,
            tx_power: Dbm(15.0 + 2.5 * f64::from(power)),
            frequency_hz: [2.4e9, 5.2e9][channel as usize],
            channel,
            range_hz: None,
        })
    }

    fn space() -> impl Strategy<Value = Space> {
        prop_oneof![Just(0.1), Just(3.0), Just(40.0), Just(700.0)].prop_flat_map(|scale| {
            let wall =
                (place(scale), place(scale), 0.0..9.0).prop_map(|(from, to, db)| Wall { from, to, loss: Db(db) });
            let nodes = prop::collection::vec(antenna(scale), 1..12);
            let hidden = prop::collection::vec((0_usize..12, 0_usize..12), 0..2);
            (nodes, any_law(), prop::collection::vec(wall, 0..4), hidden, 0..4).prop_map(
                |(nodes, path_loss, walls, hidden, hides)| {
                    let is_pair = |&(a, b): &(usize, usize)| a < b && b < nodes.len() && hides == 0;
                    let hidden = hidden.into_iter().filter(is_pair).collect();
                    Space { nodes, path_loss, walls, shadows: None, hidden, interferers: vec![] }
                },
            )
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        /// Levels are random, or exactly those of a pair, where equality decides.
        #[test]
        fn distances_and_pairs_agree(space in space(), drawn in -110.0..10.0, tx in 0_usize..12, rx in 0_usize..12) {
            let (tx, rx) = (tx % space.nodes.len(), rx % space.nodes.len());
            let of_pair = space.mean_power(Time::ZERO, tx, rx);
            let just_above = Dbm(of_pair.0 + of_pair.0.abs() * f64::EPSILON);
            for weakest in [Dbm(drawn), of_pair, just_above].into_iter().filter(|level| !level.0.is_nan()) {
                prop_assert_eq!(space.all_hear(weakest), space.all_pairs_hear(weakest), "at {}", weakest);
            }
        }

        /// No pair of a cell that is received needs work: its rectangle settles the matter.
        #[test]
        fn a_ring_of_stations_is_settled_without_pairs(stations in 2_usize..200, radius in 1.0..20.0) {
            let on_ring = |k: usize| {
                let angle = 2.0 * std::f64::consts::PI * k as f64 / stations as f64;
                Position { x: Metres(radius * libm::cos(angle)), y: Metres(radius * libm::sin(angle)) }
            };
            let antenna = |k| Antenna {
                way: Way::from(on_ring(k)), moves: false, tx_power: Dbm(20.0), frequency_hz: 2.4e9, channel: 0, range_hz: None,
            };
            let nodes: Vec<Antenna> = (0..stations).map(antenna).collect();
            let space = Space { nodes, path_loss: law("two_ray_ground", "", None), walls: vec![], shadows: None, hidden: vec![], interferers: vec![] };
            let places: Vec<(usize, Position)> = (0..stations).map(|k| (k, on_ring(k))).collect();
            let [low, high] = corners(places.iter().map(|place| place.1));
            prop_assert!(space.reaches(Class::of(&space.nodes[0]), low, high, Dbm(-82.0)));
            prop_assert!(space.all_hear(Dbm(-82.0)) && space.all_pairs_hear(Dbm(-82.0)));
        }
    }
}
