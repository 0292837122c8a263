//! The plan that `lasthop emulate` makes of a scenario: nodes with the settings of their kernels, and the flows that
//! these carry, under one seed.
//!
//! `kernel_tcp`: keys of `[tcp]` set on sockets, and those left to a kernel; `settings`: settings of a whole namespace;
//! `sharing`: their values for the flows of a namespace. `control`: congestion controls by the kernel's names.
//! `program`: command lines. Nothing here starts anything.

mod control;
mod kernel_tcp;
mod program;
mod settings;
mod sharing;
mod stack;

use lasthop_capture::Site;
use lasthop_observe::{FlowId, NodeId};
use lasthop_tcp::{Config, LocalDrop, SmallQueue};
use lasthop_units::{Bytes, Duration};

use crate::application::ApplicationKind;
use crate::description::{EmulationSection, KernelChoice, NodeQueue, TimeKind, TransportWord, UdpRate};
use crate::knob::Place;
use crate::resolved::{FlowSpec, alike, named};
use crate::traffic::TrafficKind;
use crate::{Diagnostic, Origin, ResolvedScenario};
pub use kernel_tcp::KernelTcp;
pub use program::Programs;
use settings::Ends;
pub use settings::RouteMetrics;
use sharing::{Shared, User};
pub use stack::{Cell, StackPlan};

/// The MTU of a device where no flow has larger packets, in bytes.
const MTU: u32 = 1500;
/// IPv4 and TCP headers without options. [RFC 791 §3.1; RFC 9293 §3.1]
const IP_AND_TCP_HEADERS: u32 = 40;

/// The setup and the programs of an emulation, under one seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmulationPlan {
    /// Its clock.
    pub time: TimeKind,
    /// The kernel of virtual time; real time has no choice.
    pub kernel: KernelChoice,
    /// Limit on the p99 of lateness; a run in real time above it is not valid.
    pub max_lateness: Duration,
    /// Length of the run.
    pub duration: Duration,
    /// All nodes by their number: APs first, then stations.
    pub nodes: Vec<LiveNode>,
    /// Flows that kernels carry, by their number; all others of the scenario stay simulated.
    pub flows: Vec<LiveFlow>,
    /// The kernel's Wi-Fi stack of all nodes; none: lasthop's own.
    pub stack: Option<StackPlan>,
    /// Remarks on the medium and the kernels for a reader of the results.
    pub warnings: Vec<String>,
}

/// A network namespace: that of a station, or of the server behind an AP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveNode {
    /// The node of the medium.
    pub node: NodeId,
    /// Its name in results.
    pub name: String,
    /// The AP of a station; none for an AP, whose namespace is its server's.
    pub ap: Option<NodeId>,
    /// The MTU of its device in bytes.
    pub mtu: u32,
    /// Settings of the kernel by the names of sysctl(8), such as `net.ipv4.tcp_sack`, and their values.
    pub sysctls: Vec<(String, String)>,
    /// The metrics of its route to all others.
    pub route: RouteMetrics,
}

/// A flow that kernels carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveFlow {
    /// Its number among all flows of the scenario.
    pub flow: FlowId,
    /// Its name in results.
    pub id: String,
    /// The station at one end.
    pub station: NodeId,
    /// The AP that connects its server.
    pub ap: NodeId,
    /// Whether data goes from the station to the server.
    pub up: bool,
    /// Its start, with the jitter that a simulation under the same seed draws.
    pub start: Duration,
    /// The server's port: no other flow has it.
    pub port: u16,
    /// Differentiated services code point of both directions.
    pub dscp: u8,
    /// One-way delay between the wired link and the server, besides that of the link.
    pub wired_delay: Duration,
    /// Its load.
    pub load: Load,
    /// Options of its sockets.
    pub tcp: KernelTcp,
}

impl LiveFlow {
    /// Whether one of its ends is at this node: at its station, or at the AP of its server.
    pub fn has_end_at(&self, node: NodeId) -> bool {
        [self.station, self.ap].contains(&node)
    }

    /// The node at which its data is sent.
    pub fn sender(&self) -> NodeId {
        if self.up { self.station } else { self.ap }
    }

    /// Whether commands carry it, which choose ports and algorithms themselves.
    pub fn is_command(&self) -> bool {
        matches!(self.load, Load::Command { .. })
    }
}

/// The load of a flow, and its sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Load {
    /// A sender and a sink of the emulator's own.
    Bulk {
        /// Bytes of a transfer; none: to the end of the run.
        size: Option<u64>,
        /// Transfers one after the other, each over a connection of its own.
        repeat: u32,
        /// Bytes of a write and the time between two writes; none: as fast as possible.
        rate: Option<(u64, Duration)>,
    },
    /// iperf3 at both ends.
    Iperf3 {
        /// Duration of sending; none: see `size`, or else to the end of the run.
        duration: Option<Duration>,
        /// Number of bytes to send.
        size: Option<u64>,
        /// Parallel connections.
        parallel: u32,
    },
    /// curl at the station; the emulator brings the server.
    Curl {
        /// Bytes of the file.
        size: u64,
    },
    /// Commands for `/bin/sh -c`, with placeholders filled in.
    Command {
        /// At the station.
        client: String,
        /// At the server, started first.
        server: Option<String>,
    },
}

impl ResolvedScenario {
    /// The plan of an emulation under `seed`. Nothing is started.
    ///
    /// # Errors
    /// A flow whose congestion control no kernel has, one over QUIC, or a change of a kernel's window or rate.
    pub fn emulation_plan(&self, seed: u64) -> Result<EmulationPlan, Diagnostic> {
        if let Some(spec) = self.flows.iter().find(|spec| spec.quic.is_some()) {
            let fault = ("a flow over QUIC is not emulated yet", "`lasthop run`, or transport = \"tcp\"");
            return Err(Diagnostic::new(Origin::Nowhere, format!("flow {}", spec.id), fault));
        }
        let acting = self.agents.iter().filter(|agent| agent.policy.acts());
        let of_agents = acting.flat_map(|agent| &agent.plan.controls).flat_map(|control| &control.handles);
        let turned = self.changes.iter().flat_map(|change| &change.sets).map(|(handle, _)| handle).chain(of_agents);
        let carried = |flow: FlowId| is_carried(&self.flows[flow.index()]);
        let held = turned.into_iter().find(|handle| matches!(handle.place, Place::Flow(flow) if carried(flow)));
        if let Some(handle) = held {
            let what = format!("a kernel's flow has no knob \"{}\"", handle.knob.name);
            let fault = (what, "`lasthop run`, or application = \"simulated\" for the flow");
            return Err(Diagnostic::new(Origin::Nowhere, "change", fault));
        }
        let section = self.description.emulation.clone().unwrap_or_default();
        let stack = self.stack_plan(&section, |flow| is_carried(&self.flows[flow]))?;
        let EmulationSection { time, kernel, max_lateness, .. } = section;
        let real = || (0..).map(FlowId).zip(&self.flows).filter(|(_, spec)| is_carried(spec));
        let flows = real().map(|(id, spec)| self.live_flow(id, spec, seed)).collect::<Result<Vec<_>, _>>()?;
        let specs: Vec<&FlowSpec> = real().map(|(_, spec)| spec).collect();
        let shared: Vec<Shared> = (0..self.nodes.len()).map(|node| self.shared_at(node, &specs)).collect();
        let warnings = self.warnings_of_kernels(&specs, &shared);
        let nodes = (0..).map(NodeId).zip(shared).map(|(node, shared)| self.live_node(node, shared, &specs)).collect();
        let duration = self.description.duration;
        Ok(EmulationPlan { time, kernel, max_lateness, duration, nodes, flows, stack, warnings })
    }

    fn live_flow(&self, flow: FlowId, spec: &FlowSpec, seed: u64) -> Result<LiveFlow, Diagnostic> {
        let tcp = KernelTcp::of(&spec.tcp.config)
            .map_err(|fault| Diagnostic::new(Origin::Nowhere, format!("flow {}", spec.id), fault))?;
        let (_, port) = Site::ports(flow, 0, true);
        Ok(LiveFlow {
            flow,
            id: spec.id.clone(),
            station: spec.station,
            ap: self.ap_of(spec.station),
            up: spec.up,
            start: spec.starts_at(seed),
            port,
            dscp: spec.section.dscp.code_point(),
            wired_delay: spec.section.wired_delay,
            load: load_of(spec, port),
            tcp,
        })
    }

    fn live_node(&self, node: NodeId, shared: Shared, carried: &[&FlowSpec]) -> LiveNode {
        let is_ap = node.index() < self.access_points();
        let of_node = carried.iter().filter(|spec| self.has_end_at(spec, node.index()));
        let packets = of_node.map(|spec| kernel_tcp::segment_size(&spec.tcp.config) + IP_AND_TCP_HEADERS);
        let (sysctls, route) = shared.into_settings();
        LiveNode {
            node,
            name: self.nodes[node.index()].name.clone(),
            ap: (!is_ap).then(|| self.ap_of(node)),
            mtu: packets.fold(MTU, u32::max),
            sysctls,
            route,
        }
    }

    /// The settings that the flows of a namespace share, or those of `[tcp]` if it has no flows.
    fn shared_at(&self, node: usize, carried: &[&FlowSpec]) -> Shared {
        let users = carried.iter().filter(|spec| self.has_end_at(spec, node)).map(|spec| User {
            id: &spec.id,
            config: &spec.tcp.config,
            ends: ends_at(spec, node == spec.station.index()),
            own_sockets: spec.section.application.is_none(),
        });
        Shared::of(&users.collect::<Vec<_>>(), &self.description.tcp.config)
    }

    fn has_end_at(&self, spec: &FlowSpec, node: usize) -> bool {
        spec.station.index() == node || self.ap_of(spec.station).index() == node
    }

    fn warnings_of_kernels(&self, carried: &[&FlowSpec], shared: &[Shared]) -> Vec<String> {
        let mut warnings = self.warnings_of_medium().iter().map(ToString::to_string).collect::<Vec<_>>();
        if carried.is_empty() {
            warnings.push(
                "emulate: no flow of this scenario is carried by a kernel, which takes bulk data over TCP and `application`"
                    .into(),
            );
        }
        if self.uses_kernel_stack() {
            warnings.extend(self.warning_of_stack_keys());
        } else {
            warnings.extend(self.warning_of_backpressure(carried));
            warnings.extend(self.warning_of_small_queues(carried));
        }
        warnings.extend(warnings_of_keys(carried));
        for (node, shared) in self.nodes.iter().zip(shared) {
            warnings.extend(shared.warning(&node.name, node.group.is_none()));
        }
        warnings
    }

    /// The warning that a TUN device accepts every packet, without backpressure.
    fn warning_of_backpressure(&self, carried: &[&FlowSpec]) -> Option<String> {
        let waits = |node: usize| self.is_backpressured(node) && carried.iter().any(|spec| sends_from(spec, node));
        let waiting = (0..self.nodes.len()).filter(|&node| waits(node));
        let names: Vec<&str> = waiting.map(|node| self.nodes[node].name.as_str()).collect();
        (!names.is_empty()).then(|| {
            format!(
                "emulate: queue = \"backpressure\" of {}: a TUN device never stops its sender, so that a queue without limit \
                 stands in, and TCP small queues do not act",
                named("station", &names, self.nodes.len() - self.access_points())
            )
        })
    }

    /// The warning that a packet past a TUN device no longer counts against its socket, and that a later drop is not
    /// seen there.
    fn warning_of_small_queues(&self, carried: &[&FlowSpec]) -> Option<String> {
        let relies = |spec: &FlowSpec| {
            let (node, tcp) = (spec.station.index(), &spec.tcp.config);
            let minds = tcp.small_queue != SmallQueue::Off || tcp.local_drop != LocalDrop::Unnoticed;
            minds && sends_from(spec, node) && !self.is_backpressured(node)
        };
        let names: Vec<&str> = carried.iter().filter(|spec| relies(spec)).map(|spec| spec.id.as_str()).collect();
        (!names.is_empty()).then(|| {
            format!(
                "emulate: small_queue and local_drop of {} have no effect: a TUN device accepts every packet, and the queue of \
                 the station drops unnoticed; so more waits there, and round trips are longer, than under `run` without \
                 --set tcp.small_queue=off --set tcp.local_drop=unnoticed",
                named("flow", &names, carried.len())
            )
        })
    }

    fn is_backpressured(&self, node: usize) -> bool {
        self.nodes[node].queue == NodeQueue::Backpressure
    }
}

/// Whether a kernel carries the flow.
fn is_carried(spec: &FlowSpec) -> bool {
    let stays = matches!(spec.section.application, Some(ApplicationKind::Simulated(_)));
    spec.section.transport == TransportWord::Tcp && matches!(spec.section.traffic, TrafficKind::Bulk(_)) && !stays
}

/// The role of a flow at its station, or at its server. A command may send in either direction.
fn ends_at(spec: &FlowSpec, at_station: bool) -> Ends {
    match spec.section.application {
        Some(ApplicationKind::Command(_)) => Ends::Both,
        _ if spec.up == at_station => Ends::Sender,
        _ => Ends::Receiver,
    }
}

/// Whether the flow may send data from this station.
fn sends_from(spec: &FlowSpec, node: usize) -> bool {
    spec.station.index() == node && ends_at(spec, true) != Ends::Receiver
}

fn load_of(spec: &FlowSpec, port: u16) -> Load {
    let bytes = |size: Bytes| size.0;
    match &spec.section.application {
        Some(ApplicationKind::Iperf3(iperf3)) => {
            Load::Iperf3 { duration: iperf3.duration, size: iperf3.size.map(bytes), parallel: iperf3.parallel }
        }
        Some(ApplicationKind::Curl(curl)) => Load::Curl { size: curl.size.0 },
        Some(ApplicationKind::Command(command)) => {
            let ends = crate::application::Ends { server: Site::SERVER, station: Site::address(spec.station), port };
            Load::Command {
                client: ends.fill_in(&command.client),
                server: command.server.as_ref().map(|server| ends.fill_in(server)),
            }
        }
        Some(ApplicationKind::Simulated(_)) | None => {
            let write = u64::from(spec.tcp.config.payload_bytes());
            let rate = match spec.section.rate {
                Some(UdpRate::Constant(rate)) => Some((write, rate.time_for(Bytes(write)))),
                Some(UdpRate::Saturated) | None => None,
            };
            Load::Bulk { size: spec.section.size.map(bytes), repeat: spec.section.repeat, rate }
        }
    }
}

/// Warnings of the keys of `[tcp]` left to the kernel, one for all flows with the same keys.
fn warnings_of_keys(carried: &[&FlowSpec]) -> Vec<String> {
    let of_flow = |spec: &&FlowSpec| {
        let config: &Config = &spec.tcp.config;
        let keys = kernel_tcp::left_to_kernel(config, spec.section.application.as_ref());
        (!keys.is_empty()).then(|| keys.join(", "))
    };
    let said = carried.iter().filter_map(|spec| Some((spec.id.as_str(), of_flow(spec)?)));
    let sentence = |(keys, names): (String, Vec<&str>)| {
        let whose = named("flow", &names, carried.len());
        format!("emulate: the kernel has its own behaviour for these keys of {whose}, which have no effect: {keys}")
    };
    alike(said).into_iter().map(sentence).collect()
}
