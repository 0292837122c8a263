//! Seeds of one scenario on threads of the engine.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lasthop_scenario as engine;
use pyo3::prelude::*;

use crate::outcome::RunOutcome;
use crate::recording::PyRecording;
use crate::scenario::ResolvedScenario;

/// Seeds that run on threads of their own until they are done or cancelled; dropping it cancels it.
#[pyclass(frozen, module = "lasthop._core")]
pub(crate) struct Campaign(Mutex<engine::Campaign>);

impl Campaign {
    fn lock(&self) -> MutexGuard<'_, engine::Campaign> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Campaign {
    fn drop(&mut self) {
        self.lock().cancel();
    }
}

#[pymethods]
impl Campaign {
    /// Starts `seeds` on at most `jobs` threads; without an interval no time series is kept. An account of time, a
    /// recording and captures (a directory, and the bytes of each frame) are optional.
    #[new]
    #[pyo3(signature = (
        scenario, seeds, jobs, series_interval_s = None, account = false, recording = None, captures = None
    ))]
    #[expect(clippy::too_many_arguments, reason = "what is kept of a run is asked for by so many")]
    fn new(
        py: Python<'_>,
        scenario: &ResolvedScenario,
        seeds: Vec<u64>,
        jobs: usize,
        series_interval_s: Option<f64>,
        account: bool,
        recording: Option<&PyRecording>,
        captures: Option<(PathBuf, u32)>,
    ) -> PyResult<Self> {
        let scenario = scenario.to_simulate()?;
        let recording = recording.map(|recording| recording.0.clone());
        let captures = captures.map(|(directory, snap)| engine::Captures { directory, snap });
        let keep = engine::Keep { account, recording, captures, ..engine::Keep::series(series_interval_s) };
        let campaign = py.detach(|| engine::Campaign::start(scenario, seeds, jobs, keep));
        Ok(Campaign(Mutex::new(campaign)))
    }

    /// Fraction done over all seeds, 0 to 1.
    fn progress(&self) -> f64 {
        self.lock().progress()
    }

    /// Asks all threads to stop; finished seeds are kept.
    fn cancel(&self) {
        self.lock().cancel();
    }

    /// Whether every thread has ended.
    fn is_done(&self) -> bool {
        self.lock().is_done()
    }

    /// The seeds finished since the last call.
    fn take_finished(&self, py: Python<'_>) -> Vec<RunOutcome> {
        py.detach(|| self.lock().take_finished().into_iter().map(RunOutcome::from).collect())
    }
}
