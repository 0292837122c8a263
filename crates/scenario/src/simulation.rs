//! A run that can be stepped: the hosts of a scenario on their network, and what is measured.

use std::sync::Arc;

use lasthop_engine::Stream;
use lasthop_link::WiredLink;
use lasthop_network::{Alarm, Network, Topology, Wires};
use lasthop_observe::metric::{airtime, medium};
use lasthop_observe::{Collector, FlowId, Report, TimeSeries, Watcher};
use lasthop_units::{Duration, Time};
use lasthop_wifi::{MediumConfig, Queues};

use crate::description::TransportWord;
use crate::hosts::{Body, Flow, FlowEvent, FlowHosts, Span};
use crate::resolved::{NodeSpec, chosen};
use crate::text::Text;
use crate::{ResolvedScenario, queues, tables};

const WARMUP_ENDS: Alarm = Alarm(0);

/// One scenario under one seed, from its start to wherever it was run to.
///
/// `O` is told what happens beside the metrics; with `()` nobody is, and nothing is paid for it.
pub struct Simulation<O = ()> {
    network: Network<Body, Collector<O>, FlowHosts>,
    scenario: Arc<ResolvedScenario>,
    seed: u64,
    end: Time,
}

/// What a simulation gave.
pub struct Finished<O = ()> {
    /// the metrics, over the time from the end of the warm-up
    pub report: Report,
    /// who watched
    pub observer: O,
    /// events handled
    pub events: u64,
    /// when the run ended
    pub end: Time,
}

impl<O> Finished<O> {
    /// What was measured, and who watched.
    pub(crate) fn without_observer(self) -> (Finished, O) {
        let Finished { report, observer, events, end } = self;
        (Finished { report, observer: (), events, end }, observer)
    }
}

impl Simulation {
    /// `scenario` under `seed` at time zero.
    pub fn new(scenario: Arc<ResolvedScenario>, seed: u64) -> Simulation {
        Simulation::watched_by(scenario, seed, ())
    }
}

impl<O: Watcher> Simulation<O> {
    /// As [`new`](Simulation::new), with somebody who is told what happens, such as the
    /// [time series](ResolvedScenario::time_series) of the scenario.
    pub fn watched_by(scenario: Arc<ResolvedScenario>, seed: u64, observer: O) -> Simulation<O> {
        let collector = Collector::new(scenario.layout(), observer);
        let topology = topology(&scenario, seed, O::READS_STEPS);
        let hosts = FlowHosts::new(topology.homes(), topology.wires.len());
        let network = Network::with_hosts(topology, collector, hosts);
        let end = Time::ZERO + scenario.description.duration;
        let mut simulation = Simulation { network, seed, end, scenario };
        simulation.populate();
        simulation
    }

    /// Adds the flows, and schedules what begins by itself.
    fn populate(&mut self) {
        let scenario = Arc::clone(&self.scenario);
        let description = &scenario.description;
        let span = Span { from: Time::ZERO + description.warmup, end: self.end };
        for spec in &scenario.flows {
            // What is paced leaves when it is due, be the device free or not: small queues alone bound what waits there.
            let paced = spec.section.transport == TransportWord::Tcp && spec.tcp.config.is_paced();
            let asked = spec.up && self.network.is_backpressured(spec.station) && !paced;
            let id = self.network.open_flow(spec.section.wired_delay);
            self.network.hosts_mut().add(Flow::new(id, spec, self.seed, span, asked));
        }
        for (id, spec) in (0..).map(FlowId).zip(&scenario.flows) {
            let jitter = spec.section.start_jitter.as_nanos() as f64;
            let late = Stream::named(self.seed, "start", &spec.stream).unit() * jitter;
            let at = Time::ZERO + spec.section.start + Duration::from_nanos(late as u64);
            self.network.schedule(at, FlowEvent::Starts(id));
        }
        self.network.set_alarm(Time::ZERO + description.warmup, WARMUP_ENDS);
    }

    /// The scenario.
    pub fn scenario(&self) -> &ResolvedScenario {
        &self.scenario
    }

    /// The scenario, to keep.
    pub(crate) fn shared_scenario(&self) -> Arc<ResolvedScenario> {
        Arc::clone(&self.scenario)
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The present.
    pub fn now(&self) -> Time {
        self.network.now()
    }

    /// When the run ends.
    pub fn end(&self) -> Time {
        self.end
    }

    /// How many events have been handled; samples of time series are none.
    pub fn events(&self) -> u64 {
        self.network.events()
    }

    /// When the next event is due.
    pub fn next_at(&self) -> Option<Time> {
        self.network.next_at()
    }

    /// Who watches.
    pub fn observer(&self) -> &O {
        self.network.observer().observer()
    }

    /// Handles all events before `until` or the end of the run, whichever comes first; true at the end.
    pub fn run_until(&mut self, until: Time) -> bool {
        let stop = until.min(self.end);
        while let at = self.observer().next_sample()
            && at <= stop
        {
            // Of what happens at the very time of a sample none has any, as nothing is handled at the end of a run.
            self.handle_until(at);
            self.network.observer_mut().sample(at);
        }
        self.handle_until(stop);
        stop == self.end
    }

    fn handle_until(&mut self, until: Time) {
        while let Some(alarm) = self.network.run_until(until) {
            debug_assert_eq!(alarm, WARMUP_ENDS, "no other is set");
            let now = self.network.now();
            self.network.observer_mut().start(now);
            self.network.start_counting();
        }
    }

    /// The metrics from the end of the warm-up to the present; `None` while the warm-up lasts.
    pub fn metrics(&self) -> Option<Report> {
        let now = self.now();
        if now <= Time::ZERO + self.scenario.description.warmup {
            return None;
        }
        let mut report = self.network.observer().report_so_far(now);
        self.add_rows(now, &mut report);
        Some(report)
    }

    /// "flows", "totals", "nodes", "links" and "medium" of [`metrics`](Self::metrics) as JSON.
    pub(crate) fn metrics_json(&self) -> Option<String> {
        let report = self.metrics()?;
        let mut text = Text::default();
        text.table(|text| tables::write_metrics(text, &self.scenario, &report));
        Some(text.finish())
    }

    /// Adds what the hosts and the queues have counted.
    fn add_rows(&self, now: Time, report: &mut Report) {
        let covered = self.network.observer().covered(now);
        queues::add_rows(report, covered, self.network.offered(), self.network.wire_use());
        for (flow, row) in self.network.hosts().flows().iter().zip(&mut report.flows) {
            flow.report(row);
        }
    }

    fn check_conservation(&self) -> Result<(), String> {
        self.network.check_conservation()?;
        self.network.hosts().flows().iter().try_for_each(Flow::check_conservation)
    }

    /// Runs to the end: what was measured.
    ///
    /// # Errors
    /// A sentence that says why it cannot be trusted.
    pub fn finish(mut self) -> Result<Finished<O>, String> {
        self.run_until(self.end);
        self.check_conservation()?;
        let end = self.end;
        let mut report = self.network.observer_mut().report(end);
        check_airtime(&report, self.scenario.channels())?;
        self.add_rows(end, &mut report);
        let events = self.network.events();
        let (collector, _) = self.network.into_parts();
        Ok(Finished { report, observer: collector.into_observer(), events, end })
    }
}

/// No transmitter was on for longer than the medium was busy.
fn check_airtime(report: &Report, channels: usize) -> Result<(), String> {
    let busy = report.medium.get(medium::BUSY).unwrap_or(0.0);
    let nodes = report.nodes.iter().map(|row| row.get(airtime::OF_NODE));
    let links = report.links.iter().map(|row| row.get(airtime::OF_LINK));
    for airtime in nodes.chain(links).flatten() {
        // Both are exact; their quotients are rounded.
        if airtime > channels as f64 * busy + 1e-9 {
            return Err(format!("a transmitter was on for {airtime} of the time, the medium busy for {busy}"));
        }
    }
    Ok(())
}

impl ResolvedScenario {
    /// Its nodes, channels and wired links under `seed`, for packets with bodies of one's own; flows are not part of it.
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

/// `compares`: the rates that are chosen are held against ideal ones.
fn topology<B: Send + 'static>(scenario: &ResolvedScenario, seed: u64, compares: bool) -> Topology<B> {
    let wired = &scenario.description.wired;
    let link = |ap: &str, name: &str| {
        let random = Stream::named(seed, "queue", &format!("{ap} {name}"));
        WiredLink::new(wired.rate, wired.delay, chosen(&wired.queue).build(random))
    };
    let wires = |ap: &NodeSpec| Wires { up: link(&ap.name, "wired up"), down: link(&ap.name, "wired down") };
    let wires = scenario.nodes[..scenario.bss.len()].iter().map(wires).collect();
    Topology { medium: medium_config(scenario, seed, compares), wires }
}

/// What makes the queue of each node.
fn queues<B: Send + 'static>(scenario: &ResolvedScenario) -> Queues<B> {
    let of_nodes: Vec<_> = scenario.nodes.iter().map(|node| (node.queue.clone(), node.driver_queue)).collect();
    Box::new(move |node, random| {
        let (queue, driver_packets) = &of_nodes[node.index()];
        queue.build(*driver_packets, random)
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
        error_model: chosen(&scenario.description.channel.error_model).build(seed),
        capture: scenario.capture(),
        countdown: scenario.first_bss().countdown,
        after_loss: scenario.after_loss(),
        seed,
    }
}
