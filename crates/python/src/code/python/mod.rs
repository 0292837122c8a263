//! Algorithms that are classes in a Python file.
//!
//! `source` finds a class and reports its errors, `told` has the arguments of its methods; `control`, `queue` and
//! `rate_control` represent its instances in the engine.

mod control;
mod interrupt;
mod queue;
mod rate_control;
mod source;
mod told;

use std::sync::Arc;

use lasthop_link::QueueMaker;
use lasthop_scenario::Code;
use lasthop_tcp::Config;
use lasthop_tcp::congestion_control::{CongestionControl, Context, ControlMaker};
use lasthop_wifi::rate_control::RateControlMaker;
use pyo3::prelude::*;

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
    module.add_class::<rate_control::Status>()
}

/// Loads a class that extends `lasthop.CongestionControl`, and makes one instance, so that wrong parameters are found
/// at once.
pub(super) fn congestion_control(code: &Code) -> Result<Arc<ControlMaker>, String> {
    let source = Arc::new(Source::load(code, "CongestionControl")?);
    let traits = control::Traits::of(&source)?;
    let trial = control::build(&source, traits, &Context::new(&Config::default(), 0));
    if let Some(why) = trial.failure() {
        return Err(why.to_string());
    }
    Ok(Arc::new(move |context: &Context| Box::new(control::build(&source, traits, context))))
}

/// Loads a class that extends `lasthop.QueueDiscipline`.
pub(super) fn queue_discipline(code: &Code) -> Result<Arc<QueueMaker>, String> {
    let source = Arc::new(Source::load(code, "QueueDiscipline")?);
    let traits = queue::Traits::of(&source);
    queue::try_out(&source, traits)?;
    Ok(Arc::new(move |random| Box::new(queue::build(&source, traits, random))))
}

/// Loads a class that extends `lasthop.RateControl`.
pub(super) fn rate_control(code: &Code) -> Result<Arc<RateControlMaker>, String> {
    let source = Arc::new(Source::load(code, "RateControl")?);
    rate_control::try_out(&source)?;
    Ok(Arc::new(move |peer, _| Ok(Box::new(rate_control::build(&source, peer)))))
}
