//! The JSON of tables: in any form by `Serialize`, and without blanks faster, as a column writes its key once and each row
//! copies it.

use serde_core::ser::{Serialize, SerializeMap, Serializer};

use super::{Cell, Part, Row, RunTables};

/// Adds a value. Text, numbers and lists of them have a form in JSON, and memory takes every byte.
pub(super) fn write_json(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    serde_json::to_writer(out, value).expect("the value has a form in JSON");
}

impl RunTables {
    /// All of it as JSON without blanks.
    pub fn json(&self) -> String {
        let mut out = Vec::new();
        write_all(&mut out, [b'{', b'}'], self.parts(), |out, (key, part)| {
            write_json(out, key);
            out.push(b':');
            part.write_json(out);
        });
        String::from_utf8(out).expect("JSON is text")
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

impl Row<'_> {
    fn write_json(self, out: &mut Vec<u8>) {
        write_all(out, [b'{', b'}'], self.columns(), |out, column| {
            out.extend_from_slice(column.key());
            column.get(self.number()).write_json(out);
        });
    }
}

/// Adds the items with commas, between two brackets.
fn write_all<I>(
    out: &mut Vec<u8>,
    [open, close]: [u8; 2],
    items: impl Iterator<Item = I>,
    mut write: impl FnMut(&mut Vec<u8>, I),
) {
    out.push(open);
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(close);
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

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.cells().try_for_each(|(name, cell)| map.serialize_entry(name, &cell))?;
        map.end()
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
