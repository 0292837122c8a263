//! Packetdrill scripts for Python, which evaluates the code in them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use lasthop_packetdrill::{Ending, Ran};
use pyo3::prelude::*;

/// A piece of code: its line, its text, and names with their numbers.
type Code = (usize, String, Vec<(&'static str, i64)>);

/// Runs the text of a script: how it ended ("pass", "fail" or "skip"), at which line and why, and the code that was
/// reached.
#[pyfunction]
pub(crate) fn packetdrill(
    py: Python<'_>,
    text: &str,
    options: Vec<(String, String)>,
) -> (&'static str, usize, String, Vec<Code>) {
    let ran = py.detach(|| catch_unwind(AssertUnwindSafe(|| lasthop_packetdrill::run(text, &options))));
    let Ok(Ran { ending, code }) = ran else {
        return ("fail", 0, "the endpoint has stopped with the sentence above".into(), Vec::new());
    };
    let code = code.into_iter().map(|code| (code.line, code.text, code.variables)).collect();
    match ending {
        Ending::AsStated => ("pass", 0, String::new(), code),
        Ending::Failed { line, why } => ("fail", line, why, code),
        Ending::Skipped { line, why } => ("skip", line, why, code),
    }
}
