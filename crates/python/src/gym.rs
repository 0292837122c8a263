//! Simulations that an agent steps: numbers come from NumPy's buffers and go into them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lasthop_scenario as engine;
use lasthop_units::Time;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::code::raise_if_kept;
use crate::diagnostic::scenario_error;
use crate::outcome::RunOutcome;
use crate::scenario::ResolvedScenario;

/// A scenario with the controls, observations and reward of an agent.
#[pyclass(frozen, module = "lasthop._core")]
pub(crate) struct Task(Arc<engine::Task>);

#[pymethods]
impl Task {
    /// Raises `ScenarioError` for an unknown knob, quantity or decision, and for a reward that is no expression.
    #[new]
    fn new(
        scenario: &ResolvedScenario,
        control: Vec<String>,
        observe: Vec<String>,
        rewards: Vec<String>,
        decide: &str,
    ) -> PyResult<Self> {
        let task = engine::Task::new(scenario.to_simulate()?, &control, &observe, &rewards, decide);
        task.map(|task| Task(Arc::new(task))).map_err(scenario_error)
    }

    /// The rows of all controls: name of the knob, unit, least and greatest value, whether it is whole, and its value at the
    /// start, if there is one.
    #[allow(clippy::type_complexity)]
    fn controls(&self) -> Vec<(&'static str, &'static str, f64, f64, bool, Option<f64>)> {
        let row = |control: &engine::Control| {
            let knob = control.knob();
            (knob.name, knob.unit(), control.least, control.most, knob.is_whole(), self.0.initial(control))
        };
        self.0.controls().iter().map(row).collect()
    }

    /// The names of the quantities of an observation, in order.
    fn seen(&self) -> Vec<String> {
        self.0.seen().to_vec()
    }

    /// The quantities of an observation that no node with a knob of the agent could measure, and why.
    fn unseen(&self) -> Vec<(String, &'static str)> {
        self.0.unseen()
    }

    /// The greatest possible value of each, where there is one.
    fn bounds(&self) -> Vec<Option<f64>> {
        self.0.bounds()
    }
}

/// A built-in algorithm as the policy of a task's agent, in one episode.
#[pyclass(frozen, module = "lasthop._core")]
pub(crate) struct BuiltIn(Mutex<Box<dyn engine::Policy>>, usize);

#[pymethods]
impl BuiltIn {
    /// `kind`: "congestion_control" or "rate_control"; `algorithm`: one of that kind in place of the scenario's. Raises
    /// `ScenarioError` for an unknown one, and for one that the agent's knobs or observations do not fit.
    #[new]
    #[pyo3(signature = (task, kind, algorithm, seed))]
    fn new(task: &Task, kind: &str, algorithm: Option<&str>, seed: u64) -> PyResult<Self> {
        let policy = task.0.policy(kind, algorithm, seed).map_err(scenario_error)?;
        Ok(BuiltIn(Mutex::new(policy), task.0.controls().len()))
    }

    /// The event after which policies of this kind decide, and the names of the quantities that they need of their flow or link.
    #[staticmethod]
    fn needs(kind: &str) -> PyResult<(&'static str, Vec<&'static str>)> {
        let kinds = engine::PolicyKind::all();
        let needs = kinds.iter().find(|one| one.name() == kind).and_then(engine::PolicyKind::needs);
        needs.map(|(event, names)| (event, names.to_vec())).ok_or_else(|| {
            PyValueError::new_err(format!(
                "{kind}: not a kind of built-in algorithm: congestion_control or rate_control"
            ))
        })
    }

    /// The values of the controls after an observation, in their units; NaN for one that is not turned.
    fn act(&self, now_ns: u64, values: Vec<f64>, absent: Vec<bool>) -> PyResult<Vec<f64>> {
        let mut policy = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut turned = vec![f64::NAN; self.1];
        let now = Time::from_nanos(now_ns);
        policy.act(&engine::Observed { now, values: &values, absent: &absent }, &mut turned);
        raise_if_kept().map(|()| turned)
    }
}

/// One simulation of a task.
#[pyclass(frozen, module = "lasthop._core")]
pub(crate) struct World(Mutex<Option<engine::World>>);

impl World {
    fn lock(&self) -> MutexGuard<'_, Option<engine::World>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `work` with the world while other Python threads continue.
    fn with<R: Send>(&self, py: Python<'_>, work: impl Send + FnOnce(&mut engine::World) -> R) -> PyResult<R> {
        py.detach(|| self.lock().as_mut().map(work)).ok_or_else(|| PyRuntimeError::new_err("this episode is finished"))
    }
}

#[pymethods]
impl World {
    /// The simulation under `seed` at the end of the warm-up; writes the first observation.
    #[new]
    fn new(py: Python<'_>, task: &Task, seed: u64, observation: PyBuffer<f64>) -> PyResult<Self> {
        let task = Arc::clone(&task.0);
        let world = py.detach(|| engine::World::new(task, seed));
        check(world.failure())?;
        write(py, &observation, world.observation())?;
        Ok(World(Mutex::new(Some(world))))
    }

    /// Turns the controls and runs to the next decision; writes observation and rewards. Returns whether the run is over.
    fn step(
        &self,
        py: Python<'_>,
        action: Option<PyBuffer<f64>>,
        observation: PyBuffer<f64>,
        rewards: PyBuffer<f64>,
    ) -> PyResult<bool> {
        let action = action.map(|action| action.to_vec(py)).transpose()?;
        self.with(py, |world| world.step(action.as_deref()))?;
        let world = self.lock();
        let Some(world) = world.as_ref() else { return Ok(true) };
        check(world.failure())?;
        write(py, &observation, world.observation())?;
        write(py, &rewards, world.rewards())?;
        Ok(world.has_ended())
    }

    /// Whether each quantity of the observation has had no value since the last step.
    fn absent(&self, py: Python<'_>) -> PyResult<Vec<bool>> {
        self.with(py, |world| world.absent().to_vec())
    }

    /// The current time in simulated nanoseconds.
    fn now_ns(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |world| world.now().as_nanos())
    }

    /// Runs to the end and closes the world. Returns the outcome that `Campaign` would have for this seed.
    fn finish(&self, py: Python<'_>) -> PyResult<RunOutcome> {
        let finished = || PyRuntimeError::new_err("this episode is finished");
        let outcome = py.detach(|| self.lock().take().map(engine::World::finish)).ok_or_else(finished)?;
        raise_if_kept()?;
        Ok(RunOutcome::from(outcome))
    }
}

/// Several simulations of a task on threads.
#[pyclass(frozen, module = "lasthop._core")]
pub(crate) struct Worlds(Mutex<engine::Worlds>);

impl Worlds {
    fn with(
        &self,
        py: Python<'_>,
        work: impl Send + FnOnce(&engine::Worlds) -> engine::Stepped,
    ) -> PyResult<engine::Stepped> {
        let stepped = py.detach(|| work(&self.0.lock().unwrap_or_else(PoisonError::into_inner)));
        match &stepped.failure {
            Some((world, why)) => check(Some(&format!("environment {world}: {why}"))).map(|()| stepped),
            None => Ok(stepped),
        }
    }
}

#[pymethods]
impl Worlds {
    /// `count` simulations on at most `threads` threads, which begin with `reset`.
    #[new]
    fn new(task: &Task, count: usize, threads: usize) -> Self {
        Worlds(Mutex::new(engine::Worlds::new(Arc::clone(&task.0), count, threads)))
    }

    /// Restarts simulations, each with its seed; writes the observations of all. Returns those whose run is over.
    fn reset(&self, py: Python<'_>, seeds: Vec<(usize, u64)>, observations: PyBuffer<f64>) -> PyResult<Vec<usize>> {
        let stepped = self.with(py, |worlds| worlds.reset(&seeds))?;
        write(py, &observations, &stepped.observations)?;
        Ok(ended(&stepped))
    }

    /// Steps all that have not ended; writes observations and rewards. Returns those whose run is over.
    fn step(
        &self,
        py: Python<'_>,
        actions: Option<PyBuffer<f64>>,
        observations: PyBuffer<f64>,
        rewards: PyBuffer<f64>,
    ) -> PyResult<Vec<usize>> {
        let actions = actions.map(|actions| actions.to_vec(py)).transpose()?;
        let stepped = self.with(py, |worlds| worlds.step(actions.as_deref()))?;
        write(py, &observations, &stepped.observations)?;
        write(py, &rewards, &stepped.rewards)?;
        Ok(ended(&stepped))
    }
}

fn ended(stepped: &engine::Stepped) -> Vec<usize> {
    (0..).zip(&stepped.ended).filter_map(|(world, ended)| ended.then_some(world)).collect()
}

/// Raises the error of a run that cannot continue.
fn check(failure: Option<&str>) -> PyResult<()> {
    match failure {
        Some(why) => raise_if_kept().and(Err(PyRuntimeError::new_err(why.to_string()))),
        None => Ok(()),
    }
}

/// Writes numbers into a buffer of as many.
fn write(py: Python<'_>, buffer: &PyBuffer<f64>, numbers: &[f64]) -> PyResult<()> {
    match buffer.item_count() == numbers.len() {
        true => buffer.copy_from_slice(py, numbers),
        false => Err(PyValueError::new_err(format!("an array of {} numbers is needed", numbers.len()))),
    }
}

/// The values of linear policies for rows of observations, each with its row of weights: the constant, and one for each quantity.
/// `values` has a number for each row.
#[pyfunction]
pub(crate) fn linear_values(
    py: Python<'_>,
    observations: PyBuffer<f64>,
    weights: PyBuffer<f64>,
    scales: Vec<f64>,
    bounds: (f64, f64),
    values: PyBuffer<f64>,
) -> PyResult<()> {
    let (seen, weights) = (observations.to_vec(py)?, weights.to_vec(py)?);
    let (count, rows) = (scales.len(), values.item_count());
    if seen.len() != rows * count || weights.len() != rows * (count + 1) {
        return Err(PyValueError::new_err(format!(
            "{rows} rows of {count} quantities and of {} weights are needed",
            count + 1
        )));
    }
    let row = |row: usize| {
        let (seen, weights) = (&seen[row * count..][..count], &weights[row * (count + 1)..][..count + 1]);
        engine::linear_values(seen, &scales, weights, bounds)
    };
    write(py, &values, &(0..rows).map(row).collect::<Vec<_>>())
}
