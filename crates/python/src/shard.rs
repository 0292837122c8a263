//! Runs on their way into a store, many at once: rows of its tables and text, a fifth of their memory as tables of their own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use lasthop_scenario as engine;
use lasthop_scenario::Cell;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::flat::{FlatColumn, Kind};
use crate::parquet;
use crate::run::Run;
use crate::table::{NOTHING, flat_columns, seed_of, type_of};

/// The column of the whole run as JSON.
const DOCUMENT: &str = "document";

/// Runs that are written together: a table of the runs, and one for each of some parts, with the key of the run first.
#[pyclass(frozen, module = "lasthop._core")]
pub(crate) struct Shard(Mutex<Gathered>);

struct Gathered {
    /// of the runs: the texts of each, then its seed, its wall-clock time and its document
    runs: Vec<FlatColumn>,
    parts: Vec<Part>,
}

/// The rows of a part, and the key of the run of each.
struct Part {
    name: String,
    keys: FlatColumn,
    rows: engine::Table,
}

#[pymethods]
impl Shard {
    /// A shard of runs that have a text for each of `names`, the first of them the key, and of their `parts`.
    #[new]
    fn new(names: Vec<String>, parts: Vec<String>) -> PyResult<Self> {
        let key = names.first().ok_or_else(|| PyValueError::new_err("a shard has a key for each run"))?.clone();
        let texts = names.iter().map(|name| FlatColumn::new(name, Kind::Texts, 0));
        let own = [("seed", Kind::Whole), (engine::WALL_TIME.definition().name, Kind::Real), (DOCUMENT, Kind::Texts)];
        let runs = texts.chain(own.map(|(name, kind)| FlatColumn::new(name, kind, 0))).collect();
        let empty = |name| Part { name, keys: FlatColumn::new(&key, Kind::Texts, 0), rows: engine::Table::default() };
        Ok(Shard(Mutex::new(Gathered { runs, parts: parts.into_iter().map(empty).collect() })))
    }

    /// Adds a run; raises `ValueError` if it has no seed, or if `texts` are not as many as the names.
    fn add(&self, run: &Run, texts: Vec<String>) -> PyResult<()> {
        let mut gathered = self.lock();
        if texts.len() + 3 != gathered.runs.len() {
            return Err(PyValueError::new_err("a shard has a text for each name"));
        }
        let (tables, seed) = (run.tables(), seed_of(run)?);
        let wall_s = tables.table("simulator").and_then(|table| table.column(engine::WALL_TIME.definition().name));
        let document = tables.json();
        let own = [Cell::Whole(seed), wall_s.map_or(Cell::Null, |column| column.get(0)), Cell::Text(&document)];
        let cells = texts.iter().map(|text| Cell::Text(text)).chain(own);
        gathered.runs.iter_mut().zip(cells).for_each(|(column, cell)| column.push(cell));
        for part in &mut gathered.parts {
            if let Some(rows) = tables.table(&part.name) {
                (0..rows.len()).for_each(|_| part.keys.push(Cell::Text(&texts[0])));
                part.rows.append(rows);
            }
        }
        Ok(())
    }

    /// The number of runs.
    fn __len__(&self) -> usize {
        self.lock().runs[0].len()
    }

    /// Writes the runs as `run.parquet`, and each part that has rows as `PART.parquet`, into the folder `path`; raises
    /// `OSError`. Returns the columns of the parts with their types, as `Table.types` has them; those of type `nothing`
    /// are not in the files. The shard is empty afterwards.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<BTreeMap<String, Vec<(String, &'static str)>>> {
        py.detach(|| {
            let mut gathered = self.lock();
            let columns = gathered.parts.iter_mut().map(|part| Ok((part.name.clone(), part.write(&path)?)));
            let columns = columns.collect::<PyResult<_>>()?;
            let names: Vec<_> = gathered.runs.iter().map(|column| (column.name.clone(), column.kind())).collect();
            let fresh = names.iter().map(|(name, kind)| FlatColumn::new(name, *kind, 0)).collect();
            let runs: Vec<_> = std::mem::replace(&mut gathered.runs, fresh);
            let runs: Vec<_> = runs.into_iter().map(FlatColumn::finished).collect();
            parquet::write_table(path.join("run.parquet"), &runs, BTreeMap::new(), Some(DOCUMENT))?;
            Ok(columns)
        })
    }
}

impl Shard {
    fn lock(&self) -> MutexGuard<'_, Gathered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Part {
    fn write(&mut self, folder: &Path) -> PyResult<Vec<(String, &'static str)>> {
        let rows = std::mem::take(&mut self.rows);
        let fresh = FlatColumn::new(&self.keys.name, Kind::Texts, 0);
        let keys = std::mem::replace(&mut self.keys, fresh);
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let columns = flat_columns(&[&rows]);
        let types = columns.iter().map(|column| (column.name.clone(), type_of(column))).collect();
        let written = columns.into_iter().filter(|column| type_of(column) != NOTHING);
        let columns: Vec<_> = [keys.finished()].into_iter().chain(written).collect();
        parquet::write_table(folder.join(format!("{}.parquet", self.name)), &columns, BTreeMap::new(), None)?;
        Ok(types)
    }
}
