//! A run for a separate process, as JSON: its scenario, and the data to keep of it.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use lasthop_scenario as engine;
use lasthop_units::Time;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value as Json;

use crate::code::Loader;
use crate::outcome_file;
use crate::recording::recording_of;

/// A job that was read.
pub(crate) struct Job(pub(crate) Json);

impl Job {
    /// Reads the text of a job.
    pub(crate) fn parse(text: &str) -> PyResult<Job> {
        serde_json::from_str(text).map(Job).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn text(&self, name: &str) -> Result<&str, String> {
        self.0[name].as_str().ok_or_else(|| format!("the job says no {name}"))
    }

    /// The directory for its outcome.
    pub(crate) fn directory(&self) -> PathBuf {
        PathBuf::from(self.0["directory"].as_str().unwrap_or_default())
    }

    pub(crate) fn seed(&self) -> Result<u64, String> {
        self.0["seed"].as_u64().ok_or_else(|| "the job says no seed".into())
    }

    /// Its scenario, with its code loaded.
    pub(crate) fn scenario(&self) -> Result<engine::ResolvedScenario, String> {
        let pair = |pair: &Json| Some((pair[0].as_str()?.to_string(), pair[1].as_str()?.to_string()));
        let settings: Vec<_> = self.0["settings"].as_array().into_iter().flatten().filter_map(pair).collect();
        let scenario = engine::resolve(self.text("text")?, self.text("file_name")?, &settings);
        let scenario = scenario.map_err(|error| error.to_string())?;
        for code in scenario.code() {
            if let Some(content) = self.0["code"][code.file_path()].as_str() {
                code.set_content(bytes_of(content));
            }
        }
        scenario.load_code(&Loader).map_err(|error| error.to_string())?;
        Ok(scenario)
    }

    /// The data to keep of the run.
    pub(crate) fn keep(&self) -> Result<engine::Keep, String> {
        let recording = match &self.0["recording"] {
            Json::Null => None,
            asked => Some(recording_of(asked).ok_or("the job says not what is recorded")?),
        };
        let captures = self.0["captures"].as_array().and_then(|asked| {
            Some(engine::Captures { directory: asked.first()?.as_str()?.into(), snap: asked.get(1)?.as_u64()? as u32 })
        });
        let account = self.0["account"].as_bool().unwrap_or(false);
        Ok(engine::Keep { account, recording, captures, ..engine::Keep::series(self.0["interval_s"].as_f64()) })
    }

    /// A function that appends the time reached by a run, in seconds, to a file of the job's directory; watchers read
    /// the last line.
    pub(crate) fn teller(&self) -> impl Fn(Time) + Send + Sync + use<> {
        let opened = fs::OpenOptions::new().create(true).append(true).open(self.directory().join("virtual-time"));
        // A failure to report progress stops no run.
        let file = opened.ok();
        move |reached: Time| drop(file.as_ref().map(|mut file| writeln!(file, "{}", reached.as_secs_f64())))
    }
}

/// Bytes that are written as characters with these numbers.
fn bytes_of(text: &str) -> Vec<u8> {
    text.chars().map(|byte| u32::from(byte) as u8).collect()
}

/// Simulates a job on this thread, holding the interpreter throughout, since code of the scenario may need it at every
/// event. Writes the outcome to the job's directory.
#[pyfunction]
pub(crate) fn run_job(job: &str) -> PyResult<()> {
    let job = Job::parse(job)?;
    outcome_file::write(&job.directory(), &run(&job)).map_err(PyErr::from)
}

fn run(job: &Job) -> Result<engine::RunResult, String> {
    engine::run_here(&Arc::new(job.scenario()?), job.seed()?, &job.keep()?, job.teller()).result
}
