//! Numbers of packets, and what recordings and captures are told of them at their hosts. A run without either numbers none.

use lasthop_link::{Packet, PacketMeta};
use lasthop_network::Context;
use lasthop_observe::Observer;
use lasthop_observe::detail::{Detail, Host, PacketFacts, Passage, SegmentFacts, TcpHeader, TcpOptions};
use lasthop_tcp::Segment;

use super::body::{Body, Carried};

/// The number that each flow's next packet has, down and up, less one.
#[derive(Default)]
pub(super) struct Numbers(Vec<[u32; 2]>);

impl Numbers {
    /// Numbers a packet that its host sends, and tells of it.
    #[inline(always)]
    pub(super) fn note_sent<E, O: Observer>(&mut self, packet: &mut Packet<Body>, at: &mut Context<'_, E, O>) {
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

/// Tells of a packet that has reached its host.
#[inline(always)]
pub(super) fn note_received<E, O: Observer>(packet: &Packet<Body>, at: &mut Context<'_, E, O>) {
    if O::READS_DETAILS {
        tell(packet, false, at);
    }
}

fn tell<E, O: Observer>(packet: &Packet<Body>, sent: bool, at: &mut Context<'_, E, O>) {
    let Packet { meta, body } = packet;
    if O::READS_FRAMES {
        at.detail(Detail::Packet(packet_facts(packet, sent)));
    }
    at.detail(meta.passes(if sent { Passage::Sent } else { Passage::Received }, meta.station));
    if let Body::Tcp(carried) = body
        && at.observer.reads_segments()
    {
        at.detail(Detail::Segment(facts(meta, carried, sent)));
    }
}

fn packet_facts(packet: &Packet<Body>, sent: bool) -> PacketFacts {
    let PacketMeta { flow, up, packet: number, bytes, ecn, .. } = packet.meta;
    let tcp = match &packet.body {
        Body::Tcp(carried) => Some(header(carried)),
        Body::Udp { .. } => None,
    };
    PacketFacts { flow, up, packet: number, sent, bytes, ecn, tcp }
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
    }
}

fn facts(meta: &PacketMeta, carried: &Carried, sent: bool) -> SegmentFacts {
    let segment = &carried.segment;
    let newest = segment.sack.as_slice().first();
    SegmentFacts {
        flow: meta.flow,
        connection: carried.connection,
        host: if sent == meta.up { Host::Station } else { Host::Server },
        sent,
        seq: segment.seq.0,
        ack: segment.ack.0,
        payload: segment.payload,
        window: u32::from(segment.window),
        flags: u32::from(segment.flags.bits()),
        sack_blocks: segment.sack.as_slice().len() as u32,
        sack: newest.map(|block| (block.left.0, block.right.0)),
        packet: meta.packet,
    }
}
