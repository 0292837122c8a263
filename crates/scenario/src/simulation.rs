//! A run that can be stepped: the hosts of a scenario on their network, with its measurements.

use std::sync::Arc;

use lasthop_engine::Stream;
use lasthop_network::{Topology, Wires};
use lasthop_observe::{Report, TimeSeries, Watcher};
use lasthop_units::{Duration, Time};
use lasthop_wifi::{MediumConfig, Queues};

use crate::ResolvedScenario;
use crate::hosts::{Body, Flow, FlowHosts};
use crate::knob::Handle;
use crate::resolved::{NodeSpec, Range, queue_of};
pub use crate::run_state::Finished;
use crate::run_state::{Population, RunState};
use crate::run_tables::RunTables;

/// One scenario under one seed, as far as it has run. `O` is an observer besides the metrics; `()` is none, at no cost.
pub struct Simulation<O = ()>(RunState<FlowHosts, O>);

impl Simulation {
    /// `scenario` under `seed` at time zero.
    pub fn new(scenario: Arc<ResolvedScenario>, seed: u64) -> Simulation {
        Simulation::watched_by(scenario, seed, ())
    }
}

impl<O: Watcher> Simulation<O> {
    /// As [`new`](Simulation::new), with an observer, such as the
    /// [time series](ResolvedScenario::time_series) of the scenario.
    ///
    /// # Panics
    /// If the scenario names code that [has not been loaded](ResolvedScenario::load_code).
    pub fn watched_by(scenario: Arc<ResolvedScenario>, seed: u64, observer: O) -> Simulation<O> {
        assert_eq!(scenario.check_loaded(), Ok(()));
        let topology = topology(&scenario, seed, observer.reads_steps());
        let hosts = FlowHosts::new(topology.homes(), topology.wires.len());
        Simulation(RunState::new(scenario, seed, topology, hosts, observer))
    }

    /// The scenario.
    pub fn scenario(&self) -> &ResolvedScenario {
        &self.0.scenario
    }

    /// A shared pointer to the scenario.
    pub(crate) fn shared_scenario(&self) -> Arc<ResolvedScenario> {
        Arc::clone(&self.0.scenario)
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.0.seed
    }

    /// The current time.
    pub fn now(&self) -> Time {
        self.0.network.now()
    }

    /// The time at which the run ends.
    pub fn end(&self) -> Time {
        self.0.end
    }

    /// Number of handled events, without samples of time series.
    pub fn events(&self) -> u64 {
        self.0.network.events()
    }

    /// The time of the next event.
    pub fn next_at(&self) -> Option<Time> {
        self.0.network.next_at()
    }

    /// The observer.
    pub fn observer(&self) -> &O {
        self.0.observer()
    }

    /// The observer, between two stretches of the run.
    pub(crate) fn observer_mut(&mut self) -> &mut O {
        self.0.network.observer_mut().observer_mut()
    }

    /// Gives a knob a new value from now on.
    pub(crate) fn turn(&mut self, handle: &Handle, value: f64) {
        self.0.turn(handle, value);
    }

    /// Handles all events before `until` or the end of the run, whichever comes first; true at the end.
    pub fn run_until(&mut self, until: Time) -> bool {
        self.0.run_until(until)
    }

    /// The reason for which the scenario's code has ended the run, if it has.
    pub fn failure(&self) -> Option<&str> {
        self.0.failure()
    }

    /// The metrics from the end of the warm-up to now; `None` during the warm-up.
    pub fn metrics(&self) -> Option<Report> {
        self.0.metrics()
    }

    /// The channels that BSSs have had, if any has moved, in the order of their numbers.
    pub(crate) fn channels(&self) -> &[Range] {
        self.0.settings.channels()
    }

    /// "flows", "totals", "nodes", "links" and "medium" of [`metrics`](Self::metrics).
    pub(crate) fn tables(&self) -> Option<RunTables> {
        self.0.tables()
    }

    /// Runs to the end and returns the measurements.
    ///
    /// # Errors
    /// A sentence with the reason for which the run cannot be trusted.
    pub fn finish(self) -> Result<Finished<O>, String> {
        self.0.finish()
    }
}

impl Population for FlowHosts {
    type Body = Body;

    fn simulated(&mut self) -> &mut FlowHosts {
        self
    }

    fn report(&self, report: &mut Report) {
        for (flow, row) in self.flows().iter().zip(&mut report.flows) {
            flow.report(row);
        }
    }

    fn check_conservation(&self) -> Result<(), String> {
        self.flows().iter().try_for_each(Flow::check_conservation)
    }
}

impl ResolvedScenario {
    /// Its nodes, channels and wired links under `seed`, for packets with bodies of the caller's type; flows are not
    /// part of it.
    pub fn topology<B: Send + 'static>(&self, seed: u64) -> Topology<B> {
        topology(self, seed, false)
    }

    /// An observer that keeps time series of a run, with a sample each `interval`.
    ///
    /// # Panics
    /// If `interval` is zero.
    pub fn time_series(&self, interval: Duration) -> TimeSeries {
        TimeSeries::new(&self.layout(), interval, self.description.duration)
    }
}

/// `compares`: chosen rates are compared with ideal ones.
pub(crate) fn topology<B: Send + 'static>(scenario: &ResolvedScenario, seed: u64, compares: bool) -> Topology<B> {
    let wired = &scenario.description.wired;
    let link = |ap: &str, up: bool| {
        let name = format!("{ap} wired {}", if up { "up" } else { "down" });
        let queue = queue_of(wired, up).build(Stream::named(seed, "queue", &name));
        let queue = wired.loss.before(queue, up, || Stream::named(seed, "loss", &name));
        let transmitter = if up { &scenario.wires.up } else { &scenario.wires.down };
        transmitter.link(wired.delay, queue)
    };
    let wires = |ap: &NodeSpec| Wires::new(link(&ap.name, true), link(&ap.name, false));
    let wires = scenario.nodes[..scenario.bss.len()].iter().map(wires).collect();
    Topology { medium: medium_config(scenario, seed, compares), wires }
}

/// The queues of each node.
fn queues<B: Send + 'static>(scenario: &ResolvedScenario) -> Queues<B> {
    let of_nodes: Vec<_> = scenario.nodes.iter().map(|node| (node.queue.clone(), node.below)).collect();
    Box::new(move |node, random| {
        let (queue, below) = &of_nodes[node.index()];
        queue.build(*below, random)
    })
}

fn medium_config<B: Send + 'static>(scenario: &ResolvedScenario, seed: u64, compares: bool) -> MediumConfig<B> {
    MediumConfig {
        bss: scenario.bss.iter().map(|bss| bss.config.clone()).collect(),
        nodes: scenario.nodes.iter().map(|n| n.config.clone()).collect(),
        queues: queues(scenario),
        rate_controls: scenario.rate_controls(seed).expect("rate controls were built when the scenario was checked"),
        ideals: if compares { scenario.ideal_rate_controls() } else { Vec::new() },
        channel: scenario.channel(seed),
        noise_mw_per_hz: scenario.noise_mw_per_hz(),
        error_model: scenario.error_model(seed),
        capture: scenario.capture(),
        interferers: scenario.interferers(seed),
        countdown: scenario.first_bss().countdown,
        after_loss: scenario.after_loss(),
        seed,
    }
}
