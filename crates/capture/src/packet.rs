//! IP packets with their transport headers, built from the known facts of a packet.

use lasthop_observe::detail::{TcpHeader, TcpOptions};
use lasthop_units::Ecn;
use lasthop_wire::ip::{Ipv4, protocol};
use lasthop_wire::{Payload, Tcp, Udp, tcp};

use crate::packets::Held;
use crate::site::Site;

/// Bytes of an IPv4 header, and of a UDP header.
const IP: u32 = 20;
const UDP: u32 = 8;

/// Appends the packet without the zeros that fill the rest of its length. An echo request and its answer have a payload: the
/// number by which they belong together. A datagram of QUIC has its own.
pub(crate) fn append_packet(site: &Site, held: &Held, ecn: Ecn, out: &mut Vec<u8>) {
    let facts = &held.facts;
    let payload_length = (facts.bytes - IP) as u16;
    // The packet's number identifies it in every file.
    let ip = Ipv4 { ecn, identification: facts.packet as u16, payload_length, ..site.ip(facts.flow, facts.up) };
    match &facts.tcp {
        Some(header) => {
            Ipv4 { protocol: protocol::TCP, ..ip }.append(out);
            let ports = Site::ports(facts.flow, header.connection, facts.up);
            segment(header, ports).append(&ip.addresses(), Payload::zeros(header.payload as usize), out);
        }
        None => {
            Ipv4 { protocol: protocol::UDP, ..ip }.append(out);
            let (source_port, destination_port) = Site::ports(facts.flow, 0, facts.up);
            let payload_length = (facts.bytes - IP - UDP) as u16;
            let udp = Udp { source_port, destination_port, payload_length };
            let length = usize::from(payload_length);
            let number = facts.datagram.filter(|_| site.flows[facts.flow.index()].echoes).map(sequence_number);
            let echo = number.as_ref().map_or(&[][..], |number| &number[..length.min(number.len())]);
            let bytes = held.payload.as_deref().unwrap_or(echo);
            udp.append(&ip.addresses(), Payload { bytes, zeros: length - bytes.len() }, out);
        }
    }
}

/// From 1 on, as `ping` counts.
fn sequence_number(datagram: u64) -> [u8; 8] {
    (datagram + 1).to_be_bytes()
}

fn segment(header: &TcpHeader, (source_port, destination_port): (u16, u16)) -> Tcp<'static> {
    Tcp {
        source_port,
        destination_port,
        sequence: header.seq,
        acknowledgement: header.ack,
        flags: tcp::TcpFlags(header.flags),
        window: header.window,
        urgent: 0,
        options: header.options.as_ref().map(options).unwrap_or_default(),
    }
}

fn options(options: &TcpOptions) -> tcp::TcpOptions<'static> {
    tcp::TcpOptions {
        mss: options.mss,
        window_scale: options.window_scale,
        sack_permitted: options.sack_permitted,
        timestamps: options.timestamps.map(|(value, echo)| tcp::Timestamps { value, echo }),
        sack: tcp::SackBlocks::new(options.sack[..usize::from(options.sack_blocks)].iter().copied()),
        acc_ecn: options.accecn.map(|of| tcp::AccEcn { ect1_first: of.ect1_first, counters: of.counters }),
        ..tcp::TcpOptions::default()
    }
}
