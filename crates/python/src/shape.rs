//! The keys of the parts of runs' documents, with the kinds of their values: the columns of a store's tables.
//!
//! A part is an object, a row, or a list of such rows. The documents are read once and not kept.

use std::fmt;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use serde_core::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The kind of a key's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Kind {
    /// null in every row
    #[default]
    Nothing,
    Truth,
    Number,
    /// lists of numbers and nulls
    Numbers,
    /// all others, and mixed kinds
    Text,
}

impl Kind {
    fn with(self, other: Kind) -> Kind {
        match (self, other) {
            (Kind::Nothing, kind) | (kind, Kind::Nothing) => kind,
            (one, other) if one == other => one,
            _ => Kind::Text,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Nothing => "nothing",
            Kind::Truth => "truth",
            Kind::Number => "number",
            Kind::Numbers => "numbers",
            Kind::Text => "text",
        }
    }
}

/// The keys of a part, in the order of first occurrence.
#[derive(Default)]
struct Columns(Vec<(String, Kind)>);

impl Columns {
    /// Takes a key that is expected at `place`, its place in the previous row. Returns the expected place of the next.
    fn take(&mut self, place: usize, key: &str, kind: Kind) -> usize {
        let is_there = self.0.get(place).is_some_and(|(name, _)| name == key);
        let found = if is_there { Some(place) } else { self.0.iter().position(|(name, _)| name == key) };
        let place = found.unwrap_or(self.0.len());
        match found {
            Some(place) => self.0[place].1 = self.0[place].1.with(kind),
            None => self.0.push((key.to_string(), kind)),
        }
        place + 1
    }
}

/// Names of columns, each with its kind.
type Described = Vec<(String, &'static str)>;

/// For each of `parts` its columns over all `documents`: names, and kinds `nothing`, `truth`, `number`, `numbers`
/// (lists of them) or `text`. A ValueError if a document is not JSON.
#[pyfunction]
pub(crate) fn columns_of(documents: Vec<PyBackedStr>, parts: Vec<String>) -> PyResult<Vec<Described>> {
    let mut shapes: Vec<Columns> = parts.iter().map(|_| Columns::default()).collect();
    for document in &documents {
        let mut reader = serde_json::Deserializer::from_str(document);
        let read = reader.deserialize_map(Document { parts: &parts, shapes: &mut shapes }).and_then(|()| reader.end());
        read.map_err(|error| PyValueError::new_err(format!("a run's document: {error}")))?;
    }
    let described = |columns: Columns| columns.0.into_iter().map(|(name, kind)| (name, kind.name())).collect();
    Ok(shapes.into_iter().map(described).collect())
}

/// Reads a document, of which only the parts matter.
struct Document<'a> {
    parts: &'a [String],
    shapes: &'a mut [Columns],
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a run's document")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match self.parts.iter().position(|part| *part == key) {
                Some(index) => map.next_value_seed(Rows(&mut self.shapes[index]))?,
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Reads a row, or a list of rows.
struct Rows<'a>(&'a mut Columns);

impl<'de> DeserializeSeed<'de> for Rows<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Rows<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row or a list of rows")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(Rows(&mut *self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut place = 0;
        while let Some(key) = map.next_key::<String>()? {
            let kind = map.next_value::<Value>()?.0;
            place = self.0.take(place, &key, kind);
        }
        Ok(())
    }
}

/// A value, of which only the kind is kept.
struct Value(Kind);

impl<'de> serde_core::Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value(Kind::Nothing))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Value, E> {
        Ok(Value(Kind::Truth))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Value, E> {
        Ok(Value(Kind::Number))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Value, E> {
        Ok(Value(Kind::Number))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
        Ok(Value(Kind::Number))
    }

    fn visit_str<E>(self, _: &str) -> Result<Value, E> {
        Ok(Value(Kind::Text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut kind = Kind::Numbers;
        while let Some(Value(item)) = seq.next_element()? {
            let is_number = matches!(item, Kind::Number | Kind::Nothing);
            kind = if is_number { kind } else { Kind::Text };
        }
        Ok(Value(kind))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value(Kind::Text))
    }
}
