//! Numbers of packets, and the events at their hosts for recordings and captures. A run without either numbers none.

use lasthop_link::{Content, Packet, PacketMeta};
use lasthop_network::Context;
use lasthop_observe::Observer;
use lasthop_observe::detail::{
    AccEcn, Detail, Host, PacketFacts, Passage, QuicFacts, QuicFrame, SegmentFacts, TcpHeader, TcpOptions,
};
use lasthop_tcp::Segment;

use super::body::{Body, Carried};

/// The parts of packets that recordings and captures show.
pub(crate) trait Headed {
    /// The TCP header; none for a datagram.
    fn header(&self) -> Option<TcpHeader>;

    /// The number of a simulated datagram.
    fn datagram(&self) -> Option<u64>;

    /// The number of SACK blocks, and the newest of them.
    fn sack(&self) -> (u32, Option<(u32, u32)>);

    /// The connection of a simulated QUIC datagram, and its payload.
    fn quic(&self) -> Option<(u32, &[u8])> {
        None
    }

    /// The payload of its UDP datagram, if that is more than zeros.
    fn payload(&self) -> Option<&[u8]> {
        None
    }
}

/// By flow: the numbers of the last packets, down and up.
#[derive(Default)]
pub(crate) struct Numbers(Vec<[u32; 2]>);

impl Numbers {
    /// Numbers a packet that its host sends, and reports it.
    #[inline(always)]
    pub(crate) fn note_sent<B: Headed, E, O: Observer>(&mut self, packet: &mut Packet<B>, at: &mut Context<'_, E, O>) {
        if O::READS_DETAILS {
            packet.meta.packet = self.next(&packet.meta);
            tell(packet, true, at);
        }
    }

    fn next(&mut self, meta: &PacketMeta) -> u32 {
        let place = meta.flow.index();
        if place >= self.0.len() {
            self.0.resize(place + 1, [0; 2]);
        }
        let number = &mut self.0[place][usize::from(meta.up)];
        *number = number.wrapping_add(1);
        *number
    }
}

/// Reports a packet that has reached its host.
#[inline(always)]
pub(crate) fn note_received<B: Headed, E, O: Observer>(packet: &Packet<B>, at: &mut Context<'_, E, O>) {
    if O::READS_DETAILS {
        tell(packet, false, at);
    }
}

fn tell<B: Headed, E, O: Observer>(packet: &Packet<B>, sent: bool, at: &mut Context<'_, E, O>) {
    let Content { meta, body } = &**packet;
    if at.observer.reads_frames() {
        let facts = packet_facts(packet, sent);
        match body.payload() {
            Some(payload) => at.observer.packet(at.now, &facts, payload),
            None => at.detail(Detail::Packet(facts)),
        }
    }
    at.detail(meta.passes(if sent { Passage::Sent } else { Passage::Received }, meta.station));
    if at.observer.reads_segments()
        && let Some(header) = body.header()
    {
        at.detail(Detail::Segment(facts(meta, &header, body.sack(), sent)));
    }
    if at.observer.reads_segments()
        && let Some((connection, payload)) = body.quic()
    {
        tell_quic(meta, connection, payload, sent, at);
    }
}

/// Reports the frames of a datagram.
#[cold]
fn tell_quic<E, O: Observer>(
    meta: &PacketMeta,
    connection: u32,
    datagram: &[u8],
    sent: bool,
    at: &mut Context<'_, E, O>,
) {
    let host = if sent == meta.up { Host::Station } else { Host::Server };
    for packet in lasthop_quic::packets(datagram) {
        packet.frames(|frame| {
            at.detail(Detail::Quic(QuicFacts {
                flow: meta.flow,
                connection,
                host,
                sent,
                up: meta.up,
                packet: meta.packet,
                space: packet.space,
                number: packet.number,
                number_bytes: packet.number_bytes,
                bytes: packet.bytes,
                frame: quic_frame(&frame),
            }));
        });
    }
}

/// A frame of the stack for an observer. Streams, lengths and packets of a simulation are fewer than 2^32.
fn quic_frame(of: &lasthop_quic::Frame) -> QuicFrame {
    QuicFrame {
        kind: of.kind,
        stream: of.stream.map(|stream| stream as u32),
        offset: of.offset,
        length: of.length as u32,
        is_last: of.is_last,
        acked: of.acked.map(|(first, last)| (first as u32, last as u32)),
    }
}

fn packet_facts<B: Headed>(packet: &Packet<B>, sent: bool) -> PacketFacts {
    let PacketMeta { flow, up, packet: number, bytes, ecn, .. } = packet.meta;
    let (tcp, datagram) = (packet.body.header(), packet.body.datagram());
    PacketFacts { flow, up, packet: number, sent, bytes, ecn, tcp, datagram }
}

impl Headed for Body {
    fn header(&self) -> Option<TcpHeader> {
        match self {
            Body::Tcp(carried) => Some(header(carried)),
            Body::Udp { .. } | Body::Quic(_) => None,
        }
    }

    fn datagram(&self) -> Option<u64> {
        match self {
            Body::Tcp(_) | Body::Quic(_) => None,
            Body::Udp { number, .. } => Some(*number),
        }
    }

    fn sack(&self) -> (u32, Option<(u32, u32)>) {
        let Body::Tcp(carried) = self else { return (0, None) };
        let blocks = carried.segment.sack.as_slice();
        (blocks.len() as u32, blocks.first().map(|newest| (newest.left.0, newest.right.0)))
    }

    fn quic(&self) -> Option<(u32, &[u8])> {
        match self {
            Body::Quic(carried) => Some((carried.datagram.connection, &carried.datagram.payload[..])),
            Body::Tcp(_) | Body::Udp { .. } => None,
        }
    }

    fn payload(&self) -> Option<&[u8]> {
        match self {
            Body::Quic(carried) => Some(&carried.datagram.payload),
            Body::Tcp(_) | Body::Udp { .. } => None,
        }
    }
}

fn header(carried: &Carried) -> TcpHeader {
    let segment = &carried.segment;
    TcpHeader {
        connection: carried.connection,
        seq: segment.seq.0,
        ack: segment.ack.0,
        window: segment.window,
        flags: segment.flags.bits(),
        payload: segment.payload,
        options: (!segment.options_are_free).then(|| options(segment)),
    }
}

fn options(segment: &Segment) -> TcpOptions {
    let blocks = segment.sack.as_slice();
    let mut sack = [(0, 0); 4];
    sack.iter_mut().zip(blocks).for_each(|(place, block)| *place = (block.left.0, block.right.0));
    TcpOptions {
        mss: segment.mss,
        window_scale: segment.window_scale,
        sack_permitted: segment.sack_permitted,
        timestamps: segment.timestamps.map(|of| (of.value, of.echo)),
        sack,
        sack_blocks: blocks.len() as u8,
        accecn: segment.accecn.map(|of| AccEcn { ect1_first: of.ect1_first(), counters: of.counters() }),
    }
}

fn facts(meta: &PacketMeta, header: &TcpHeader, sack: (u32, Option<(u32, u32)>), sent: bool) -> SegmentFacts {
    let (sack_blocks, newest) = sack;
    SegmentFacts {
        flow: meta.flow,
        connection: header.connection,
        host: if sent == meta.up { Host::Station } else { Host::Server },
        sent,
        seq: header.seq,
        ack: header.ack,
        payload: header.payload,
        window: u32::from(header.window),
        flags: u32::from(header.flags),
        sack_blocks,
        sack: newest,
        packet: meta.packet,
        packet_bytes: meta.bytes,
    }
}
