//! `lasthop._core`: the engine's interface for Python. It only converts: text, numbers and JSON go in and out,
//! and long work lets other Python threads run meanwhile.
#![cfg_attr(not(feature = "tools"), allow(dead_code, unused_imports, reason = "some items are for the tools alone"))]

mod arrow;
mod campaign;
mod code;
mod diagnostic;
mod dictionary;
mod flat;
mod gym;
mod job;
mod lines;
mod numbers;
mod numbers_of_runs;
mod outcome;
mod outcome_file;
mod parquet;
mod pool;
mod recording;
mod run;
mod samples;
mod scenario;
mod series_reader;
mod shard;
mod simulation;
mod table;
#[cfg(feature = "tools")]
mod tools;
mod values;

use lasthop_scenario as engine;
use pyo3::prelude::*;

use crate::diagnostic::scenario_error;
use crate::scenario::ResolvedScenario;

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

/// The keys of a scenario that take any text, with the meaning of each: "file", "command" or "word".
#[pyfunction]
fn texts() -> Vec<(&'static str, &'static str)> {
    engine::texts().into_iter().map(|(key, names)| (key, names.word())).collect()
}

/// All choices by name, or those of one `kind`, as JSON.
#[pyfunction]
#[pyo3(signature = (kind = None))]
fn list_json(kind: Option<&str>) -> PyResult<String> {
    engine::list_json(kind).map_err(scenario_error)
}

/// The kind of `name` and its parameters, as JSON.
#[pyfunction]
fn show_json(name: &str) -> PyResult<String> {
    engine::show_json(name).map_err(scenario_error)
}

/// Closed forms for `scenario`, as JSON.
#[pyfunction]
fn theory_json(py: Python<'_>, scenario: &ResolvedScenario) -> PyResult<String> {
    py.detach(|| engine::theory_json(&scenario.0)).map_err(scenario_error)
}

/// A run that stops is reported as a sentence in its outcome; Rust's own message would hide it.
fn keep_runs_quiet() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() != Some(engine::RUN_THREAD) {
            print(panic);
        }
    }));
}

/// The module's `__getattr__`, which Python calls with the name of a missing function.
#[cfg(not(feature = "tools"))]
#[pyfunction(name = "__getattr__")]
fn left_out(name: &str) -> PyResult<()> {
    if name.starts_with("__") {
        return Err(pyo3::exceptions::PyAttributeError::new_err(name.to_owned()));
    }
    let message = (format!("{name}: the engine of the demo leaves it out"), "`make build` builds all of it");
    Err(scenario_error(engine::Diagnostic::without_place(message)))
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    keep_runs_quiet();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("source_digest", env!("LASTHOP_SOURCE_DIGEST"))?;
    module.add("profile_guided", option_env!("LASTHOP_PROFILE_GUIDED").is_some())?;
    module.add("CAPTURE_SNAP", engine::SNAP)?;
    module.add("LEAST_CAPTURE_SNAP", engine::LEAST_SNAP)?;
    code::add_classes(module)?;
    module.add_class::<ResolvedScenario>()?;
    module.add_class::<campaign::Campaign>()?;
    module.add_class::<outcome::RunOutcome>()?;
    module.add_class::<outcome::SeriesBlock>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<numbers_of_runs::Numbers>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<parquet::SeriesFile>()?;
    module.add_class::<shard::Shard>()?;
    module.add_class::<pool::Pool>()?;
    module.add_class::<recording::PyRecording>()?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<simulation::AccountSoFar>()?;
    module.add_class::<gym::Task>()?;
    module.add_class::<gym::BuiltIn>()?;
    module.add_class::<gym::World>()?;
    module.add_class::<gym::Worlds>()?;
    module.add_function(wrap_pyfunction!(gym::linear_values, module)?)?;
    module.add_function(wrap_pyfunction!(diagnostic::sentence, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::parse, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::not_allowed, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::resolve, module)?)?;
    module.add_function(wrap_pyfunction!(schema_json, module)?)?;
    module.add_function(wrap_pyfunction!(result_schema_json, module)?)?;
    module.add_function(wrap_pyfunction!(texts, module)?)?;
    module.add_function(wrap_pyfunction!(list_json, module)?)?;
    module.add_function(wrap_pyfunction!(show_json, module)?)?;
    module.add_function(wrap_pyfunction!(code::describe_object, module)?)?;
    module.add_function(wrap_pyfunction!(theory_json, module)?)?;
    module.add_function(wrap_pyfunction!(run::parse_result, module)?)?;
    module.add_function(wrap_pyfunction!(recording::recording_tables, module)?)?;
    module.add_function(wrap_pyfunction!(recording::recording_groups, module)?)?;
    module.add_function(wrap_pyfunction!(job::run_job, module)?)?;
    #[cfg(feature = "tools")]
    tools::add_functions(module)?;
    #[cfg(not(feature = "tools"))]
    module.add_function(wrap_pyfunction!(left_out, module)?)?;
    Ok(())
}
