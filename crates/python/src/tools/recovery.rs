//! Recordings of loss recovery.

use lasthop_conformance::recovery::{ReplayVerdict, Trace, replay};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::interruptible::interruptible;

/// Replays the recording in `text`: `(name, line, verdict, side_by_side)`, with "pass", "fail" or "skip".
#[pyfunction]
pub fn replay_recovery(py: Python<'_>, text: String) -> PyResult<(String, String, &'static str, String)> {
    let replayed = move || {
        let trace = Trace::parse(&text)?;
        let report = replay(&trace);
        Ok((trace.name, report))
    };
    let (name, report) = interruptible(py, replayed)?.map_err(PyValueError::new_err::<String>)?;
    let verdict = match report.verdict {
        ReplayVerdict::Pass => "pass",
        ReplayVerdict::Fail => "fail",
        ReplayVerdict::Skip(_) => "skip",
    };
    Ok((name, report.line(), verdict, report.side_by_side()))
}
