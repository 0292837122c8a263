//! Agents of a scenario while it runs: each reads its quantities at its decisions and turns its knobs by its policy.
//!
//! Decisions begin at the end of the warm-up, as those of `lasthop.gym`, so that an episode and a run with its policy agree.
//! The observer of a run keeps the metrics of all agents (`Readers`); here are their policies.

use std::sync::Arc;

use lasthop_observe::{Observer, Readers, Recent};
use lasthop_units::Time;

use crate::ResolvedScenario;
use crate::knob::Handle;
use crate::plan::{AgentSpec, Plan, Seen};
use crate::policy::{Observed, Policy};

/// An agent of a run.
struct Agent {
    plan: Arc<Plan>,
    policy: Box<dyn Policy>,
    path: String,
    seen: Seen,
    /// time of its next decision, if no event comes before
    next: Time,
    /// whether the warm-up is over
    has_begun: bool,
}

/// The agents of a run.
#[derive(Default)]
pub(crate) struct Agents(Vec<Agent>);

impl Agents {
    /// The agents of a scenario under a seed.
    ///
    /// # Panics
    /// If a policy does not fit, which was checked when it was loaded.
    pub(crate) fn new(scenario: &ResolvedScenario, seed: u64) -> Agents {
        let warm = Time::ZERO + scenario.description.warmup;
        let agent = |spec: &AgentSpec| Agent {
            plan: Arc::clone(&spec.plan),
            policy: scenario.policy_of(&spec.plan, &spec.policy, seed).expect("a policy was made when it was loaded"),
            path: spec.path.clone(),
            seen: Seen::of(&spec.plan),
            next: warm,
            has_begun: false,
        };
        Agents(scenario.agents.iter().map(agent).collect())
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// The time of the next decision.
    pub(crate) fn next_decision(&self) -> Time {
        self.0.iter().map(|agent| agent.next).min().unwrap_or(Time::NEVER)
    }

    /// Lets an agent read its quantities, if its decision is due or an event that it awaits has come. Returns the knobs that it
    /// turns, with their values.
    pub(crate) fn decide(&mut self, place: usize, now: Time, reader: &mut Recent) -> Vec<(Handle, f64)> {
        let agent = &mut self.0[place];
        let is_due = agent.next <= now;
        if !is_due && !reader.pauses() {
            return Vec::new();
        }
        agent.seen.read(&agent.plan, reader, now);
        agent.has_begun |= is_due;
        if !agent.has_begun {
            return Vec::new();
        }
        agent.next = agent.plan.until(now);
        let mut values = vec![f64::NAN; agent.plan.controls.len()];
        let observed = Observed { now, values: agent.seen.values(&agent.plan), absent: agent.seen.absent(&agent.plan) };
        agent.policy.act(&observed, &mut values);
        let turned = agent.plan.controls.iter().zip(values).filter(|(_, value)| !value.is_nan());
        turned
            .flat_map(|(control, value)| control.handles.iter().map(move |of| (*of, control.nearest(value))))
            .collect()
    }

    /// The place of a policy that has given up, and its reason.
    pub(crate) fn failure(&self) -> Option<(&str, &str)> {
        self.0.iter().find_map(|agent| Some((agent.path.as_str(), agent.policy.failure()?)))
    }
}

impl ResolvedScenario {
    /// The observers of its agents; none if it has no agent.
    pub(crate) fn readers(&self) -> Option<Readers> {
        let layout = self.layout();
        let reader = |agent: &AgentSpec| Recent::new(&layout, agent.plan.quantities(), agent.plan.awaited());
        (!self.agents.is_empty()).then(|| Readers(self.agents.iter().map(reader).collect()))
    }
}
