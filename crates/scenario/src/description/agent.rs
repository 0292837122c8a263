//! `[[agent]]`: policies that turn knobs while a simulation runs.

use lasthop_registry::{Kind, ParamError, Parameter, Shape, Value, Word, params, refuse};
use lasthop_units::Duration;

use crate::policy::{PolicyKind, none};

params! {
    /// A policy that turns knobs while the simulation runs.
    pub(crate) struct AgentSection {
        /// The policy: { kind = "linear", file = "cw.json" }, { kind = "onnx", file = "cw.onnx" }, a class of your own, or a built-in
        /// algorithm, { kind = "congestion_control", algorithm = "cubic" }.
        pub policy: PolicyKind = PolicyKind::None(none::Params::default()),
        /// Knobs that it sets at each decision, by name or pattern; `lasthop list knob` has all of them.
        pub control: Vec<Word> = Vec::new(),
        /// Quantities that it sees, each since its last decision; `lasthop list quantity` has all of them. A built-in algorithm sees the
        /// quantities that it needs of its flow or link, if there are no others.
        pub observe: Vec<Word> = Vec::new(),
        /// Time between two decisions, from the end of the warm-up on; default: "10 ms".
        pub every: Option<Duration> = None,
        /// Decides after events in place of intervals: "ack:FLOW", "attempt:SENDER->RECEIVER" or "txop:AP"; default of a built-in
        /// algorithm: the event from which it learns.
        pub at: Option<Word> = None,
    }
    check |this, path| {
        if this.control.is_empty() {
            return refuse(path, "control", (Kind::NoEffect("the agent turns no knob".into()), "write control = [\"edca.cw_min:ap\"]"));
        }
        if this.every.is_some() && this.at.is_some() {
            return refuse(path, "at", ("every also says when the agent decides", "remove one of them"));
        }
        Ok(())
    }
}

/// All `[[agent]]` tables.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct AgentSections(pub Vec<AgentSection>);

impl Parameter for AgentSections {
    fn shape() -> Shape {
        super::OneOrMany::<AgentSection>::shape()
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        super::OneOrMany::parse(value, path).map(|all| AgentSections(all.0))
    }
    fn to_value(&self) -> Option<Value> {
        let tables: Vec<Value> = self.0.iter().filter_map(Parameter::to_value).collect();
        (!tables.is_empty()).then_some(Value::List(tables))
    }
}
