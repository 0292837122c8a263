//! A policy that is a class in Python, or a network in ONNX's format that a class of the package computes.

use std::sync::Arc;

use lasthop_registry::Language;
use lasthop_scenario::{Code, Observed, Policy, PolicyContext, PolicyKind, PolicyMaker, load_linear};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;

use super::class::Class;
use super::instance::Instance;
use super::source::{Source, shown};

impl Class for PolicyKind {
    const BASE: &'static str = "Policy";

    fn maker(source: Arc<Source>) -> Result<Arc<PolicyMaker>, String> {
        Ok(Arc::new(move |context: &PolicyContext| {
            let instance = Instance::new(&source, AgentContext(context.clone()));
            instance.check()?;
            Ok(Box::new(OfPython(instance)) as Box<dyn Policy>)
        }))
    }

    fn load_compiled(code: &Code) -> Result<Arc<PolicyMaker>, String> {
        if let Some((key, _)) = code.parameters.first() {
            return Err(format!("{}: a policy in this form has no parameter \"{key}\"", code.name));
        }
        match code.language {
            Language::Linear => load_linear(&code.name, code.content()?),
            Language::Onnx => Self::maker(Arc::new(Source::load_network(code)?)),
            _ => Err(format!("nothing here loads a policy in \"{}\"", code.language.word())),
        }
    }
}

/// The argument of a policy at the start.
#[pyclass(frozen, module = "lasthop._core")]
pub(super) struct AgentContext(PolicyContext);

#[pymethods]
impl AgentContext {
    /// Dotted names of the quantities of an observation, in order.
    #[getter]
    fn quantities(&self) -> Vec<String> {
        self.0.quantities.clone()
    }
    /// The controls in order: names of knobs, each with its smallest and greatest value in the unit of the knob.
    #[getter]
    fn controls(&self) -> Vec<(String, f64, f64)> {
        self.0.controls.clone()
    }
    /// Seed of the run.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed
    }
}

/// The observation of a policy at a decision.
#[pyclass(frozen, module = "lasthop._core")]
pub(super) struct Observation {
    now_s: f64,
    values: Vec<f64>,
    absent: Vec<bool>,
}

#[pymethods]
impl Observation {
    /// Current time in seconds.
    #[getter]
    fn now_s(&self) -> f64 {
        self.now_s
    }
    /// The quantities since the last decision, in their units; one without a value keeps its last one, and is 0 before the first.
    #[getter]
    fn values(&self) -> Vec<f64> {
        self.values.clone()
    }
    /// Whether each has had no value since the last decision.
    #[getter]
    fn absent(&self) -> Vec<bool> {
        self.absent.clone()
    }
}

struct OfPython(Instance);

impl Policy for OfPython {
    fn act(&mut self, observed: &Observed<'_>, values: &mut [f64]) {
        let now_s = observed.now.as_nanos() as f64 / 1e9;
        let seen = Observation { now_s, values: observed.values.to_vec(), absent: observed.absent.to_vec() };
        let answer: Option<Vec<f64>> = self.0.ask(|policy| {
            let answer = policy.call_method1(intern!(policy.py(), "act"), (seen,))?;
            if answer.is_none() {
                return Ok(None);
            }
            let one = answer.extract::<f64>().map(|one| vec![one]);
            let wrong = || PyTypeError::new_err(format!("act gave {}; numbers or None", shown(&answer)));
            one.or_else(|_| answer.extract::<Vec<f64>>()).map(Some).map_err(|_| wrong())
        });
        match answer {
            None => {}
            Some(answer) if answer.len() == values.len() => values.copy_from_slice(&answer),
            Some(answer) if answer.len() == 1 => values.fill(answer[0]),
            Some(answer) => self.0.fail(&format!(
                "act gave {} numbers; one, or one for each of {} controls",
                answer.len(),
                values.len()
            )),
        }
    }

    fn failure(&self) -> Option<&str> {
        self.0.failure()
    }
}
