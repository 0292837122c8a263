//! The controls, observations and rewards of an agent: names resolved once, for all simulations.

use std::sync::Arc;

use lasthop_observe::{Awaited, Definition, FlowId, LinkId, Recent, Scope};
use lasthop_registry::{Fault, Kind};
use lasthop_units::{Duration, Time};

use super::reward::Expression;
use crate::diagnostic::{Diagnostic, Origin};
use crate::knob::{Handle, Knob};
use crate::quantities::quantities;
use crate::{ResolvedScenario, glob};

/// A quantity of an entity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub quantity: &'static Definition,
    pub entity: u32,
}

/// A control of an agent: a knob, of one entity or of several that are turned together.
#[derive(Clone, Debug)]
pub struct Control {
    pub(super) handles: Vec<Handle>,
    /// the smallest value that all of them allow
    pub least: f64,
    /// the greatest value
    pub most: f64,
}

impl Control {
    /// Its row in the registry.
    pub fn knob(&self) -> &'static Knob {
        self.handles[0].knob
    }

    /// The allowed value that is nearest to `number`.
    pub(super) fn nearest(&self, number: f64) -> f64 {
        let number = if self.knob().is_whole() { number.round() } else { number };
        number.clamp(self.least, self.most)
    }

    /// Its number at the start of a run, if its entities agree and an algorithm does not decide.
    pub fn initial(&self, scenario: &ResolvedScenario) -> Option<f64> {
        let mut all = self.handles.iter().map(|handle| scenario.initial(handle));
        let first = all.next()??;
        all.all(|one| one == Some(first)).then_some(first)
    }
}

/// The times at which an agent decides.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Decision {
    Every(Duration),
    After(Awaited),
}

/// A scenario with the controls, the observations and the reward of an agent.
pub struct Task {
    pub(super) scenario: Arc<ResolvedScenario>,
    pub(super) controls: Vec<Control>,
    /// the quantities that the agent sees, followed by those that only its reward needs
    pub(super) reads: Vec<Read>,
    names: Vec<String>,
    /// number of those that it sees
    pub(super) seen: usize,
    pub(super) rewards: Vec<Expression>,
    decision: Decision,
}

impl Task {
    /// The task of an agent that turns the knobs `control`, sees the quantities `observe` and receives `rewards` at each
    /// decision: after `decide`, such as "10 ms", "ack:FLOW" or "attempt:SENDER->RECEIVER". A pattern in `control` is
    /// one control; a pattern in `observe` is a quantity of each entity that matches.
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
        let in_argument = |name: &'static str| move |fault: Fault| Diagnostic::new(Origin::Nowhere, name, fault);
        let controls = control.iter().map(|name| {
            let handles = scenario.knobs(name)?;
            let least = handles.iter().map(|handle| scenario.least(handle)).fold(0.0, f64::max);
            let most = handles.iter().map(|handle| scenario.most(handle)).fold(f64::INFINITY, f64::min);
            Ok(Control { least, most, handles })
        });
        let controls = controls.collect::<Result<Vec<_>, _>>().map_err(in_argument("control"))?;
        let mut found = Reads { scenario: &scenario, reads: Vec::new(), names: Vec::new() };
        for name in observe {
            found.all(name).map_err(in_argument("observe"))?;
        }
        let seen = found.reads.len();
        let rewards = rewards.iter().map(|text| Expression::parse(text, &mut |name| found.all(name)));
        let rewards = rewards.collect::<Result<Vec<_>, _>>().map_err(in_argument("reward"))?;
        let Reads { reads, names, .. } = found;
        let decision = decision_of(&scenario, decide).map_err(in_argument("decide"))?;
        Ok(Task { scenario, controls, reads, names, seen, rewards, decision })
    }

    /// The scenario.
    pub fn scenario(&self) -> &Arc<ResolvedScenario> {
        &self.scenario
    }

    /// Its controls, in the order of actions.
    pub fn controls(&self) -> &[Control] {
        &self.controls
    }

    /// The names of the quantities that the agent sees, in the order of observations.
    pub fn seen(&self) -> &[String] {
        &self.names[..self.seen]
    }

    /// The number of its rewards.
    pub fn rewards(&self) -> usize {
        self.rewards.len()
    }

    /// The greatest possible value of each of them, where it has one.
    pub fn bounds(&self) -> Vec<Option<f64>> {
        self.reads[..self.seen].iter().map(|read| read.quantity.kind.bound()).collect()
    }

    pub(super) fn quantities(&self) -> impl Iterator<Item = &'static Definition> + Clone {
        self.reads.iter().map(|read| read.quantity)
    }

    pub(super) fn awaited(&self) -> Option<Awaited> {
        match self.decision {
            Decision::Every(_) => None,
            Decision::After(awaited) => Some(awaited),
        }
    }

    /// The latest time of the next decision.
    pub(super) fn until(&self, now: Time) -> Time {
        match self.decision {
            Decision::Every(interval) => now + interval,
            Decision::After(_) => Time::NEVER,
        }
    }
}

fn decision_of(scenario: &ResolvedScenario, text: &str) -> Result<Decision, Fault> {
    let Some((kind, target)) = text.split_once(':') else {
        let interval: Duration = text.parse().map_err(|error: lasthop_units::UnitError| {
            Fault::from((Kind::Quantity(error.to_string()), "\"10 ms\", \"ack:FLOW\" or \"attempt:SENDER->RECEIVER\""))
        })?;
        if interval == Duration::ZERO {
            return Err(("an interval of 0 s never ends a step", "10 ms is usual").into());
        }
        return Ok(Decision::Every(interval));
    };
    let place = |names: Vec<String>, of: &str| {
        let place = names.iter().position(|name| name == target);
        place
            .map(|place| place as u32)
            .ok_or_else(|| Fault::from(Kind::NoMatch { of: of.into(), name: target.into(), known: names }))
    };
    let awaited = match kind {
        "ack" => Awaited::Ack(FlowId(place(names_of(scenario, Scope::Flow), "flow")?)),
        "attempt" => Awaited::Attempt(LinkId(place(scenario.link_names(), "link")?)),
        other => {
            let known = vec!["ack".into(), "attempt".into()];
            return Err(Kind::UnknownName { of: "decision".into(), name: other.into(), known }.into());
        }
    };
    Ok(Decision::After(awaited))
}

/// The names of the entities of a scope in dotted names of quantities.
fn names_of(scenario: &ResolvedScenario, scope: Scope) -> Vec<String> {
    match scope {
        Scope::Flow => scenario.flows.iter().map(|flow| flow.id.clone()).collect(),
        Scope::Node => scenario.nodes.iter().map(|node| node.name.clone()).collect(),
        Scope::Link => (0..scenario.links())
            .map(|link| {
                let (sender, receiver) = scenario.link_ends(link);
                format!("{sender}.{receiver}")
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// The quantities found so far, each once.
struct Reads<'a> {
    scenario: &'a ResolvedScenario,
    reads: Vec<Read>,
    names: Vec<String>,
}

impl Reads<'_> {
    /// The places of the quantities that a dotted name, perhaps with a pattern, names.
    fn all(&mut self, name: &str) -> Result<Vec<usize>, Fault> {
        let (table, rest) = name.split_once('.').unwrap_or(("", name));
        let (entity, key) = rest.rsplit_once('.').unwrap_or(("", rest));
        let known = || quantities().into_iter().filter(|quantity| Recent::knows(quantity));
        let Some(quantity) = known().find(|quantity| quantity.scope.table() == table && quantity.name == key) else {
            let path = |of: &Definition| {
                let entity = of.scope.entity().map_or(String::new(), |entity| format!("{entity}."));
                format!("{}.{entity}{}", of.scope.table(), of.name)
            };
            let of_table = |of: &&Definition| table == of.scope.table();
            let in_table = known().filter(of_table).map(path).collect::<Vec<_>>();
            let names = if in_table.is_empty() { known().map(path).collect() } else { in_table };
            return Err(Kind::UnknownName { of: "quantity".into(), name: name.into(), known: names }.into());
        };
        if quantity.scope.entity().is_none() {
            return Ok(vec![self.place(quantity, 0, name.into())]);
        }
        let names = names_of(self.scenario, quantity.scope);
        let matching: Vec<usize> = (0..names.len()).filter(|one| glob::matches(entity, &names[*one])).collect();
        if matching.is_empty() {
            let of = quantity.scope.word().to_string();
            return Err(Kind::NoMatch { of, name: entity.into(), known: names }.into());
        }
        let path = |one: usize| format!("{table}.{}.{key}", names[one]);
        Ok(matching.into_iter().map(|one| self.place(quantity, one as u32, path(one))).collect())
    }

    fn place(&mut self, quantity: &'static Definition, entity: u32, name: String) -> usize {
        let known = self.reads.iter().position(|read| read.quantity.is(quantity) && read.entity == entity);
        known.unwrap_or_else(|| {
            self.reads.push(Read { quantity, entity });
            self.names.push(name);
            self.reads.len() - 1
        })
    }
}
