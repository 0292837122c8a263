//! Values of a scenario as JSON.

use lasthop_registry::Value;
use serde_json::{Value as Json, json};

/// A value as JSON.
pub(crate) fn json_of(value: &Value) -> Json {
    match value {
        Value::Bool(b) => json!(b),
        Value::Integer(i) => json!(i),
        Value::Float(x) => json!(x),
        Value::Text(s) => json!(s),
        Value::List(items) => items.iter().map(json_of).collect(),
        Value::Table(entries) => Json::Object(entries.iter().map(|(k, v)| (k.clone(), json_of(v))).collect()),
        Value::Foreign(it) => json_of(it.written()),
    }
}
