//! Forms that several sections use.

use lasthop_registry::{ParamError, Parameter, Shape, Value};

/// A key of the interface that this version refuses: it cannot be made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Later {}

impl Parameter for Later {
    fn shape() -> Shape {
        Shape::Words(Vec::new())
    }
    fn parse(_: &Value, path: &str) -> Result<Self, ParamError> {
        let key = path.rsplit('.').next().unwrap_or(path);
        let key = key.split('[').next().unwrap_or(key);
        Err(ParamError::new(path, format!("`{key}` is not there yet; remove this key")))
    }
    fn to_value(&self) -> Option<Value> {
        match *self {}
    }
}

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
