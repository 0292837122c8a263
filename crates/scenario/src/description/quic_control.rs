//! The congestion control of a QUIC flow: one of lasthop's, code of the user's, or one of the stack's own.

use lasthop_quic::{Control, StackControl, why_not};
use lasthop_registry::{Kind, ParamError, Parameter, Shape, Value, refuse};
use lasthop_tcp::congestion_control::{Algorithm, cubic};

/// A congestion control of lasthop or of the stack.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QuicControl(pub Control);

impl Default for QuicControl {
    fn default() -> Self {
        QuicControl(Control::Ours(Algorithm::Cubic(cubic::Params::default())))
    }
}

/// The stack's BBR, whose draws no seed repeats.
const UNREPEATABLE: &str = "quinn_bbr";

impl Parameter for QuicControl {
    fn shape() -> Shape {
        Shape::AnyOf(vec![Algorithm::shape(), StackControl::shape()])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        if let Value::Text(name) = value.get("kind").unwrap_or(value) {
            if name == UNREPEATABLE {
                let what = format!("\"{name}\" draws from the machine's entropy, so that no seed repeats its results");
                return Err(ParamError::new(path, (Kind::NotAllowed(what), "\"bbr\" over TCP, or another controller")));
            }
            if StackControl::REGISTRY.find(name).is_ok() {
                return StackControl::parse(value, path).map(|control| QuicControl(Control::Stack(control)));
            }
        }
        let or_of_the_stack = |error: ParamError| match error.fault.kind {
            Kind::UnknownName { .. } => error.or(", quinn_cubic, quinn_newreno"),
            _ => error,
        };
        Algorithm::parse(value, path).map(|control| QuicControl(Control::Ours(control))).map_err(or_of_the_stack)
    }
    fn parse_over(before: &Self, value: &Value, path: &str) -> Result<Self, ParamError> {
        match &before.0 {
            Control::Ours(control) if value.get("kind").is_none() && matches!(value, Value::Table(_)) => {
                Algorithm::parse_over(control, value, path).map(|control| QuicControl(Control::Ours(control)))
            }
            _ => Self::parse(value, path),
        }
    }
    fn to_value(&self) -> Option<Value> {
        match &self.0 {
            Control::Ours(control) => control.to_value(),
            Control::Stack(control) => control.to_value(),
        }
    }
}

impl QuicControl {
    /// Refuses a controller that does not work over the stack. Code that is not loaded yet passes.
    pub(super) fn check(&self, path: &str) -> Result<(), ParamError> {
        match self.why_not() {
            None => Ok(()),
            Some(message) => refuse(path, "congestion_control", (message, "another controller")),
        }
    }

    /// A sentence that says why it does not work over QUIC.
    pub(crate) fn why_not(&self) -> Option<String> {
        let Control::Ours(algorithm) = &self.0 else { return None };
        let reason = why_not(algorithm)?;
        Some(format!("\"{}\" does not work over QUIC: {reason}", algorithm.name()))
    }
}
