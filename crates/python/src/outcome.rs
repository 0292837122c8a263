//! The outcome of a run, for Python.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use lasthop_scenario as engine;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::outcome_file;
use crate::run_text::RunText;

/// One finished seed: the run and its time series, or the sentence in `error`.
#[pyclass(frozen, module = "lasthop._core")]
pub(crate) struct RunOutcome {
    #[pyo3(get)]
    seed: u64,
    #[pyo3(get)]
    error: Option<String>,
    document: Option<Arc<engine::RunDocument>>,
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
            Ok((text, series)) => RunOutcome {
                seed,
                error: None,
                document: Some(RunText::new(text).into_document()),
                series: Mutex::new(series.into_iter().map(SeriesBlock).collect()),
            },
            Err(sentence) => RunOutcome { seed, error: Some(sentence), document: None, series: Mutex::default() },
        }
    }

    /// The run as JSON; None where there is none.
    #[getter]
    fn json(&self) -> Option<&str> {
        self.document.as_ref().map(|document| document.text())
    }

    /// The run, read on demand.
    #[getter]
    fn run(&self) -> Option<RunText> {
        self.document.clone().map(RunText::of)
    }

    /// The time series, which are passed on once, since they may be large.
    fn take_series(&self) -> Vec<SeriesBlock> {
        std::mem::take(&mut *self.series.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl From<engine::RunOutcome> for RunOutcome {
    fn from(outcome: engine::RunOutcome) -> Self {
        let seed = outcome.seed;
        match outcome.result {
            Ok(run) => {
                let (document, series) = run.into_parts();
                RunOutcome {
                    seed,
                    error: None,
                    document: Some(Arc::new(document)),
                    series: Mutex::new(series.into_iter().map(SeriesBlock).collect()),
                }
            }
            Err(sentence) => RunOutcome { seed, error: Some(sentence), document: None, series: Mutex::default() },
        }
    }
}

/// One quantity of several entities over time.
#[pyclass(frozen, module = "lasthop._core")]
pub(crate) struct SeriesBlock(pub(crate) engine::SeriesBlock);

#[pymethods]
impl SeriesBlock {
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
