//! Recordings of loss recovery.

use lasthop_recovery::{Trace, Verdict, replay};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Replays the recording in `text`: `(name, line, verdict, side_by_side)`, with "pass", "fail" or "skip".
#[pyfunction]
pub fn replay_recovery(py: Python<'_>, text: &str) -> PyResult<(String, String, &'static str, String)> {
    let trace = Trace::parse(text).map_err(PyValueError::new_err)?;
    let report = py.detach(|| replay(&trace));
    let verdict = match report.verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "fail",
        Verdict::Skip(_) => "skip",
    };
    Ok((trace.name, report.line(), verdict, report.side_by_side()))
}
