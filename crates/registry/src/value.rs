//! Values of a scenario file, before their interpretation.

use core::fmt;

use crate::Foreign;

/// A value of TOML. Tables keep the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// true or false
    Bool(bool),
    /// a whole number
    Integer(i64),
    /// any other number
    Float(f64),
    /// a string
    Text(String),
    /// an array
    List(Vec<Value>),
    /// a table
    Table(Vec<(String, Value)>),
    /// an algorithm from elsewhere, found by the name or the table that it replaces
    Foreign(Foreign),
}

impl Value {
    /// A string value.
    pub fn text(text: impl fmt::Display) -> Value {
        Value::Text(text.to_string())
    }
    /// The entry `key` of a table.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Table(entries) => entries.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }
    /// The kind of this value, with its article, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Bool(_) => "a boolean",
            Value::Integer(_) | Value::Float(_) => "a number",
            Value::Text(_) => "a string",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Foreign(_) => "an algorithm",
        }
    }
}

impl fmt::Display for Value {
    /// Writes it as TOML on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(b) => write!(f, "{b}"),
            Value::Integer(i) => write!(f, "{i}"),
            Value::Float(x) => write!(f, "{x:?}"),
            Value::Text(s) => write!(f, "{s:?}"),
            Value::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            Value::Table(entries) => {
                f.write_str("{ ")?;
                for (i, (key, value)) in entries.iter().enumerate() {
                    write!(f, "{}{key} = {value}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str(" }")
            }
            Value::Foreign(it) => it.written().fmt(f),
        }
    }
}
