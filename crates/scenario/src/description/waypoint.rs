//! A point on the path of a moving station: `["10 s", "3 m", "4 m"]`.

use lasthop_registry::{ParamError, Parameter, Shape, Value};
use lasthop_units::{Duration, Metres};

/// A time and the position at that time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Waypoint {
    pub at: Duration,
    pub place: [Metres; 2],
}

impl Parameter for Waypoint {
    fn shape() -> Shape {
        Shape::List(Box::new(Shape::AnyOf(vec![Duration::shape(), Metres::shape()])))
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        match value {
            Value::List(items) if items.len() == 3 => Ok(Waypoint {
                at: Duration::parse(&items[0], &format!("{path}[0]"))?,
                place: [
                    Metres::parse(&items[1], &format!("{path}[1]"))?,
                    Metres::parse(&items[2], &format!("{path}[2]"))?,
                ],
            }),
            _ => Err(ParamError::new(path, "a time and two coordinates are needed, like [\"10 s\", \"3 m\", \"4 m\"]")),
        }
    }
    fn to_value(&self) -> Option<Value> {
        Some(Value::List(vec![Value::text(self.at), Value::text(self.place[0]), Value::text(self.place[1])]))
    }
}
