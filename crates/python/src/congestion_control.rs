//! Congestion controls against evidence: traces of others, and what all promise.

use lasthop_conformance::cc::replay::{Agreement, judge, judge_as};
use lasthop_conformance::cc::{Candidate, RULES};
use lasthop_registry::Parameter;
use lasthop_tcp::congestion_control::{Algorithm, Context};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::chosen::Chosen;
use crate::interruptible::interruptible;

/// Replays the trace in `text`: `(line, verdict)`, with "pass", "fail" or "skip". `choice`: a controller in place of that
/// which was recorded.
#[pyfunction]
#[pyo3(signature = (text, choice = None))]
pub fn replay_cc(py: Python<'_>, text: String, choice: Option<&str>) -> PyResult<(String, &'static str)> {
    let chosen = choice.map(Chosen::read).transpose()?;
    let replayed = move || match chosen {
        None => judge(&text),
        Some(chosen) => {
            let value = chosen.clone().into_value();
            let algorithm = Algorithm::parse(&value, "").map_err(|error| error.to_string())?;
            chosen.attempt(|| judge_as(&text, &algorithm)).and_then(|judged| judged)
        }
    };
    let (line, verdict) = interruptible(py, replayed)?.map_err(PyValueError::new_err)?;
    let verdict = match verdict {
        Some(Agreement::Exact | Agreement::Within) => "pass",
        Some(Agreement::Off) => "fail",
        None => "skip",
    };
    Ok((line, verdict))
}

/// Holds the controller that `choice` names to all that controllers promise: of each rule its name, and what was found where it
/// does not hold.
#[pyfunction]
pub fn check_cc(py: Python<'_>, choice: &str) -> PyResult<Vec<(&'static str, Option<String>)>> {
    let chosen = Chosen::read(choice)?;
    interruptible(py, move || {
        let build = |context: &Context| chosen.build(context);
        let candidate = Candidate {
            command: |subject, _, _| format!("lasthop check-cc '{subject}'"),
            name: chosen.text().to_string(),
            ..Candidate::registered(chosen.algorithm(), &build)
        };
        let tested = RULES.iter().map(|rule| {
            let tested = chosen.attempt(|| (rule.test)(&candidate, rule.seeds.clone()));
            let found = tested.map(|held| held.err().map(|failure| failure.found)).unwrap_or_else(Some);
            (rule.name, found)
        });
        tested.collect()
    })
}
