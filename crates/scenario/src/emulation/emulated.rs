//! A run with some real hosts: a driver passes in their packets, and takes out the packets that reach them.

use std::collections::BTreeMap;
use std::sync::Arc;

use lasthop_link::queue_discipline::fifo;
use lasthop_link::{Packet, QueueDisciplineKind};
use lasthop_observe::{FlowId, NodeId, Observer, Record, Watcher};
use lasthop_registry::Amount;
use lasthop_units::{Duration, Time};

use super::carriage::{Carriage, Datagram};
use super::classify::{Classified, Classifier, Member, Stray};
use super::hosts::{Delivery, MixedHosts, RealFlow, Told};
use super::reading::Reading;
use super::{EmulationPlan, LiveFlow, Load};
use crate::ResolvedScenario;
use crate::description::NodeQueue;
use crate::run_state::{Finished, RunState};
use crate::simulation::topology;

/// The kernel's state of a flow at a moment, over all its connections.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelView {
    /// congestion window in segments
    pub cwnd: f64,
    /// slow-start threshold in segments; infinite where there is none
    pub ssthresh: f64,
    /// smoothed round-trip time, once there is one
    pub rtt: Option<Duration>,
    /// expirations of its retransmission timer since the last view, where the kernel counts them
    pub timeouts: Option<u64>,
}

/// A scenario under one seed whose real flows a driver carries, as far as it has run.
pub struct Emulation<O = ()> {
    state: RunState<MixedHosts, O>,
    classifier: Classifier,
}

impl<O: Watcher> Emulation<O> {
    /// `scenario` under `seed` at time zero; the flows of `plan` are real, all others are simulated.
    ///
    /// The interface of a station with real flows cannot pull data from a socket: where the scenario asks for that, an
    /// unlimited queue replaces it.
    pub fn new(scenario: &ResolvedScenario, seed: u64, plan: &EmulationPlan, observer: O) -> Emulation<O> {
        let scenario = Arc::new(without_backpressure(scenario, plan));
        let topology = topology(&scenario, seed, observer.reads_steps());
        let real = plan.flows.iter().map(|flow| (flow.flow, real_flow(flow))).collect::<BTreeMap<_, _>>();
        let hosts = MixedHosts::new(topology.homes(), topology.wires.len(), real);
        let members: Vec<Member> = plan.flows.iter().map(|flow| member(flow, &scenario)).collect();
        Emulation {
            state: RunState::new(scenario, seed, topology, hosts, observer),
            classifier: Classifier::new(&members),
        }
    }

    /// The scenario, with the queues of this emulation.
    pub fn scenario(&self) -> &ResolvedScenario {
        &self.state.scenario
    }

    /// The current time.
    pub fn now(&self) -> Time {
        self.state.network.now()
    }

    /// The time at which the run ends.
    pub fn end(&self) -> Time {
        self.state.end
    }

    /// Ends the run now, before its time.
    pub fn end_here(&mut self) {
        self.state.end = self.now();
    }

    /// The time of the next event.
    pub fn next_at(&self) -> Option<Time> {
        self.state.network.next_at()
    }

    /// The observer of the run.
    pub fn observer(&self) -> &O {
        self.state.observer()
    }

    /// Handles all events before `until` or the end of the run, whichever comes first; true at the end.
    pub fn run_until(&mut self, until: Time) -> bool {
        self.state.run_until(until)
    }

    /// Takes a packet sent by the host at `node`, a station or the server behind an AP, at time `at`, or now if `at` is
    /// past.
    ///
    /// # Errors
    /// The reason why it does not enter the network.
    pub fn take(&mut self, at: Time, node: NodeId, bytes: Vec<u8>) -> Result<(), Stray> {
        let up = node.index() >= self.state.scenario.access_points();
        let Classified { meta, tcp } = self.classifier.read(&bytes, up)?;
        let at = at.max(self.now());
        let body = Carriage::Real(Box::new(Datagram { bytes, tcp, entered_at: at }));
        self.state.network.inject(at, node, Packet { meta, body }).map_err(|_| Stray::Address)
    }

    /// The packets that reached real hosts since the last call, in the order of arrival.
    pub fn deliveries(&mut self) -> impl Iterator<Item = Delivery> {
        self.state.network.hosts_mut().deliveries()
    }

    /// Records the kernel's current state of a real flow.
    pub fn note(&mut self, flow: FlowId, view: &KernelView) {
        let network = &mut self.state.network;
        let now = network.now();
        let Some(real) = network.hosts_mut().real_flow(flow) else { return };
        real.told = Told { window: true, timeouts: real.told.timeouts || view.timeouts.is_some() };
        let flight_bytes = real.reading.flight_bytes();
        let KernelView { cwnd, ssthresh, rtt, timeouts } = *view;
        let observer = network.observer_mut();
        observer.observe(now, Record::Window { flow, cwnd, ssthresh, flight_bytes });
        if let Some(sample) = rtt {
            observer.observe(now, Record::Rtt { flow, sample, controller: None });
        }
        (0..timeouts.unwrap_or(0)).for_each(|_| observer.observe(now, Record::Timeout { flow }));
    }

    /// Runs to the end and returns the measurements.
    ///
    /// # Errors
    /// A sentence that says why the result cannot be trusted.
    pub(crate) fn finish(self) -> Result<Finished<O>, String> {
        self.state.finish()
    }
}

fn real_flow(flow: &LiveFlow) -> RealFlow {
    let size = match flow.load {
        Load::Bulk { size, .. } => size,
        _ => None,
    };
    RealFlow { id: flow.id.clone(), reading: Reading::new(flow.up, size), told: Told::default() }
}

fn member(flow: &LiveFlow, scenario: &ResolvedScenario) -> Member {
    let l4s_priority = scenario.flows[flow.flow.index()].l4s_priority;
    let LiveFlow { flow: number, station, port, .. } = *flow;
    Member { flow: number, station, port, l4s_priority, takes_others: flow.is_command() }
}

/// The scenario with an unlimited queue wherever an interface would pull data from a real host.
fn without_backpressure(scenario: &ResolvedScenario, plan: &EmulationPlan) -> ResolvedScenario {
    let mut scenario = scenario.clone();
    for flow in &plan.flows {
        let node = &mut scenario.nodes[flow.station.index()];
        if node.queue == NodeQueue::Backpressure {
            node.queue = NodeQueue::Discipline(QueueDisciplineKind::Fifo(fifo::Params::limited(Amount::Unlimited)));
            node.config.backpressured = false;
        }
    }
    scenario
}
