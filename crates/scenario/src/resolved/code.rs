//! Code that a scenario brings: a list of it, and the check that it is loaded before a run.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use lasthop_registry::Kind;
use lasthop_tcp::congestion_control::{Algorithm, GaveUp};
use lasthop_units::Time;
use lasthop_wifi::phy::error_model::{Direction, ErrorModelKind, FrameKind, ReceivedFrame};

use super::ResolvedScenario;
use super::defaults::chosen;
use crate::Diagnostic;
use crate::foreign::{Code, CodeLoader, load};
use crate::policy::PolicyKind;

impl ResolvedScenario {
    /// The algorithms that the scenario brings as code.
    pub fn code(&self) -> &[Code] {
        &self.code
    }

    /// Loads all code that is not loaded yet; then a run can begin.
    ///
    /// # Errors
    /// The first failure to load, in one message with line and place.
    pub fn load_code(&self, loader: &dyn CodeLoader) -> Result<(), Diagnostic> {
        let mut missing = self.code.iter().filter(|code| !code.is_loaded());
        missing.try_for_each(|code| {
            let is_model = code.kind == ErrorModelKind::REGISTRY.kind;
            let is_policy = code.kind == PolicyKind::REGISTRY.kind;
            let loaded = load(code, loader).and_then(|()| if is_model { self.try_error_model() } else { Ok(()) });
            let loaded = loaded.and_then(|()| if is_policy { self.try_policies() } else { Ok(()) });
            loaded.and_then(|()| self.check_over_quic(code)).map_err(|why| code.refused(Kind::Code(why)))
        })
    }

    /// The needs of a controller are known once it is loaded: over QUIC not all of them are met.
    fn check_over_quic(&self, code: &Code) -> Result<(), String> {
        let section = match code.path.strip_prefix("flow[").and_then(|rest| rest.split_once(']')) {
            None if code.path.starts_with("quic.") => self.description.quic.clone(),
            None => None,
            Some((index, _)) => {
                let table = index.parse::<usize>().ok().and_then(|index| self.description.flow.0.get(index));
                table.and_then(|table| table.quic(self.description.quic.as_ref(), "").ok().flatten())
            }
        };
        section
            .filter(|_| code.kind == Algorithm::REGISTRY.kind)
            .map_or(Ok(()), |quic| quic.congestion_control.why_not().map_or(Ok(()), Err))
    }

    /// Asks the error model about every mode before a run, as a rate control that knows it does when it is made.
    fn try_error_model(&self) -> Result<(), String> {
        let mut model = chosen(&self.description.channel.error_model).build(0);
        let modes = self.bss.iter().flat_map(|bss| bss.config.phy.modes());
        let (kind, direction) = (FrameKind::Data, Direction::Up);
        let asked = catch_unwind(AssertUnwindSafe(|| {
            for mode in modes {
                let frame = ReceivedFrame { at: Time::ZERO, mode, kind, direction, link: 0, bits: 1, sinr: 1.0 };
                model.success_probability(&frame);
            }
        }));
        match asked {
            Ok(()) => Ok(()),
            Err(thrown) if thrown.is::<GaveUp>() => Err(model.failure().unwrap_or("it has given up").to_owned()),
            Err(panic) => resume_unwind(panic),
        }
    }

    /// The congestion control of `[tcp]`.
    pub fn congestion_control(&self) -> &Algorithm {
        &self.description.tcp.config.congestion_control
    }

    /// Refuses to run if code is not loaded.
    pub(crate) fn check_loaded(&self) -> Result<(), Diagnostic> {
        match self.code.iter().find(|code| !code.is_loaded()) {
            None => Ok(()),
            Some(code) => Err(code.refused(Kind::Code(format!("{} has not been loaded", code.name)))),
        }
    }
}
