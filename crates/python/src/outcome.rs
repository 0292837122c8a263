//! The outcome of a run, for Python.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use lasthop_scenario as engine;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::outcome_file;
use crate::run::Run;

/// One finished seed: the run and its time series, or the sentence in `error`.
#[pyclass(frozen, module = "lasthop._core")]
pub(crate) struct RunOutcome {
    #[pyo3(get)]
    seed: u64,
    #[pyo3(get)]
    error: Option<String>,
    run: Option<Arc<engine::RunTables>>,
    series: Mutex<Vec<SeriesBlock>>,
}

#[pymethods]
impl RunOutcome {
    /// Reads the run of `seed` that another process has written to `folder`, with `wall_s` in place of its own time if
    /// given; without files, a sentence that says why.
    #[staticmethod]
    #[pyo3(signature = (seed, folder, wall_s = None))]
    fn read(py: Python<'_>, seed: u64, folder: PathBuf, wall_s: Option<f64>) -> Self {
        match py.detach(|| outcome_file::read(&folder, wall_s)) {
            Ok((run, series)) => RunOutcome::of(seed, run, series),
            Err(sentence) => RunOutcome::failed(seed, sentence),
        }
    }

    /// The run; None if it failed.
    #[getter]
    fn run(&self) -> Option<Run> {
        self.run.clone().map(Run::of)
    }

    /// The time series, which are passed on once, since they may be large.
    fn take_series(&self) -> Vec<SeriesBlock> {
        std::mem::take(&mut *self.series.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl RunOutcome {
    fn of(seed: u64, run: engine::RunTables, series: Vec<engine::SeriesBlock>) -> Self {
        let series = Mutex::new(series.into_iter().map(SeriesBlock).collect());
        RunOutcome { seed, error: None, run: Some(Arc::new(run)), series }
    }

    fn failed(seed: u64, sentence: String) -> Self {
        RunOutcome { seed, error: Some(sentence), run: None, series: Mutex::default() }
    }
}

impl From<engine::RunOutcome> for RunOutcome {
    fn from(outcome: engine::RunOutcome) -> Self {
        match outcome.result.map(engine::RunResult::into_parts) {
            Ok((run, series)) => RunOutcome::of(outcome.seed, run, series),
            Err(sentence) => RunOutcome::failed(outcome.seed, sentence),
        }
    }
}

/// The head of a block as JSON, and its values.
type BlockParts<'py> = (String, Bound<'py, PyBytes>);

/// One quantity of several entities over time.
#[pyclass(frozen, module = "lasthop._core")]
pub(crate) struct SeriesBlock(pub(crate) engine::SeriesBlock);

#[pymethods]
impl SeriesBlock {
    /// The block of which `__reduce__` gave these parts; raises `ValueError` for other ones.
    #[staticmethod]
    fn of_parts(head: &str, values: &[u8]) -> PyResult<Self> {
        let mut values = values.as_chunks::<8>().0.iter().map(|bytes| f64::from_ne_bytes(*bytes));
        let head = serde_json::from_str(head).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let block = outcome_file::block(&head, &mut values);
        block.map(SeriesBlock).ok_or_else(|| PyValueError::new_err("no time series of this version of lasthop"))
    }

    /// Lets it be pickled, for another process on a machine of the same kind.
    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, BlockParts<'py>)> {
        let block = this.get();
        let parts = (outcome_file::head(&block.0).to_string(), block.values(this.py()));
        Ok((this.get_type().getattr("of_parts")?, parts))
    }

    #[getter]
    fn metric(&self) -> &str {
        self.0.quantity.name
    }
    #[getter]
    fn entities(&self) -> Vec<String> {
        self.0.entities.clone()
    }
    #[getter]
    fn times(&self) -> usize {
        self.0.times
    }
    #[getter]
    fn start_s(&self) -> f64 {
        self.0.start_s
    }
    #[getter]
    fn interval_s(&self) -> f64 {
        self.0.interval_s
    }
    /// `times` rows of one native `f64` for each entity.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, bytemuck::cast_slice(&self.0.values))
    }
}
