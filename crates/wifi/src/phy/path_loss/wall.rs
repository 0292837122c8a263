//! Walls that the straight line between two antennas crosses.
//!
//! A wall is crossed if its two ends lie on different sides of the line and the two antennas on different sides of the
//! wall. A point exactly on a line counts as to its left, where lines and walls are oriented from their smaller end (x
//! first, then y). The effect is that of a tiny shift of that point:
//! - a line through the joint of two pieces of a wall crosses one of them, however they were written down;
//! - a line along a wall does not cross it, and a line from a position to itself crosses nothing;
//! - an antenna on a wall is on one side of it for all others;
//! - both directions of a pair cross the same walls.

use lasthop_units::Db;

use super::position::Position;

/// A wall on the plane, of unlimited height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wall {
    /// one end
    pub from: Position,
    /// the other end
    pub to: Position,
    /// loss of a signal through it
    pub loss: Db,
}

impl Wall {
    /// Returns whether a signal between `a` and `b` passes through this wall.
    pub fn is_crossed(&self, a: Position, b: Position) -> bool {
        let left_of_line = |p| is_left(p, a, b);
        let left_of_wall = |p| is_left(p, self.from, self.to);
        left_of_line(self.from) != left_of_line(self.to) && left_of_wall(a) != left_of_wall(b)
    }
}

/// The loss of a signal between `a` and `b` in all walls.
pub fn loss(walls: &[Wall], a: Position, b: Position) -> Db {
    walls.iter().filter(|wall| wall.is_crossed(a, b)).fold(Db(0.0), |sum, wall| sum + wall.loss)
}

/// Returns whether `p` lies to the left of the line through two points, or on it, seen from the smaller of the two.
fn is_left(p: Position, a: Position, b: Position) -> bool {
    let (a, b) = if (b.x, b.y) < (a.x, a.y) { (b, a) } else { (a, b) };
    (b.x.0 - a.x.0) * (p.y.0 - a.y.0) - (b.y.0 - a.y.0) * (p.x.0 - a.x.0) >= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_units::Metres;

    fn at(x: f64, y: f64) -> Position {
        Position { x: Metres(x), y: Metres(y) }
    }
    fn wall(from: (f64, f64), to: (f64, f64)) -> Wall {
        Wall { from: at(from.0, from.1), to: at(to.0, to.1), loss: Db(7.0) }
    }
    fn crossed(walls: &[Wall], a: (f64, f64), b: (f64, f64)) -> f64 {
        let (a, b) = (at(a.0, a.1), at(b.0, b.1));
        let there = loss(walls, a, b).0 / 7.0;
        assert_eq!(loss(walls, b, a).0 / 7.0, there, "both ways are alike");
        let turned: Vec<Wall> = walls.iter().map(|w| Wall { from: w.to, to: w.from, ..*w }).collect();
        assert_eq!(loss(&turned, a, b).0 / 7.0, there, "a wall has no direction");
        there
    }

    #[test]
    fn line_crosses_a_wall_across_it() {
        let walls = [wall((6.0, -10.0), (6.0, 20.0)), wall((14.0, -10.0), (14.0, 20.0))];
        assert_eq!(crossed(&walls, (0.0, 0.0), (2.0, 0.0)), 0.0);
        assert_eq!(crossed(&walls, (0.0, 0.0), (10.0, 3.0)), 1.0);
        assert_eq!(crossed(&walls, (0.0, 0.0), (25.0, 8.0)), 2.0);
        // A line round the end: at x = 6 it is at y = 24.
        assert_eq!(crossed(&walls, (0.0, 0.0), (7.0, 28.0)), 0.0);
        // Walls behind the antennas, and a parallel one.
        assert_eq!(crossed(&walls, (0.0, 0.0), (-9.0, 0.0)), 0.0);
        assert_eq!(crossed(&walls, (5.0, 0.0), (5.0, 9.0)), 0.0);
    }

    #[test]
    fn a_joint_of_two_pieces_is_crossed_once() {
        let pieces = [wall((5.0, -5.0), (5.0, 0.0)), wall((5.0, 0.0), (5.0, 5.0))];
        assert_eq!(crossed(&pieces, (0.0, 0.0), (10.0, 0.0)), 1.0);
        assert_eq!(crossed(&pieces, (0.0, -3.0), (10.0, 3.0)), 1.0);
        // A corner that the line crosses, and one that it grazes.
        let corner = [wall((5.0, 5.0), (5.0, 0.0)), wall((5.0, 0.0), (9.0, -4.0))];
        assert_eq!(crossed(&corner, (0.0, 0.0), (10.0, 0.0)), 1.0);
        let roof = [wall((4.0, -4.0), (5.0, 0.0)), wall((5.0, 0.0), (6.0, -4.0))];
        assert!([0.0, 2.0].contains(&crossed(&roof, (0.0, 0.0), (10.0, 0.0))));
    }

    #[test]
    fn along_a_wall_nothing_is_crossed() {
        let along = [wall((2.0, 0.0), (8.0, 0.0))];
        assert_eq!(crossed(&along, (0.0, 0.0), (10.0, 0.0)), 0.0);
        assert_eq!(crossed(&along, (3.0, 0.0), (5.0, 0.0)), 0.0);
        assert_eq!(crossed(&along, (3.0, 1.0), (3.0, 1.0)), 0.0);
    }

    #[test]
    fn an_antenna_on_a_wall_is_on_one_side_of_it() {
        let one = [wall((5.0, -5.0), (5.0, 5.0))];
        let (left, right) = (crossed(&one, (5.0, 0.0), (0.0, 1.0)), crossed(&one, (5.0, 0.0), (10.0, 1.0)));
        assert_eq!(left + right, 1.0);
        assert_eq!(crossed(&one, (5.0, 0.0), (0.0, -3.0)), left);
    }
}
