//! A table as columns. Rows may have different keys, and a row's keys their own order, as JSON has them.

use serde_core::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value as Json};

use super::column::{Cell, Column};
use super::json::write_all;

/// Rows as columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
    /// Each list of keys that some row has, as places of columns.
    shapes: Vec<Vec<u32>>,
    /// by row, the place of its list of keys
    rows: Vec<u32>,
    /// how many rows a column has room for
    expected: usize,
}

impl Table {
    /// A table for about so many rows.
    pub(crate) fn of_rows(expected: usize) -> Table {
        Table { expected, ..Table::default() }
    }

    /// Its columns, in the order in which their keys first occur.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name() == name)
    }

    /// The keys of a row with their values, in the order of that row.
    pub fn row(&self, row: usize) -> Row<'_> {
        Row { table: self, row }
    }

    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        (0..self.len()).map(|row| self.row(row))
    }

    /// Adds the rows of another table.
    pub fn append(&mut self, other: &Table) {
        for row in other.rows() {
            self.push(|new| row.cells().for_each(|(name, cell)| new.put(name, cell)));
        }
    }

    /// Adds a row, of which `write` puts each key once.
    pub(crate) fn push(&mut self, write: impl FnOnce(&mut NewRow<'_>)) {
        let expected = self.rows.last().map_or(0, |shape| *shape as usize);
        let keys = Vec::with_capacity(self.shapes.get(expected).map_or(0, Vec::len));
        let mut row = NewRow { table: self, expected, keys };
        write(&mut row);
        let keys = row.keys;
        let shape = self.shapes.get(expected).filter(|shape| **shape == keys).map(|_| expected);
        let shape = shape.or_else(|| self.shapes.iter().position(|shape| *shape == keys)).unwrap_or_else(|| {
            self.shapes.push(keys);
            self.shapes.len() - 1
        });
        self.rows.push(shape as u32);
        let rows = self.rows.len();
        self.columns.iter_mut().filter(|column| column.len() < rows).for_each(|column| column.push(Cell::Null));
    }

    /// Adds a row of JSON.
    pub(crate) fn push_json(&mut self, row: &Map<String, Json>) {
        self.push(|new| row.iter().for_each(|(key, value)| new.put_json(key, value)));
    }

    pub(crate) fn column_mut(&mut self, name: &str) -> Option<&mut Column> {
        self.columns.iter_mut().find(|column| column.name() == name)
    }
}

/// A row that is written.
pub(crate) struct NewRow<'a> {
    table: &'a mut Table,
    /// The list of keys of the previous row, which most often is that of this one.
    expected: usize,
    keys: Vec<u32>,
}

impl NewRow<'_> {
    /// Adds a value; its key is new in this row.
    pub(crate) fn put(&mut self, name: &str, cell: Cell<'_>) {
        let place = self.place(name);
        debug_assert_eq!(self.table.columns[place].len(), self.table.rows.len(), "{name} is there twice");
        self.table.columns[place].push(cell);
        self.keys.push(place as u32);
    }

    /// Adds a value of JSON.
    pub(crate) fn put_json(&mut self, name: &str, value: &Json) {
        match value {
            Json::Null => self.put(name, Cell::Null),
            Json::String(text) => self.put(name, Cell::Text(text)),
            Json::Number(number) => match (number.as_i64(), number.is_f64(), number.as_f64()) {
                (Some(whole), ..) => self.put(name, Cell::Whole(whole)),
                (None, true, Some(real)) => self.put(name, Cell::Real(real)),
                _ => self.put(name, Cell::Json(value)),
            },
            Json::Array(items) => match reals(items) {
                Some(list) => self.put(name, Cell::List(&list)),
                None => self.put(name, Cell::Json(value)),
            },
            _ => self.put(name, Cell::Json(value)),
        }
    }

    fn place(&mut self, name: &str) -> usize {
        let columns = &mut self.table.columns;
        let expected = self.table.shapes.get(self.expected).and_then(|shape| shape.get(self.keys.len()));
        let expected = expected.map(|place| *place as usize).filter(|place| columns[*place].name() == name);
        expected.or_else(|| columns.iter().position(|column| column.name() == name)).unwrap_or_else(|| {
            columns.push(Column::new(name, self.table.rows.len(), self.table.expected));
            columns.len() - 1
        })
    }
}

/// The items as numbers, if all are written with a point or an exponent.
fn reals(items: &[Json]) -> Option<Vec<f64>> {
    items.iter().map(|item| item.as_f64().filter(|_| item.is_f64())).collect()
}

/// A row of a table.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    table: &'a Table,
    row: usize,
}

impl<'a> Row<'a> {
    /// Its keys with their values.
    pub fn cells(self) -> impl Iterator<Item = (&'a str, Cell<'a>)> {
        self.columns().map(move |column| (column.name(), column.get(self.row)))
    }

    /// The columns of its keys, in their order.
    pub(crate) fn columns(self) -> impl Iterator<Item = &'a Column> {
        let keys = &self.table.shapes[self.table.rows[self.row] as usize];
        keys.iter().map(move |place| &self.table.columns[*place as usize])
    }

    /// The value of a key; `None` if the row has no such key.
    pub fn get(self, name: &str) -> Option<Cell<'a>> {
        self.cells().find(|(key, _)| *key == name).map(|(_, cell)| cell)
    }

    /// Adds its JSON without blanks.
    pub(super) fn write_json(self, out: &mut Vec<u8>) {
        write_all(out, [b'{', b'}'], self.columns(), |out, column| {
            out.extend_from_slice(column.key());
            column.get(self.row).write_json(out);
        });
    }
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.cells().try_for_each(|(name, cell)| map.serialize_entry(name, &cell))?;
        map.end()
    }
}
