//! Captures made by hand, for tests.
#![allow(dead_code, reason = "each test uses some of it")]

use std::fs;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use lasthop_analysis::{Analysis, Request, analyze};
use lasthop_wire::capture::{Interface, LinkType, Name, NamedAddress, PacketOptions};
use lasthop_wire::ieee80211::{Data, Management, QosControl, Rts, SequenceControl};
use lasthop_wire::ip::{Ipv4, protocol};
use lasthop_wire::radiotap::{AmpduStatus, Channel, Flags, Mcs};
use lasthop_wire::tcp::{TcpFlags, TcpOptions};
use lasthop_wire::{MacAddress, Payload, PcapNg, Radiotap, Tcp, Udp};

pub const AP: MacAddress = MacAddress::local(1);

/// Packets with their times in microseconds.
pub type Packets = Vec<(u64, Vec<u8>)>;

/// Writes a capture.
pub fn file(name: &str, link_type: LinkType, packets: &Packets, names: u32) -> PathBuf {
    let mut file = PcapNg::new(Vec::new()).unwrap();
    let of = |n: u32| Name { address: NamedAddress::V4(Ipv4Addr::from(n)), name: "host" };
    file.names((0..names).map(of)).unwrap();
    let interface = file.interface(&Interface { link_type, ..Interface::default() }).unwrap();
    for (at_us, bytes) in packets {
        file.packet(interface, at_us * 1000, bytes.len() as u32, bytes, &PacketOptions::default()).unwrap();
    }
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, file.finish().unwrap()).unwrap();
    path
}

/// Analyses a capture with bounds that are smaller by a factor.
pub fn analysis(name: &str, link_type: LinkType, packets: &Packets, bounds_divisor: usize) -> Analysis {
    let files = vec![file(name, link_type, packets, 0)];
    analyze(&Request { files, bounds_divisor, ..Request::default() }, &Default::default()).unwrap()
}

/// Radiotap on a channel, with an MCS or 24 Mbit/s.
pub fn radiotap(mhz: u16, mcs: Option<u8>) -> Radiotap {
    Radiotap {
        flags: Some(Flags(0)),
        channel: Some(Channel { mhz, flags: Channel::OFDM | Channel::GHZ_5 }),
        mcs: mcs.map(|index| Mcs::mixed(index, 20, false)),
        rate_500kbps: if mcs.is_none() { Some(48) } else { None },
        ..Radiotap::default()
    }
}

pub fn in_ampdu(reference: u32) -> Radiotap {
    let ampdu = Some(AmpduStatus { reference, ..AmpduStatus::default() });
    Radiotap { ampdu, ..radiotap(5180, Some(7)) }
}

pub fn framed(radiotap: &Radiotap, append: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    radiotap.append(&mut bytes);
    append(&mut bytes);
    bytes
}

/// A QoS data frame to the AP.
pub fn data(radiotap: &Radiotap, station: u32, number: u16, tid: u8, is_retry: bool) -> Vec<u8> {
    let head = Data::to_ap(MacAddress::local(station), AP, MacAddress::local(0));
    let qos = Some(QosControl { tid, ..QosControl::default() });
    let flags = if is_retry { head.flags.with(lasthop_wire::ieee80211::FrameFlags::RETRY) } else { head.flags };
    let frame = Data { sequence: SequenceControl::whole(number), qos, body: &[0; 500], flags, ..head };
    framed(radiotap, |out| frame.append(out))
}

pub fn rts(station: u32) -> Vec<u8> {
    let rts = Rts { receiver: AP, transmitter: MacAddress::local(station), duration_us: 500, ..Rts::default() };
    framed(&radiotap(5180, None), |out| rts.append(out))
}

pub fn probe(station: u32) -> Vec<u8> {
    let frame = Management { subtype: 4, transmitter: MacAddress::local(station), ..Management::default() };
    framed(&radiotap(5180, None), |out| frame.append(out))
}

fn ip(protocol: u8, up: bool, host: u32, payload_length: u16) -> Ipv4<'static> {
    let ends = [Ipv4Addr::from(0x0a00_0000 + host), Ipv4Addr::new(192, 0, 2, 80)];
    let [source, destination] = if up { ends } else { [ends[1], ends[0]] };
    Ipv4 { protocol, source, destination, payload_length, ..Ipv4::default() }
}

/// A datagram from a port of a host to a server, or back.
pub fn datagram(up: bool, host: u32, port: u16, payload: &[u8]) -> Vec<u8> {
    let length = payload.len() as u16;
    let (source_port, destination_port) = if up { (port, 443) } else { (443, port) };
    let (ip, mut out) = (ip(protocol::UDP, up, host, 8 + length), Vec::new());
    ip.append(&mut out);
    let udp = Udp { source_port, destination_port, payload_length: length };
    udp.append(&ip.addresses(), Payload::bytes(payload), &mut out);
    out
}

/// A SYN of a host, with an option of MPTCP.
pub fn syn(host: u32, mptcp: &[u8]) -> Vec<u8> {
    let options = TcpOptions { mptcp: Some(mptcp), ..TcpOptions::default() };
    let tcp = Tcp { source_port: 4000, destination_port: 443, flags: TcpFlags::SYN, options, ..Tcp::default() };
    let mut segment = Vec::new();
    tcp.append(&ip(protocol::TCP, true, host, 20).addresses(), Payload::bytes(&[]), &mut segment);
    let mut out = Vec::new();
    ip(protocol::TCP, true, host, segment.len() as u16).append(&mut out);
    out.extend(segment);
    out
}
