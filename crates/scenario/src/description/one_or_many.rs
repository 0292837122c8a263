//! A section that may come once or several times.

use lasthop_registry::{ParamError, Parameter, Shape, Value};

/// `[section]` once, or `[[section]]` several times.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OneOrMany<T>(pub Vec<T>);

impl<T: Parameter> Parameter for OneOrMany<T> {
    fn shape() -> Shape {
        Shape::AnyOf(vec![T::shape(), Shape::List(Box::new(T::shape()))])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        match value {
            Value::List(_) => Vec::parse(value, path).map(OneOrMany),
            _ => T::parse(value, path).map(|one| OneOrMany(vec![one])),
        }
    }
    fn to_value(&self) -> Option<Value> {
        Some(Value::List(self.0.iter().filter_map(T::to_value).collect()))
    }
}
