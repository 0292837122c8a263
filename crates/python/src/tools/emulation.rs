//! Emulation as Python starts it: the parts of a scenario that kernels carry, and the emulator itself, which is a
//! separate process.

use std::path::Path;

use lasthop_emulation as emulation;
use lasthop_observe::NodeId;
use lasthop_registry::{Parameter, Value};
use lasthop_scenario as engine;
use lasthop_scenario::emulation::LiveFlow;
use lasthop_units::Duration;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use serde_json::json;

use crate::diagnostic::scenario_error;
use crate::job::Job;
use crate::outcome_file;
use crate::scenario::ResolvedScenario;

/// Interval between reads of the kernels' socket state, unless a time series needs a shorter one.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The plan of an emulation of `scenario` under `seed`, as JSON: the clock, the kernel, the real flows, the programs to
/// start, and warnings.
#[pyfunction]
pub(crate) fn emulation_plan_json(scenario: &ResolvedScenario, seed: u64) -> PyResult<String> {
    let plan = scenario.0.emulation_plan(seed).map_err(scenario_error)?;
    let name = |node: NodeId| &plan.nodes[node.index()].name;
    let flow = |flow: &LiveFlow| {
        let programs = flow.programs(plan.duration);
        json!({
            "id": flow.id,
            "station": name(flow.station),
            "ap": name(flow.ap),
            "congestion_control": flow.tcp.congestion_control,
            "client": programs.client,
            "server": programs.server,
        })
    };
    let told = json!({
        "time": plan.time.word(),
        "kernel": text_of(plan.kernel.to_value()),
        "wifi_stack": if plan.stack.is_some() { "kernel" } else { "model" },
        "warnings": plan.warnings,
        "flows": plan.flows.iter().map(flow).collect::<Vec<_>>(),
    });
    Ok(told.to_string())
}

fn text_of(value: Option<Value>) -> String {
    match value {
        Some(Value::Text(text)) => text,
        other => other.map(|value| value.to_string()).unwrap_or_default(),
    }
}

/// The emulator: runs a job and writes its outcome to the job's directory.
///
/// It is the only work of its process, which must have one thread. On the host it makes namespaces of its own; as the
/// first process of a guest it mounts file systems, and switches the guest off at the end.
#[pyfunction]
pub(crate) fn emulate(py: Python<'_>, job: &str) -> PyResult<()> {
    let job = Job::parse(job)?;
    let machine = match job.0["place"].as_str() {
        Some("guest") => emulation::Machine::Guest,
        Some("host") => emulation::Machine::Host,
        _ => return Err(PyValueError::new_err("a job is for the place \"guest\" or \"host\"")),
    };
    py.detach(|| {
        let modules = job.0["modules"].as_array().into_iter().flatten();
        let modules: Vec<&Path> = modules.filter_map(|file| file.as_str().map(Path::new)).collect();
        // The number comes from the parent itself: it may have ended by now, with its number reused by another process.
        let parent = job.0["parent"].as_u64().and_then(|number| u32::try_from(number).ok());
        let granted =
            emulation::settle(machine, parent, &modules).map_err(|error| PyOSError::new_err(error.to_string()))?;
        outcome_file::write(&job.directory(), &run(&job, machine, granted)).map_err(PyErr::from)
    })
}

fn run(job: &Job, machine: emulation::Machine, granted: emulation::host::Granted) -> Result<engine::RunResult, String> {
    let (scenario, seed, keep) = (job.scenario()?, job.seed()?, job.keep()?);
    let plan = scenario.emulation_plan(seed).map_err(|error| error.to_string())?;
    let options = emulation::Options {
        machine,
        interval: keep.interval.map_or(LOOK_EVERY, |interval| interval.min(LOOK_EVERY)),
        spin: Duration::from_secs_f64(job.0["spin_s"].as_f64().unwrap_or(0.0)),
        files: job.directory(),
        ends_with: job.0["ends_with"].as_str().map(str::to_owned),
        terminal: job.0["terminal"].as_bool().unwrap_or(false),
        refused: granted.refused,
        progress: Box::new(job.teller()),
    };
    let mut live = emulation::Live::new(&plan, options);
    engine::emulation::emulate(&scenario, seed, &plan, &keep, &mut live).map(|(result, _)| result)
}
