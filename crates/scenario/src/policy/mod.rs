//! Policies: what an agent of a scenario makes of the quantities that it sees.
//!
//! A policy gets the quantities since its last decision and gives the values of its knobs. `interface` has the trait, `linear`
//! the policies that `python -m lasthop.gym` learns. A policy from a file counts as code: a result of somebody else runs none.

mod interface;
mod linear;

use lasthop_registry::registry;

pub use interface::{Observed, Policy, PolicyContext, PolicyMaker};
pub use linear::{linear_values, load_linear};

registry! {
    /// The choice `policy = …` of an agent.
    pub enum PolicyKind as "policy" {
        /// Turns no knob: the scenario's own algorithms decide.
        none => None: source "—", status "gives the bytes of a run without the agent";
    }
    foreign: PolicyMaker, holding;
    code: Linear, Onnx, Python;
    planned:
}

fn holding(_: &PolicyContext) -> Result<Box<dyn Policy>, String> {
    Ok(Box::new(none::Params::default()))
}

impl PolicyKind {
    /// The policy of a run.
    ///
    /// # Errors
    /// A policy that does not fit the agent: a sentence without a place.
    pub fn build(&self, context: &PolicyContext) -> Result<Box<dyn Policy>, String> {
        match self {
            PolicyKind::None(params) => Ok(Box::new(params.clone())),
            PolicyKind::Foreign(it) => it.maker()(context),
        }
    }

    /// Whether it may turn a knob.
    pub(crate) fn acts(&self) -> bool {
        !matches!(self, PolicyKind::None(_))
    }
}
