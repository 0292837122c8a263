//! A flow: the data that its application offers, the transport that carries it, and its counts.

use lasthop_link::{Content, Packet, PacketMeta};
use lasthop_observe::{FlowId, NodeId, Observer, Row, Step, Transport, scope};
use lasthop_tcp::ReceiveOffload;
use lasthop_tcp::congestion_control::Outside;
use lasthop_units::{Ecn, Time};

use super::application::Span;
use super::body::{Body, Spares};
use super::connection::{Connection, Waiting};
use super::exchange_flow::ExchangeFlow;
use super::offload::{Joins, Offload};
use super::process::Cost;
use super::quic_flow::QuicFlow;
use super::side::Side;
use super::tcp_flow::TcpFlow;
use super::udp_flow::{Datagram, UdpFlow};
use crate::description::TransportWord;
use crate::resolved::FlowSpec;
use crate::traffic::TrafficKind;

/// The way in which data leaves the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    /// it is handed to the interface as it comes
    Push,
    /// the interface pulls it whenever it is free: a saturated source
    Pull,
}

enum Carrier {
    Tcp(Box<TcpFlow>),
    Udp(Box<UdpFlow>),
    Quic(Box<QuicFlow>),
    Exchange(Box<ExchangeFlow>),
}

/// A flow.
pub(crate) struct Flow {
    meta: PacketMeta,
    /// the user priority of its packets with ECT(1), if it differs from the others
    l4s_tid: Option<u8>,
    /// the user priority of its data
    data_tid: u8,
    carrier: Carrier,
    asked: bool,
    /// the receive offload of its receiver's host
    offload: Option<Offload>,
}

impl FlowSpec {
    pub(crate) fn transport(&self) -> Transport {
        match (self.section.transport, &self.section.traffic) {
            (_, TrafficKind::Ping(_)) => Transport::Echo,
            (TransportWord::Tcp, _) => Transport::Tcp,
            (TransportWord::Udp, _) => Transport::Udp,
            (TransportWord::Quic, _) => Transport::Quic,
        }
    }
}

impl Flow {
    pub(crate) fn new(id: FlowId, spec: &FlowSpec, seed: u64, span: Span, asked: bool) -> Flow {
        let plain = PacketMeta::plain(id, spec.station, spec.up, 0);
        let (tuple, tid, dscp) = (spec.number, spec.user_priority(), spec.section.dscp.code_point());
        let meta = PacketMeta { tuple, tid, dscp, ..plain };
        let exchange = || ExchangeFlow::new(id, spec, seed, span, asked);
        let carrier = match (&spec.quic, spec.section.transport, spec.quic.is_none().then(exchange).flatten()) {
            (Some(quic), ..) => Carrier::Quic(Box::new(QuicFlow::new(id, spec, quic, seed, span, asked))),
            (None, _, Some(exchange)) => Carrier::Exchange(Box::new(exchange)),
            (None, TransportWord::Udp, None) => Carrier::Udp(Box::new(UdpFlow::new(id, spec, seed, span))),
            (None, _, None) => Carrier::Tcp(Box::new(TcpFlow::new(id, spec, seed, span, asked))),
        };
        let offload = spec.tcp.config.receive_offload.filter(|it| *it == ReceiveOffload::Ampdu);
        let (l4s_tid, data_tid) = (spec.l4s_priority, spec.data_priority());
        Flow { meta, l4s_tid, data_tid, carrier, asked, offload: offload.map(|_| Offload::default()) }
    }

    /// Returns whether the host joins an arriving packet with others of this instant before TCP answers.
    pub(super) fn joins(&mut self, now: Time, packet: &Packet<Body>) -> Joins {
        match (&mut self.offload, &packet.body) {
            (Some(offload), Body::Tcp(carried)) => offload.joins(now, &carried.segment, carried.connection),
            _ => Joins::Not,
        }
    }

    /// Whether its data waits in the socket until the device pulls it.
    pub(crate) fn is_asked(&self) -> bool {
        self.asked
    }

    /// See [`TcpFlow::hold`] and [`QuicFlow::hold`]. Other flows have no knobs.
    pub(crate) fn hold(&mut self, values: Outside) {
        match &mut self.carrier {
            Carrier::Tcp(tcp) => tcp.hold(values),
            Carrier::Quic(quic) => quic.hold(values),
            _ => {}
        }
    }

    pub(crate) fn is_up(&self) -> bool {
        self.meta.up
    }

    /// The user priority of its data.
    pub(crate) fn tid(&self) -> u8 {
        self.data_tid
    }

    /// Gives a packet with ECT(1) the user priority of L4S packets, and one from a socket that waits for its device the
    /// priority of the data there.
    #[inline(always)]
    pub(super) fn classify(&self, packet: &mut PacketMeta, is_pulled: bool) {
        match self.l4s_tid {
            None => {}
            Some(_) if is_pulled => packet.tid = self.data_tid,
            Some(tid) if packet.ecn == Ecn::Ect1 => packet.tid = tid,
            Some(_) => {}
        }
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

    /// The end at which the application starts.
    fn active_side(&self) -> Side {
        match &self.carrier {
            Carrier::Exchange(exchange) => exchange.active_side(),
            Carrier::Quic(quic) => quic.active_side(),
            Carrier::Tcp(_) | Carrier::Udp(_) => Side::Sender,
        }
    }

    /// The reason why one of its congestion controllers cannot continue, if any.
    pub(crate) fn controller_failure(&self) -> Option<String> {
        match &self.carrier {
            Carrier::Tcp(tcp) => tcp.controller_failure().map(str::to_string),
            Carrier::Exchange(exchange) => exchange.controller_failure().map(str::to_string),
            Carrier::Quic(quic) => quic.controller_failure(),
            Carrier::Udp(_) => None,
        }
    }

    /// The time that its packets take at hosts, if they take any.
    #[inline]
    pub(super) fn cost(&self) -> Option<Cost> {
        match &self.carrier {
            Carrier::Quic(quic) => quic.cost(),
            Carrier::Tcp(_) | Carrier::Exchange(_) | Carrier::Udp(_) => None,
        }
    }

    /// Its QUIC, of a flow that has a [cost](Self::cost).
    pub(super) fn quic(&mut self) -> &mut QuicFlow {
        match &mut self.carrier {
            Carrier::Quic(quic) => quic,
            _ => unreachable!("only QUIC takes time at hosts"),
        }
    }

    /// Whether the packet that its sender has just sent leaves together with the next.
    pub(super) fn is_within_batch(&self) -> bool {
        matches!(&self.carrier, Carrier::Quic(quic) if quic.is_within_batch())
    }

    /// Starts the flow. Returns the end that may have to send.
    pub(crate) fn start(&mut self, now: Time) -> Side {
        match &mut self.carrier {
            Carrier::Tcp(tcp) => tcp.start(now),
            Carrier::Udp(udp) => udp.start(now),
            Carrier::Quic(quic) => quic.start(now),
            Carrier::Exchange(exchange) => exchange.start(now),
        }
        self.active_side()
    }

    /// Lets the application offer its next packet. Returns the end that may have to send.
    pub(crate) fn application_offers(&mut self, now: Time) -> Side {
        match &mut self.carrier {
            Carrier::Tcp(tcp) => tcp.application_offers(now),
            Carrier::Udp(udp) => udp.application_offers(now),
            Carrier::Quic(quic) => quic.application_offers(now),
            Carrier::Exchange(exchange) => exchange.application_offers(now),
        }
        self.active_side()
    }

    /// The time of the application's next packet; returned once for each.
    pub(crate) fn application_at(&mut self) -> Option<Time> {
        match &mut self.carrier {
            Carrier::Tcp(tcp) => tcp.application_at(),
            Carrier::Udp(udp) => udp.application_at(),
            Carrier::Quic(quic) => quic.application_at(),
            Carrier::Exchange(exchange) => exchange.application_at(),
        }
    }

    /// The end that a packet has reached.
    pub(super) fn side_reached_by(&self, packet: &PacketMeta) -> Side {
        if packet.up == self.meta.up { Side::Receiver } else { Side::Sender }
    }

    /// Delivers a packet to its host. Returns the end of the flow at that host.
    #[inline]
    pub(crate) fn arrive(&mut self, now: Time, packet: &mut Packet<Body>, observer: &mut impl Observer) -> Side {
        let side = self.side_reached_by(&packet.meta);
        let Content { meta, body } = &mut **packet;
        match (&mut self.carrier, body) {
            (Carrier::Tcp(tcp), Body::Tcp(carried)) => {
                carried.segment.ecn = meta.ecn;
                tcp.arrive(now, side, &carried.segment, carried.connection, observer);
            }
            (Carrier::Exchange(exchange), Body::Tcp(carried)) => {
                carried.segment.ecn = meta.ecn;
                exchange.arrive(now, side, &carried.segment, carried.connection, observer);
            }
            (Carrier::Udp(udp), &mut Body::Udp { number, written_at, .. }) => {
                udp.arrive(now, side, &Datagram { number, written_at, bytes: meta.bytes }, observer);
            }
            (Carrier::Quic(quic), Body::Quic(carried)) => {
                quic.arrive(now, side, carried.take(meta.ecn), observer);
            }
            _ => unreachable!("a packet belongs to a flow of its transport"),
        }
        side
    }

    /// The next packet that `side` has to send now. With `held_back`, data waits to be pulled.
    #[inline(always)]
    pub(crate) fn poll(
        &mut self,
        now: Time,
        side: Side,
        held_back: bool,
        spares: &mut Spares,
        observer: &mut impl Observer,
    ) -> Option<Packet<Body>> {
        let meta = &self.meta;
        match &mut self.carrier {
            Carrier::Tcp(tcp) => {
                let connection = tcp.poll(now, side, held_back, spares.vacant(), observer)?;
                Some(spares.tcp_packet(meta, side, connection, now))
            }
            Carrier::Exchange(exchange) => {
                let connection = exchange.poll(now, side, held_back, spares.vacant(), observer)?;
                Some(spares.tcp_packet(meta, side, connection, now))
            }
            Carrier::Udp(udp) if side == Side::Receiver => Some(spares.udp_packet(meta, side, udp.poll_answer()?, now)),
            Carrier::Udp(udp) if !held_back && !udp.is_saturated() => {
                Some(spares.udp_packet(meta, side, udp.poll(now, observer)?, now))
            }
            Carrier::Udp(_) => None,
            Carrier::Quic(quic) => {
                let datagram = quic.poll(now, side, held_back, observer)?;
                Some(spares.quic_packet(meta, side, datagram, now))
            }
        }
    }

    /// Whether the receiver of a QUIC flow, which has sent a datagram of so many bytes, has no more to send.
    #[inline]
    pub(crate) fn quic_rests(&self, bytes: u32) -> bool {
        matches!(&self.carrier, Carrier::Quic(quic) if quic.receiver_rests(bytes))
    }

    /// Whether the receiver, which has sent a pure ACK, is known to have nothing more to send.
    #[inline]
    pub(crate) fn receiver_rests(&mut self, now: Time) -> bool {
        match &mut self.carrier {
            Carrier::Tcp(tcp) => tcp.receiver_rests(now),
            Carrier::Exchange(_) | Carrier::Udp(_) | Carrier::Quic(_) => false,
        }
    }

    /// The connection to which the station counts a packet in its queue: data counts, pure ACKs do not.
    #[inline(always)]
    fn counted(&mut self, packet: &PacketMeta) -> Option<&mut Connection> {
        if packet.pure_ack {
            return None;
        }
        match &mut self.carrier {
            Carrier::Tcp(tcp) => Some(tcp.connection()),
            Carrier::Exchange(exchange) => exchange.connection_of(packet.ack.connection),
            Carrier::Udp(_) | Carrier::Quic(_) => None,
        }
    }

    /// The end at the station.
    pub(super) fn station_side(&self) -> Side {
        if self.meta.up { Side::Sender } else { Side::Receiver }
    }

    /// A packet enters the queue of its station.
    pub(crate) fn enters_own_queue(&mut self, packet: &PacketMeta) {
        if let Some(connection) = self.counted(packet) {
            connection.enters_own_queue(packet.bytes);
        }
    }

    /// A packet leaves that queue; see [`Connection::leaves_own_queue`].
    pub(crate) fn leaves_own_queue(
        &mut self,
        now: Time,
        packet: &PacketMeta,
        refused: bool,
        observer: &mut impl Observer,
    ) -> bool {
        self.counted(packet).is_some_and(|connection| connection.leaves_own_queue(now, packet.bytes, refused, observer))
    }

    /// Whether [`pull`](Self::pull) always has a packet, while the flow lasts.
    pub(crate) fn is_saturated(&self) -> bool {
        matches!(&self.carrier, Carrier::Udp(udp) if udp.is_saturated())
    }

    /// The interface has room for a data packet of the sender.
    #[inline(never)]
    pub(crate) fn pull(
        &mut self,
        now: Time,
        spares: &mut Spares,
        observer: &mut impl Observer,
    ) -> Option<Packet<Body>> {
        match &mut self.carrier {
            Carrier::Udp(udp) => Some(spares.udp_packet(&self.meta, Side::Sender, udp.poll(now, observer)?, now)),
            Carrier::Quic(quic) => {
                let mut packet = spares.quic_packet(&self.meta, Side::Sender, quic.pull(now, observer)?, now);
                self.classify(&mut packet.meta, true);
                Some(packet)
            }
            Carrier::Tcp(_) | Carrier::Exchange(_) => {
                let mut packet = self.poll(now, Side::Sender, false, spares, observer)?;
                self.classify(&mut packet.meta, true);
                Some(packet)
            }
        }
    }

    /// The time at which to schedule an event for the timers of `side`, unless a scheduled one is early enough.
    #[inline(always)]
    pub(crate) fn timer_to_arm(&mut self, side: Side) -> Option<Time> {
        match &mut self.carrier {
            Carrier::Tcp(tcp) => tcp.timer_to_arm(side),
            Carrier::Exchange(exchange) => exchange.timer_to_arm(side),
            Carrier::Quic(quic) => quic.timer_to_arm(side),
            Carrier::Udp(_) => None,
        }
    }

    /// The scheduled event has come.
    pub(crate) fn timer_fires(&mut self, now: Time, side: Side, observer: &mut impl Observer) {
        match &mut self.carrier {
            Carrier::Tcp(tcp) => tcp.timer_fires(now, side, observer),
            Carrier::Exchange(exchange) => exchange.timer_fires(now, side, observer),
            Carrier::Quic(quic) => quic.timer_fires(now, side, observer),
            Carrier::Udp(_) => {}
        }
    }

    /// The step that reports why its ends wait.
    pub(crate) fn waits(&self, now: Time) -> Step {
        let waiting = match &self.carrier {
            Carrier::Tcp(tcp) => tcp.waiting(now),
            Carrier::Exchange(exchange) => exchange.waiting(now),
            Carrier::Quic(quic) => quic.waiting(),
            Carrier::Udp(_) => Waiting::IDLE,
        };
        let Waiting { hold, awaits_answer, withholds_ack } = waiting;
        Step::Waits { flow: self.meta.flow, hold, awaits_answer, withholds_ack }
    }

    pub(crate) fn check_conservation(&self) -> Result<(), String> {
        match &self.carrier {
            Carrier::Tcp(tcp) => tcp.check_conservation(),
            Carrier::Udp(udp) => udp.check_conservation(),
            Carrier::Exchange(exchange) => exchange.check_conservation(),
            Carrier::Quic(quic) => quic.check_conservation(),
        }
    }

    /// Reports the metrics of this transport or application.
    pub(crate) fn report(&self, row: &mut Row<scope::Flow>) {
        match &self.carrier {
            Carrier::Tcp(_) => {}
            Carrier::Udp(udp) => udp.report(row),
            Carrier::Exchange(exchange) => exchange.report(row),
            Carrier::Quic(quic) => quic.report(row),
        }
    }
}
