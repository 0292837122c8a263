//! Mistakes and warnings for Python: the fields of each, and the renderer of their sentences.

use lasthop_registry::Value;
use lasthop_scenario as engine;
use pyo3::prelude::*;
use pyo3::types::PyDict;

pyo3::import_exception!(lasthop.data.diagnostic, ScenarioError);

/// The exception for a mistake.
pub(crate) fn scenario_error(error: engine::Diagnostic) -> PyErr {
    Python::attach(|py| match to_python(py, &error) {
        Ok(diagnostic) => ScenarioError::new_err((diagnostic.unbind(),)),
        Err(error) => error,
    })
}

/// The `Diagnostic` of Python with the same fields.
pub(crate) fn to_python<'py>(py: Python<'py>, diagnostic: &engine::Diagnostic) -> PyResult<Bound<'py, PyAny>> {
    let fields = PyDict::new(py);
    let arguments = PyDict::new(py);
    for (name, value) in diagnostic.fault.kind.arguments() {
        arguments.set_item(name, value_to_python(py, &value)?)?;
    }
    fields.set_item("message", diagnostic.fault.what())?;
    fields.set_item("remedy", diagnostic.fault.remedy())?;
    fields.set_item("kind", diagnostic.fault.kind.word())?;
    fields.set_item("key", &diagnostic.key)?;
    fields.set_item("severity", diagnostic.severity.word())?;
    fields.set_item("arguments", arguments)?;
    match &diagnostic.origin {
        engine::Origin::Nowhere => {}
        engine::Origin::File { name, line, span } => {
            fields.set_item("file", name)?;
            fields.set_item("line", line)?;
            fields.set_item("column", span.map(|span| span.column))?;
            fields.set_item("span", span.map(|span| (span.begin, span.end)))?;
        }
        engine::Origin::Setting { path, value } => fields.set_item("setting", (path, value))?,
    }
    py.import("lasthop.data.diagnostic")?.getattr("Diagnostic")?.call((), Some(&fields))
}

fn value_to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Text(text) => Ok(text.into_pyobject(py)?.into_any()),
        Value::List(items) => {
            let items = items.iter().map(|item| value_to_python(py, item)).collect::<PyResult<Vec<_>>>()?;
            items.into_pyobject(py)
        }
        other => Ok(other.to_string().into_pyobject(py)?.into_any()),
    }
}

/// The sentence for a place, a key, a mistake and its remedy, each of which may be empty.
#[pyfunction]
pub(crate) fn sentence(place: &str, key: &str, message: &str, remedy: &str) -> String {
    engine::sentence(place, key, message, remedy)
}
