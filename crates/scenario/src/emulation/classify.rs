//! Classification of a packet from a real network stack: its flow, its direction, and its data for lower
//! layers.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

use lasthop_capture::Site;
use lasthop_link::{AckFacts, PacketMeta};
use lasthop_observe::detail::{AccEcn, TcpHeader, TcpOptions};
use lasthop_observe::{FlowId, NodeId};
use lasthop_units::Ecn;
use lasthop_wire::ip::{Ip, protocol};
use lasthop_wire::tcp::TcpFlags;
use lasthop_wire::{Tcp, Udp};

use crate::description::Dscp;

/// A flow whose ends are real.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) flow: FlowId,
    pub(crate) station: NodeId,
    /// port of the server's end
    pub(crate) port: u16,
    /// user priority of its packets with ECT(1) or DSCP 45, if it is not by the DSCP
    pub(crate) l4s_priority: Option<u8>,
    /// whether it takes packets of its station with ports of no other flow
    pub(crate) takes_others: bool,
}

/// The reason why a packet does not enter the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stray {
    /// it is not an IPv4 packet, or its headers are cut off
    Unreadable,
    /// it is addressed to no host of the scenario
    Address,
    /// its ports belong to no flow of the scenario, and no flow of its station has an application of its
    /// own
    Ports,
}

impl fmt::Display for Stray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stray::Unreadable => "not IPv4",
            Stray::Address => "for no host of the scenario",
            Stray::Ports => "of no flow of the scenario",
        })
    }
}

/// The result of reading a packet.
pub(super) struct Classified {
    pub(super) meta: PacketMeta,
    pub(super) tcp: Option<TcpHeader>,
}

/// Ports at the station and at the server.
type Ports = (u16, u16);

/// The flows of real hosts, and the connections of each so far.
#[derive(Debug)]
pub(super) struct Classifier {
    /// by the station and the server's port
    flows: BTreeMap<(NodeId, u16), FlowId>,
    /// by station: the flow that takes packets with other ports
    others: BTreeMap<NodeId, FlowId>,
    /// by flow and ports: the connection, numbered in the order of first packets
    connections: BTreeMap<(FlowId, Ports), u32>,
    counts: BTreeMap<FlowId, u32>,
    stations: BTreeMap<Ipv4Addr, NodeId>,
    /// by station: its first flow, to which frames count that name none
    firsts: BTreeMap<NodeId, FlowId>,
    /// by station: the user priority of packets with ECT(1) or DSCP 45, if it is not by their DSCP
    l4s: BTreeMap<NodeId, u8>,
}

impl Classifier {
    pub(super) fn new(members: &[Member]) -> Classifier {
        // The first of several is taken: in reverse order it is written last.
        let others =
            members.iter().filter(|member| member.takes_others).rev().map(|member| (member.station, member.flow));
        Classifier {
            flows: members.iter().map(|member| ((member.station, member.port), member.flow)).collect(),
            others: others.collect(),
            connections: BTreeMap::new(),
            firsts: members.iter().rev().map(|member| (member.station, member.flow)).collect(),
            counts: BTreeMap::new(),
            l4s: members.iter().filter_map(|member| Some((member.station, member.l4s_priority?))).collect(),
            stations: members.iter().map(|member| (Site::address(member.station), member.station)).collect(),
        }
    }

    /// Reads `packet` as sent by a host: a station if `up`, else a server.
    pub(super) fn read(&mut self, packet: &[u8], up: bool) -> Result<Classified, Stray> {
        let (ip, payload) = Ip::parse(packet).map_err(|_| Stray::Unreadable)?;
        let (IpAddr::V4(source), IpAddr::V4(destination)) = (ip.addresses().source(), ip.addresses().destination())
        else {
            return Err(Stray::Unreadable);
        };
        let (at_station, at_server) = if up { (source, destination) } else { (destination, source) };
        let station = *self.stations.get(&at_station).ok_or(Stray::Address)?;
        if at_server != Site::SERVER {
            return Err(Stray::Address);
        }
        let is_later = ip.is_later_fragment();
        let segment = match ip.protocol() {
            protocol::TCP if !is_later => Some(Tcp::parse(payload).map_err(|_| Stray::Unreadable)?),
            _ => None,
        };
        let ports = match (&segment, ip.protocol()) {
            (Some(segment), _) => Some((segment.header.source_port, segment.header.destination_port)),
            (None, protocol::UDP) if !is_later => {
                Udp::parse(payload).ok().map(|(udp, _)| (udp.source_port, udp.destination_port))
            }
            _ => None,
        };
        let ports = ports.map(|(from, to)| if up { (from, to) } else { (to, from) });
        let flow = ports.and_then(|(_, server)| self.flows.get(&(station, server)));
        let flow = *flow.or_else(|| self.others.get(&station)).ok_or(Stray::Ports)?;
        let connection = ports.map_or(0, |ports| self.connection(flow, ports));
        let tcp = segment.map(|segment| {
            let payload = ip.payload_length().saturating_sub(segment.header_length);
            header_of(&segment.header, connection, payload as u32)
        });
        let dscp = Dscp::of_code_point(ip.dscp());
        let is_l4s = ip.ecn() == Ecn::Ect1 || dscp == Dscp::NQB;
        let of_l4s = self.l4s.get(&station).filter(|_| is_l4s);
        let meta = PacketMeta {
            tid: of_l4s.copied().unwrap_or_else(|| dscp.user_priority()),
            dscp: dscp.code_point(),
            pure_ack: tcp.is_some_and(|header| is_pure_ack(&header)),
            ack: tcp.map_or_else(AckFacts::default, |header| ack_facts(&header)),
            ecn: ip.ecn(),
            ..PacketMeta::plain(flow, station, up, packet.len() as u32)
        };
        Ok(Classified { meta, tcp })
    }

    /// The flow to which a frame of a station counts: its first, or the first of all.
    pub(super) fn flow_of_frames(&self, station: NodeId) -> FlowId {
        self.firsts.get(&station).copied().unwrap_or(FlowId(0))
    }

    fn connection(&mut self, flow: FlowId, ports: Ports) -> u32 {
        *self.connections.entry((flow, ports)).or_insert_with(|| {
            let count = self.counts.entry(flow).or_default();
            *count += 1;
            *count - 1
        })
    }
}

fn header_of(header: &Tcp<'_>, connection: u32, payload: u32) -> TcpHeader {
    let blocks = header.options.sack.as_slice();
    let mut sack = [(0, 0); 4];
    sack.iter_mut().zip(blocks).for_each(|(place, block)| *place = *block);
    TcpHeader {
        connection,
        seq: header.sequence,
        ack: header.acknowledgement,
        window: header.window,
        flags: header.flags.0,
        payload,
        options: Some(TcpOptions {
            mss: header.options.mss,
            window_scale: header.options.window_scale,
            sack_permitted: header.options.sack_permitted,
            timestamps: header.options.timestamps.map(|of| (of.value, of.echo)),
            sack,
            sack_blocks: blocks.len() as u8,
            accecn: header.options.acc_ecn.map(|of| AccEcn { ect1_first: of.ect1_first, counters: of.counters }),
        }),
    }
}

fn is_pure_ack(header: &TcpHeader) -> bool {
    let others = TcpFlags::SYN.0 | TcpFlags::FIN.0 | TcpFlags::RST.0;
    header.payload == 0 && header.flags & TcpFlags::ACK.0 != 0 && header.flags & others == 0
}

/// The data for a filter of ACKs; only the connection if the packet is not a pure ACK.
fn ack_facts(header: &TcpHeader) -> AckFacts {
    let connection = header.connection as u16;
    if !is_pure_ack(header) {
        return AckFacts { connection, ..AckFacts::default() };
    }
    let of_ecn = TcpFlags::ECE.0 | TcpFlags::CWR.0 | TcpFlags::AE.0;
    let has_sack = header.options.is_some_and(|options| options.sack_blocks > 0);
    let has_accecn = header.options.is_some_and(|options| options.accecn.is_some());
    let accecn = if has_accecn { AckFacts::ACCECN } else { 0 };
    AckFacts {
        number: header.ack,
        connection,
        // ECE is bit 6 of the flags.
        ecn_flags: ((header.flags & of_ecn) >> 6) as u8 | accecn,
        is_plain: !has_sack && header.flags & !of_ecn == TcpFlags::ACK.0,
    }
}

/// Applies to `packet` the ECN field that it has at its delivery.
pub(super) fn mark(packet: &mut [u8], ecn: Ecn) {
    if ecn == Ecn::Ce {
        lasthop_wire::ip::set_ce(packet);
    }
}

#[cfg(test)]
mod tests {
    use lasthop_wire::Payload;
    use lasthop_wire::ip::Ipv4;
    use lasthop_wire::tcp::{SackBlocks, TcpOptions as Options};

    use super::*;

    const STATION: NodeId = NodeId(2);

    fn classifier() -> Classifier {
        let member = |flow, port| Member {
            flow: FlowId(flow),
            station: STATION,
            port,
            l4s_priority: None,
            takes_others: flow > 0,
        };
        Classifier::new(&[member(0, 50_000), member(1, 50_001), member(2, 50_002)])
    }

    /// A packet between the station's port and the server's.
    fn packet(up: bool, ports: (u16, u16), tcp: Tcp<'_>, payload: usize, dscp: u8) -> Vec<u8> {
        let (station, server) = (Site::address(STATION), Site::SERVER);
        let (source, destination) = if up { (station, server) } else { (server, station) };
        let (source_port, destination_port) = if up { ports } else { (ports.1, ports.0) };
        let tcp = Tcp { source_port, destination_port, ..tcp };
        let payload_length = (tcp.header_length() + payload) as u16;
        let ip = Ipv4 { dscp, protocol: protocol::TCP, source, destination, payload_length, ..Ipv4::default() };
        let mut bytes = Vec::new();
        ip.append(&mut bytes);
        tcp.append(&ip.addresses(), Payload::zeros(payload), &mut bytes);
        bytes.resize(bytes.len() + payload, 0);
        bytes
    }

    fn ack() -> Tcp<'static> {
        Tcp { flags: TcpFlags::ACK, acknowledgement: 77, ..Tcp::default() }
    }

    #[test]
    fn a_flow_is_known_by_its_port_in_both_directions_and_connections_are_numbered() {
        let mut classifier = classifier();
        let mut read = |up, ports| {
            let Classified { meta, tcp } = classifier.read(&packet(up, ports, ack(), 0, 0), up).ok().unwrap();
            (meta.flow.0, meta.up, meta.station, tcp.unwrap().connection)
        };
        assert_eq!(read(true, (60_100, 50_000)), (0, true, STATION, 0));
        assert_eq!(read(false, (60_100, 50_000)), (0, false, STATION, 0));
        assert_eq!(read(true, (60_101, 50_000)), (0, true, STATION, 1));
        assert_eq!(read(true, (60_100, 50_002)), (2, true, STATION, 0));
        // The first of several flows with an application takes packets with other ports.
        assert_eq!(read(false, (4000, 80)), (1, false, STATION, 0));
        assert_eq!(read(true, (4000, 80)), (1, true, STATION, 0));
    }

    #[test]
    fn lower_layers_see_only_the_facts_of_a_packet() {
        let mut classifier = classifier();
        let mut meta = |tcp, payload, dscp| {
            let bytes = packet(true, (60_100, 50_000), tcp, payload, dscp);
            let meta = classifier.read(&bytes, true).ok().unwrap().meta;
            assert_eq!(meta.bytes as usize, bytes.len());
            (meta.pure_ack, meta.ack.number, meta.ack.is_plain, meta.tid)
        };
        assert_eq!(meta(ack(), 0, 0), (true, 77, true, 0));
        assert_eq!(meta(ack(), 10, 46), (false, 0, false, 6));
        let selective = Options { sack: SackBlocks::new([(1, 2)]), ..Options::default() };
        assert_eq!(meta(Tcp { options: selective, ..ack() }, 0, 0), (true, 77, false, 0));
        assert_eq!(
            meta(Tcp { flags: TcpFlags(TcpFlags::ACK.0 | TcpFlags::SYN.0), ..ack() }, 0, 0),
            (false, 0, false, 0)
        );
    }

    #[test]
    fn a_mark_is_written_into_the_packet_with_its_checksum() {
        let mut bytes = packet(false, (60_100, 50_000), ack(), 100, 46);
        bytes[1] |= 0b10;
        // The checksum of a header that was changed by hand.
        bytes[10..12].copy_from_slice(&[0, 0]);
        let sum: u32 = bytes[..20].chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1])).sum();
        let folded = !((sum & 0xffff) + (sum >> 16)) as u16;
        bytes[10..12].copy_from_slice(&folded.to_be_bytes());
        assert!(Ipv4::checksum_is_good(&bytes));
        let before = bytes.clone();
        mark(&mut bytes, Ecn::Ect0);
        assert_eq!(bytes, before);
        mark(&mut bytes, Ecn::Ce);
        assert!(Ipv4::checksum_is_good(&bytes));
        let (ip, _) = Ipv4::parse(&bytes).unwrap();
        assert_eq!((ip.ecn, ip.dscp), (Ecn::Ce, 46));
    }
}
