//! The body of packets of a scenario, and the facts that lower layers may read of it.

use lasthop_link::{AckFacts, Content, Packet, PacketMeta};
use lasthop_observe::{FlowId, NodeId};
use lasthop_quic::Datagram as QuicDatagram;
use lasthop_tcp::{Flags, Segment};
use lasthop_units::{Ecn, Time};

use super::application::UDP_HEADERS;
use super::side::Side;
use super::udp_flow::Datagram;

/// A segment in flight.
#[derive(Clone, Debug)]
pub(crate) struct Carried {
    pub(super) segment: Segment,
    /// the connection of its flow
    pub(super) connection: u32,
    sent_at: Time,
}

/// A datagram of QUIC in flight.
#[derive(Clone, Debug)]
pub(crate) struct CarriedQuic {
    pub(super) datagram: QuicDatagram,
    sent_at: Time,
}

impl CarriedQuic {
    /// Takes the datagram out, with the ECN field that has arrived.
    pub(super) fn take(&mut self, ecn: Ecn) -> QuicDatagram {
        let payload = std::mem::take(&mut self.datagram.payload);
        QuicDatagram { payload, ecn, connection: self.datagram.connection }
    }
}

/// The body of a packet, read by flows only.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Tcp(Carried),
    Quic(CarriedQuic),
    /// size is in the packet's facts
    Udp {
        number: u64,
        written_at: Time,
        sent_at: Time,
    },
}

impl Body {
    /// The time at which its host sent it.
    #[inline]
    pub(crate) fn sent_at(&self) -> Time {
        match self {
            Body::Tcp(carried) => carried.sent_at,
            Body::Quic(carried) => carried.sent_at,
            Body::Udp { sent_at, .. } => *sent_at,
        }
    }
}

/// Packets that have arrived, reused for later ones of their transport: a run in steady state allocates none.
#[derive(Default)]
pub(crate) struct Spares {
    tcp: Vec<Packet<Body>>,
    quic: Vec<Packet<Body>>,
    udp: Vec<Packet<Body>>,
}

/// Facts to be replaced.
fn no_facts() -> PacketMeta {
    PacketMeta::plain(FlowId(0), NodeId(0), true, 0)
}

/// A packet with these facts and this body, in the place of a spare one if there is one.
#[inline]
fn filled(spare: Option<Packet<Body>>, meta: PacketMeta, body: Body) -> Packet<Body> {
    match spare {
        Some(mut packet) => {
            (packet.meta, packet.body) = (meta, body);
            packet
        }
        None => Packet::new(meta, body),
    }
}

impl Spares {
    /// Takes back a packet that has arrived and been read, or that was dropped.
    #[inline]
    pub(super) fn take_back(&mut self, mut packet: Packet<Body>) {
        match &mut packet.body {
            Body::Tcp(_) => self.tcp.push(packet),
            Body::Udp { .. } => self.udp.push(packet),
            Body::Quic(carried) => {
                drop(std::mem::take(&mut carried.datagram.payload));
                self.quic.push(packet);
            }
        }
    }

    /// A segment to write to, for one that may be sent.
    #[inline]
    pub(super) fn vacant(&mut self) -> &mut Segment {
        if self.tcp.is_empty() {
            self.add();
        }
        let Some(Body::Tcp(carried)) = self.tcp.last_mut().map(|packet| &mut packet.body) else {
            unreachable!("one was added, and its body is a segment")
        };
        &mut carried.segment
    }

    #[cold]
    #[inline(never)]
    fn add(&mut self) {
        let carried = Carried { segment: Segment::default(), connection: 0, sent_at: Time::ZERO };
        self.tcp.push(Packet::new(no_facts(), Body::Tcp(carried)));
    }

    /// The packet of a datagram of QUIC sent by `side` of the flow with these facts. No layer below reads it: to them it
    /// is no ACK.
    pub(super) fn quic_packet(
        &mut self,
        flow: &PacketMeta,
        side: Side,
        datagram: QuicDatagram,
        sent_at: Time,
    ) -> Packet<Body> {
        let up = flow.up == (side == Side::Sender);
        let meta = PacketMeta { bytes: datagram.payload.len() as u32 + UDP_HEADERS, up, ecn: datagram.ecn, ..*flow };
        let body = Body::Quic(CarriedQuic { datagram, sent_at });
        filled(self.quic.pop(), meta, body)
    }

    /// The packet of the segment written into the [vacant](Self::vacant) place, sent by `side` of the flow with these
    /// facts.
    #[inline]
    pub(super) fn tcp_packet(&mut self, flow: &PacketMeta, side: Side, connection: u32, sent_at: Time) -> Packet<Body> {
        let mut packet = self.tcp.pop().expect("a segment was written into it");
        let Content { meta, body: Body::Tcp(carried) } = &mut *packet else { unreachable!("it is a segment") };
        (carried.connection, carried.sent_at) = (connection, sent_at);
        let segment = &carried.segment;
        *meta = *flow;
        (meta.bytes, meta.ecn) = (segment.ip_bytes(), segment.ecn);
        meta.up = flow.up == (side == Side::Sender);
        meta.pure_ack = segment.is_pure_ack();
        let connection_alone = AckFacts { connection: connection as u16, ..AckFacts::default() };
        meta.ack = if meta.pure_ack { ack_facts(segment, connection) } else { connection_alone };
        packet
    }

    /// The packet of a datagram sent by `side` of the flow with these facts.
    pub(super) fn udp_packet(
        &mut self,
        flow: &PacketMeta,
        side: Side,
        datagram: Datagram,
        sent_at: Time,
    ) -> Packet<Body> {
        let up = flow.up == (side == Side::Sender);
        let Datagram { number, written_at, bytes } = datagram;
        let (meta, body) = (PacketMeta { bytes, up, ..*flow }, Body::Udp { number, written_at, sent_at });
        filled(self.udp.pop(), meta, body)
    }
}

/// The data for a filter of ACKs, from a pure ACK.
fn ack_facts(segment: &Segment, connection: u32) -> AckFacts {
    let ecn_flags = Flags::ECE | Flags::CWR | Flags::AE;
    let accecn = if segment.accecn.is_some() { AckFacts::ACCECN } else { 0 };
    AckFacts {
        number: segment.ack.0,
        connection: connection as u16,
        // ECE is bit 6 of the flags.
        ecn_flags: ((segment.flags.bits() & ecn_flags.bits()) >> 6) as u8 | accecn,
        is_plain: segment.sack.is_empty() && segment.flags.bits() & !ecn_flags.bits() == Flags::ACK.bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_between_queues_is_a_pointer() {
        assert_eq!(size_of::<Option<Packet<Body>>>(), size_of::<usize>());
    }

    #[test]
    fn place_is_reused_and_holds_the_latest_body() {
        let flow = PacketMeta::plain(FlowId(0), NodeId(1), true, 0);
        let mut spares = Spares::default();
        let mut packet = |payload, sent_at| {
            *spares.vacant() = Segment { payload, flags: Flags::ACK, ..Segment::default() };
            let packet = spares.tcp_packet(&flow, Side::Sender, 3, sent_at);
            let Body::Tcp(carried) = &packet.body else { unreachable!("it is a segment") };
            let seen = (std::ptr::from_ref(carried), carried.segment.payload, packet.body.sent_at());
            assert_eq!((packet.meta.bytes, packet.meta.pure_ack), (40 + payload, payload == 0));
            spares.take_back(packet);
            seen
        };
        let (first, ..) = packet(1000, Time::ZERO);
        assert_eq!(packet(0, Time::from_nanos(5)), (first, 0, Time::from_nanos(5)));
    }
}
