//! A flow: what the application offers, the transport that carries it, and what is counted.

use lasthop_link::{AckFacts, Packet, PacketMeta};
use lasthop_observe::{Collector, FlowId, NodeId, Row, Transport};
use lasthop_tcp::{Flags, Segment};
use lasthop_units::{Duration, Ecn, Time};

use super::tcp_flow::TcpFlow;
use super::udp_flow::{Datagram, UdpFlow};
use crate::description::TransportWord;
use crate::resolved::FlowSpec;

/// What a packet carries; only flows look at it.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// of the flow's `connection`-th connection
    Tcp {
        segment: Segment,
        connection: u32,
    },
    Udp(Datagram),
}

/// An end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// where the data comes from
    Sender,
    /// where it goes
    Receiver,
}

/// How data leaves the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    /// it is handed to the interface as it comes
    Push,
    /// the interface is to ask for it whenever it is free: a saturated source
    Pull,
}

enum Carrier {
    Tcp(Box<TcpFlow>),
    Udp(UdpFlow),
}

/// A flow.
pub(crate) struct Flow {
    meta: PacketMeta,
    carrier: Carrier,
}

impl FlowSpec {
    pub(crate) fn transport(&self) -> Transport {
        match self.section.transport {
            TransportWord::Tcp => Transport::Tcp,
            TransportWord::Udp => Transport::Udp,
        }
    }
}

impl Flow {
    pub(crate) fn new(id: FlowId, spec: &FlowSpec, seed: u64, duration: Duration, asked: bool) -> Flow {
        let meta = PacketMeta {
            bytes: 0,
            flow: id,
            station: spec.station,
            up: spec.up,
            tid: 0,
            pure_ack: false,
            ack: AckFacts::default(),
            ecn: Ecn::NotEct,
            enqueued_at: Time::ZERO,
        };
        let carrier = match spec.section.transport {
            TransportWord::Tcp => Carrier::Tcp(Box::new(TcpFlow::new(id, spec, seed, asked))),
            TransportWord::Udp => Carrier::Udp(UdpFlow::new(id, spec, duration)),
        };
        Flow { meta, carrier }
    }

    pub(crate) fn is_up(&self) -> bool {
        self.meta.up
    }

    /// The user priority of its packets.
    pub(crate) fn tid(&self) -> u8 {
        self.meta.tid
    }

    pub(crate) fn station(&self) -> NodeId {
        self.meta.station
    }

    pub(crate) fn wants(&self) -> Wants {
        match &self.carrier {
            Carrier::Udp(udp) if udp.is_saturated() => Wants::Pull,
            _ => Wants::Push,
        }
    }

    /// The time has come to start.
    pub(crate) fn start(&mut self, now: Time) {
        match &mut self.carrier {
            Carrier::Tcp(tcp) => tcp.start(now),
            Carrier::Udp(udp) => udp.start(now),
        }
    }

    /// The application offers its next packet.
    pub(crate) fn application_offers(&mut self, now: Time) {
        match &mut self.carrier {
            Carrier::Tcp(tcp) => tcp.application_offers(now),
            Carrier::Udp(udp) => udp.application_offers(now),
        }
    }

    /// When the application offers its next packet; answered once for each.
    pub(crate) fn application_at(&mut self) -> Option<Time> {
        match &mut self.carrier {
            Carrier::Tcp(tcp) => tcp.application_at(),
            Carrier::Udp(udp) => udp.application_at(),
        }
    }

    /// A packet has reached its host; which end of the flow that is.
    pub(crate) fn arrive(&mut self, now: Time, packet: &Packet<Body>, collector: &mut Collector) -> Side {
        let side = if packet.meta.up == self.meta.up { Side::Receiver } else { Side::Sender };
        match (&mut self.carrier, &packet.body) {
            (Carrier::Tcp(tcp), Body::Tcp { segment, connection }) => {
                if packet.meta.ecn == segment.ecn {
                    tcp.arrive(now, side, segment, *connection, collector);
                } else {
                    let marked = Segment { ecn: packet.meta.ecn, ..*segment };
                    tcp.arrive(now, side, &marked, *connection, collector);
                }
            }
            (Carrier::Udp(udp), Body::Udp(datagram)) => udp.arrive(now, datagram, collector),
            _ => unreachable!("a packet belongs to a flow of its transport"),
        }
        side
    }

    /// The next packet that `side` has to send now. With `held_back`, data waits to be pulled.
    pub(crate) fn poll(
        &mut self,
        now: Time,
        side: Side,
        held_back: bool,
        collector: &mut Collector,
    ) -> Option<Packet<Body>> {
        match &mut self.carrier {
            Carrier::Tcp(tcp) => {
                let (segment, connection) = tcp.poll(now, side, held_back, collector)?;
                Some(packet_of(self.meta, side, segment, connection))
            }
            Carrier::Udp(udp) if side == Side::Sender && !held_back && !udp.is_saturated() => {
                udp_packet(self.meta, udp, now, collector)
            }
            Carrier::Udp(_) => None,
        }
    }

    /// Whether the sender's own host counts this packet against its flow: data does, pure ACKs do not.
    fn is_counted(&self, meta: &PacketMeta) -> bool {
        meta.up == self.meta.up && !meta.pure_ack
    }

    /// A packet goes to the queue of a host.
    pub(crate) fn enters_own_queue(&mut self, packet: &PacketMeta) {
        if self.is_counted(packet)
            && let Carrier::Tcp(tcp) = &mut self.carrier
        {
            tcp.enters_own_queue(packet.bytes);
        }
    }

    /// A packet is out of it; see [`TcpFlow::leaves_own_queue`].
    pub(crate) fn leaves_own_queue(
        &mut self,
        now: Time,
        packet: &PacketMeta,
        refused: bool,
        collector: &mut Collector,
    ) -> bool {
        let counted = self.is_counted(packet);
        match &mut self.carrier {
            Carrier::Tcp(tcp) if counted => tcp.leaves_own_queue(now, packet.bytes, refused, collector),
            _ => false,
        }
    }

    /// The interface has room for a data packet of the sender.
    pub(crate) fn pull(&mut self, now: Time, collector: &mut Collector) -> Option<Packet<Body>> {
        match &mut self.carrier {
            Carrier::Tcp(tcp) => {
                let (segment, connection) = tcp.poll(now, Side::Sender, false, collector)?;
                Some(packet_of(self.meta, Side::Sender, segment, connection))
            }
            Carrier::Udp(udp) => udp_packet(self.meta, udp, now, collector),
        }
    }

    /// When an event for the timers of `side` is to be scheduled, if the one that is does not serve.
    pub(crate) fn timer_to_arm(&mut self, side: Side) -> Option<Time> {
        match &mut self.carrier {
            Carrier::Tcp(tcp) => tcp.timer_to_arm(side),
            Carrier::Udp(_) => None,
        }
    }

    /// The event that was armed.
    pub(crate) fn timer_fires(&mut self, now: Time, side: Side, collector: &mut Collector) {
        if let Carrier::Tcp(tcp) = &mut self.carrier {
            tcp.timer_fires(now, side, collector);
        }
    }

    pub(crate) fn check_conservation(&self) -> Result<(), String> {
        match &self.carrier {
            Carrier::Tcp(tcp) => tcp.check_conservation(),
            Carrier::Udp(udp) => udp.check_conservation(),
        }
    }

    /// Metrics that only this transport has.
    pub(crate) fn report(&self, row: &mut Row) {
        if let Carrier::Udp(udp) = &self.carrier {
            udp.report(row);
        }
    }
}

fn udp_packet(meta: PacketMeta, udp: &mut UdpFlow, now: Time, collector: &mut Collector) -> Option<Packet<Body>> {
    let datagram = udp.poll(now, collector)?;
    Some(Packet { meta: PacketMeta { bytes: udp.packet_bytes(), ..meta }, body: Body::Udp(datagram) })
}

fn packet_of(meta: PacketMeta, side: Side, segment: Segment, connection: u32) -> Packet<Body> {
    let up = meta.up == (side == Side::Sender);
    let pure_ack = segment.is_pure_ack();
    let ack = if pure_ack { ack_facts(&segment, connection) } else { AckFacts::default() };
    let meta = PacketMeta { bytes: segment.ip_bytes(), up, pure_ack, ack, ecn: segment.ecn, ..meta };
    Packet { meta, body: Body::Tcp { segment, connection } }
}

/// What a filter of ACKs sees of a pure ACK.
fn ack_facts(segment: &Segment, connection: u32) -> AckFacts {
    let ecn_flags = Flags::ECE | Flags::CWR | Flags::AE;
    AckFacts {
        number: segment.ack.0,
        connection: connection as u16,
        ecn_flags: segment.flags.bits() & ecn_flags.bits(),
        is_plain: segment.sack.is_empty() && segment.flags.bits() & !ecn_flags.bits() == Flags::ACK.bits(),
    }
}
