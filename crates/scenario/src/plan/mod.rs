//! The plan of an agent: its knobs, the quantities that it sees, its rewards, and the times of its decisions.
//!
//! `resolved/agents` makes plans of names, once for a scenario. Agents of a scenario and of `lasthop.gym` share them.
//! `reward`: expressions over quantities.

mod reward;

use std::sync::Arc;

use lasthop_observe::{Awaited, Definition, Recent};
use lasthop_units::{Duration, Time};

use crate::knob::{Handle, Knob};
use crate::policy::PolicyKind;
pub(crate) use reward::Expression;

/// A quantity of an entity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    pub quantity: &'static Definition,
    pub entity: u32,
}

/// A control of an agent: a knob, of one entity or of several that are turned together.
#[derive(Clone, Debug)]
pub struct Control {
    /// its name, perhaps with a pattern
    pub name: String,
    pub(crate) handles: Vec<Handle>,
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
    pub(crate) fn nearest(&self, number: f64) -> f64 {
        let number = if self.knob().is_whole() { number.round() } else { number };
        number.clamp(self.least, self.most)
    }
}

/// The times at which an agent decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Decision {
    /// after each interval
    Every(Duration),
    /// after each such event
    After(Awaited),
}

/// The controls, observations and rewards of an agent, and the times at which it decides.
pub(crate) struct Plan {
    pub controls: Vec<Control>,
    /// the quantities that the agent sees, followed by those that only its reward needs
    pub reads: Vec<Read>,
    /// their names
    pub names: Vec<String>,
    /// number of those that it sees
    pub seen: usize,
    pub rewards: Vec<Expression>,
    pub decision: Decision,
}

impl Plan {
    /// The names of the quantities that the agent sees, in the order of observations.
    pub(crate) fn seen_names(&self) -> &[String] {
        &self.names[..self.seen]
    }

    /// These quantities, each with the number of its entity.
    pub(crate) fn reads_seen(&self) -> impl Iterator<Item = (&'static Definition, u32)> {
        self.reads[..self.seen].iter().map(|read| (read.quantity, read.entity))
    }

    pub(crate) fn quantities(&self) -> impl Iterator<Item = &'static Definition> + Clone {
        self.reads.iter().map(|read| read.quantity)
    }

    pub(crate) fn awaited(&self) -> Option<Awaited> {
        match self.decision {
            Decision::Every(_) => None,
            Decision::After(awaited) => Some(awaited),
        }
    }

    /// The latest time of the next decision.
    pub(crate) fn until(&self, now: Time) -> Time {
        match self.decision {
            Decision::Every(interval) => now + interval,
            Decision::After(_) => Time::NEVER,
        }
    }
}

/// The latest values of the quantities of a plan.
pub(crate) struct Seen {
    all: Vec<f64>,
    /// whether a quantity has had no value since the last reading
    absent: Vec<bool>,
}

impl Seen {
    pub(crate) fn of(plan: &Plan) -> Seen {
        Seen { all: vec![0.0; plan.reads.len()], absent: vec![true; plan.reads.len()] }
    }

    /// Reads the quantities since the last reading.
    pub(crate) fn read(&mut self, plan: &Plan, recent: &mut Recent, now: Time) {
        recent.read(now);
        for ((read, value), absent) in plan.reads.iter().zip(&mut self.all).zip(&mut self.absent) {
            let number = recent.number(read.quantity, read.entity);
            *absent = number.is_none();
            *value = number.unwrap_or(*value);
        }
    }

    /// The values of all quantities.
    pub(crate) fn all(&self) -> &[f64] {
        &self.all
    }

    /// The values that the agent sees.
    pub(crate) fn values(&self, plan: &Plan) -> &[f64] {
        &self.all[..plan.seen]
    }

    /// Whether each of them has had no value since the last reading.
    pub(crate) fn absent(&self, plan: &Plan) -> &[bool] {
        &self.absent[..plan.seen]
    }
}

/// An agent as its scenario has it.
#[derive(Clone)]
pub(crate) struct AgentSpec {
    pub plan: Arc<Plan>,
    pub policy: PolicyKind,
    /// its place, such as `agent[0]`
    pub path: String,
}
