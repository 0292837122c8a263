//! No errors except collisions.

use super::interface::{ErrorModel, ReceivedFrame};

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {}
}

impl ErrorModel for Params {
    fn success_probability(&mut self, _frame: &ReceivedFrame) -> f64 {
        1.0
    }
    fn is_none(&self) -> bool {
        true
    }
}
