//! A run with some real hosts: a driver passes in their packets, and takes out the packets that reach them.

use std::collections::BTreeMap;
use std::sync::Arc;

use lasthop_link::queue_discipline::fifo;
use lasthop_link::{Below, Packet, PacketMeta, QueueDisciplineKind};
use lasthop_network::Door;
use lasthop_observe::detail::FrameFacts;
use lasthop_observe::{FlowId, NodeId, Observer, Record, Watcher};
use lasthop_registry::Amount;
use lasthop_units::{Duration, Time};
use lasthop_wifi::rate_control::PacketRates;
use lasthop_wifi::{GroupFrame, Security};

use super::carriage::{Carriage, Datagram};
use super::classify::{Classified, Classifier, Member, Stray};
use super::frames::{AirEvent, Frames, Happened, OnWay, StackRate, chain_of, mode_of};
use super::hosts::{Delivery, MixedHosts, RealFlow, Told};
use super::reading::Reading;
use super::whereabouts::Whereabouts;
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
    whereabouts: Whereabouts,
}

impl<O: Watcher> Emulation<O> {
    /// `scenario` under `seed` at time zero; the flows of `plan` are real, all others are simulated.
    ///
    /// The interface of a station with real flows cannot pull data from a socket: where the scenario asks for that, an
    /// unlimited queue replaces it.
    pub fn new(scenario: &ResolvedScenario, seed: u64, plan: &EmulationPlan, observer: O) -> Emulation<O> {
        let scenario = Arc::new(match plan.stack {
            None => without_backpressure(scenario, plan),
            Some(_) => below_a_stack(scenario),
        });
        let mut topology = topology(&scenario, seed, observer.reads_steps());
        let frames = plan.stack.as_ref().map(|_| {
            let rates = PacketRates::default();
            let otherwise = |link: usize| scenario.phy_of(scenario.ends(link).0).lowest_basic_mode();
            topology.medium.rate_controls = (0..scenario.links()).map(|link| rates.control(otherwise(link))).collect();
            Frames::new(rates)
        });
        let real = plan.flows.iter().map(|flow| (flow.flow, real_flow(flow))).collect::<BTreeMap<_, _>>();
        let mut hosts = MixedHosts::new(topology.homes(), topology.wires.len(), real);
        hosts.stack = frames;
        let members: Vec<Member> = plan.flows.iter().map(|flow| member(flow, &scenario)).collect();
        Emulation {
            whereabouts: Whereabouts::new(&scenario, seed),
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
        let body = Carriage::Real(Box::new(Datagram { bytes, tcp, entered_at: at, is_forwarded: false }));
        self.state.network.inject(at, node, Packet::new(meta, body)).map_err(|_| Stray::Address)
    }

    /// Takes a packet that the kernel of an access point passes on to its server, at time `at`, or now if `at` is past.
    ///
    /// # Errors
    /// The reason why it does not enter the network.
    pub fn take_at_access_point(&mut self, at: Time, bytes: Vec<u8>) -> Result<(), Stray> {
        let Classified { mut meta, tcp } = self.classifier.read(&bytes, true)?;
        let at = at.max(self.now());
        let found = self.state.network.hosts().stack.as_ref().and_then(|frames| frames.on_way.find(&bytes));
        meta.packet = found.map_or(0, |of| of.packet);
        let entered_at = found.map_or(at, |of| of.since);
        let body = Carriage::Real(Box::new(Datagram { bytes, tcp, entered_at, is_forwarded: true }));
        // Wherever the station is now, the way to its server begins at the access point of its BSS.
        let ap = self.state.scenario.ap_of(meta.station);
        self.state.network.inject_at(at, ap, Packet::new(meta, body), Door::Wire).map_err(|_| Stray::Address)
    }

    /// Counts a packet that a station with a Wi-Fi stack of its own sends or has received now.
    ///
    /// # Errors
    /// The reason why it is of no flow.
    pub fn see_at_station(&mut self, sent: bool, bytes: Vec<u8>) -> Result<(), Stray> {
        let Classified { meta, tcp } = self.classifier.read(&bytes, sent)?;
        let now = self.now();
        self.state.network.call_hosts(|hosts, at| {
            let entered_at = now;
            let datagram = Datagram { bytes, tcp, entered_at, is_forwarded: false };
            if sent {
                let mut packet = Packet::new(meta, Carriage::Real(Box::new(datagram)));
                hosts.note_sent(&mut packet, at);
                if let (Some(frames), Carriage::Real(datagram)) = (&mut hosts.stack, &packet.body) {
                    frames.on_way.sent(&datagram.bytes, OnWay { since: now, packet: packet.meta.packet });
                }
                return;
            }
            let found = hosts.stack.as_ref().and_then(|frames| frames.on_way.find(&datagram.bytes));
            let meta = PacketMeta { packet: found.map_or(0, |of| of.packet), ..meta };
            let entered_at = found.map_or(now, |of| of.since);
            hosts.note_arrival(meta, Datagram { entered_at, ..datagram }, at);
        });
        Ok(())
    }

    /// Sends a frame of the radio of a node to another node from `at` on, or from now on; false if they have no link.
    pub fn send_frame(&mut self, at: Time, frame: &StackFrame<'_>) -> bool {
        let (aps, network) = (self.state.scenario.access_points(), &mut self.state.network);
        let (at, up) = (at.max(network.now()), frame.from.index() >= aps);
        let (host, ap) = if up { (frame.from, frame.to) } else { (frame.to, frame.from) };
        let Some(station) = self.whereabouts.at(host, ap) else { return false };
        let from = if up { station } else { ap };
        let phy = Arc::clone(&self.state.scenario.bss[ap.index()].config.phy);
        let Some(frames) = &mut network.hosts_mut().stack else { return false };
        let probes = frames.begin(frame.number, (from, station), chain_of(&phy, frame.rates));
        let length = frame.bytes.len() as u32;
        let carried = packet_of(frame.bytes).and_then(|packet| self.classifier.read(packet, up).ok());
        let plain = PacketMeta::plain(self.classifier.flow_of_frames(host), station, up, length);
        let meta = carried.map_or(plain, |Classified { meta, .. }| {
            let (flow, pure_ack, ack) = (meta.flow, meta.pure_ack, meta.ack);
            PacketMeta { flow, pure_ack, ack, ..plain }
        });
        let meta = PacketMeta { tid: frame.tid, packet: frame.number, begins_ppdu: probes, ..meta };
        let observer = network.observer_mut();
        if observer.reads_frames() {
            let facts = FrameFacts { node: from, packet: Some((meta.flow, up, frame.number)) };
            observer.frame(&facts, frame.bytes);
        }
        network.inject_at(at, from, Packet::new(meta, Carriage::Frame), Door::Radio).is_ok()
    }

    /// Sends a frame of the radio of `frame.from` to all that hear it, from `at` on, or from now on.
    pub fn send_group_frame(&mut self, at: Time, frame: &StackFrame<'_>) {
        let from = self.whereabouts.on_channel(frame.from, frame.mhz);
        let bss = self.state.scenario.nodes[from.index()].config.bss;
        let phy = &self.state.scenario.bss[bss as usize].config.phy;
        let mode = frame.rates.first().map_or(phy.lowest_basic_mode(), |rate| mode_of(phy, rate));
        let group = GroupFrame { number: frame.number, bytes: frame.bytes.len() as u32 + FCS, mode };
        let observer = self.state.network.observer_mut();
        if observer.reads_frames() {
            observer.frame(&FrameFacts { node: from, packet: None }, frame.bytes);
        }
        if let Some(frames) = &mut self.state.network.hosts_mut().stack {
            frames.begin_group(frame.number, from);
        }
        self.state.network.send_to_all(at, from, group);
    }

    /// Events on the air for the driver of a kernel's radios since the last call, in their order.
    pub fn air_events(&mut self) -> Vec<(Time, AirEvent)> {
        let Emulation { state, whereabouts, .. } = self;
        let Some(frames) = &mut state.network.hosts_mut().stack else { return Vec::new() };
        let told = |(at, event)| {
            let event = match event {
                Happened::Arrived { number, from, at: node } => {
                    let signal = whereabouts.signal(at, from, node).unwrap_or(i8::MIN);
                    AirEvent::Arrived { number, node: whereabouts.host_of(node), signal }
                }
                Happened::Done { number, acknowledged, tries, ampdu } => {
                    AirEvent::Done { number, acknowledged, tries, ampdu }
                }
                Happened::Heard { number, from, by } => {
                    AirEvent::Heard { number, by: whereabouts.hearers(at, from, &by) }
                }
            };
            (at, event)
        };
        frames.events().map(told).collect()
    }

    /// The signal in dBm of the radio of a node at that of another at time zero, one of them an access point; none if it hears
    /// nothing.
    pub fn signal_at_start(&self, from: NodeId, to: NodeId) -> Option<i8> {
        self.whereabouts.signal_between(Time::ZERO, from, to)
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

/// A frame of a kernel's radio.
#[derive(Clone, Copy, Debug)]
pub struct StackFrame<'a> {
    /// its number, unlike any before it
    pub number: u32,
    /// its sender
    pub from: NodeId,
    /// its receiver; without meaning for a group frame
    pub to: NodeId,
    /// its user priority
    pub tid: u8,
    /// its bytes, without the FCS
    pub bytes: &'a [u8],
    /// the centre of its channel in MHz, if that is known
    pub mhz: Option<u32>,
    /// the rates of its attempts, in order
    pub rates: &'a [StackRate],
}

/// Bytes of the frame check sequence.
const FCS: u32 = 4;

/// The IPv4 packet in a data frame that is not protected. [802.11-2020 §9.2.4.1, §9.3.2.1; RFC 1042]
fn packet_of(frame: &[u8]) -> Option<&[u8]> {
    const LLC_SNAP_IPV4: [u8; 8] = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
    const DATA: u8 = 2;
    const PROTECTED: u8 = 1 << 6;
    let [control, flags] = *frame.first_chunk()?;
    // Frames without data have the third bit of the subtype, those with QoS Control the fourth.
    let is_data = (control >> 2) & 3 == DATA && control & 0x40 == 0 && flags & PROTECTED == 0;
    let header = 24 + if control & 0x80 == 0 { 0 } else { 2 };
    frame.get(header..).filter(|_| is_data)?.strip_prefix(&LLC_SNAP_IPV4)
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

/// The scenario below the Wi-Fi stack of a kernel: packets are frames, which wait in the order in which they come.
fn below_a_stack(scenario: &ResolvedScenario) -> ResolvedScenario {
    let mut scenario = scenario.clone();
    for node in &mut scenario.nodes {
        node.queue = NodeQueue::Discipline(QueueDisciplineKind::Fifo(fifo::Params::limited(Amount::Unlimited)));
        (node.below, node.config.backpressured, node.config.driver) = (Below::IDEAL, false, None);
    }
    for bss in &mut scenario.bss {
        let config = &mut bss.config;
        (config.whole_frames, config.beacons, config.security) = (true, None, Security::Open);
        if let Some(limits) = &mut config.aggregation {
            limits.max_amsdu = None;
        }
    }
    scenario
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packet_in_a_frame_is_behind_llc_and_snap_unless_the_frame_is_protected_or_no_data() {
        let frame = |control: u8, flags: u8, header: usize, kind: u8| {
            let mut bytes = vec![0; header];
            (bytes[0], bytes[1]) = (control, flags);
            bytes.extend([0xaa, 0xaa, 3, 0, 0, 0, 8, kind, 0x45]);
            bytes
        };
        let first = |bytes: Vec<u8>| packet_of(&bytes).map(|packet| packet[0]);
        // Data, QoS Data; then ARP, protected QoS Data, QoS Null and a beacon.
        assert_eq!([first(frame(0x08, 1, 24, 0)), first(frame(0x88, 2, 26, 0))], [Some(0x45); 2]);
        for bytes in [frame(0x88, 2, 26, 6), frame(0x88, 0x42, 26, 0), frame(0xc8, 1, 26, 0), frame(0x80, 0, 24, 0)] {
            assert_eq!(first(bytes), None);
        }
        assert_eq!(packet_of(&[0x08]), None);
    }
}
