//! No policy: a baseline, and a placeholder while a scenario is checked.

use super::interface::{Observed, Policy};

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {}
}

impl Policy for Params {
    fn act(&mut self, _: &Observed<'_>, _: &mut [f64]) {}
}
