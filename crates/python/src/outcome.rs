//! What a run gave, as Python takes it.

use std::sync::{Mutex, PoisonError};

use lasthop_scenario as engine;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// One finished seed: `json` and its time series, or the sentence in `error`.
#[pyclass(frozen, module = "lasthop._core")]
pub(crate) struct RunOutcome {
    #[pyo3(get)]
    seed: u64,
    #[pyo3(get)]
    json: Option<String>,
    #[pyo3(get)]
    error: Option<String>,
    series: Mutex<Vec<SeriesBlock>>,
}

#[pymethods]
impl RunOutcome {
    /// The time series, which are handed over once: they may be large.
    fn take_series(&self) -> Vec<SeriesBlock> {
        std::mem::take(&mut *self.series.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl From<engine::RunOutcome> for RunOutcome {
    fn from(outcome: engine::RunOutcome) -> Self {
        let seed = outcome.seed;
        match outcome.result {
            Ok(run) => {
                let (json, series) = run.into_parts();
                RunOutcome {
                    seed,
                    json: Some(json),
                    error: None,
                    series: Mutex::new(series.into_iter().map(SeriesBlock).collect()),
                }
            }
            Err(sentence) => RunOutcome { seed, json: None, error: Some(sentence), series: Mutex::default() },
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
