//! What is to be said of flows that programs carry under `lasthop emulate`: refusals, and in what a simulation differs.

use lasthop_units::Duration;

use super::ResolvedScenario;
use super::flows::FlowSpec;
use super::wording::{alike, named};
use crate::InputError;
use crate::application::ApplicationKind;

impl ResolvedScenario {
    /// Whether the scenario can be simulated: not where a flow is a command, of which nobody knows what it sends.
    ///
    /// # Errors
    /// One message with place and remedy.
    pub fn check_simulable(&self) -> Result<(), InputError> {
        self.refuse_commands(
            "a command runs under `lasthop emulate` only, as its traffic is not known in advance; for a simulation write \
             application = \"iperf3\", or `traffic` in its place",
        )
    }

    /// Whether the scenario is nothing but data: not where a flow is a command or an algorithm is code
    /// of whoever wrote it.
    ///
    /// # Errors
    /// One message with place and remedy.
    pub fn check_without_code(&self) -> Result<(), InputError> {
        self.refuse_commands(
            "a command is a program, which this page may not start; read it, and then use `lasthop emulate`, or `lasthop serve --allow-code`",
        )?;
        match self.code.first() {
            None => Ok(()),
            Some(code) => Err(InputError::new(format!(
                "{}: this is code, which this page may not run; read it, and then use `lasthop run`, or `lasthop serve --allow-code`",
                code.place
            ))),
        }
    }

    fn refuse_commands(&self, why: &str) -> Result<(), InputError> {
        match &self.command_at {
            None => Ok(()),
            Some(place) => Err(InputError::new(format!("{place}: {why}"))),
        }
    }

    /// In what simulated flows differ from the programs that they stand for.
    pub(super) fn warnings_of_programs(&self) -> Vec<String> {
        let said = self.flows.iter().filter_map(|flow| Some((flow.id.as_str(), self.departure_of(flow)?)));
        let sentence = |(what, names): (String, Vec<&str>)| {
            let who = named("flow", &names, self.flows.len());
            let (is, other) = if names.len() == 1 { ("is", "it has") } else { ("are", "they have") };
            format!("{who} {is} simulated as bulk data: {other} {what}")
        };
        alike(said).into_iter().map(sentence).collect()
    }

    fn departure_of(&self, flow: &FlowSpec) -> Option<String> {
        let Some(ApplicationKind::Iperf3(iperf3)) = &flow.section.application else { return None };
        let latest = flow.section.start + flow.section.start_jitter;
        let ends_early = |time: &Duration| latest + *time < self.description.duration;
        let connections = (iperf3.parallel > 1).then(|| format!("one connection instead of {}", iperf3.parallel));
        let time = iperf3.duration.filter(ends_early).map(|time| format!("no end after {time}"));
        let parts: Vec<String> = connections.into_iter().chain(time).collect();
        (!parts.is_empty()).then(|| parts.join(", and "))
    }
}
