//! An instance of a class, whose failure ends the run.

use std::sync::{Arc, OnceLock};

use lasthop_tcp::congestion_control::give_up;
use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::pyclass_init::PyClassInitializer;

use super::source::Source;

/// The instance. If it cannot be made, its first use gives up.
pub(super) struct Instance {
    source: Arc<Source>,
    object: Option<Py<PyAny>>,
    failure: OnceLock<String>,
}

impl Instance {
    /// An instance for `context`.
    pub(super) fn new<T>(source: &Arc<Source>, context: T) -> Instance
    where
        T: PyClass + Into<PyClassInitializer<T>>,
    {
        let failure = OnceLock::new();
        let object = Python::attach(|py| {
            let made = Bound::new(py, context).and_then(|context| source.instance(context.as_any()));
            made.map(Bound::unbind).map_err(|error| drop(failure.set(source.sentence(py, &error)))).ok()
        });
        Instance { source: Arc::clone(source), object, failure }
    }

    /// The reason for which it could not be made.
    ///
    /// # Errors
    /// That reason.
    pub(super) fn check(&self) -> Result<(), String> {
        self.failure().map_or(Ok(()), |why| Err(why.to_owned()))
    }

    /// Returns the result of `call` with the instance; ends the run if that fails.
    pub(super) fn ask<T>(&self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> T {
        let asked =
            self.object.as_ref().filter(|_| self.failure.get().is_none()).map(|object| {
                Python::attach(|py| call(object.bind(py)).map_err(|error| self.source.sentence(py, &error)))
            });
        match asked {
            Some(Ok(answer)) => answer,
            Some(Err(why)) => self.end(why),
            None => give_up(),
        }
    }

    /// Ends the run, because the file of the class did `what`.
    pub(super) fn fail(&self, what: &str) -> ! {
        self.end(format!("{}: {what}", self.source.name()))
    }

    fn end(&self, why: String) -> ! {
        drop(self.failure.set(why));
        give_up()
    }

    /// The reason for its failure, if it has failed.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }
}
