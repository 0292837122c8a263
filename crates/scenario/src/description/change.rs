//! `[[change]]`: settings that change while a simulation runs.

use lasthop_registry::{Kind, ParamError, Parameter, Shape, Value, params, refuse};
use lasthop_units::Duration;

/// Knobs and their new values, checked when the scenario is known.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct Turned(pub Vec<(String, Value)>);

impl Parameter for Turned {
    fn shape() -> Shape {
        Shape::Table(Vec::new())
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        match value {
            Value::Table(entries) => Ok(Turned(entries.clone())),
            _ => Err(ParamError::new(path, lasthop_registry::not_a_table(value))),
        }
    }
    fn to_value(&self) -> Option<Value> {
        Some(Value::Table(self.0.clone()))
    }
}

params! {
    /// Settings that change while the simulation runs.
    pub(crate) struct ChangeSection {
        /// Time of the change; it counts for each event from then on.
        pub at: Duration = Duration::ZERO,
        /// Knobs with their new values: { "edca.cw_min:ap" = 63 }; `lasthop list knob` has all of them.
        pub set: Turned = Turned::default(),
    }
    check |this, path| {
        if this.set.0.is_empty() {
            return refuse(path, "set", (Kind::NoEffect("it changes no knob".into()), "write set = { \"edca.cw_min:ap\" = 63 }"));
        }
        Ok(())
    }
}

/// All `[[change]]` tables.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct Changes(pub Vec<ChangeSection>);

impl Parameter for Changes {
    fn shape() -> Shape {
        super::OneOrMany::<ChangeSection>::shape()
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        super::OneOrMany::parse(value, path).map(|all| Changes(all.0))
    }
    fn to_value(&self) -> Option<Value> {
        let tables: Vec<Value> = self.0.iter().filter_map(Parameter::to_value).collect();
        (!tables.is_empty()).then_some(Value::List(tables))
    }
}
