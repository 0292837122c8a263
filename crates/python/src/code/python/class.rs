//! A kind of algorithm that may be a class in Python.

use std::sync::Arc;

use lasthop_registry::Pluggable;
use lasthop_scenario::Code;

use super::source::Source;

/// The engine's side of such a kind.
pub(crate) trait Class: Pluggable {
    /// The base class in the package.
    const BASE: &'static str;

    /// Makes instances of the class. One is made at once, to find wrong parameters before a run.
    ///
    /// # Errors
    /// A sentence with the mistake in the class or its parameters.
    fn maker(source: Arc<Source>) -> Result<Arc<Self::Maker>, String>;

    /// Loads code in a compiled language, for kinds that have such code.
    ///
    /// # Errors
    /// A file that cannot be read, or that has an error.
    fn load_compiled(code: &Code) -> Result<Arc<Self::Maker>, String> {
        Err(format!("nothing here loads a {} in \"{}\"", code.kind.replace('_', " "), code.language.word()))
    }
}
