//! A simulation that an agent steps: it turns knobs between two events, and reads quantities since its last step.
//!
//! `task`: a scenario with the plan of its agent; `worlds`: several simulations on threads. This file: one simulation.
//!
//! A step goes to the next decision: after an interval, after an ACK of a flow, after an attempt on a link, or after a TXOP. The values
//! set in a step hold from its first event on. A quantity without a value since the last step keeps its last one, and is 0
//! before the first.

mod task;
mod worlds;

use std::sync::Arc;

use lasthop_observe::{Readers, Recent};
use lasthop_units::Time;

use crate::plan::Seen;
use crate::run::{Clock, RunOutcome, Told, result_of};
use crate::simulation::Simulation;

pub use task::Task;
pub use worlds::{Stepped, Worlds};

/// One simulation of a task under one seed.
pub struct World {
    task: Arc<Task>,
    /// with the metrics of this agent, and of those of the scenario
    simulation: Simulation<(Recent, Option<Readers>)>,
    seen: Seen,
    rewards: Vec<f64>,
    /// results of their operations
    stack: Vec<f64>,
    has_ended: bool,
    wall_s: f64,
}

impl World {
    /// The simulation under `seed` at the end of the warm-up.
    pub fn new(task: Arc<Task>, seed: u64) -> World {
        let clock = Clock::start();
        let recent = Recent::new(&task.scenario.layout(), task.plan.quantities(), task.plan.awaited());
        let watchers = (recent, task.scenario.readers());
        let mut simulation = Simulation::watched_by(Arc::clone(&task.scenario), seed, watchers);
        let warm = Time::ZERO + task.scenario.description.warmup;
        let mut has_ended = false;
        while !has_ended && simulation.now() < warm {
            has_ended = simulation.run_until(warm);
            if simulation.now() < warm {
                let now = simulation.now();
                simulation.observer_mut().0.read(now);
            }
        }
        let (seen, rewards) = (Seen::of(&task.plan), vec![0.0; task.rewards()]);
        let mut world = World { task, simulation, seen, rewards, stack: Vec::new(), has_ended, wall_s: 0.0 };
        world.read();
        world.wall_s = clock.seconds();
        world
    }

    /// Turns the controls to `action`, in the order of the task, and runs to the next decision. Without an action no knob
    /// is turned, and a control whose number is NaN stays.
    pub fn step(&mut self, action: Option<&[f64]>) {
        for (control, number) in self.task.plan.controls.iter().zip(action.unwrap_or_default()) {
            if !number.is_nan() {
                let value = control.nearest(*number);
                control.handles.iter().for_each(|handle| self.simulation.turn(handle, value));
            }
        }
        let until = self.task.plan.until(self.simulation.now());
        self.has_ended = self.simulation.run_until(until) || self.simulation.now() >= self.simulation.end();
        self.read();
        for (expression, reward) in self.task.plan.rewards.iter().zip(&mut self.rewards) {
            *reward = expression.value(self.seen.all(), &mut self.stack);
        }
    }

    /// Reads the quantities since the last step.
    fn read(&mut self) {
        let now = self.simulation.now();
        self.seen.read(&self.task.plan, &mut self.simulation.observer_mut().0, now);
    }

    /// The rewards of the last step, in the order of the task.
    pub fn rewards(&self) -> &[f64] {
        &self.rewards
    }

    /// The observation: the quantities that the agent sees.
    pub fn observation(&self) -> &[f64] {
        self.seen.values(&self.task.plan)
    }

    /// Whether each of them has had no value since the last step.
    pub fn absent(&self) -> &[bool] {
        self.seen.absent(&self.task.plan)
    }

    /// Whether the run is over.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The current time.
    pub fn now(&self) -> Time {
        self.simulation.now()
    }

    /// The reason for which code of the scenario has ended the run, if any.
    pub fn failure(&self) -> Option<&str> {
        self.simulation.failure()
    }

    /// Runs to the end and returns the outcome that a campaign would have for this seed if no knob was turned.
    pub fn finish(self) -> RunOutcome {
        let clock = Clock::start();
        let (seed, scenario) = (self.simulation.seed(), self.simulation.shared_scenario());
        let mut simulation = self.simulation;
        while !simulation.run_until(Time::NEVER) {
            let now = simulation.now();
            simulation.observer_mut().0.read(now);
        }
        let finished = simulation.finish();
        let wall_s = self.wall_s + clock.seconds();
        let result = finished.map(|finished| {
            let told = Told { balance: None, channels: &[], carried: None, wall_s };
            result_of(&scenario, seed, (finished.report, finished.events), &told, None)
        });
        RunOutcome { seed, result }
    }
}
