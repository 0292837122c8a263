//! The setting for a window that is not fully used.

use lasthop_registry::{ParamError, Parameter, Shape, Value, wrong_type};

/// Treatment of a window that is not fully used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowValidation {
    /// It grows all the same. Written `false`.
    Off,
    /// It does not grow. Written `true` or "linux". [RFC 9438 §5.8]
    Linux,
    /// It is kept for a time, and a loss counts from the used part. [RFC 7661 §4]
    Rfc7661,
}

impl Parameter for WindowValidation {
    fn shape() -> Shape {
        Shape::AnyOf(vec![Shape::Boolean, Shape::Words(vec!["linux".into(), "rfc7661".into()])])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        match value {
            Value::Bool(false) => Ok(WindowValidation::Off),
            Value::Bool(true) => Ok(WindowValidation::Linux),
            Value::Text(word) if word == "linux" => Ok(WindowValidation::Linux),
            Value::Text(word) if word == "rfc7661" => Ok(WindowValidation::Rfc7661),
            other => Err(ParamError::new(path, wrong_type("true, false, \"linux\" or \"rfc7661\"", other))),
        }
    }
    fn to_value(&self) -> Option<Value> {
        Some(match self {
            WindowValidation::Off => Value::Bool(false),
            WindowValidation::Linux => Value::Bool(true),
            WindowValidation::Rfc7661 => Value::text("rfc7661"),
        })
    }
}
