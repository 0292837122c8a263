//! A class in a Python file: how it is found, and the messages for its errors.

use lasthop_registry::Value;
use lasthop_scenario::Code;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use super::interrupt;

/// The module that reads such files and reports their errors.
const LOADING: &str = "lasthop.study.code.loading";

/// The module that computes networks.
const NETWORKS: &str = "lasthop.study.code.network";

/// A class that was loaded, and its arguments besides its context.
pub(crate) struct Source {
    name: String,
    class: Py<PyAny>,
    parameters: Vec<(String, Value)>,
}

impl Source {
    /// Runs the file of `code` and finds its class, which extends `base` of the package.
    ///
    /// # Errors
    /// A sentence that names the file, and the line if there is one.
    pub(super) fn load(code: &Code, base: &str) -> Result<Source, String> {
        let class = code.class.as_deref().unwrap_or_default();
        let content = code.content()?;
        Python::attach(|py| {
            let load = py.import(LOADING).and_then(|module| module.getattr("load"));
            let loaded =
                load.and_then(|load| load.call1((PyBytes::new(py, content), &code.file, &code.name, class, base)));
            let class = loaded.map_err(|error| sentence_of(py, &error, &code.name))?.unbind();
            Ok(Source { name: code.name.clone(), class, parameters: code.parameters.clone() })
        })
    }

    /// The class of the package that computes the network in the file of `code`.
    ///
    /// # Errors
    /// A sentence that names the file.
    pub(super) fn load_network(code: &Code) -> Result<Source, String> {
        let content = code.content()?;
        Python::attach(|py| {
            let load = py.import(NETWORKS).and_then(|module| module.getattr("load_network"));
            let loaded = load.and_then(|load| load.call1((PyBytes::new(py, content), &code.name)));
            let class = loaded.map_err(|error| sentence_of(py, &error, &code.name))?.unbind();
            Ok(Source { name: code.name.clone(), class, parameters: code.parameters.clone() })
        })
    }

    /// An instance for `context`.
    pub(super) fn instance<'py>(&self, context: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = context.py();
        let parameters = PyDict::new(py);
        for (key, value) in &self.parameters {
            match value {
                Value::Bool(value) => parameters.set_item(key, value)?,
                Value::Integer(value) => parameters.set_item(key, value)?,
                Value::Float(value) => parameters.set_item(key, value)?,
                other => parameters.set_item(key, text_of(other))?,
            }
        }
        self.class.bind(py).call(PyTuple::new(py, [context])?, Some(&parameters))
    }

    /// Whether the class has a method of this name of its own, besides that of its base.
    pub(super) fn overrides(&self, py: Python<'_>, method: &str) -> bool {
        let overrides = py.import(LOADING).and_then(|module| module.getattr("overrides"));
        overrides.and_then(|of| of.call1((&self.class, method))?.extract()).unwrap_or(true)
    }

    /// An attribute of the class.
    pub(super) fn attribute<'py, T>(&self, py: Python<'py>, name: &str) -> Result<T, String>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        let found = self.class.bind(py).getattr(name);
        let found = found.map_err(|error| sentence_of(py, &error, &self.name))?;
        found
            .extract()
            .map_err(|_| format!("{}: {name} of the class is {}, which it cannot be", self.name, shown(&found)))
    }

    /// The message for an error: file, line, the error, and its function.
    pub(super) fn sentence(&self, py: Python<'_>, error: &PyErr) -> String {
        sentence_of(py, error, &self.name)
    }

    /// The file as written in the scenario.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

/// A value as Python writes it, if that is short.
pub(super) fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| "a value without a text".to_owned(), |text| text.to_string());
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text,
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        other => other.to_string(),
    }
}

fn sentence_of(py: Python<'_>, error: &PyErr, name: &str) -> String {
    interrupt::keep(py, error);
    let told = py.import(LOADING).and_then(|module| module.getattr("sentence_of"));
    let told =
        told.and_then(|sentence| sentence.call1((error.clone_ref(py).into_value(py), name))?.extract::<String>());
    told.unwrap_or_else(|_| format!("{name}: {error}"))
}
