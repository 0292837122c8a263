//! Algorithms that are classes in a Python file.
//!
//! `class` is the engine's side of a kind; `control`, `queue`, `rate_control`, `error_model`,
//! `scheduler` and `policy` implement it. `source`
//! finds a class and reports its errors, `instance` calls its objects, `told` has the arguments of a controller.

mod class;
mod control;
mod error_model;
mod instance;
mod interrupt;
mod policy;
mod queue;
mod rate_control;
mod scheduler;
mod source;
mod told;

use std::sync::Arc;

use lasthop_scenario::Code;
use pyo3::prelude::*;

pub(crate) use class::Class;
pub(crate) use interrupt::{is_interrupted, raise_if_kept};
use source::Source;

/// Adds the classes of the arguments of such code.
pub(crate) fn add_classes(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<told::Context>()?;
    module.add_class::<told::Ack>()?;
    module.add_class::<told::Rate>()?;
    module.add_class::<told::Event>()?;
    module.add_class::<told::Moment>()?;
    module.add_class::<told::Prior>()?;
    module.add_class::<queue::QueueContext>()?;
    module.add_class::<queue::Waiting>()?;
    module.add_class::<queue::Taken>()?;
    module.add_class::<rate_control::Peer>()?;
    module.add_class::<rate_control::Frame>()?;
    module.add_class::<rate_control::Status>()?;
    module.add_class::<policy::AgentContext>()?;
    module.add_class::<policy::Observation>()?;
    module.add_class::<error_model::ErrorModelContext>()?;
    module.add_class::<error_model::Received>()?;
    module.add_class::<scheduler::SchedulerContext>()?;
    module.add_class::<scheduler::Won>()?;
    module.add_class::<scheduler::Offer>()?;
    module.add_class::<scheduler::User>()
}

/// Loads a class of kind `K`.
pub(super) fn load<K: Class>(code: &Code) -> Result<Arc<K::Maker>, String> {
    K::maker(Arc::new(Source::load(code, K::BASE)?))
}
