//! Rows of many runs as one table for Python, and for whatever reads Arrow.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;

use lasthop_scenario as engine;
use lasthop_scenario::Cell;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};

use crate::arrow;
use crate::flat::{Flat, FlatColumn, Kind};
use crate::run::Run;
use crate::samples::{Block, Rows};

/// A table of columns, for anything that reads Arrow's C data interface: `pyarrow.table(t)`, `polars.DataFrame(t)`.
#[pyclass(frozen, module = "lasthop._core")]
pub(crate) struct Table(Arc<Vec<FlatColumn>>);

impl Table {
    pub(crate) fn columns(&self) -> &[FlatColumn] {
        &self.0
    }

    fn find(&self, name: &str) -> PyResult<&FlatColumn> {
        self.0.iter().find(|column| column.name == name).ok_or_else(|| PyKeyError::new_err(name.to_string()))
    }
}

#[pymethods]
impl Table {
    /// The rows of `part`, such as `flows`, of all `runs`, after a column with the seeds, or with a text for each run
    /// as `heads`: its name, and the texts.
    #[staticmethod]
    #[pyo3(signature = (runs, part, heads = None))]
    fn of_runs(runs: Vec<PyRef<'_, Run>>, part: &str, heads: Option<(String, Vec<String>)>) -> PyResult<Self> {
        let tables: Vec<_> = runs.iter().map(|run| run.tables().table(part)).collect();
        let rows = tables.iter().flatten().map(|table| table.len()).sum();
        if rows == 0 {
            return Ok(Table(Arc::default()));
        }
        let mut head = match &heads {
            Some((name, _)) => FlatColumn::new(name, Kind::Texts, rows),
            None => FlatColumn::new("seed", Kind::Whole, rows),
        };
        for (index, (run, table)) in runs.iter().zip(&tables).enumerate() {
            let seed = heads.is_none().then(|| seed_of(run)).transpose()?;
            let text = heads.as_ref().map(|(_, texts)| texts[index].as_str());
            let cell = text.map(Cell::Text).or(seed.map(Cell::Whole)).unwrap_or(Cell::Null);
            (0..table.map_or(0, |table| table.len())).for_each(|_| head.push(cell));
        }
        let tables: Vec<_> = tables.into_iter().flatten().collect();
        let filled = flat_columns(&tables);
        Ok(Table(Arc::new([head.finished()].into_iter().chain(filled).collect())))
    }

    /// Time series of seeds, one row a value: seed, time_s, entity, metric, value. Names are dictionaries.
    #[staticmethod]
    fn of_series(series: Vec<(i64, Block<'_>)>) -> Self {
        let mut rows = Rows::default();
        for (seed, block) in &series {
            let Ok(()) = block.source().add_to(*seed, &mut rows, |_| Ok::<_, Infallible>(()));
        }
        Table(Arc::new(rows.take_columns()))
    }

    /// Reads the time series of a Parquet file. Raises `OSError` if it cannot be read, and `ValueError` if it is another
    /// file.
    #[staticmethod]
    fn read_series(py: Python<'_>, path: std::path::PathBuf) -> PyResult<Self> {
        let read = py.detach(|| crate::series_reader::read(&path));
        let mut rows = read.map_err(|error| crate::parquet::unread(&path, &error))?;
        Ok(Table(Arc::new(rows.take_columns())))
    }

    /// The names of its columns.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.0.iter().map(|column| column.name.as_str()).collect()
    }

    /// The type of each column: `truth`, `whole`, `real`, `text`, `list` of numbers, or `names`; `nothing` if all of
    /// its values are null.
    #[getter]
    fn types(&self) -> Vec<&'static str> {
        self.0.iter().map(type_of).collect()
    }

    fn __len__(&self) -> usize {
        self.0.first().map_or(0, FlatColumn::len)
    }

    /// The values of a column; None for a null. Raises `KeyError` for an unknown name.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let column = self.find(name)?;
        (0..column.len()).map(|row| column.value(py, row)).collect()
    }

    /// The values of a column of numbers as native `f64` or `i64`, those of a column of names as places in `names_of`,
    /// native `i32`. Raises `KeyError` for another column.
    fn buffer<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        Ok(match &self.find(name)?.values {
            Flat::Real(all) => PyBytes::new(py, bytemuck::cast_slice(all)),
            Flat::Whole(all) => PyBytes::new(py, bytemuck::cast_slice(all)),
            Flat::Names(places, _) => PyBytes::new(py, bytemuck::cast_slice(places)),
            _ => return Err(PyKeyError::new_err(name.to_string())),
        })
    }

    /// The names of a column of names.
    fn names_of(&self, name: &str) -> PyResult<Vec<String>> {
        match &self.find(name)?.values {
            Flat::Names(_, names) => Ok(names.clone()),
            _ => Err(PyKeyError::new_err(name.to_string())),
        }
    }

    /// Writes it to the Parquet file `path`, with `metadata` of the whole file; raises `OSError` if it cannot be written.
    #[pyo3(signature = (path, metadata = BTreeMap::new()))]
    fn write_parquet(&self, py: Python<'_>, path: PathBuf, metadata: BTreeMap<String, String>) -> PyResult<()> {
        py.detach(|| crate::parquet::write_table(path, self.columns(), metadata, None))
    }

    /// Its types for Arrow.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema_capsule(py, &self.0)
    }

    /// Its rows for Arrow; types are as they are, whatever is asked for.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        arrow::stream_capsule(py, Arc::clone(&self.0))
    }
}

/// The type of a column without a value.
pub(crate) const NOTHING: &str = "nothing";

/// The type of a column as a word.
pub(crate) fn type_of(column: &FlatColumn) -> &'static str {
    match &column.values {
        Flat::Real(_) if (0..column.len()).all(|row| !column.is_valid(row)) => NOTHING,
        Flat::Truths(_) => "truth",
        Flat::Whole(_) => "whole",
        Flat::Real(_) => "real",
        Flat::Texts(..) => "text",
        Flat::Lists(..) => "list",
        Flat::Names(..) => "names",
    }
}

/// The columns of several tables, one below the other.
pub(crate) fn flat_columns(tables: &[&engine::Table]) -> Vec<FlatColumn> {
    let rows = tables.iter().map(|table| table.len()).sum();
    let mut kinds: Vec<(&str, Kind)> = Vec::new();
    for column in tables.iter().flat_map(|table| table.columns()) {
        match kinds.iter_mut().find(|(name, _)| *name == column.name()) {
            Some((_, kind)) => *kind = kind.with(Kind::of_column(column)),
            None => kinds.push((column.name(), Kind::of_column(column))),
        }
    }
    let filled = kinds.iter().map(|(name, kind)| {
        let mut filled = FlatColumn::new(name, *kind, rows);
        for table in tables {
            let column = table.column(name);
            (0..table.len()).for_each(|row| filled.push(column.map_or(Cell::Null, |column| column.get(row))));
        }
        filled.finished()
    });
    filled.collect()
}

pub(crate) fn seed_of(run: &Run) -> PyResult<i64> {
    match run.tables().part("seed") {
        Some(engine::Part::Value(seed)) if seed.is_i64() => Ok(seed.as_i64().expect("it is one")),
        _ => Err(PyValueError::new_err("a run has no seed")),
    }
}
