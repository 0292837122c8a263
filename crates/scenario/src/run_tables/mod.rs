//! The outcome of a run as tables, from which JSON, Parquet, Arrow and Python's values are made.

mod column;
mod json;
mod table;

use serde_core::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value as Json};

pub use column::{Cell, Column, Values};
pub use table::{Row, Table};

pub(crate) use table::NewRow;

use json::{write_all, write_json};

/// One element of "runs" of a result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunTables {
    parts: Vec<(Box<str>, Part)>,
}

/// The value of a key of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// a list of rows, such as "flows"
    Rows(Table),
    /// one row, such as "totals"
    Row(Table),
    /// any other value, such as "seed", or one that is nested, such as "account"
    Value(Json),
}

impl RunTables {
    /// Reads the JSON of a run, of this version or another.
    ///
    /// # Errors
    /// It is not an object of JSON.
    pub fn parse(text: &str) -> Result<RunTables, String> {
        let document: Map<String, Json> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Ok(RunTables::from_json(document))
    }

    /// The tables of a run's document.
    pub fn from_json(document: Map<String, Json>) -> RunTables {
        RunTables { parts: document.into_iter().map(|(key, value)| (key.into(), Part::from(value))).collect() }
    }

    /// Its keys with their values, in the order of the document.
    pub fn parts(&self) -> impl Iterator<Item = (&str, &Part)> {
        self.parts.iter().map(|(key, part)| (&**key, part))
    }

    /// The value of a key.
    pub fn part(&self, key: &str) -> Option<&Part> {
        self.parts().find(|(known, _)| *known == key).map(|(_, part)| part)
    }

    /// The table of a key; `None` for other values.
    pub fn table(&self, key: &str) -> Option<&Table> {
        match self.part(key)? {
            Part::Rows(table) | Part::Row(table) => Some(table),
            Part::Value(_) => None,
        }
    }

    /// All of it as JSON without blanks: faster than by `Serialize`, as a column writes its key once and each row
    /// copies it.
    pub fn json(&self) -> String {
        let mut out = Vec::new();
        write_all(&mut out, [b'{', b'}'], self.parts(), |out, (key, part)| {
            write_json(out, key);
            out.push(b':');
            part.write_json(out);
        });
        String::from_utf8(out).expect("JSON is text")
    }

    /// Replaces a number of a single row, such as the wall-clock time for a process that cannot know it.
    pub fn set_number(&mut self, key: &str, name: &str, value: f64) {
        let part = self.parts.iter_mut().find(|(known, _)| **known == *key).map(|(_, part)| part);
        if let Some(Part::Row(table)) = part
            && let Some(column) = table.column_mut(name)
        {
            column.set_real(0, value);
        }
    }

    /// Adds a value.
    pub(crate) fn put(&mut self, key: &str, value: Json) {
        self.parts.push((key.into(), Part::Value(value)));
    }

    /// Adds one row.
    pub(crate) fn put_row(&mut self, key: &str, write: impl FnOnce(&mut NewRow<'_>)) {
        let mut table = Table::default();
        table.push(write);
        self.parts.push((key.into(), Part::Row(table)));
    }

    /// Adds a list of rows.
    pub(crate) fn put_rows(&mut self, key: &str, table: Table) {
        self.parts.push((key.into(), Part::Rows(table)));
    }
}

impl From<Json> for Part {
    /// Objects and lists of objects become tables.
    fn from(value: Json) -> Part {
        let mut table = Table::default();
        match value {
            Json::Object(row) => {
                table.push_json(&row);
                Part::Row(table)
            }
            Json::Array(rows) if rows.iter().all(Json::is_object) => {
                rows.iter().filter_map(Json::as_object).for_each(|row| table.push_json(row));
                Part::Rows(table)
            }
            other => Part::Value(other),
        }
    }
}

impl Part {
    fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Part::Rows(table) => write_all(out, [b'[', b']'], table.rows(), |out, row| row.write_json(out)),
            Part::Row(table) => table.row(0).write_json(out),
            Part::Value(value) => write_json(out, value),
        }
    }
}

impl Serialize for RunTables {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.parts().try_for_each(|(key, part)| map.serialize_entry(key, part))?;
        map.end()
    }
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Part::Rows(table) => serializer.collect_seq(table.rows()),
            Part::Row(table) => table.row(0).serialize(serializer),
            Part::Value(value) => value.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written_again(text: &str) -> String {
        RunTables::parse(text).expect("it is an object").json()
    }

    #[test]
    fn documents_are_written_as_they_were_read() {
        for text in [
            r#"{}"#,
            r#"{"seed":18446744073709551615,"flows":[],"totals":{},"none":null}"#,
            r#"{"flows":[{"a":1,"c":0.5},{"c":null,"b":"x","a":2},{"a":-3}],"odd":[1,{"a":2}]}"#,
            r#"{"nodes":[{"mixed":1},{"mixed":"1 kB"},{"mixed":0.5},{"mixed":null},{"mixed":true}]}"#,
            r#"{"links":[{"q":[0.1,2.0]},{"q":[]},{"q":null},{"q":[1,0.5,null]}],"deep":{"a":{"b":[{"c":1}]}}}"#,
            r#"{"é\"\n":{"k\\":"\u0001é"},"big":{"x":9223372036854775808,"y":-0.0,"z":1e+300}}"#,
        ] {
            assert_eq!(written_again(text), text);
            assert_eq!(serde_json::to_string(&RunTables::parse(text).unwrap()).unwrap(), text);
        }
    }

    #[test]
    fn a_key_that_rows_lack_is_null_in_its_column_and_absent_from_their_json() {
        let run = RunTables::parse(r#"{"flows":[{"a":1},{"b":"x"},{"a":null}]}"#).unwrap();
        let table = run.table("flows").unwrap();
        let column = |name| (0..3).map(|row| table.column(name).unwrap().get(row)).collect::<Vec<_>>();
        assert_eq!(column("a"), [Cell::Whole(1), Cell::Null, Cell::Null]);
        assert_eq!(column("b"), [Cell::Null, Cell::Text("x"), Cell::Null]);
        assert_eq!((table.row(1).get("a"), table.row(2).get("a")), (None, Some(Cell::Null)));
    }

    #[test]
    fn a_column_of_one_type_keeps_it_and_nulls_have_a_place() {
        let run = RunTables::parse(r#"{"nodes":[{"a":null,"q":[0.5]},{"a":0.5,"q":null},{"a":1.5,"q":[1.0,2.0]}]}"#);
        let run = run.unwrap();
        let table = run.table("nodes").unwrap();
        assert_eq!(table.column("a").unwrap().values(), &Values::Real(vec![0.0, 0.5, 1.5]));
        assert_eq!(table.column("q").unwrap().values(), &Values::Lists(vec![0.5, 1.0, 2.0], vec![1, 1, 3]));
    }

    #[test]
    fn a_number_of_a_row_can_be_replaced() {
        let mut run = RunTables::parse(r#"{"simulator":{"events":3,"wall_s":0.5}}"#).unwrap();
        run.set_number("simulator", "wall_s", 2.25);
        assert_eq!(run.json(), r#"{"simulator":{"events":3,"wall_s":2.25}}"#);
    }
}
