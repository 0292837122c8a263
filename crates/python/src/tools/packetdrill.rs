//! Packetdrill scripts for Python, which evaluates the code in them.

use lasthop_conformance::packetdrill::{Ending, run, run_with};
use pyo3::prelude::*;

use super::chosen::Chosen;
use super::interruptible::interruptible;

/// A piece of code: its line, its text, and names with their numbers.
type Code = (usize, String, Vec<(&'static str, i64)>);

/// Runs the text of a script: its end ("pass", "fail" or "skip"), with line and reason, and the code reached.
/// `choice`: the congestion control of its endpoints.
#[pyfunction]
#[pyo3(signature = (text, options, choice = None))]
pub(crate) fn packetdrill(
    py: Python<'_>,
    text: String,
    options: Vec<(String, String)>,
    choice: Option<&str>,
) -> PyResult<(&'static str, usize, String, Vec<Code>)> {
    let chosen = choice.map(Chosen::read).transpose()?;
    let ran = match chosen {
        None => Ok(interruptible(py, move || run(&text, &options))?),
        Some(chosen) => {
            let its = chosen.clone();
            chosen.interruptible(py, move || {
                let tcp = [("congestion_control".to_string(), its.clone().into_value())];
                its.attempt(|| run_with(&text, &options, &tcp))
            })?
        }
    };
    let ran = match ran {
        Ok(ran) => ran,
        Err(why) => return Ok(("fail", 0, why, Vec::new())),
    };
    let code = ran.code.into_iter().map(|code| (code.line, code.text, code.variables)).collect();
    Ok(match ran.ending {
        Ending::AsStated => ("pass", 0, String::new(), code),
        Ending::Failed { line, why } => ("fail", line, why, code),
        Ending::Skipped { line, why } => ("skip", line, why, code),
    })
}
