//! Congestion controls against evidence: traces from elsewhere, and the promises of all controllers.

use lasthop_conformance::cc::replay::{Agreement, judge, judge_as};
use lasthop_conformance::cc::{Candidate, RULES};
use lasthop_registry::Parameter;
use lasthop_tcp::congestion_control::{Algorithm, Context};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::chosen::Chosen;
use super::interruptible::interruptible;
use crate::code::is_interrupted;

/// Replays the trace in `text`: `(line, verdict)`, with "pass", "fail" or "skip". `choice`: a controller in place of
/// the recorded one.
#[pyfunction]
#[pyo3(signature = (text, choice = None))]
pub fn replay_cc(py: Python<'_>, text: String, choice: Option<&str>) -> PyResult<(String, &'static str)> {
    let chosen = choice.map(Chosen::read).transpose()?;
    let replayed = match chosen {
        None => interruptible(py, move || judge(&text)),
        Some(chosen) => {
            let value = chosen.clone().into_value();
            let algorithm = Algorithm::parse(&value, "").map_err(|error| PyValueError::new_err(error.to_string()))?;
            let its = chosen.clone();
            chosen.interruptible(py, move || its.attempt(|| judge_as(&text, &algorithm)).and_then(|judged| judged))
        }
    };
    let (line, verdict) = replayed?.map_err(PyValueError::new_err)?;
    let verdict = match verdict {
        Some(Agreement::Exact | Agreement::Within) => "pass",
        Some(Agreement::Off) => "fail",
        None => "skip",
    };
    Ok((line, verdict))
}

/// Checks the controller named by `choice` against all promises of controllers: for each rule its name, and the finding
/// if it does not hold.
#[pyfunction]
pub fn check_cc(py: Python<'_>, choice: &str) -> PyResult<Vec<(&'static str, Option<String>)>> {
    let chosen = Chosen::read(choice)?;
    chosen.clone().interruptible(py, move || {
        let build = |context: &Context| chosen.build(context);
        let candidate = Candidate {
            command: |subject, _, _| format!("lasthop cc check '{subject}'"),
            name: chosen.text().to_string(),
            ..Candidate::registered(chosen.algorithm(), &build)
        };
        let left = RULES.iter().take_while(|_| !is_interrupted());
        let tested = left.map(|rule| {
            let tested = chosen.attempt(|| (rule.test)(&candidate, rule.seeds.clone()));
            let found = tested.map(|held| held.err().map(|failure| failure.found)).unwrap_or_else(Some);
            (rule.name, found)
        });
        tested.collect()
    })
}
