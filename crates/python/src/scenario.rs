//! Scenarios as Python sees them, and what is wrong with one.

use std::sync::Arc;

use lasthop_scenario as engine;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(
    lasthop,
    ScenarioError,
    PyValueError,
    "A scenario, a setting or a name that is wrong; the message says where and what to do."
);

pub(crate) fn scenario_error(error: engine::InputError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

/// A scenario with every default filled in and every key checked.
#[pyclass(frozen, module = "lasthop._core")]
pub(crate) struct ResolvedScenario(pub(crate) Arc<engine::ResolvedScenario>);

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

/// Parses and checks a scenario file's `text`, then applies `settings` (`path`, `value`) in order.
#[pyfunction]
pub(crate) fn resolve(text: &str, file_name: &str, settings: Vec<(String, String)>) -> PyResult<ResolvedScenario> {
    engine::resolve(text, file_name, &settings).map(|s| ResolvedScenario(Arc::new(s))).map_err(scenario_error)
}
