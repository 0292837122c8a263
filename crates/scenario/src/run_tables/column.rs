//! A column of a table: values of one type, each of which may be null.

use serde_core::ser::{Serialize, Serializer};
use serde_json::{Value as Json, json};

use super::json::write_json;

/// One value on its way into a column or out of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// no value
    Null,
    /// a whole number
    Whole(i64),
    /// a number; finite
    Real(f64),
    /// text
    Text(&'a str),
    /// finite numbers, e.g. quantiles
    List(&'a [f64]),
    /// any other value of JSON
    Json(&'a Json),
}

/// The values of a column, one for each row of its table; a null has a place with an arbitrary value.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// no row has a value
    Nulls,
    /// whole numbers
    Whole(Vec<i64>),
    /// numbers
    Real(Vec<f64>),
    /// texts in one buffer, and the end of each
    Text(String, Vec<u32>),
    /// lists of numbers in one buffer, and the end of each
    Lists(Vec<f64>, Vec<u32>),
    /// values of several types, or of other ones
    Any(Vec<Json>),
}

/// A column with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    name: Box<str>,
    /// The name as a key of JSON: in quotation marks and with its colon.
    key: Box<[u8]>,
    values: Values,
    /// by row, whether there is a value
    valid: Vec<bool>,
}

impl Column {
    /// A column of `rows` nulls, with room for `expected` rows.
    pub(crate) fn new(name: &str, rows: usize, expected: usize) -> Column {
        let mut valid = Vec::with_capacity(expected.max(rows + 1));
        valid.resize(rows, false);
        let mut key = Vec::with_capacity(name.len() + 3);
        write_json(&mut key, name);
        key.push(b':');
        Column { name: name.into(), key: key.into(), values: Values::Nulls, valid }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its name as a key of JSON.
    pub(crate) fn key(&self) -> &[u8] {
        &self.key
    }

    /// Its values.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// By row, whether there is a value.
    pub fn valid(&self) -> &[bool] {
        &self.valid
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.valid.len()
    }

    /// The value of a row.
    pub fn get(&self, row: usize) -> Cell<'_> {
        if !self.valid[row] {
            return Cell::Null;
        }
        match &self.values {
            Values::Nulls => Cell::Null,
            Values::Whole(all) => Cell::Whole(all[row]),
            Values::Real(all) => Cell::Real(all[row]),
            Values::Text(all, ends) => Cell::Text(&all[part(ends, row)]),
            Values::Lists(all, ends) => Cell::List(&all[part(ends, row)]),
            Values::Any(all) => Cell::Json(&all[row]),
        }
    }

    /// Replaces the value of a row of numbers.
    pub(crate) fn set_real(&mut self, row: usize, value: f64) {
        if let Values::Real(all) = &mut self.values {
            all[row] = value;
        }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, cell: Cell<'_>) {
        if cell != Cell::Null && !self.values.fits(cell) {
            self.make_room_for(cell);
        }
        self.valid.push(cell != Cell::Null);
        self.values.push(cell);
    }

    /// Gives the column the type of its first value, or the type for values of all kinds.
    fn make_room_for(&mut self, cell: Cell<'_>) {
        let (rows, room) = (self.len(), self.valid.capacity());
        self.values = match (&self.values, cell) {
            (Values::Nulls, Cell::Whole(_)) => Values::Whole(places(rows, room)),
            (Values::Nulls, Cell::Real(_)) => Values::Real(places(rows, room)),
            (Values::Nulls, Cell::Text(_)) => Values::Text(String::new(), places(rows, room)),
            (Values::Nulls, Cell::List(_)) => Values::Lists(Vec::new(), places(rows, room)),
            _ => Values::Any((0..rows).map(|row| self.get(row).to_json()).collect()),
        };
    }
}

/// Zeros for the rows so far, with room for more.
fn places<T: Clone + Default>(rows: usize, room: usize) -> Vec<T> {
    let mut all = Vec::with_capacity(room);
    all.resize(rows, T::default());
    all
}

/// The place of a row in a buffer.
fn part(ends: &[u32], row: usize) -> std::ops::Range<usize> {
    let start = if row == 0 { 0 } else { ends[row - 1] };
    start as usize..ends[row] as usize
}

fn end(length: usize) -> u32 {
    u32::try_from(length).expect("a column of a run is below 4 GiB")
}

impl Values {
    fn fits(&self, cell: Cell<'_>) -> bool {
        matches!(
            (self, cell),
            (Values::Any(_), _)
                | (Values::Whole(_), Cell::Whole(_))
                | (Values::Real(_), Cell::Real(_))
                | (Values::Text(..), Cell::Text(_))
                | (Values::Lists(..), Cell::List(_))
        )
    }

    /// Adds a value of its type, or the place of a null.
    fn push(&mut self, cell: Cell<'_>) {
        match self {
            Values::Nulls => {}
            Values::Whole(all) => all.push(if let Cell::Whole(value) = cell { value } else { 0 }),
            Values::Real(all) => all.push(if let Cell::Real(value) = cell { value } else { 0.0 }),
            Values::Text(all, ends) => {
                all.push_str(if let Cell::Text(value) = cell { value } else { "" });
                ends.push(end(all.len()));
            }
            Values::Lists(all, ends) => {
                all.extend_from_slice(if let Cell::List(value) = cell { value } else { &[] });
                ends.push(end(all.len()));
            }
            Values::Any(all) => all.push(cell.to_json()),
        }
    }
}

impl Cell<'_> {
    /// The same as a tree.
    pub fn to_json(self) -> Json {
        match self {
            Cell::Null => Json::Null,
            Cell::Whole(value) => json!(value),
            Cell::Real(value) => json!(value),
            Cell::Text(value) => json!(value),
            Cell::List(values) => json!(values),
            Cell::Json(value) => value.clone(),
        }
    }

    pub(super) fn write_json(self, out: &mut Vec<u8>) {
        match self {
            Cell::Null => out.extend_from_slice(b"null"),
            other => write_json(out, &other),
        }
    }
}

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Cell::Null => serializer.serialize_unit(),
            Cell::Whole(value) => serializer.serialize_i64(*value),
            Cell::Real(value) => serializer.serialize_f64(*value),
            Cell::Text(value) => serializer.serialize_str(value),
            Cell::List(values) => serializer.collect_seq(*values),
            Cell::Json(value) => value.serialize(serializer),
        }
    }
}
