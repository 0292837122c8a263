//! A scenario's network with its hosts of any kind, as far as it has run, and its measurements.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use lasthop_network::{Alarm, Hosts, Network, Topology};
use lasthop_observe::metric::{Metrics, airtime, medium};
use lasthop_observe::{Collector, FlowId, NodeId, Readers, Report, Watcher};
use lasthop_tcp::congestion_control::GaveUp;
use lasthop_units::Time;
use lasthop_wifi::Failed;

use crate::agent::Agents;
use crate::description::TransportWord;
use crate::hosts::{Flow, FlowEvent, FlowHosts, Span};
use crate::resolved::Range;
use crate::run_tables::RunTables;
use crate::settings::Settings;
use crate::{ResolvedScenario, queues, tables};

const WARMUP_ENDS: Alarm = Alarm(0);

/// The outcome of a run.
pub struct Finished<O = ()> {
    /// the summary, over the time from the end of the warm-up
    pub report: Report,
    /// the metrics that it comes from
    pub metrics: Metrics,
    /// the observer of the run
    pub observer: O,
    /// events handled
    pub events: u64,
    /// time at which the run ended
    pub end: Time,
    /// the channels that BSSs have had, if any has moved, in the order of their numbers
    pub(crate) channels: Vec<Range>,
}

impl<O> Finished<O> {
    /// Separates the measurements from the observer.
    pub(crate) fn without_observer(self) -> (Finished, O) {
        let Finished { report, metrics, observer, events, end, channels } = self;
        (Finished { report, metrics, observer: (), events, end, channels }, observer)
    }
}

/// The end of a stretch of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reached {
    /// the time to which it was to go
    Time,
    /// a pause of the observer
    Pause,
}

/// The hosts of a scenario, for any type of packet body.
pub(crate) trait Population: Hosts<Self::Body, Event = FlowEvent> {
    /// The body of packets.
    type Body: Send + 'static;

    /// The flows whose ends are simulated.
    fn simulated(&mut self) -> &mut FlowHosts;

    /// Whether the ends of this flow are simulated.
    fn simulates(&self, flow: FlowId) -> bool {
        let _ = flow;
        true
    }

    /// Adds the counts of the hosts, and removes what they cannot know.
    fn report(&self, report: &mut Report);

    /// Checks that no flow received more than was sent.
    ///
    /// # Errors
    /// A sentence that names such a flow.
    fn check_conservation(&self) -> Result<(), String>;
}

/// One scenario under one seed, as far as it has run.
pub(crate) struct RunState<P: Population, O> {
    pub(crate) network: Network<P::Body, Collector<O>, P>,
    pub(crate) scenario: Arc<ResolvedScenario>,
    pub(crate) seed: u64,
    pub(crate) end: Time,
    /// Reason for which the scenario's code cannot continue, which ends the run.
    failure: Option<String>,
    /// Settings that knobs have changed.
    pub(crate) settings: Settings,
    /// Number of changes of the scenario that have been carried out.
    changed: usize,
    /// Agents of the scenario, whose metrics the observer has.
    agents: Agents,
}

impl<P: Population, O: Watcher> RunState<P, O> {
    /// The state at time zero.
    pub(crate) fn new(
        scenario: Arc<ResolvedScenario>,
        seed: u64,
        topology: Topology<P::Body>,
        hosts: P,
        observer: O,
    ) -> RunState<P, O> {
        let mut observer = observer;
        let agents = Agents::new(&scenario, seed);
        let is_read = readers_of(&mut observer).map_or(0, |readers| readers.0.len()) == agents.count();
        assert!(is_read, "the scenario has agents, and this observer does not read their quantities");
        let collector = Collector::new(scenario.layout(), observer);
        let network = Network::with_hosts(topology, collector, hosts);
        let end = Time::ZERO + scenario.description.duration;
        let mut state =
            RunState { network, scenario, seed, end, failure: None, settings: Settings::default(), changed: 0, agents };
        state.populate();
        state
    }

    /// Adds the flows, and schedules those that start by themselves.
    fn populate(&mut self) {
        let scenario = Arc::clone(&self.scenario);
        let warmup_ends = Time::ZERO + scenario.description.warmup;
        let span = Span { from: warmup_ends, end: self.end };
        for spec in &scenario.flows {
            // A paced segment leaves when it is due, whether the device is free or not: only small queues bound what
            // waits there.
            let paced = spec.section.transport == TransportWord::Tcp && spec.tcp.config.is_paced();
            let asked = spec.up && self.network.is_backpressured(spec.station) && !paced;
            let id = self.network.open_flow(spec.section.wired_delay);
            self.network.hosts_mut().simulated().add(Flow::new(id, spec, self.seed, span, asked));
        }
        for (id, spec) in (0..).map(FlowId).zip(&scenario.flows) {
            if self.network.hosts().simulates(id) {
                self.network.schedule(Time::ZERO + spec.starts_at(self.seed), FlowEvent::Starts(id));
            }
        }
        self.network.set_alarm(warmup_ends, WARMUP_ENDS);
        let fed = self.network.hosts_mut().simulated().fed();
        self.network.count_wires_later(|ap| fed[ap.index()]);
    }

    /// The observer of the run.
    pub(crate) fn observer(&self) -> &O {
        self.network.observer().observer()
    }

    /// Handles all events before `until`, a pause of the observer or the end of the run, whichever comes first. Returns
    /// true at the end, or where code of the scenario fails.
    pub(crate) fn run_until(&mut self, until: Time) -> bool {
        if self.failure.is_some() {
            return true;
        }
        match catch_unwind(AssertUnwindSafe(|| self.advance(until))) {
            // A source that its wire drops for ever has ended, without leaving the run.
            Ok(_) if self.network.wire_failure().is_some() => {
                self.failure = Some(self.who_gave_up());
                true
            }
            Ok(ended) => ended,
            Err(thrown) if thrown.is::<GaveUp>() => {
                self.failure = Some(self.who_gave_up());
                true
            }
            Err(panic) => resume_unwind(panic),
        }
    }

    /// The reason for which code of the scenario has ended the run, if any.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// The algorithm that gave up, when, and why.
    fn who_gave_up(&mut self) -> String {
        let at = self.network.now().since(Time::ZERO).as_secs_f64();
        let flows = self.network.hosts_mut().simulated().flows().iter();
        let flow = flows.zip(&self.scenario.flows).find_map(|(flow, spec)| Some((spec, flow.controller_failure()?)));
        if let Some((spec, why)) = flow {
            return format!("flow {} at {at:.4} s: {why}", spec.id);
        }
        if let Some((path, why)) = self.agents.failure() {
            return format!("{path} at {at:.4} s: {why}");
        }
        let name = |node: NodeId| &self.scenario.nodes[node.index()].name;
        match (self.network.failure(), self.network.wire_failure()) {
            (Some((Failed::Queue(node), why)), _) => format!("queue of {} at {at:.4} s: {why}", name(node)),
            (Some((Failed::RateControl(link), why)), _) => {
                let (sender, receiver) = self.scenario.link_ends(link.index());
                format!("rate control of {sender}->{receiver} at {at:.4} s: {why}")
            }
            (Some((Failed::Scheduler(ap), why)), _) => format!("scheduler of {} at {at:.4} s: {why}", name(ap)),
            (Some((Failed::ErrorModel, why)), _) => format!("error model at {at:.4} s: {why}"),
            (None, Some((ap, why))) => format!("queue of the wired link of {} at {at:.4} s: {why}", name(ap)),
            (None, None) => format!("code of the scenario's has given up at {at:.4} s and does not say why"),
        }
    }

    fn advance(&mut self, until: Time) -> bool {
        let stop = until.min(self.end);
        loop {
            let (sample, change) = (self.observer().next_sample(), self.next_change());
            let decision = self.agents.next_decision();
            if sample <= stop && sample <= change && sample <= decision {
                // A sample excludes events of its own time, as nothing is handled at the end of a run.
                if self.handle_until(sample) == Reached::Pause {
                    return false;
                }
                self.network.observer_mut().sample(sample);
            } else if decision < stop && decision <= change {
                if self.handle_until(decision) == Reached::Pause {
                    return false;
                }
                self.decide();
            } else if change < stop {
                if self.handle_until(change) == Reached::Pause {
                    return false;
                }
                self.carry_out_change();
            } else {
                break;
            }
        }
        self.handle_until(stop) == Reached::Time && stop == self.end
    }

    /// The time of the next change of the scenario.
    fn next_change(&self) -> Time {
        self.scenario.changes.get(self.changed).map_or(Time::NEVER, |change| change.at)
    }

    /// Lets each agent whose decision is due turn its knobs.
    fn decide(&mut self) {
        let now = self.network.now();
        for place in 0..self.agents.count() {
            let readers = readers_of(self.network.observer_mut().observer_mut());
            let reader = &mut readers.expect("the observer reads for agents").0[place];
            let turned = self.agents.decide(place, now, reader);
            turned.iter().for_each(|(handle, value)| self.turn(handle, *value));
        }
    }

    #[cold]
    fn carry_out_change(&mut self) {
        let scenario = Arc::clone(&self.scenario);
        for (handle, value) in &scenario.changes[self.changed].sets {
            self.turn(handle, *value);
        }
        self.changed += 1;
    }

    fn handle_until(&mut self, until: Time) -> Reached {
        while let Some(alarm) = self.network.run_until(until) {
            if alarm == Alarm::PAUSED {
                self.decide();
                if self.observer().pauses() {
                    return Reached::Pause;
                }
                continue;
            }
            debug_assert_eq!(alarm, WARMUP_ENDS, "no other is set");
            let now = self.network.now();
            self.network.observer_mut().start(now);
            self.network.start_counting();
        }
        Reached::Time
    }

    /// The metrics from the end of the warm-up to now; `None` during the warm-up.
    pub(crate) fn metrics(&self) -> Option<Report> {
        let now = self.network.now();
        if now <= Time::ZERO + self.scenario.description.warmup {
            return None;
        }
        let mut report = self.network.observer().report_so_far(now);
        self.add_rows(now, &mut report);
        Some(report)
    }

    /// "flows", "totals", "nodes", "links" and "medium" of [`metrics`](Self::metrics).
    pub(crate) fn tables(&self) -> Option<RunTables> {
        let report = self.metrics()?;
        let mut run = RunTables::default();
        tables::put_metrics(&mut run, &self.scenario, &report);
        Some(run)
    }

    /// Adds the counts of the hosts and the queues.
    fn add_rows(&self, now: Time, report: &mut Report) {
        let covered = self.network.observer().covered(now);
        queues::add_rows(report, covered, self.network.offered(), self.network.wire_use());
        queues::add_classes(report, self.network.by_class(), self.network.wires_by_class());
        self.network.hosts().report(report);
    }

    /// Runs to the end and returns the measurements.
    ///
    /// # Errors
    /// A sentence that says why the result cannot be trusted.
    pub(crate) fn finish(mut self) -> Result<Finished<O>, String> {
        self.run_until(self.end);
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        self.network.check_conservation()?;
        self.network.hosts().check_conservation()?;
        let end = self.end;
        let mut report = self.network.observer_mut().report(end);
        check_airtime(&report, self.scenario.channels().max(self.settings.channels().len()))?;
        self.add_rows(end, &mut report);
        let events = self.network.events();
        let (collector, _) = self.network.into_parts();
        let (metrics, observer) = collector.into_parts();
        let channels = self.settings.channels().to_vec();
        Ok(Finished { report, metrics, observer, events, end, channels })
    }
}

/// The metrics of agents, if an observer has them.
fn readers_of<O: Watcher>(observer: &mut O) -> Option<&mut Readers> {
    observer.readers()?.downcast_mut()
}

/// No transmitter was on for longer than the medium was busy.
fn check_airtime(report: &Report, channels: usize) -> Result<(), String> {
    let busy = report.medium.get(medium::BUSY).unwrap_or(0.0);
    let nodes = report.nodes.iter().map(|row| row.get(airtime::OF_NODE));
    let links = report.links.iter().map(|row| row.get(airtime::OF_LINK));
    for airtime in nodes.chain(links).flatten() {
        // Both are exact; only their quotients are rounded.
        if airtime > channels as f64 * busy + 1e-9 {
            return Err(format!("a transmitter was on for {airtime} of the time, the medium busy for {busy}"));
        }
    }
    Ok(())
}
