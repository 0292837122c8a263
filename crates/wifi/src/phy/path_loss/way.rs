//! Paths of nodes in time: straight from way-point to way-point, each stretch at constant speed.

use lasthop_units::{Metres, Time};

use super::position::Position;

/// Way-points in the order of their times; a single one is a fixed position.
#[derive(Clone, Debug, PartialEq)]
pub struct Way(Vec<(Time, Position)>);

impl From<Position> for Way {
    fn from(place: Position) -> Way {
        Way(vec![(Time::ZERO, place)])
    }
}

impl Way {
    /// A way through these points; `None` if there are none, or their times do not grow.
    pub fn through(points: Vec<(Time, Position)>) -> Option<Way> {
        (!points.is_empty() && points.is_sorted_by(|a, b| a.0 < b.0)).then_some(Way(points))
    }

    /// Returns whether the position changes with time.
    pub fn moves(&self) -> bool {
        self.0.iter().any(|point| point.1 != self.0[0].1)
    }

    /// The position at the time `at`: the first point before its time, the last after its time.
    pub fn at(&self, at: Time) -> Position {
        let next = self.0.partition_point(|point| point.0 <= at);
        if next == 0 || next == self.0.len() {
            return self.0[next.saturating_sub(1)].1;
        }
        let ((began, from), (ends, to)) = (self.0[next - 1], self.0[next]);
        let share = at.since(began).as_secs_f64() / ends.since(began).as_secs_f64();
        let between = |a: Metres, b: Metres| Metres(a.0 + (b.0 - a.0) * share);
        Position { x: between(from.x, to.x), y: between(from.y, to.y) }
    }

    /// The distance travelled until the time `at`.
    pub fn travelled(&self, at: Time) -> Metres {
        let stretch = |pair: &[(Time, Position)]| {
            let (from, to) = (pair[0], pair[1]);
            if at >= to.0 { from.1.distance(to.1).0 } else { from.1.distance(self.at(at)).0 }
        };
        Metres(self.0.windows(2).take_while(|pair| pair[0].0 < at).map(stretch).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(s: u64, x: f64, y: f64) -> (Time, Position) {
        (Time::from_nanos(s * 1_000_000_000), Position { x: Metres(x), y: Metres(y) })
    }

    #[test]
    fn a_node_goes_straight_at_constant_speed_and_stays_at_both_ends() {
        let way = Way::through(vec![point(10, 0.0, 0.0), point(20, 30.0, 40.0), point(30, 30.0, 0.0)]).unwrap();
        let places = [0, 10, 15, 20, 25, 30, 99].map(|s| way.at(point(s, 0.0, 0.0).0)).map(|p| (p.x.0, p.y.0));
        let expected = [(0.0, 0.0), (0.0, 0.0), (15.0, 20.0), (30.0, 40.0), (30.0, 20.0), (30.0, 0.0), (30.0, 0.0)];
        assert_eq!(places, expected);
        let travelled = [0, 10, 15, 20, 25, 30, 99].map(|s| way.travelled(point(s, 0.0, 0.0).0).0);
        assert_eq!(travelled, [0.0, 0.0, 25.0, 50.0, 70.0, 90.0, 90.0]);
        assert!(way.moves());
    }

    #[test]
    fn way_points_come_in_the_order_of_their_times() {
        assert_eq!(Way::through(vec![]), None);
        assert_eq!(Way::through(vec![point(2, 0.0, 0.0), point(2, 1.0, 0.0)]), None);
        assert!(!Way::through(vec![point(2, 1.0, 0.0), point(3, 1.0, 0.0)]).unwrap().moves());
    }
}
