//! A simulation that waits between calls.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lasthop_scenario as engine;
use lasthop_units::{Duration, Time};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::code::raise_if_kept;
use crate::outcome::RunOutcome;
use crate::run::Run;
use crate::scenario::ResolvedScenario;
use crate::values::of_json;

/// Simulated time between two checks for signals in Python, as a fraction of the run.
const LOOKS: u64 = 500;

/// One scenario under one seed, which proceeds on request.
#[pyclass(frozen, module = "lasthop._core")]
pub(crate) struct Simulation(Mutex<Option<engine::OpenRun>>);

impl Simulation {
    fn lock(&self) -> MutexGuard<'_, Option<engine::OpenRun>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `work` with the run while other Python threads continue. The interpreter is released before the lock is
    /// taken: the holder of the lock may wait for the interpreter, if the scenario brings code in Python.
    fn with<R: Send>(&self, py: Python<'_>, work: impl Send + FnOnce(&mut engine::OpenRun) -> R) -> PyResult<R> {
        py.detach(|| self.lock().as_mut().map(work)).ok_or_else(finished)
    }

    /// Handles all events before `until` or the end, in steps between which Python may handle signals; true at the end.
    fn advance(&self, py: Python<'_>, until: Time) -> PyResult<bool> {
        loop {
            let (ended, now) = self.with(py, |run| {
                let step = (run.end().since(Time::ZERO) / LOOKS).max(Duration::from_nanos(1));
                (run.run_until(until.min(run.now() + step)), run.now())
            })?;
            py.check_signals()?;
            if ended || now >= until {
                return Ok(ended);
            }
        }
    }
}

fn finished() -> PyErr {
    PyRuntimeError::new_err("this simulation is finished; lasthop.open begins another")
}

#[pymethods]
impl Simulation {
    /// `scenario` under `seed` at time zero; without an interval no time series is kept.
    #[new]
    #[pyo3(signature = (scenario, seed, series_interval_s = None))]
    fn new(py: Python<'_>, scenario: &ResolvedScenario, seed: u64, series_interval_s: Option<f64>) -> PyResult<Self> {
        let scenario = scenario.to_simulate()?;
        let keep = engine::Keep::series(series_interval_s);
        let run = py.detach(|| engine::OpenRun::new(scenario, seed, keep.interval));
        Ok(Simulation(Mutex::new(Some(run))))
    }

    /// The current time in simulated nanoseconds.
    fn now_ns(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |run| run.now().as_nanos())
    }

    /// Handles all events before `text`, a time such as "1 s", or the end; true at the end. Ctrl-C works.
    fn run_until(&self, py: Python<'_>, text: &str) -> PyResult<bool> {
        let until: Duration = text.parse().map_err(|error| PyValueError::new_err(format!("run_until: {error}")))?;
        let ended = self.advance(py, Time::ZERO + until)?;
        match self.with(py, |run| run.failure().map(str::to_string))? {
            Some(why) => raise_if_kept().and(Err(PyRuntimeError::new_err(why))),
            None => Ok(ended),
        }
    }

    /// The metrics from the end of the warm-up to now; None during the warm-up.
    fn metrics(&self, py: Python<'_>) -> PyResult<Option<Run>> {
        Ok(self.with(py, |run| run.tables())?.map(Arc::new).map(Run::of))
    }

    /// Runs to the end and closes the simulation. Returns the outcome that `Campaign` would have for this seed.
    fn finish(&self, py: Python<'_>) -> PyResult<RunOutcome> {
        self.advance(py, Time::NEVER)?;
        let outcome = py.detach(|| self.lock().take().map(engine::OpenRun::finish)).ok_or_else(finished)?;
        raise_if_kept()?;
        Ok(RunOutcome::from(outcome))
    }
}

/// A run whose account can be read at any moment.
#[pyclass(frozen, module = "lasthop._core")]
pub(crate) struct AccountSoFar(Mutex<engine::AccountSoFar>);

impl AccountSoFar {
    /// The same as for [`Simulation`].
    fn with<R: Send>(&self, py: Python<'_>, work: impl Send + FnOnce(&mut engine::AccountSoFar) -> R) -> R {
        py.detach(|| work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[pymethods]
impl AccountSoFar {
    /// `scenario` under `seed` at time zero.
    #[new]
    fn new(py: Python<'_>, scenario: &ResolvedScenario, seed: u64) -> PyResult<Self> {
        let scenario = scenario.to_simulate()?;
        Ok(AccountSoFar(Mutex::new(py.detach(|| engine::AccountSoFar::new(scenario, seed)))))
    }

    /// Runs to `until_ns` nanoseconds or the end. Returns the account from the end of the warm-up to then.
    fn until<'py>(&self, py: Python<'py>, until_ns: u64) -> PyResult<Bound<'py, PyAny>> {
        let until = Time::ZERO + Duration::from_nanos(until_ns);
        let told = self.with(py, |run| run.until(until));
        raise_if_kept()?;
        of_json(py, &told.map_err(PyRuntimeError::new_err)?)
    }

    /// The metrics from the end of the warm-up to now; None during the warm-up.
    fn metrics(&self, py: Python<'_>) -> Option<Run> {
        self.with(py, |run| run.tables()).map(Arc::new).map(Run::of)
    }

    /// The time at which the run ends, in nanoseconds.
    fn end_ns(&self, py: Python<'_>) -> u64 {
        self.with(py, |run| run.end().as_nanos())
    }
}
