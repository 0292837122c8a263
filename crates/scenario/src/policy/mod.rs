//! Policies: what an agent of a scenario makes of the quantities that it sees.
//!
//! A policy gets the quantities since its last decision and gives the values of its knobs. `interface` has the trait, `linear`
//! the policies that `python -m lasthop.gym` learns; `congestion_control` and `rate_control` run a built-in algorithm on what an agent
//! sees, of the `subjects` of its agent. A policy from a file counts as code: a result of somebody else runs none.

mod interface;
mod linear;
mod subjects;

use lasthop_registry::registry;

pub(crate) use congestion_control::OfFlow;
pub use interface::{Observed, Policy, PolicyContext, PolicyMaker};
pub use linear::{linear_values, load_linear};
pub(crate) use rate_control::OfLink;
pub(crate) use subjects::Subjects;

registry! {
    /// The choice `policy = …` of an agent.
    pub enum PolicyKind as "policy" {
        /// Turns no knob: the scenario's own algorithms decide.
        none => None: source "—", status "gives the bytes of a run without the agent";
        /// A congestion control of lasthop, which sets the window of a flow by what an agent sees.
        congestion_control => CongestionControl: source "docs/how-to/learning.md", status "goodput of the algorithm itself, within intervals";
        /// A rate control of lasthop, which sets the retry chain of a link by what an agent sees.
        rate_control => RateControl: source "docs/how-to/learning.md", status "goodput of the algorithm itself, within intervals";
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
    pub(crate) fn build(&self, context: &PolicyContext, subjects: &dyn Subjects) -> Result<Box<dyn Policy>, String> {
        match self {
            PolicyKind::None(params) => Ok(Box::new(params.clone())),
            PolicyKind::CongestionControl(params) => {
                Ok(Box::new(congestion_control::Sender::new(subjects.of_flow(params.algorithm.as_ref())?)))
            }
            PolicyKind::RateControl(params) => {
                Ok(Box::new(rate_control::Sender::new(subjects.of_link(params.algorithm.as_ref())?)))
            }
            PolicyKind::Foreign(it) => it.maker()(context),
        }
    }

    /// The quantities that it needs of the flow or link whose knob it turns, and the event after which it decides; none for a policy
    /// that does not say.
    pub fn needs(&self) -> Option<(&'static str, &'static [&'static str])> {
        match self {
            PolicyKind::CongestionControl(_) => Some(("ack", &congestion_control::QUANTITIES)),
            PolicyKind::RateControl(_) => Some(("attempt", &rate_control::QUANTITIES)),
            PolicyKind::None(_) | PolicyKind::Foreign(_) => None,
        }
    }

    /// Whether it may turn a knob.
    pub(crate) fn acts(&self) -> bool {
        !matches!(self, PolicyKind::None(_))
    }
}
