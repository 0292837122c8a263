//! Plans of agents from names, the agents of a scenario, and the quantities that they see and no device could know.

use std::collections::BTreeSet;
use std::sync::Arc;

use lasthop_observe::{Awaited, Definition, FlowId, LinkId, NodeId, Recent, Scope};
use lasthop_registry::{Fault, Kind, ParamError, Word};
use lasthop_units::Duration;

use super::ResolvedScenario;
use crate::diagnostic::Diagnostic;
use crate::glob;
use crate::knob::Place;
use crate::plan::{AgentSpec, Control, Decision, Expression, Plan, Read};
use crate::policy::PolicyKind;

impl ResolvedScenario {
    /// The plan of an agent that turns the knobs `control`, sees the quantities `observe` and receives `rewards` at each decision;
    /// see [`Task::new`](crate::Task::new).
    ///
    /// # Errors
    /// The name of an argument, and its mistake.
    pub(crate) fn plan(
        &self,
        control: &[String],
        observe: &[String],
        rewards: &[String],
        decide: &str,
    ) -> Result<Plan, (&'static str, Fault)> {
        let in_argument = |name: &'static str| move |fault: Fault| (name, fault);
        let controls = control.iter().map(|name| {
            let handles = self.knobs(name)?;
            let least = handles.iter().map(|handle| self.least(handle)).fold(f64::NEG_INFINITY, f64::max);
            let most = handles.iter().map(|handle| self.most(handle)).fold(f64::INFINITY, f64::min);
            Ok(Control { name: name.clone(), least, most, handles })
        });
        let controls = controls.collect::<Result<Vec<_>, _>>().map_err(in_argument("control"))?;
        let mut found = Reads { scenario: self, reads: Vec::new(), names: Vec::new() };
        for name in observe {
            found.all(name).map_err(in_argument("observe"))?;
        }
        let seen = found.reads.len();
        let rewards = rewards.iter().map(|text| Expression::parse(text, &mut |name| found.all(name)));
        let rewards = rewards.collect::<Result<Vec<_>, _>>().map_err(in_argument("reward"))?;
        let Reads { reads, names, .. } = found;
        let decision = decision_of(self, decide).map_err(in_argument("decide"))?;
        Ok(Plan { controls, reads, names, seen, rewards, decision })
    }

    /// The agents of the file, in its order.
    ///
    /// # Errors
    /// A knob, quantity or event that the scenario lacks.
    pub(super) fn agents_of(&self) -> Result<Vec<AgentSpec>, ParamError> {
        let agent = |(index, section): (usize, &crate::description::AgentSection)| {
            let path = format!("agent[{index}]");
            let names = |of: &[Word]| of.iter().map(|name| name.to_string()).collect::<Vec<_>>();
            let control = names(&section.control);
            let (usual, own) = self.usual(&section.policy, &control).unzip();
            let decide = match (&section.every, &section.at) {
                (Some(every), _) => every.to_string(),
                (None, Some(at)) => at.to_string(),
                (None, None) => own.unwrap_or_else(|| "10 ms".into()),
            };
            let observe = usual.filter(|_| section.observe.is_empty()).unwrap_or_else(|| names(&section.observe));
            let plan = self.plan(&control, &observe, &[], &decide);
            let key = |name: &str| {
                if name == "decide" { if section.at.is_some() { "at" } else { "every" } } else { name }.to_string()
            };
            let plan = plan.map_err(|(name, fault)| ParamError::new(format!("{path}.{}", key(name)), fault))?;
            if section.policy.needs().is_some() {
                let made = self.policy_of(&plan, &section.policy, 0);
                made.map_err(|why| ParamError::new(format!("{path}.policy"), Kind::Code(why)))?;
            }
            Ok(AgentSpec { plan: Arc::new(plan), policy: section.policy.clone(), path })
        };
        self.description.agent.0.iter().enumerate().map(agent).collect()
    }

    /// The quantities that a policy needs of the flow or link whose knob it turns, and the event after which it decides, if it says so.
    fn usual(&self, policy: &PolicyKind, control: &[String]) -> Option<(Vec<String>, String)> {
        let (event, quantities) = policy.needs()?;
        let (knob, scope) = if event == "ack" { ("window:", Scope::Flow) } else { ("rate:", Scope::Link) };
        let target = control.iter().find_map(|name| name.strip_prefix(knob))?;
        let entity = target.replacen("->", ".", 1);
        let path = |quantity: &&str| format!("{}.{entity}.{quantity}", scope.table());
        Some((quantities.iter().map(path).collect(), format!("{event}:{target}")))
    }

    /// Makes each policy once, so that one that does not fit its agent is found before a run.
    ///
    /// # Errors
    /// The place of a policy that does not fit, and why.
    pub(super) fn try_policies(&self) -> Result<(), String> {
        self.agents.iter().try_for_each(|agent| self.policy_of(&agent.plan, &agent.policy, 0).map(drop))
    }

    /// A warning for each agent with quantities that the nodes with its knobs could not know.
    pub(super) fn warnings_of_sight(&self, agents: &[AgentSpec]) -> Vec<Diagnostic> {
        let of = |agent: &AgentSpec| {
            let unseen = self.unseen(&agent.plan);
            let names = unseen.iter().map(|(name, why)| format!("{name} ({why})")).collect::<Vec<_>>();
            let what = format!("{}: a device could not run this policy, for it sees {}", agent.path, names.join(", "));
            (!unseen.is_empty()).then(|| Diagnostic::warning(what, &[]))
        };
        agents.iter().filter_map(of).collect()
    }

    /// The nodes whose knobs an agent turns: of a flow its station, of a link its sender.
    fn nodes_of(&self, plan: &Plan) -> BTreeSet<usize> {
        let node = |place: Place| match place {
            Place::Category(node, _) | Place::Node(node) => node.index(),
            Place::Flow(flow) if self.flows[flow.index()].up => self.flows[flow.index()].station.index(),
            Place::Flow(flow) => self.nodes[self.flows[flow.index()].station.index()].config.bss as usize,
            Place::Link(link) => self.ends(link.index()).0,
        };
        plan.controls.iter().flat_map(|control| &control.handles).map(|handle| node(handle.place)).collect()
    }

    /// The quantities that no node whose knob the agent turns could measure, and why.
    ///
    /// A node knows its own queue and frames, its links, and the flows that begin or end there; it senses how long the medium is
    /// busy. It does not know why a frame was lost, nor the number of others that contend.
    pub(crate) fn unseen(&self, plan: &Plan) -> Vec<(String, &'static str)> {
        let nodes = self.nodes_of(plan);
        let reason = |quantity: &'static Definition, entity: usize| {
            let name = quantity.name;
            let truths = ["collision", "noise", "interference", "interferer", "contending"];
            if truths.iter().any(|truth| name.contains(truth)) {
                return Some("the truth of the simulator");
            }
            match quantity.scope.table() {
                "nodes" if !nodes.contains(&entity) => Some("of another node"),
                "links" => {
                    let (from, to) = self.ends(entity);
                    (!nodes.contains(&from) && !nodes.contains(&to)).then_some("of other nodes")
                }
                "flows" => {
                    let station = self.flows[entity].station.index();
                    let ap = self.nodes[station].config.bss as usize;
                    (!nodes.contains(&station) && !nodes.contains(&ap)).then_some("of other nodes")
                }
                "totals" => (nodes.len() < self.nodes.len()).then_some("of all flows"),
                _ => None,
            }
        };
        let seen = plan.seen_names().iter().zip(plan.reads_seen());
        seen.filter_map(|(name, (quantity, entity))| Some((name.clone(), reason(quantity, entity as usize)?))).collect()
    }
}

fn decision_of(scenario: &ResolvedScenario, text: &str) -> Result<Decision, Fault> {
    let Some((kind, target)) = text.split_once(':') else {
        let interval: Duration = text.parse().map_err(|error: lasthop_units::UnitError| {
            Fault::from((
                Kind::Quantity(error.to_string()),
                "\"10 ms\", \"ack:FLOW\", \"attempt:SENDER->RECEIVER\" or \"txop:AP\"",
            ))
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
        "txop" => Awaited::Txop(NodeId(place(scenario.access_point_names(), "ap")?)),
        other => {
            let known = vec!["ack".into(), "attempt".into(), "txop".into()];
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
        let known = Recent::quantities;
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
