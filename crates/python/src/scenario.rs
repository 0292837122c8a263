//! Scenarios for Python, and their errors.

use std::path::PathBuf;
use std::sync::Arc;

use lasthop_registry::{Kind, ParamError};
use lasthop_scenario as engine;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::code::{Loader, raise_if_kept};
use crate::diagnostic::{scenario_error, to_python};

/// A scenario with every default filled in and every key checked.
#[pyclass(frozen, module = "lasthop._core")]
pub(crate) struct ResolvedScenario(pub(crate) Arc<engine::ResolvedScenario>);

impl ResolvedScenario {
    /// The scenario for a simulation, with its code loaded.
    ///
    /// # Errors
    /// A flow is a command, which only `lasthop emulate` runs, or code cannot be loaded.
    pub(crate) fn to_simulate(&self) -> PyResult<Arc<engine::ResolvedScenario>> {
        self.check_simulable()?;
        self.load_code()?;
        Ok(Arc::clone(&self.0))
    }
}

#[pymethods]
impl ResolvedScenario {
    /// The resolved scenario as JSON.
    fn to_json(&self) -> String {
        self.0.to_json()
    }

    /// Raises an error if a flow is a command, which only `lasthop emulate` runs.
    fn check_simulable(&self) -> PyResult<()> {
        self.0.check_simulable().map_err(scenario_error)
    }

    /// Loads the code that the scenario brings, with all rights of this process; raises an error if that fails.
    fn load_code(&self) -> PyResult<()> {
        let loaded = self.0.load_code(&Loader);
        raise_if_kept()?;
        loaded.map_err(scenario_error)
    }

    /// The content of the files of the scenario's code, by the place of the key that names the file: it is read once,
    /// and is the content that is loaded. Raises an error if a file cannot be read. A table at an address has none.
    fn code_contents<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyBytes>)>> {
        let in_files = self.0.code().iter().filter(|code| !code.is_at_address());
        let content = |code: &engine::Code| {
            let path = code.file_path();
            let content = code.content().map_err(|why| {
                scenario_error(engine::Diagnostic::new(engine::Origin::Nowhere, &path, Kind::File(why)))
            })?;
            Ok((path, PyBytes::new(py, content)))
        };
        in_files.map(content).collect()
    }

    /// The code that the scenario brings: language, place of the key that names the file, the file as written there,
    /// and its path.
    fn code(&self) -> Vec<(&str, String, &str, PathBuf)> {
        let codes = self.0.code().iter();
        codes.map(|code| (code.language.word(), code.file_path(), code.name.as_str(), code.file.clone())).collect()
    }

    /// Raises an error if a flow is a command or an algorithm is code, both from the scenario's author.
    fn check_without_code(&self) -> PyResult<()> {
        self.0.check_without_code().map_err(scenario_error)
    }

    /// Remarks for a reader of the results of a simulation, each a `Diagnostic`.
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.0.warnings().iter().map(|warning| to_python(py, warning)).collect()
    }

    /// Defaults of keys left out in the file that depend on other keys: path, value, reason.
    fn defaults(&self) -> Vec<(&str, &str, &str)> {
        self.0.defaults().iter().map(|d| (d.path.as_str(), d.value.as_str(), d.because.as_str())).collect()
    }

    /// Length of a run in simulated seconds.
    fn duration_s(&self) -> f64 {
        self.0.duration_s()
    }

    /// Names of all stations, in the order of the file.
    fn stations(&self) -> Vec<&str> {
        self.0.stations()
    }

    /// The `[sweep]` table: paths, each with its values in the form of `--set`.
    fn sweep(&self) -> Vec<(String, Vec<String>)> {
        self.0.sweep()
    }
}

/// Parses and checks a scenario file's `text`, then applies `settings` (`path`, `value`) in order.
#[pyfunction]
pub(crate) fn resolve(text: &str, file_name: &str, settings: Vec<(String, String)>) -> PyResult<ResolvedScenario> {
    engine::resolve(text, file_name, &settings).map(|s| ResolvedScenario(Arc::new(s))).map_err(scenario_error)
}

/// The `Diagnostic` of a request at `key` of a scenario file's `text` that the caller does not allow.
#[pyfunction]
pub(crate) fn not_allowed<'py>(
    py: Python<'py>,
    text: &str,
    file_name: &str,
    key: &str,
    message: String,
    remedy: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let error = ParamError::new(key, (Kind::NotAllowed(message), remedy));
    to_python(py, &engine::located(text, file_name, error))
}

/// The values of a scenario file's `text` as JSON, of which only the syntax is checked.
#[pyfunction]
pub(crate) fn parse(text: &str, file_name: &str) -> PyResult<String> {
    engine::parse_json(text, file_name).map_err(scenario_error)
}
