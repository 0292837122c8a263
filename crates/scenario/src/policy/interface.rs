//! The interface of policies.

use lasthop_units::Time;

/// The facts that a policy of a run is made for.
#[derive(Clone, Debug)]
pub struct PolicyContext {
    /// dotted names of the quantities that it sees, in order
    pub quantities: Vec<String>,
    /// its controls, in order: names of knobs, with the smallest and the greatest value in the knob's unit
    pub controls: Vec<(String, f64, f64)>,
    /// the seed of the run
    pub seed: u64,
}

/// The observation of a policy at a decision.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'a> {
    /// current time
    pub now: Time,
    /// the quantities since the last decision, in their units; one without a value keeps its last one, and is 0 before the first
    pub values: &'a [f64],
    /// whether each has had no value since the last decision
    pub absent: &'a [bool],
}

/// Makes the policy of a run.
pub type PolicyMaker = dyn Fn(&PolicyContext) -> Result<Box<dyn Policy>, String> + Send + Sync;

/// A policy of one run.
pub trait Policy: Send {
    /// Writes new values of the controls, in their units; the nearest allowed ones count. A control whose value stays NaN is not
    /// turned.
    fn act(&mut self, observed: &Observed<'_>, values: &mut [f64]);

    /// The reason for which it cannot continue, if code from outside has failed and left the run.
    fn failure(&self) -> Option<&str> {
        None
    }
}
