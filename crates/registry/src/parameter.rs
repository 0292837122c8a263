//! Reading and writing parameters.

use lasthop_units::{Bytes, DataRate, Db, Dbm, Duration, Hertz, Measured, Metres, Packets, Ppm, Probability, Speed};

use crate::{Fault, Field, Kind, ParamError, Shape, Value, not_modelled};

/// A type that can be a parameter.
pub trait Parameter: Sized {
    /// The form of its values.
    fn shape() -> Shape;
    /// Reads it; `path` is the place for the message.
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError>;
    /// Reads it in place of `before`, whose values remain where a table without `kind` does not change
    /// them.
    fn parse_over(before: &Self, value: &Value, path: &str) -> Result<Self, ParamError> {
        let _ = before;
        Self::parse(value, path)
    }
    /// Its resolved form; `None` if it is absent.
    fn to_value(&self) -> Option<Value>;
}

/// The message for a table without an algorithm's name, if there was no algorithm before.
pub const KIND_IS_NEEDED: &str = "a table needs `kind = \"…\"`, the name of what it has the parameters of";

/// A struct of parameters, made by [`params!`](crate::params).
pub trait Parameters: Sized {
    /// The names of the entries, in order.
    const NAMES: &'static [&'static str];
    /// The entries, in order.
    fn fields() -> Vec<Field>;
    /// Sets the entry `name`; `Ok(false)` if there is no such entry.
    fn set(&mut self, name: &str, value: &Value, path: &str) -> Result<bool, ParamError>;
    /// The entries with their values, in order.
    fn values(&self) -> Vec<(String, Value)>;
    /// Checks relations between entries; called after reading a table.
    fn check(&self, _path: &str) -> Result<(), ParamError> {
        Ok(())
    }
}

/// Joins a path and a key.
pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_string() } else { format!("{path}.{key}") }
}

/// Reads the entries of a table into `params`, except those named in `skip`.
///
/// # Errors
/// An unknown key, or an entry that cannot be read.
pub fn read_table<P: Parameters>(mut params: P, value: &Value, path: &str, skip: &[&str]) -> Result<P, ParamError> {
    set_entries(&mut |key, value, path| params.set(key, value, path), P::NAMES, value, path, skip)?;
    params.check(path)?;
    Ok(params)
}

/// Sets an entry; returns false if there is no such one.
type Set<'a> = dyn FnMut(&str, &Value, &str) -> Result<bool, ParamError> + 'a;

// The loop is compiled once for all tables.
fn set_entries(set: &mut Set<'_>, names: &[&str], table: &Value, path: &str, skip: &[&str]) -> Result<(), ParamError> {
    let Value::Table(entries) = table else {
        return Err(ParamError::new(path, not_a_table(table)));
    };
    for (key, value) in entries.iter().filter(|(key, _)| !skip.contains(&key.as_str())) {
        if !set(key, value, &join(path, key))? {
            let known = names.iter().chain(skip).map(|known| known.to_string()).collect();
            return Err(ParamError::new(join(path, key), unknown_key(key, value, known)));
        }
    }
    Ok(())
}

/// Reads an entry of a struct of [`params!`](crate::params): compiled once for each type instead of for each entry.
#[doc(hidden)]
#[inline(never)]
pub fn set_entry<T: Parameter>(entry: &mut T, value: &Value, path: &str) -> Result<(), ParamError> {
    *entry = T::parse_over(entry, value, path)?;
    Ok(())
}

/// The description of an entry of a struct of [`params!`](crate::params).
#[doc(hidden)]
#[inline(never)]
pub fn field(name: &'static str, help: &[&str], shape: Shape, default: Option<Value>) -> Field {
    Field { name, help: help.concat().trim().to_string(), shape, default: default.map(|value| value.to_string()) }
}

/// The present ones of all entries.
#[doc(hidden)]
#[inline(never)]
pub fn entries(all: Vec<(&'static str, Option<Value>)>) -> Vec<(String, Value)> {
    all.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))).collect()
}

/// The table of all entries of `params`, after an optional `kind`.
pub fn table_to_value<P: Parameters>(kind: Option<&str>, params: &P) -> Value {
    let mut entries: Vec<(String, Value)> = kind.map(|k| ("kind".to_string(), Value::text(k))).into_iter().collect();
    entries.extend(params.values());
    Value::Table(entries)
}

/// A key with its `value` in a table that has the keys `known`.
pub fn unknown_key(key: &str, value: &Value, known: Vec<String>) -> Fault {
    // An unknown key may name a feature itself, or by its value: band = "6 GHz".
    let of_value = || if let Value::Text(word) = value { not_modelled(word) } else { None };
    match not_modelled(key).or_else(of_value) {
        Some(sentence) => Fault::new(Kind::NotModelled { sentence, known }).with_remedy("leave it out"),
        None => Kind::UnknownKey { key: key.into(), known }.into(),
    }
}

/// A value in place of one of the words `known`.
pub fn no_word(value: &Value, known: &[&str], path: &str) -> ParamError {
    let known = known.iter().map(|word| word.to_string()).collect();
    let kind = match value {
        Value::Text(word) => match not_modelled(word) {
            Some(sentence) => Kind::NotModelled { sentence, known },
            None => Kind::UnknownName { of: String::new(), name: word.clone(), known },
        },
        _ => Kind::NoWord { known, found: value.to_string() },
    };
    ParamError::new(path, kind)
}

/// A value of another type than the `expected` one.
pub fn wrong_type(expected: impl Into<String>, value: &Value) -> Kind {
    Kind::WrongType { expected: expected.into(), found: value.to_string() }
}

/// A value in place of a table.
pub fn not_a_table(value: &Value) -> Kind {
    Kind::WrongType { expected: "a table".into(), found: value.kind().into() }
}

fn needs(path: &str, what: &str, value: &Value) -> ParamError {
    ParamError::new(path, wrong_type(what, value))
}

impl Parameter for bool {
    fn shape() -> Shape {
        Shape::Boolean
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        match value {
            Value::Bool(b) => Ok(*b),
            _ => Err(needs(path, "true or false", value)),
        }
    }
    fn to_value(&self) -> Option<Value> {
        Some(Value::Bool(*self))
    }
}

macro_rules! whole_numbers {
    ($($t:ty: $max:expr),*) => {$(
        impl Parameter for $t {
            fn shape() -> Shape {
                Shape::Integer { min: 0, max: $max }
            }
            fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
                match value {
                    Value::Integer(i) if (0..=$max).contains(i) => Ok(*i as $t),
                    Value::Integer(i) => {
                        let allowed = format!("a whole number from 0 to {}", $max);
                        Err(ParamError::new(path, Kind::OutOfRange { found: i.to_string(), allowed }))
                    }
                    _ => Err(needs(path, "a whole number", value)),
                }
            }
            fn to_value(&self) -> Option<Value> {
                Some(Value::Integer(*self as i64))
            }
        }
    )*};
}
whole_numbers!(u8: 255_i64, u16: 65_535_i64, u32: 4_294_967_295_i64, u64: i64::MAX);

impl Parameter for f64 {
    fn shape() -> Shape {
        Shape::Number { min: f64::MIN, max: f64::MAX }
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        match value {
            Value::Float(x) if x.is_finite() => Ok(*x),
            Value::Integer(i) => Ok(*i as f64),
            _ => Err(needs(path, "a finite number", value)),
        }
    }
    fn to_value(&self) -> Option<Value> {
        Some(Value::Float(*self))
    }
}

macro_rules! quantities {
    ($($t:ty: $what:literal, $example:literal);* $(;)?) => {$(
        impl Parameter for $t {
            fn shape() -> Shape {
                Shape::Quantity { what: $what, example: $example, units: <$t as Measured>::UNITS }
            }
            fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
                let text = match value {
                    Value::Text(s) => s.clone(),
                    Value::Integer(_) | Value::Float(_) => value.to_string(),
                    _ => return Err(needs(path, concat!($what, " like \"", $example, "\""), value)),
                };
                text.parse().map_err(|e: lasthop_units::UnitError| ParamError::new(path, e))
            }
            fn to_value(&self) -> Option<Value> {
                Some(Value::text(self))
            }
        }
    )*};
}
quantities! {
    Duration: "a time", "50 ms";
    Bytes: "a size", "1500 B";
    Packets: "a number of packets", "50 packets";
    DataRate: "a data rate", "11 Mbit/s";
    Dbm: "a power", "16 dBm";
    Db: "a power ratio", "10 dB";
    Ppm: "a clock error", "10 ppm";
    Metres: "a distance", "10 m";
    Hertz: "a frequency", "6 Hz";
    Speed: "a speed", "1 m/s";
}

impl Parameter for Probability {
    fn shape() -> Shape {
        Shape::Number { min: 0.0, max: 1.0 }
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        let number = f64::parse(value, path)?;
        Probability::new(number)
            .ok_or_else(|| ParamError::new(path, (format!("{number} is not a probability"), "a number from 0 to 1")))
    }
    fn to_value(&self) -> Option<Value> {
        Some(Value::Float(self.get()))
    }
}

impl<T: Parameter> Parameter for Option<T> {
    fn shape() -> Shape {
        T::shape()
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        T::parse(value, path).map(Some)
    }
    fn parse_over(before: &Self, value: &Value, path: &str) -> Result<Self, ParamError> {
        match before {
            Some(before) => T::parse_over(before, value, path).map(Some),
            None => Self::parse(value, path),
        }
    }
    fn to_value(&self) -> Option<Value> {
        self.as_ref().and_then(T::to_value)
    }
}

impl<T: Parameter> Parameter for Vec<T> {
    fn shape() -> Shape {
        Shape::List(Box::new(T::shape()))
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        match value {
            Value::List(items) => {
                items.iter().enumerate().map(|(i, item)| T::parse(item, &format!("{path}[{i}]"))).collect()
            }
            _ => Err(needs(path, "a list", value)),
        }
    }
    fn to_value(&self) -> Option<Value> {
        Some(Value::List(self.iter().filter_map(T::to_value).collect()))
    }
}

impl<T: Parameter, const N: usize> Parameter for [T; N] {
    fn shape() -> Shape {
        Shape::List(Box::new(T::shape()))
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        let items = Vec::<T>::parse(value, path)?;
        let length = items.len();
        items.try_into().map_err(|_| ParamError::new(path, format!("a list of {N} is needed, this one has {length}")))
    }
    fn to_value(&self) -> Option<Value> {
        Some(Value::List(self.iter().filter_map(T::to_value).collect()))
    }
}

/// A parameter that the word `"off"` switches off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Switch<T> {
    /// `"off"`
    #[default]
    Off,
    /// anything else
    On(T),
}

impl<T> Switch<T> {
    /// The parameter, if it is on.
    pub fn as_option(&self) -> Option<&T> {
        match self {
            Switch::Off => None,
            Switch::On(inner) => Some(inner),
        }
    }
}

impl<T: Parameter> Parameter for Switch<T> {
    fn shape() -> Shape {
        Shape::AnyOf(vec![Shape::Words(vec!["off".into()]), T::shape()])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        match value {
            Value::Text(word) if word == "off" => Ok(Switch::Off),
            _ => T::parse(value, path).map(Switch::On).map_err(|error| {
                // "off" is no remedy for an error within a table.
                if error.path == path { error.or(", or \"off\"") } else { error }
            }),
        }
    }
    fn to_value(&self) -> Option<Value> {
        match self {
            Switch::Off => Some(Value::text("off")),
            Switch::On(inner) => inner.to_value(),
        }
    }
}

/// A limit in packets or in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// no limit
    Unlimited,
    /// counted in packets, whatever their size
    Packets(u64),
    /// counted in bytes
    Bytes(u64),
}

impl Parameter for Amount {
    fn shape() -> Shape {
        Shape::AnyOf(vec![Shape::Words(vec!["unlimited".into()]), Packets::shape(), Bytes::shape()])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        if matches!(value, Value::Text(word) if word == "unlimited") {
            return Ok(Amount::Unlimited);
        }
        let amount = Packets::parse(value, path)
            .map(|p| Amount::Packets(p.0))
            .or_else(|_| Bytes::parse(value, path).map(|b| Amount::Bytes(b.0)));
        amount.map_err(|_| {
            ParamError::new(path, wrong_type("\"50 packets\", a size like \"64 KiB\" or \"unlimited\"", value))
        })
    }
    fn to_value(&self) -> Option<Value> {
        Some(match self {
            Amount::Unlimited => Value::text("unlimited"),
            Amount::Packets(n) => Value::text(Packets(*n)),
            Amount::Bytes(n) => Value::text(Bytes(*n)),
        })
    }
}
