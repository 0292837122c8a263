//! Loaders of the code that a scenario brings, a file for each language.

mod bpf;
mod c;
mod python;
mod refused;

use std::sync::Arc;

use lasthop_registry::Language;
use lasthop_scenario::{Code, Loads};

pub(crate) use bpf::describe_object;
use python::Class;
pub(crate) use python::{add_classes, is_interrupted, raise_if_kept};
use refused::refused;

/// Loads code of every kind, in every language of scenarios.
pub(crate) struct Loader;

impl<K: Class> Loads<K> for Loader {
    fn load(&self, code: &Code) -> Result<Arc<K::Maker>, String> {
        match code.language {
            Language::Python => python::load::<K>(code),
            Language::C | Language::Bpf | Language::Linear | Language::Onnx => K::load_compiled(code),
        }
    }
}
