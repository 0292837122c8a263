//! Traces of congestion control.

use lasthop_conformance::cc::replay::{Agreement, judge};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::interruptible::interruptible;

/// Replays the trace in `text`: `(line, verdict)`, with "pass", "fail" or "skip".
#[pyfunction]
pub fn replay_cc(py: Python<'_>, text: String) -> PyResult<(String, &'static str)> {
    let (line, verdict) = interruptible(py, move || judge(&text))?.map_err(PyValueError::new_err)?;
    let verdict = match verdict {
        Some(Agreement::Exact | Agreement::Within) => "pass",
        Some(Agreement::Off) => "fail",
        None => "skip",
    };
    Ok((line, verdict))
}
