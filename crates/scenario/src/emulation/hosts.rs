//! Hosts of a scenario, some simulated and some real.

use std::collections::{BTreeMap, VecDeque};

use lasthop_link::{Packet, PacketMeta};
use lasthop_network::{Hosts, Order};
use lasthop_observe::metric::{segments, window};
use lasthop_observe::{FlowId, NodeId, Observer, Record, Report, Step};
use lasthop_units::Time;
use lasthop_wifi::phy::ModeId;
use lasthop_wifi::{AccessCategory, Attempted};

use super::carriage::{Carriage, Datagram};
use super::classify::mark;
use super::frames::{Frames, Happened, OnWay};
use super::reading::Reading;
use crate::hosts::{At, Body, Flow, FlowEvent, FlowHosts, Numbers, note_received};
use crate::run_state::Population;

/// A packet that has reached a real host.
#[derive(Debug, PartialEq, Eq)]
pub struct Delivery {
    /// time of arrival
    pub at: Time,
    /// its host: a station, or an AP for the server behind it
    pub node: NodeId,
    /// its door there
    pub door: Arrives,
    /// the packet from its IP header on, with the congestion mark that it got on the way
    pub bytes: Vec<u8>,
}

/// The place of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrives {
    /// at the host of its node
    AtHost,
    /// at the wire of an access point whose Wi-Fi stack is a kernel's
    AtAccessPoint,
}

/// The kernel's statements about a flow so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Told {
    /// congestion windows and round trips were given
    pub(super) window: bool,
    /// counts of timeouts were given
    pub(super) timeouts: bool,
}

/// A flow whose ends are real.
#[derive(Debug)]
pub(super) struct RealFlow {
    pub(super) id: String,
    pub(super) reading: Reading,
    pub(super) told: Told,
}

/// All hosts of a scenario with some real flows.
pub(crate) struct MixedHosts {
    simulated: FlowHosts,
    real: BTreeMap<FlowId, RealFlow>,
    numbers: Numbers,
    /// by node: its AP
    homes: Vec<NodeId>,
    arrived: VecDeque<Delivery>,
    /// the frames of a kernel's Wi-Fi stack, if it is not lasthop's own
    pub(super) stack: Option<Frames>,
}

impl MixedHosts {
    pub(super) fn new(homes: Vec<NodeId>, aps: usize, real: BTreeMap<FlowId, RealFlow>) -> MixedHosts {
        let simulated = FlowHosts::new(homes.clone(), aps);
        MixedHosts { simulated, real, numbers: Numbers::default(), homes, arrived: VecDeque::new(), stack: None }
    }

    pub(super) fn real_flow(&mut self, flow: FlowId) -> Option<&mut RealFlow> {
        self.real.get_mut(&flow)
    }

    pub(super) fn deliveries(&mut self) -> impl Iterator<Item = Delivery> {
        self.arrived.drain(..)
    }

    /// Delivers a packet of a real flow to the host at its end.
    fn reach<O: Observer>(&mut self, meta: PacketMeta, datagram: Datagram, at: &mut At<'_, O>) {
        let (up, station) = (meta.up, meta.station);
        let bytes = self.note_arrival(meta, datagram, at);
        let node = if up { self.homes[station.index()] } else { station };
        self.arrived.push_back(Delivery { at: at.now, node, door: Arrives::AtHost, bytes });
    }

    /// Counts a packet that a station's kernel has sent through its own Wi-Fi stack.
    pub(super) fn note_sent<O: Observer>(&mut self, packet: &mut Packet<Carriage>, at: &mut At<'_, O>) {
        let flow = packet.meta.flow;
        at.tell(Step::Emitted { flow });
        let Carriage::Real(datagram) = &packet.body else { return };
        if let (Some(real), Some(header)) = (self.real.get_mut(&flow), datagram.tcp) {
            let sent = real.reading.sent(at.now, &header, packet.meta.up);
            if let Some(retransmission) = sent {
                at.observer.observe(at.now, Record::SegmentSent { flow, retransmission });
            }
            tell_waits(real, flow, at);
        }
        self.numbers.note_sent(packet, at);
    }

    /// Counts a packet of a real flow that has reached the host at its end; returns its bytes.
    pub(super) fn note_arrival<O: Observer>(
        &mut self,
        meta: PacketMeta,
        datagram: Datagram,
        at: &mut At<'_, O>,
    ) -> Vec<u8> {
        let PacketMeta { flow, station, up, ecn, .. } = meta;
        let delay = at.now.since(datagram.entered_at);
        at.observer.observe(at.now, Record::PacketDelivered { station, up, delay });
        at.tell(Step::Arrived { flow });
        let packet = Packet::new(meta, datagram);
        note_received(&packet, at);
        let (_, Datagram { mut bytes, tcp, .. }) = packet.into_parts();
        if let (Some(real), Some(header)) = (self.real.get_mut(&flow), tcp) {
            let news = real.reading.arrived(at.now, &header, up);
            if news.delivered > 0 {
                at.observer.observe(at.now, Record::Delivered { flow, bytes: news.delivered });
            }
            if let Some(took) = news.completed {
                at.observer.observe(at.now, Record::Completed { flow, took });
            }
            tell_waits(real, flow, at);
        }
        mark(&mut bytes, ecn);
        bytes
    }
}

impl MixedHosts {
    /// Tells the driver that a frame of a kernel's radio has reached a node.
    fn frame_arrives(&mut self, now: Time, at: NodeId, frame: &PacketMeta) {
        let from = if frame.up { frame.station } else { self.homes[frame.station.index()] };
        if let Some(frames) = &mut self.stack {
            frames.tell(now, Happened::Arrived { number: frame.packet, from, at });
        }
    }
}

fn tell_waits<O: Observer>(real: &RealFlow, flow: FlowId, at: &mut At<'_, O>) {
    if at.observer.reads_waits() {
        at.tell(real.reading.waits(flow));
    }
}

impl Hosts<Carriage> for MixedHosts {
    type Event = FlowEvent;

    fn arrive<O: Observer>(&mut self, packet: Packet<Carriage>, at: &mut At<'_, O>) {
        match packet.into_parts() {
            (meta, Carriage::Simulated(mut packet)) => {
                packet.meta = meta;
                self.simulated.arrive(packet, at);
            }
            (meta, Carriage::Real(datagram)) => self.reach(meta, *datagram, at),
            (meta, Carriage::Frame) => self.frame_arrives(at.now, meta.station, &meta),
        }
    }

    fn at_access_point<O: Observer>(
        &mut self,
        ap: NodeId,
        packet: Packet<Carriage>,
        at: &mut At<'_, O>,
    ) -> Option<Packet<Carriage>> {
        if self.stack.is_none() {
            return Some(packet);
        }
        if let Carriage::Simulated(_) = packet.body {
            return Some(packet);
        }
        match packet.into_parts() {
            (_, Carriage::Simulated(_)) => unreachable!("it was returned"),
            (meta, Carriage::Frame) => self.frame_arrives(at.now, ap, &meta),
            (meta, Carriage::Real(datagram)) => {
                let mut bytes = datagram.bytes;
                mark(&mut bytes, meta.ecn);
                self.arrived.push_back(Delivery { at: at.now, node: ap, door: Arrives::AtAccessPoint, bytes });
            }
        }
        None
    }

    fn attempted(&mut self, now: Time, by: NodeId, packet: &PacketMeta, mode: ModeId, result: Attempted) {
        if let Some(frames) = &mut self.stack {
            frames.attempted(now, by, packet, mode, result);
        }
    }

    fn group_ended(&mut self, now: Time, number: u32, decoded: &[NodeId]) {
        if let Some(frames) = &mut self.stack {
            frames.group_ended(now, number, decoded);
        }
    }

    fn handle<O: Observer>(&mut self, event: FlowEvent, at: &mut At<'_, O>) {
        self.simulated.handle(event, at);
    }

    fn next<O: Observer>(&mut self, at: &mut At<'_, O>) -> Option<Order<Carriage>> {
        Some(match self.simulated.next(at)? {
            Order::Send(packet) => Order::Send(Carriage::simulated(packet)),
            Order::Offer { station, tid } => Order::Offer { station, tid },
            Order::Feed { ap } => Order::Feed { ap },
        })
    }

    fn resume(&mut self) -> bool {
        Hosts::<Body>::resume(&mut self.simulated)
    }

    fn pull<O: Observer>(
        &mut self,
        station: NodeId,
        category: Option<AccessCategory>,
        at: &mut At<'_, O>,
    ) -> Option<Packet<Carriage>> {
        self.simulated.pull(station, category, at).map(Carriage::simulated)
    }

    fn is_saturated(&self, station: NodeId, category: Option<AccessCategory>) -> bool {
        Hosts::<Body>::is_saturated(&self.simulated, station, category)
    }

    fn feed<O: Observer>(&mut self, ap: NodeId, at: &mut At<'_, O>) -> Option<Packet<Carriage>> {
        self.simulated.feed(ap, at).map(Carriage::simulated)
    }

    fn released<O: Observer>(&mut self, packet: &PacketMeta, refused: bool, at: &mut At<'_, O>) {
        if self.simulates(packet.flow) {
            Hosts::<Body>::released(&mut self.simulated, packet, refused, at);
        }
    }

    fn enters<O: Observer>(&mut self, packet: &mut Packet<Carriage>, at: &mut At<'_, O>) {
        let Carriage::Real(datagram) = &mut packet.body else { return };
        if datagram.is_forwarded {
            return;
        }
        datagram.entered_at = at.now;
        self.note_sent(packet, at);
        let (Some(frames), Carriage::Real(datagram)) = (&mut self.stack, &packet.body) else { return };
        frames.on_way.sent(&datagram.bytes, OnWay { since: at.now, packet: packet.meta.packet });
    }

    fn discarded(&mut self, packet: Packet<Carriage>) {
        if let (_, Carriage::Simulated(packet)) = packet.into_parts() {
            self.simulated.discarded(packet);
        }
    }
}

impl Population for MixedHosts {
    type Body = Carriage;

    fn simulated(&mut self) -> &mut FlowHosts {
        &mut self.simulated
    }

    fn simulates(&self, flow: FlowId) -> bool {
        !self.real.contains_key(&flow)
    }

    fn report(&self, report: &mut Report) {
        for (index, (flow, row)) in self.simulated.flows().iter().zip(&mut report.flows).enumerate() {
            let Some(real) = self.real.get(&FlowId(index as u32)) else {
                flow.report(row);
                continue;
            };
            row.withdraw(segments::ACK_LOSSES_DETECTED);
            if !real.told.timeouts {
                row.withdraw(segments::TIMEOUTS);
            }
            if !real.told.window {
                row.withdraw(window::CWND_MEAN);
                row.withdraw(window::CWND_MAX);
            }
        }
    }

    fn check_conservation(&self) -> Result<(), String> {
        let simulated = self.simulated.flows().iter().enumerate();
        simulated
            .filter(|(index, _)| self.simulates(FlowId(*index as u32)))
            .try_for_each(|(_, flow)| Flow::check_conservation(flow))?;
        self.real.values().try_for_each(|real| real.reading.check_conservation(&real.id))
    }
}
