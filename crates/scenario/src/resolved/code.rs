//! Code that a scenario brings: a list of it, and the check that it is loaded before a run.

use lasthop_tcp::congestion_control::Algorithm;

use super::ResolvedScenario;
use crate::InputError;
use crate::code::{Code, CodeLoader};

impl ResolvedScenario {
    /// The algorithms that the scenario brings as code.
    pub fn code(&self) -> &[Code] {
        &self.code
    }

    /// Loads all code that is not loaded yet; then a run can begin.
    ///
    /// # Errors
    /// The first failure to load, in one message with line and place.
    pub fn load_code(&self, loader: &dyn CodeLoader) -> Result<(), InputError> {
        let error = |code: &Code, why| InputError::new(format!("{}: {why}", code.place));
        let mut missing = self.code.iter().filter(|code| !code.is_loaded());
        missing.try_for_each(|code| code.load(loader).map_err(|why| error(code, why)))
    }

    /// The congestion control of `[tcp]`.
    pub fn congestion_control(&self) -> &Algorithm {
        &self.description.tcp.config.congestion_control
    }

    /// Refuses to run if code is not loaded.
    pub(crate) fn check_loaded(&self) -> Result<(), InputError> {
        match self.code.iter().find(|code| !code.is_loaded()) {
            None => Ok(()),
            Some(code) => Err(InputError::new(format!("{}: {} has not been loaded", code.place, code.name))),
        }
    }
}
