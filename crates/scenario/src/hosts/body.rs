//! The body of packets of a scenario, and the facts that lower layers may read of it.

use lasthop_link::{AckFacts, Packet, PacketMeta};
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

/// The body of a packet, read by flows only. A packet moves from queue to queue many times; its segment is boxed to
/// keep the moved part small.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Tcp(Box<Carried>),
    Quic(Box<CarriedQuic>),
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

/// Boxes of arrived segments, reused for later ones: a run in steady state allocates none.
#[derive(Default)]
#[expect(clippy::vec_box, reason = "packets take the boxes along")]
pub(crate) struct Boxes(Vec<Box<Carried>>, Vec<Box<CarriedQuic>>);

impl Boxes {
    /// Takes back the box of a packet that has arrived and been read, or that was dropped.
    #[inline]
    pub(super) fn take_back(&mut self, body: Body) {
        match body {
            Body::Tcp(place) => self.0.push(place),
            Body::Quic(mut place) => {
                drop(std::mem::take(&mut place.datagram.payload));
                self.1.push(place);
            }
            Body::Udp { .. } => {}
        }
    }

    /// A segment to write to, for one that may be sent.
    #[inline]
    pub(super) fn vacant(&mut self) -> &mut Segment {
        if self.0.is_empty() {
            self.add();
        }
        let place = self.0.last_mut().expect("one was added");
        &mut place.segment
    }

    #[cold]
    #[inline(never)]
    fn add(&mut self) {
        self.0.push(Box::new(Carried { segment: Segment::default(), connection: 0, sent_at: Time::ZERO }));
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
        let carried = CarriedQuic { datagram, sent_at };
        let place = match self.1.pop() {
            Some(mut place) => {
                *place = carried;
                place
            }
            None => Box::new(carried),
        };
        Packet { meta, body: Body::Quic(place) }
    }

    /// The packet of the segment written into the [vacant](Self::vacant) place, sent by `side` of the flow with these
    /// facts.
    #[inline]
    pub(super) fn tcp_packet(&mut self, flow: &PacketMeta, side: Side, connection: u32, sent_at: Time) -> Packet<Body> {
        let mut carried = self.0.pop().expect("a segment was written into it");
        (carried.connection, carried.sent_at) = (connection, sent_at);
        let segment = &carried.segment;
        let up = flow.up == (side == Side::Sender);
        let pure_ack = segment.is_pure_ack();
        let connection_alone = AckFacts { connection: connection as u16, ..AckFacts::default() };
        let ack = if pure_ack { ack_facts(segment, connection) } else { connection_alone };
        let meta = PacketMeta { bytes: segment.ip_bytes(), up, pure_ack, ack, ecn: segment.ecn, ..*flow };
        Packet { meta, body: Body::Tcp(carried) }
    }
}

/// The packet of a datagram sent by `side` of the flow with these facts.
pub(super) fn udp_packet(flow: &PacketMeta, side: Side, datagram: Datagram, sent_at: Time) -> Packet<Body> {
    let up = flow.up == (side == Side::Sender);
    let Datagram { number, written_at, bytes } = datagram;
    Packet { meta: PacketMeta { bytes, up, ..*flow }, body: Body::Udp { number, written_at, sent_at } }
}

/// The data for a filter of ACKs, from a pure ACK.
fn ack_facts(segment: &Segment, connection: u32) -> AckFacts {
    let ecn_flags = Flags::ECE | Flags::CWR | Flags::AE;
    AckFacts {
        number: segment.ack.0,
        connection: connection as u16,
        // ECE is bit 6 of the flags.
        ecn_flags: ((segment.flags.bits() & ecn_flags.bits()) >> 6) as u8,
        is_plain: segment.sack.is_empty() && segment.flags.bits() & !ecn_flags.bits() == Flags::ACK.bits(),
    }
}

#[cfg(test)]
mod tests {
    use lasthop_observe::{FlowId, NodeId};

    use super::*;

    #[test]
    fn body_that_moves_between_queues_is_small() {
        // 40 bytes of facts.
        assert!(size_of::<Packet<Body>>() <= 72, "{}", size_of::<Packet<Body>>());
    }

    #[test]
    fn slot_is_reused_and_holds_the_latest_body() {
        let flow = PacketMeta::plain(FlowId(0), NodeId(1), true, 0);
        let mut boxes = Boxes::default();
        let mut packet = |payload, sent_at| {
            *boxes.vacant() = Segment { payload, flags: Flags::ACK, ..Segment::default() };
            let packet = boxes.tcp_packet(&flow, Side::Sender, 3, sent_at);
            let Body::Tcp(carried) = &packet.body else { unreachable!("it is a segment") };
            let seen = (std::ptr::from_ref(&**carried), carried.segment.payload, packet.body.sent_at());
            assert_eq!((packet.meta.bytes, packet.meta.pure_ack), (40 + payload, payload == 0));
            boxes.take_back(packet.body);
            seen
        };
        let (first, ..) = packet(1000, Time::ZERO);
        assert_eq!(packet(0, Time::from_nanos(5)), (first, 0, Time::from_nanos(5)));
    }
}
