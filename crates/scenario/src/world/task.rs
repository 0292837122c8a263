//! A scenario with the plan of an agent of `lasthop.gym`.

use std::sync::Arc;

use lasthop_registry::{Kind, ParamError, Parameter, Value};

use crate::ResolvedScenario;
use crate::diagnostic::{Diagnostic, Origin};
use crate::plan::{Control, Plan};
use crate::policy::{Policy, PolicyKind};

/// A scenario with the controls, the observations and the reward of an agent.
pub struct Task {
    pub(super) scenario: Arc<ResolvedScenario>,
    pub(super) plan: Plan,
}

impl Task {
    /// The task of an agent that turns the knobs `control`, sees the quantities `observe` and receives `rewards` at each
    /// decision: after `decide`, such as "10 ms", "ack:FLOW", "attempt:SENDER->RECEIVER" or "txop:AP". A pattern in `control`
    /// is one control; a pattern in `observe` is a quantity of each entity that matches.
    ///
    /// # Errors
    /// An unknown knob, quantity, entity or decision, and a reward that is no expression.
    pub fn new(
        scenario: Arc<ResolvedScenario>,
        control: &[String],
        observe: &[String],
        rewards: &[String],
        decide: &str,
    ) -> Result<Task, Diagnostic> {
        let plan = scenario
            .plan(control, observe, rewards, decide)
            .map_err(|(name, fault)| Diagnostic::new(Origin::Nowhere, name, fault))?;
        let scenario = scenario.turned_by(plan.controls.iter().flat_map(|control| &control.handles));
        Ok(Task { scenario, plan })
    }

    /// The scenario.
    pub fn scenario(&self) -> &Arc<ResolvedScenario> {
        &self.scenario
    }

    /// Its controls, in the order of actions.
    pub fn controls(&self) -> &[Control] {
        &self.plan.controls
    }

    /// The number of a control at the start of a run, if its entities agree and an algorithm does not decide.
    pub fn initial(&self, control: &Control) -> Option<f64> {
        let mut all = control.handles.iter().map(|handle| self.scenario.initial(handle));
        let first = all.next()??;
        all.all(|one| one == Some(first)).then_some(first)
    }

    /// The names of the quantities that the agent sees, in the order of observations.
    pub fn seen(&self) -> &[String] {
        self.plan.seen_names()
    }

    /// The number of its rewards.
    pub fn rewards(&self) -> usize {
        self.plan.rewards.len()
    }

    /// A policy of lasthop for this agent, in the run of a seed: `kind` is "congestion_control" or "rate_control", `algorithm` one of
    /// that kind in place of the scenario's.
    ///
    /// # Errors
    /// An unknown name, and a policy that does not fit.
    pub fn policy(&self, kind: &str, algorithm: Option<&str>, seed: u64) -> Result<Box<dyn Policy>, Diagnostic> {
        let entry = |key: &str, name: &str| (key.to_string(), Value::text(name));
        let entries = std::iter::once(entry("kind", kind)).chain(algorithm.map(|name| entry("algorithm", name)));
        let nowhere = |error: ParamError| Diagnostic::new(Origin::Nowhere, error.path, *error.fault);
        let policy = PolicyKind::parse(&Value::Table(entries.collect()), "policy").map_err(nowhere)?;
        let made = self.scenario.policy_of(&self.plan, &policy, seed);
        made.map_err(|why| Diagnostic::new(Origin::Nowhere, "policy", Kind::Code(why)))
    }

    /// The greatest possible value of each of them, where it has one.
    pub fn bounds(&self) -> Vec<Option<f64>> {
        self.plan.reads_seen().map(|(quantity, _)| quantity.kind.bound()).collect()
    }

    /// The quantities that no node with a knob of the agent could measure, and why.
    pub fn unseen(&self) -> Vec<(String, &'static str)> {
        self.scenario.unseen(&self.plan)
    }
}
