//! Runs of any scenarios on threads of the engine, none of which ever waits for Python.

use std::time::Duration;

use lasthop_scenario as engine;
use pyo3::prelude::*;

use crate::outcome::RunOutcome;
use crate::scenario::ResolvedScenario;

/// Threads that run submitted scenarios, each with a ticket; dropping it cancels them.
#[pyclass(frozen, module = "lasthop._core")]
pub(crate) struct Pool(engine::Pool);

#[pymethods]
impl Pool {
    /// A pool of at most `jobs` threads, which are started as there is work for them.
    #[new]
    fn new(jobs: usize) -> Self {
        Pool(engine::Pool::new(jobs))
    }

    /// Submits a run; without an interval no time series is kept.
    #[pyo3(signature = (ticket, scenario, seed, series_interval_s = None))]
    fn submit(
        &self,
        ticket: u64,
        scenario: &ResolvedScenario,
        seed: u64,
        series_interval_s: Option<f64>,
    ) -> PyResult<()> {
        self.0.submit(ticket, scenario.to_simulate()?, seed, engine::Keep::series(series_interval_s));
        Ok(())
    }

    /// Tickets and outcomes of runs finished since the last call; waits up to `longest_s` for the first.
    fn take_finished(&self, py: Python<'_>, longest_s: f64) -> Vec<(u64, RunOutcome)> {
        let longest = Duration::try_from_secs_f64(longest_s).unwrap_or_default();
        let finished = py.detach(|| self.0.take_finished(longest));
        finished.into_iter().map(|(ticket, outcome)| (ticket, RunOutcome::from(outcome))).collect()
    }

    /// The finished part of the runs in progress, as a number of runs.
    fn fraction(&self) -> f64 {
        self.0.fraction()
    }

    /// Removes runs that have not begun and asks the rest to stop; finished outcomes can still be taken.
    fn cancel(&self) {
        self.0.cancel();
    }

    /// Cancels, and waits for the threads to end.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.0.close());
    }
}
