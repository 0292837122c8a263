//! Messages about flows that programs carry under `lasthop emulate`: refusals, and differences in a simulation.

use lasthop_registry::Kind;
use lasthop_units::Duration;

use super::ResolvedScenario;
use super::flows::FlowSpec;
use super::wording::{alike, named};
use crate::Diagnostic;
use crate::application::ApplicationKind;

impl ResolvedScenario {
    /// Checks that the scenario can be simulated: no flow may be a command, whose traffic is unknown.
    ///
    /// # Errors
    /// One message with place and remedy.
    pub fn check_simulable(&self) -> Result<(), Diagnostic> {
        self.refuse_commands(
            "a command runs under `lasthop emulate` only, as its traffic is not known in advance",
            "for a simulation write application = \"iperf3\", or `traffic` in its place",
        )
    }

    /// Checks that the scenario is nothing but data: no flow may be a command and no algorithm may be code from the
    /// scenario's author.
    ///
    /// # Errors
    /// One message with place and remedy.
    pub fn check_without_code(&self) -> Result<(), Diagnostic> {
        self.refuse_commands(
            "a command is a program, which this page may not start",
            "read it, and then use `lasthop emulate`, or `lasthop serve --allow-code`",
        )?;
        match self.code.first() {
            None => Ok(()),
            Some(code) => Err(code.refused((
                Kind::NotAllowed("this is code, which this page may not run".into()),
                "read it, and then use `lasthop run`, or `lasthop serve --allow-code`",
            ))),
        }
    }

    fn refuse_commands(&self, why: &str, remedy: &str) -> Result<(), Diagnostic> {
        match &self.command_at {
            None => Ok(()),
            Some((origin, key)) => Err(Diagnostic::new(origin.clone(), key, (Kind::NotAllowed(why.into()), remedy))),
        }
    }

    /// Differences between simulated flows and the programs that they represent.
    pub(super) fn warnings_of_programs(&self) -> Vec<Diagnostic> {
        let said = self.flows.iter().filter_map(|flow| Some((flow.id.as_str(), self.departure_of(flow)?)));
        let sentence = |(what, names): (String, Vec<&str>)| {
            let who = named("flow", &names, self.flows.len());
            let (is, other) = if names.len() == 1 { ("is", "it has") } else { ("are", "they have") };
            Diagnostic::warning(format!("{who} {is} simulated as bulk data: {other} {what}"), &names)
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
