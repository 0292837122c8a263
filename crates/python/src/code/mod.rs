//! Loaders of the code that a scenario brings, a file for each language.

mod bpf;
mod c;
mod python;
mod refused;

use std::sync::Arc;

use lasthop_link::QueueMaker;
use lasthop_registry::Language;
use lasthop_scenario::{Code, CodeLoader};
use lasthop_tcp::congestion_control::ControlMaker;
use lasthop_wifi::rate_control::RateControlMaker;

pub(crate) use bpf::describe_object;
pub(crate) use python::{add_classes, is_interrupted, raise_if_kept};
use refused::refused;

/// Loads code of every language of scenarios.
pub(crate) struct Loader;

impl CodeLoader for Loader {
    fn congestion_control(&self, code: &Code) -> Result<Arc<ControlMaker>, String> {
        match code.language {
            Language::Python => python::congestion_control(code),
            Language::C => c::congestion_control(code),
            Language::Bpf => bpf::congestion_control(code),
        }
    }

    // Queues and rate controls are supported in Python only.

    fn queue_discipline(&self, code: &Code) -> Result<Arc<QueueMaker>, String> {
        python::queue_discipline(code)
    }

    fn rate_control(&self, code: &Code) -> Result<Arc<RateControlMaker>, String> {
        python::rate_control(code)
    }
}
