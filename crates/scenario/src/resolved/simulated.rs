//! Flows that programs carry under `lasthop emulate`, as the flows of a simulation.

use crate::application::ApplicationKind;
use crate::description::{Description, FlowSection};

/// The keys of a flow in a simulation: a program that sends a number of bytes is a transfer of that
/// size.
pub(super) fn as_simulated(section: &FlowSection) -> FlowSection {
    let size = match &section.application {
        Some(ApplicationKind::Iperf3(iperf3)) => iperf3.size,
        Some(ApplicationKind::Curl(curl)) => Some(curl.size),
        Some(ApplicationKind::Simulated(_) | ApplicationKind::Command(_)) | None => section.size,
    };
    FlowSection { size, ..section.clone() }
}

/// The place of the first flow that is a command.
pub(super) fn first_command(description: &Description) -> Option<String> {
    let is_command = |section: &FlowSection| matches!(section.application, Some(ApplicationKind::Command(_)));
    let index = description.flow.0.iter().position(|table| is_command(&table.section))?;
    Some(format!("flow[{index}].application"))
}
