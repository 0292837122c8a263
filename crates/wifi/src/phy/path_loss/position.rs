//! Positions.

use lasthop_units::Metres;

/// A position on the plane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Position {
    /// metres to the east
    pub x: Metres,
    /// metres to the north
    pub y: Metres,
}

impl Position {
    /// The distance to `other`.
    pub fn distance(self, other: Position) -> Metres {
        Metres(libm::hypot(self.x.0 - other.x.0, self.y.0 - other.y.0))
    }
}
