//! `lasthop._core`: the engine as Python sees it. Converts, nothing else: text, numbers and JSON go in and out,
//! and whatever takes long lets other Python threads run meanwhile.

mod congestion_control;
mod interruptible;
mod packetdrill;
mod parquet;
mod pool;
mod recovery;
mod shape;
mod simulation;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lasthop_scenario as engine;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

create_exception!(
    lasthop,
    ScenarioError,
    PyValueError,
    "A scenario, a setting or a name that is wrong; the message says where and what to do."
);

fn scenario_error(error: engine::InputError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

/// A scenario with every default filled in and every key checked.
#[pyclass(frozen, module = "lasthop._core")]
struct ResolvedScenario(Arc<engine::ResolvedScenario>);

#[pymethods]
impl ResolvedScenario {
    /// The resolved scenario as JSON.
    fn to_json(&self) -> String {
        self.0.to_json()
    }

    /// What a reader of the results should know.
    fn warnings(&self) -> Vec<String> {
        self.0.warnings()
    }

    /// Defaults that depend on what is simulated, where the file leaves a key out: path, value, what it depends on.
    fn defaults(&self) -> Vec<(&str, &str, &str)> {
        self.0.defaults().iter().map(|d| (d.path.as_str(), d.value.as_str(), d.because.as_str())).collect()
    }

    /// Length of a run in simulated seconds.
    fn duration_s(&self) -> f64 {
        self.0.duration_s()
    }

    /// The `[sweep]` table: paths, each with its values as `--set` reads them.
    fn sweep(&self) -> Vec<(String, Vec<String>)> {
        self.0.sweep()
    }
}

/// Seeds that run on threads of their own until they are done or cancelled; dropping it cancels it.
#[pyclass(frozen, module = "lasthop._core")]
struct Campaign(Mutex<engine::Campaign>);

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
    /// Starts `seeds` on at most `jobs` threads; without an interval no time series is kept, and an account of time
    /// where it is asked for.
    #[new]
    #[pyo3(signature = (scenario, seeds, jobs, series_interval_s = None, account = false))]
    fn new(
        py: Python<'_>,
        scenario: &ResolvedScenario,
        seeds: Vec<u64>,
        jobs: usize,
        series_interval_s: Option<f64>,
        account: bool,
    ) -> Self {
        let scenario = Arc::clone(&scenario.0);
        let keep = engine::Keep { account, ..engine::Keep::series(series_interval_s) };
        let campaign = py.detach(|| engine::Campaign::start(scenario, seeds, jobs, keep));
        Campaign(Mutex::new(campaign))
    }

    /// Fraction done over all seeds, 0 to 1.
    fn progress(&self) -> f64 {
        self.lock().progress()
    }

    /// Asks all threads to stop; seeds that are finished stay.
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

/// One finished seed: `json` and its time series, or the sentence in `error`.
#[pyclass(frozen, module = "lasthop._core")]
struct RunOutcome {
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
struct SeriesBlock(engine::SeriesBlock);

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

/// Parses and checks a scenario file's `text`, then applies `settings` (`path`, `value`) in order.
#[pyfunction]
fn resolve(text: &str, file_name: &str, settings: Vec<(String, String)>) -> PyResult<ResolvedScenario> {
    engine::resolve(text, file_name, &settings).map(|s| ResolvedScenario(Arc::new(s))).map_err(scenario_error)
}

/// The JSON Schema of a scenario file.
#[pyfunction]
fn schema_json() -> String {
    engine::schema_json()
}

/// The JSON Schema of a result file.
#[pyfunction]
fn result_schema_json() -> String {
    engine::result_schema_json()
}

/// All that can be chosen by name, or one `kind` of it, as JSON.
#[pyfunction]
#[pyo3(signature = (kind = None))]
fn list_json(kind: Option<&str>) -> PyResult<String> {
    engine::list_json(kind).map_err(scenario_error)
}

/// What `name` is and its parameters, as JSON.
#[pyfunction]
fn show_json(name: &str) -> PyResult<String> {
    engine::show_json(name).map_err(scenario_error)
}

/// Closed forms for `scenario`, as JSON.
#[pyfunction]
fn theory_json(py: Python<'_>, scenario: &ResolvedScenario) -> PyResult<String> {
    py.detach(|| engine::theory_json(&scenario.0)).map_err(scenario_error)
}

/// A run that stops is reported as a sentence in its outcome; what Rust prints besides would hide it.
fn keep_runs_quiet() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() != Some(engine::RUN_THREAD) {
            print(panic);
        }
    }));
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    keep_runs_quiet();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add_class::<ResolvedScenario>()?;
    module.add_class::<Campaign>()?;
    module.add_class::<RunOutcome>()?;
    module.add_class::<SeriesBlock>()?;
    module.add_class::<parquet::SeriesFile>()?;
    module.add_class::<pool::Pool>()?;
    module.add_class::<simulation::Simulation>()?;
    module.add_function(wrap_pyfunction!(resolve, module)?)?;
    module.add_function(wrap_pyfunction!(schema_json, module)?)?;
    module.add_function(wrap_pyfunction!(result_schema_json, module)?)?;
    module.add_function(wrap_pyfunction!(list_json, module)?)?;
    module.add_function(wrap_pyfunction!(show_json, module)?)?;
    module.add_function(wrap_pyfunction!(theory_json, module)?)?;
    module.add_function(wrap_pyfunction!(shape::columns_of, module)?)?;
    module.add_function(wrap_pyfunction!(parquet::write_table, module)?)?;
    module.add_function(wrap_pyfunction!(congestion_control::replay_cc, module)?)?;
    module.add_function(wrap_pyfunction!(packetdrill::packetdrill, module)?)?;
    module.add_function(wrap_pyfunction!(recovery::replay_recovery, module)?)
}
