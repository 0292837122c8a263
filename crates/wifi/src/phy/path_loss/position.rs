//! Places.

use lasthop_units::Metres;

/// A place on the plane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Position {
    /// to the east
    pub x: Metres,
    /// to the north
    pub y: Metres,
}

impl Position {
    /// How far `other` is.
    pub fn distance(self, other: Position) -> Metres {
        Metres(libm::hypot(self.x.0 - other.x.0, self.y.0 - other.y.0))
    }
}
