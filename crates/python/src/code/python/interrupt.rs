//! Ctrl-C while code in Python runs.
//!
//! It is raised within a method of the code, which leaves the engine as a failure does. The caller that began the run
//! takes it from here and raises it as KeyboardInterrupt.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

static PENDING: Mutex<Option<PyErr>> = Mutex::new(None);

/// Keeps `error` if it is a KeyboardInterrupt.
pub(super) fn keep(py: Python<'_>, error: &PyErr) {
    if error.is_instance_of::<PyKeyboardInterrupt>(py) {
        *PENDING.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone_ref(py));
    }
}

/// Whether one has come that has not been raised yet.
pub(crate) fn is_interrupted() -> bool {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

/// Raises an interrupt, if one has ended the latest work.
///
/// # Errors
/// That interrupt.
pub(crate) fn raise_if_kept() -> PyResult<()> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
}
