//! A run for Python: its parts become Python's values as they are read, since a tree of them takes ten times the memory.

use std::sync::Arc;

use lasthop_scenario::{Cell, Part, RunTables, Table};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyList, PyType};
use serde_core::de::{Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value as Json};

use crate::lines::lines;
use crate::numbers::{Number, named};
use crate::values;

/// One element of "runs" of a result, as a mapping.
#[pyclass(frozen, module = "lasthop._core")]
pub(crate) struct Run(Arc<RunTables>);

impl Run {
    pub(crate) fn of(tables: Arc<RunTables>) -> Self {
        Run(tables)
    }

    pub(crate) fn tables(&self) -> &RunTables {
        &self.0
    }

    fn rows(&self, part: &str) -> Option<&Table> {
        self.0.table(part)
    }
}

#[pymethods]
impl Run {
    /// Reads the JSON of a run. Raises `ValueError` for anything else.
    #[staticmethod]
    fn parse(text: &str) -> PyResult<Self> {
        RunTables::parse(text).map(Arc::new).map(Run).map_err(PyValueError::new_err)
    }

    /// All of it as JSON without blanks.
    fn json(&self) -> String {
        self.0.json()
    }

    /// All of it as JSON with a line for each entry; `depth`: the depth of the run itself.
    fn lines<'py>(&self, py: Python<'py>, depth: usize) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| lines(&*self.0, depth)))
    }

    /// All of it as a dict.
    fn document<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        values::of_run(py, &self.0)
    }

    /// Lets it be copied and pickled.
    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let class: Bound<'py, PyType> = this.get_type();
        Ok((class.getattr("parse")?, (this.get().json(),)))
    }

    /// The keys, in the order of the document.
    fn keys(&self) -> Vec<&str> {
        self.0.parts().map(|(key, _)| key).collect()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.keys())?.try_iter()
    }

    fn __len__(&self) -> usize {
        self.0.parts().count()
    }

    fn __contains__(&self, part: &str) -> bool {
        self.0.part(part).is_some()
    }

    /// A part, such as `totals`; a `KeyError` if there is none of that name.
    fn __getitem__<'py>(&self, py: Python<'py>, part: &str) -> PyResult<Bound<'py, PyAny>> {
        let found = self.0.part(part).ok_or_else(|| PyKeyError::new_err(part.to_string()))?;
        values::of_part(py, found)
    }

    /// A part, or `default`.
    #[pyo3(signature = (part, default = None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        part: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.0.part(part).map_or(Ok(default), |found| values::of_part(py, found).map(Some))
    }

    /// The values of `keys` in the rows of a part, such as `flows`: a list for each key, None if a row has none.
    fn columns<'py>(&self, py: Python<'py>, part: &str, keys: Vec<String>) -> PyResult<Vec<Bound<'py, PyList>>> {
        let table = self.rows(part);
        let column = |key: &String| {
            let column = table.and_then(|table| table.column(key));
            let cell = |row| column.map_or(Cell::Null, |column| column.get(row));
            let rows = 0..table.map_or(0, Table::len);
            PyList::new(py, rows.map(|row| values::of_cell(py, cell(row))).collect::<PyResult<Vec<_>>>()?)
        };
        keys.iter().map(column).collect()
    }

    /// The rows of a part, at most `most` of them.
    #[pyo3(signature = (part, most = None))]
    fn rows_of<'py>(&self, py: Python<'py>, part: &str, most: Option<usize>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let rows = self.rows(part).into_iter().flat_map(Table::rows);
        rows.take(most.unwrap_or(usize::MAX)).map(|row| values::of_row(py, row)).collect()
    }

    /// Its numbers by dotted names. `parts`: the keys whose numbers are wanted, if not all.
    #[pyo3(signature = (parts = None))]
    fn numbers<'py>(&self, py: Python<'py>, parts: Option<Vec<String>>) -> PyResult<Bound<'py, PyDict>> {
        let mut found: Vec<(String, Number)> = Vec::new();
        named(&self.0, parts.as_deref(), &mut |name, number| {
            found.extend(number.map(|number| (name.to_string(), number)));
        });
        let dict = PyDict::new(py);
        found.into_iter().try_for_each(|(name, number)| dict.set_item(name, number))?;
        Ok(dict)
    }

    /// The names of its numbers, and of values that are null.
    fn names(&self) -> Vec<String> {
        let mut found = Vec::new();
        named(&self.0, None, &mut |name, _| found.push(name.to_string()));
        found
    }

    /// Whether `part` is a list of rows, each with text for all `keys`.
    fn has_rows(&self, part: &str, keys: Vec<String>) -> bool {
        let Some(Part::Rows(table)) = self.0.part(part) else { return false };
        let is_text = |key: &String| table.rows().all(|row| matches!(row.get(key), Some(Cell::Text(_))));
        keys.iter().all(is_text)
    }

    /// Whether `part` is one row.
    fn has_row(&self, part: &str) -> bool {
        matches!(self.0.part(part), Some(Part::Row(_)))
    }
}

/// Reads a result's document: everything but its runs and its summary as JSON, and the runs; an empty document for JSON
/// of another form. Raises `ValueError` with the place of the error for text that is not JSON.
#[pyfunction]
pub(crate) fn parse_result(py: Python<'_>, text: &str) -> PyResult<(String, Option<Vec<Run>>)> {
    let read = py.detach(|| {
        let mut reader = serde_json::Deserializer::from_str(text);
        let read = reader.deserialize_map(Document)?;
        reader.end().map(|()| read)
    });
    let (head, runs) = match read {
        Ok(read) => read,
        Err(error) if error.is_data() => Default::default(),
        Err(error) => return Err(PyValueError::new_err(error.to_string())),
    };
    let head = serde_json::to_string(&head).expect("its keys are text");
    Ok((head, runs.map(|runs| runs.into_iter().map(|run| Run(Arc::new(run))).collect())))
}

/// A result's document, read run by run.
struct Document;

impl<'de> Visitor<'de> for Document {
    type Value = (Map<String, Json>, Option<Vec<RunTables>>);

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut head, mut runs) = (Map::new(), None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "runs" => runs = Some(map.next_value::<Runs>()?.0),
                "summary" => drop(map.next_value::<serde_core::de::IgnoredAny>()?),
                _ => drop(head.insert(key, map.next_value()?)),
            }
        }
        Ok((head, runs))
    }
}

/// The list of runs.
struct Runs(Vec<RunTables>);

impl<'de> serde_core::Deserialize<'de> for Runs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Runs, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Runs;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of runs")
            }
            fn visit_seq<A: serde_core::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Runs, A::Error> {
                let mut runs = Vec::new();
                while let Some(run) = seq.next_element::<Map<String, Json>>()? {
                    runs.push(RunTables::from_json(run));
                }
                Ok(Runs(runs))
            }
        }
        deserializer.deserialize_seq(Each)
    }
}
