//! Packetdrill scripts for Python, which evaluates the code in them.

use lasthop_conformance::packetdrill::Ending;
use pyo3::prelude::*;

use crate::interruptible::interruptible;

/// A piece of code: its line, its text, and names with their numbers.
type Code = (usize, String, Vec<(&'static str, i64)>);

/// Runs the text of a script: how it ended ("pass", "fail" or "skip"), at which line and why, and the code that was
/// reached.
#[pyfunction]
pub(crate) fn packetdrill(
    py: Python<'_>,
    text: String,
    options: Vec<(String, String)>,
) -> PyResult<(&'static str, usize, String, Vec<Code>)> {
    let ran = interruptible(py, move || lasthop_conformance::packetdrill::run(&text, &options))?;
    let code = ran.code.into_iter().map(|code| (code.line, code.text, code.variables)).collect();
    Ok(match ran.ending {
        Ending::AsStated => ("pass", 0, String::new(), code),
        Ending::Failed { line, why } => ("fail", line, why, code),
        Ending::Skipped { line, why } => ("skip", line, why, code),
    })
}
