//! One run: one scenario, one seed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use lasthop_capture::Capture;
use lasthop_observe::account::{Account, Balance};
use lasthop_observe::recording::Tape;
use lasthop_observe::{Definition, PROBABILITIES, Readers, Report, Row, Scope, TimeSeries, Watcher, scope};
use lasthop_units::{Duration, Time};
use serde_json::json;

use crate::capture::Captures;
use crate::certificate::Carried;
use crate::recording::Recording;
use crate::resolved::Range;
use crate::run_tables::RunTables;
use crate::simulation::{Finished, Simulation};
use crate::{ResolvedScenario, account, tables};

/// The name of the threads that run seeds, and parts of them.
pub const RUN_THREAD: &str = "lasthop-run";

lasthop_observe::quantities! {
    /// Events that were handled, without samples of time series.
    EVENTS: Simulator, u64, Summary => "events", Count, One, "events";
    /// Seconds that the run took on this machine: the only number that may differ between two runs of the same seed.
    WALL_TIME: Simulator, f64, Summary => "wall_s", Amount, Seconds, "wall-clock time";
}

/// The progress of a run, and whether it should stop; shared with the caller that waits for it.
#[derive(Default)]
pub(crate) struct Control {
    /// simulated nanoseconds so far
    pub(crate) reached_ns: AtomicU64,
    pub(crate) cancelled: AtomicBool,
    /// most threads for the parts of a run; 0 counts as one
    pub(crate) threads: usize,
    /// called with the time reached
    pub(crate) teller: Option<Box<dyn Fn(Time) + Send + Sync>>,
}

impl Control {
    /// Notes that the run has reached `until`.
    pub(crate) fn tell(&self, until: Time) {
        self.reached_ns.store(until.as_nanos(), Ordering::Relaxed);
        if let Some(tell) = &self.teller {
            tell(until);
        }
    }
}

/// One quantity over time for all entities that have it.
#[derive(Clone, Debug)]
pub struct SeriesBlock {
    /// its definition
    pub quantity: &'static Definition,
    /// ids of flows, names of nodes, or "sender->receiver" of links
    pub entities: Vec<String>,
    /// number of samples
    pub times: usize,
    /// row-major: times x entities; NaN where there is no value
    pub values: Vec<f64>,
    /// time of the first sample in seconds; it covers the interval before it
    pub start_s: f64,
    /// time between samples in seconds
    pub interval_s: f64,
}

/// The outcome of a run.
#[derive(Clone, Debug)]
pub struct RunResult {
    report: Report,
    tables: RunTables,
    series: Vec<SeriesBlock>,
}

impl RunResult {
    /// One element of "runs" in the result file, as JSON.
    pub fn json(&self) -> String {
        self.tables.json()
    }

    /// One element of "runs" in the result file.
    pub fn tables(&self) -> &RunTables {
        &self.tables
    }

    /// The measurements; [`tables`](Self::tables) has the same values.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The tables and the time series, without a copy.
    pub fn into_parts(self) -> (RunTables, Vec<SeriesBlock>) {
        (self.tables, self.series)
    }

    /// The time series, if they were kept.
    pub fn series(&self) -> &[SeriesBlock] {
        &self.series
    }
}

/// A finished seed.
#[derive(Clone, Debug)]
pub struct RunOutcome {
    /// its seed
    pub seed: u64,
    /// its result, or a sentence that says why it failed
    pub result: Result<RunResult, String>,
}

/// The data kept of a run besides its summary.
#[derive(Clone, Debug, Default)]
pub struct Keep {
    /// time series with this interval
    pub interval: Option<Duration>,
    /// an account of where the time of each flow and channel went
    pub account: bool,
    /// a recording of each PPDU, segment and so on
    pub recording: Option<Recording>,
    /// captures of the packets on the air and on the wire
    pub captures: Option<Captures>,
}

impl Keep {
    /// Time series with this interval in seconds, if it is positive.
    pub fn series(interval_s: Option<f64>) -> Keep {
        let interval = interval_s.map(Duration::from_secs_f64).filter(|i| *i > Duration::ZERO);
        Keep { interval, ..Keep::default() }
    }

    /// Whether only metrics and time series are kept.
    pub(crate) fn is_of_metrics(&self) -> bool {
        !self.account && self.recording.is_none() && self.captures.is_none()
    }
}

/// Runs `scenario` as one simulation, which `check_simulable` has passed; `Ok(None)` if it was cancelled.
pub(crate) fn run_whole(
    scenario: &Arc<ResolvedScenario>,
    seed: u64,
    keep: &Keep,
    control: &Control,
) -> Result<Option<RunResult>, String> {
    let clock = Clock::start();
    let series = keep.interval.map(|interval| scenario.time_series(interval));
    let books = keep.account.then(|| account::of(scenario));
    let tape = keep.recording.as_ref().map(|recording| recording.tape(scenario, seed)).transpose()?;
    let capture = keep.captures.as_ref().map(|captures| captures.begin(scenario, seed)).transpose()?;
    let run = Run { scenario, seed, control };
    let Some((finished, watchers)) = run.watched((series, (books, (tape, (capture, scenario.readers())))))? else {
        return Ok(None);
    };
    let (series, (books, (tape, (capture, _)))) = watchers;
    capture.map_or(Ok(()), Capture::close)?;
    tape.map_or(Ok(()), Tape::close)?;
    let balance = books.map(|books| books.close(finished.end));
    let (channels, wall_s) = (&finished.channels[..], clock.seconds());
    let told = Told { balance: balance.as_ref(), channels, carried: None, wall_s };
    Ok(Some(result_of(scenario, seed, (finished.report, finished.events), &told, series)))
}

/// All observers of a run besides its metrics, each chosen at run time.
pub(crate) type Watchers = (Option<TimeSeries>, (Option<Account>, (Option<Tape>, (Option<Capture>, Option<Readers>))));

/// The scenario and seed of a run, and the control that can stop it.
struct Run<'a> {
    scenario: &'a Arc<ResolvedScenario>,
    seed: u64,
    control: &'a Control,
}

impl Run<'_> {
    /// Runs to the end. A run without observers, with time series and with an account each have code of their own, in
    /// which an absent observer costs nothing; all others share one.
    fn watched(&self, watchers: Watchers) -> Result<Option<(Finished, Watchers)>, String> {
        const NOT_WRITTEN: (Option<Tape>, (Option<Capture>, Option<Readers>)) = (None, (None, None));
        let alone = |series| (series, (None, NOT_WRITTEN));
        Ok(match watchers {
            (None, (None, (None, (None, None)))) => self.watched_by(())?.map(|(finished, ())| (finished, alone(None))),
            (series, (None, (None, (None, None)))) => {
                self.watched_by(series)?.map(|(finished, series)| (finished, alone(series)))
            }
            (series, (Some(books), (None, (None, None)))) => self
                .watched_by((series, books))?
                .map(|(finished, (series, books))| (finished, (series, (Some(books), NOT_WRITTEN)))),
            watchers => self.watched_by(watchers)?,
        })
    }

    fn watched_by<O: Watcher>(&self, observer: O) -> Result<Option<(Finished, O)>, String> {
        let simulation = Simulation::watched_by(Arc::clone(self.scenario), self.seed, observer);
        Ok(run_simulation(simulation, self.control)?.map(Finished::without_observer))
    }
}

/// Least time between two looks at whether a run is cancelled: a short run has no use for more of them.
const LEAST_STEP: Duration = Duration::from_millis(5);

/// Runs a simulation to its end; `Ok(None)` if it was cancelled.
fn run_simulation<O: Watcher>(simulation: Simulation<O>, control: &Control) -> Result<Option<Finished<O>>, String> {
    run_simulation_telling(simulation, control, |until| control.tell(until))
}

/// The same; `tell` is called with each time reached.
pub(crate) fn run_simulation_telling<O: Watcher>(
    mut simulation: Simulation<O>,
    control: &Control,
    tell: impl Fn(Time),
) -> Result<Option<Finished<O>>, String> {
    let step = (simulation.end().since(Time::ZERO) / 500).max(LEAST_STEP);
    let mut until = Time::ZERO;
    loop {
        until += step;
        let ended = simulation.run_until(until);
        tell(until);
        if let Some(failure) = simulation.observer().failure() {
            return Err(failure.to_string());
        }
        if ended {
            break;
        }
        if control.cancelled.load(Ordering::Relaxed) {
            return Ok(None);
        }
    }
    simulation.finish().map(Some)
}

/// The wall clock, for the one number of a result that is not simulated.
pub(crate) struct Clock(std::time::Instant);

#[allow(clippy::disallowed_methods)]
impl Clock {
    pub(crate) fn start() -> Clock {
        Clock(std::time::Instant::now())
    }
    pub(crate) fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// A run that proceeds on request, and ends with the result of an uninterrupted one.
pub struct OpenRun {
    // Only time series and the agents' metrics are kept. Its type is compiled already.
    simulation: Simulation<Watchers>,
    wall_s: f64,
}

impl OpenRun {
    /// `scenario` under `seed` at time zero; with `interval`, time series are kept.
    pub fn new(scenario: Arc<ResolvedScenario>, seed: u64, interval: Option<Duration>) -> OpenRun {
        let clock = Clock::start();
        let series = interval.map(|interval| scenario.time_series(interval));
        let watchers = (series, (None, (None, (None, scenario.readers()))));
        let simulation = Simulation::watched_by(scenario, seed, watchers);
        OpenRun { simulation, wall_s: clock.seconds() }
    }

    /// The current time.
    pub fn now(&self) -> Time {
        self.simulation.now()
    }

    /// The time at which the run ends.
    pub fn end(&self) -> Time {
        self.simulation.end()
    }

    /// Handles all events before `until` or the end of the run, whichever comes first; true at the end.
    pub fn run_until(&mut self, until: Time) -> bool {
        let clock = Clock::start();
        let ended = self.simulation.run_until(until);
        self.wall_s += clock.seconds();
        ended
    }

    /// The reason for which code of the scenario has ended the run, if any.
    pub fn failure(&self) -> Option<&str> {
        self.simulation.failure()
    }

    /// The measurements from the end of the warm-up to now; `None` during the warm-up.
    pub fn metrics(&self) -> Option<Report> {
        self.simulation.metrics()
    }

    /// "flows", "totals", "nodes", "links" and "medium" of [`metrics`](Self::metrics).
    pub fn tables(&self) -> Option<RunTables> {
        self.simulation.tables()
    }

    /// Runs to the end and returns the outcome that a campaign would have for this seed.
    pub fn finish(self) -> RunOutcome {
        let clock = Clock::start();
        let (seed, spent) = (self.simulation.seed(), self.wall_s);
        let scenario = self.simulation.shared_scenario();
        let finished = self.simulation.finish();
        let wall_s = spent + clock.seconds();
        let result = |finished: Finished<Watchers>| {
            let (finished, (series, _)) = finished.without_observer();
            let told = Told { balance: None, channels: &[], carried: None, wall_s };
            result_of(&scenario, seed, (finished.report, finished.events), &told, series)
        };
        RunOutcome { seed, result: finished.map(result) }
    }
}

/// The parts of a result besides the measurements.
pub(crate) struct Told<'a> {
    /// the account of time
    pub(crate) balance: Option<&'a Balance>,
    /// the channels that BSSs have had, if any has moved
    pub(crate) channels: &'a [Range],
    /// the description of the emulation, if it was one
    pub(crate) carried: Option<&'a Carried>,
    /// wall-clock seconds on this machine
    pub(crate) wall_s: f64,
}

/// The result of a run from its summary and the number of its events.
pub(crate) fn result_of(
    scenario: &ResolvedScenario,
    seed: u64,
    (report, events): (Report, u64),
    told: &Told<'_>,
    series: Option<TimeSeries>,
) -> RunResult {
    let simulator = simulator(events, told.wall_s);
    let mut run = RunTables::default();
    run.put("seed", json!(seed));
    tables::put_metrics(&mut run, scenario, &report);
    tables::put_queues(&mut run, scenario, &report);
    tables::put_wires(&mut run, scenario, &report);
    run.put("quantile_probabilities", json!(PROBABILITIES));
    let columns = told.carried.map(Carried::columns).into_iter().flatten();
    let columns: Vec<_> = columns.map(|(name, value)| (name, tables::Told::Value(value))).collect();
    tables::put_row(&mut run, "simulator", &columns, &simulator);
    if let Some(balance) = told.balance {
        run.put("account", account::json(scenario, balance, told.channels));
    }
    let series = series.map_or_else(Vec::new, |series| blocks_of(scenario, series));
    RunResult { report, tables: run, series }
}

fn simulator(events: u64, wall_s: f64) -> Row<scope::Simulator> {
    let mut row = Row::default();
    row.put(EVENTS, events);
    row.put(WALL_TIME, wall_s);
    row
}

fn blocks_of(scenario: &ResolvedScenario, series: TimeSeries) -> Vec<SeriesBlock> {
    let interval_s = series.interval().as_secs_f64();
    let name = |scope: Scope, index: u32| match scope {
        Scope::Flow => scenario.flows[index as usize].id.clone(),
        Scope::Node => scenario.nodes[index as usize].name.clone(),
        Scope::Link => {
            let (sender, receiver) = scenario.link_ends(index as usize);
            format!("{sender}->{receiver}")
        }
        other => unreachable!("there are no time series of {}", other.table()),
    };
    let block = |b: lasthop_observe::SeriesBlock| SeriesBlock {
        quantity: b.quantity,
        times: b.values.len().checked_div(b.entities.len()).unwrap_or(0),
        entities: b.entities.iter().map(|&e| name(b.quantity.scope, e)).collect(),
        values: b.values,
        start_s: interval_s,
        interval_s,
    };
    series.into_series().blocks.into_iter().filter(|b| !b.entities.is_empty()).map(block).collect()
}
