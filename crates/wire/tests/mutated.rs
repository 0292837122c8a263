//! No input makes a reader panic: frames and captures changed at random, cut off or joined, and random bytes.

use crate::any;
use crate::reading;

use any::Any;
use lasthop_wire::capture::{Interface, LinkType, Name, NamedAddress, PacketOptions, Statistics};
use lasthop_wire::ieee80211::{Msdu, append_mpdu, append_msdu};
use lasthop_wire::{
    EtherType, Ethernet, MacAddress, Payload, PcapNg, Udp, append_fcs, append_llc_snap, ieee80211::append_elements,
};

/// Number of buffers that are read, unless `PROPTEST_CASES` has another.
const BUFFERS: u64 = 100_000;

fn buffers() -> u64 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(BUFFERS)
}

/// An IP packet with TCP or UDP in it.
fn packet(any: &mut Any) -> (EtherType, Vec<u8>) {
    let (cookie, options, start) = ([7; 8], [1; 8], any.bytes(30));
    let payload = Payload { bytes: &start, zeros: any.up_to(3) * 700 };
    let tcp = any.tcp(&cookie);
    let is_tcp = any.up_to(3) > 0;
    let header = if is_tcp { tcp.header_length() } else { 8 };
    let (mut v4, mut v6) = (any.v4(&options, 0), any.v6(0));
    let length = (header + payload.length()) as u16;
    (v4.protocol, v6.protocol) = if is_tcp { (6, 6) } else { (17, 17) };
    (v4.payload_length, v6.payload_length) = (length, length);
    v4.fragment.offset = 0;
    let mut bytes = Vec::new();
    let (ether_type, addresses) = if any.coin() {
        v4.append(&mut bytes);
        (EtherType::IPV4, v4.addresses())
    } else {
        v6.append(&mut bytes);
        (EtherType::IPV6, v6.addresses())
    };
    if is_tcp {
        tcp.append(&addresses, payload, &mut bytes);
    } else {
        let payload_length = payload.length() as u16;
        Udp { source_port: 1, destination_port: 2, payload_length }.append(&addresses, payload, &mut bytes);
    }
    (ether_type, bytes)
}

/// A frame of 802.11 with its FCS.
fn frame(any: &mut Any) -> Vec<u8> {
    let mut bytes = Vec::new();
    match any.up_to(9) {
        0 => any.rts().append(&mut bytes),
        1 => any.cts().append(&mut bytes),
        2 => any.block_ack().append(&mut bytes),
        3 => any.block_ack_req().append(&mut bytes),
        4 => {
            let mut elements = Vec::new();
            append_elements(b"home", &[2, 4, 11, 22, 12, 18, 24, 36, 48, 72], 6, &mut elements);
            any.beacon(&elements).append(&mut bytes);
        }
        5 => {
            let mut body = Vec::new();
            for _ in 0..2 {
                let (ether_type, packet) = packet(any);
                let mut msdu = Vec::new();
                append_llc_snap(ether_type, &mut msdu);
                msdu.extend(packet);
                let length = msdu.len() as u16;
                let (destination, source) = (any.mac(), any.mac());
                append_msdu(&Msdu { destination, source, length, bytes: &msdu }, 0, &mut body);
            }
            any.data(&body).append(&mut bytes);
        }
        _ => {
            let (ether_type, packet) = packet(any);
            any.data(&[]).append(&mut bytes);
            append_llc_snap(ether_type, &mut bytes);
            bytes.extend(packet);
        }
    }
    append_fcs(&mut bytes, 0);
    bytes
}

/// A packet as an interface of this link type captures it.
fn captured(link_type: LinkType, any: &mut Any) -> Vec<u8> {
    let mut bytes = Vec::new();
    match link_type {
        LinkType::ETHERNET => {
            let (ether_type, packet) = packet(any);
            let vlan = any.maybe(|any| any.u16(12));
            Ethernet { destination: any.mac(), source: any.mac(), vlan, ether_type }.append(&mut bytes);
            bytes.extend(packet);
        }
        LinkType::RAW_IP => bytes = packet(any).1,
        LinkType::RADIOTAP => {
            any.radiotap().append(&mut bytes);
            bytes.extend(frame(any));
        }
        _ => bytes = frame(any),
    }
    bytes
}

/// A capture with an interface of each kind and some packets of each.
fn capture(any: &mut Any) -> Vec<u8> {
    let mut file = PcapNg::new(Vec::new()).unwrap();
    let address = NamedAddress::Mac(MacAddress::local(1));
    file.names([Name { address, name: "ap" }]).unwrap();
    for link_type in [LinkType::ETHERNET, LinkType::RADIOTAP, LinkType::IEEE_802_11, LinkType::RAW_IP] {
        let snap_length = 96 * any.up_to(1) as u32;
        let interface =
            file.interface(&Interface { link_type, snap_length, name: Some("if"), ..Interface::default() }).unwrap();
        for _ in 0..any.up_to(2) {
            let bytes = captured(link_type, any);
            let options = PacketOptions { comment: Some("note"), packet_id: Some(7), ..PacketOptions::default() };
            file.packet(interface, any.number(62), bytes.len() as u32, &bytes, &options).unwrap();
        }
        file.statistics(interface, 9, &Statistics { received: Some(3), ..Statistics::default() }).unwrap();
    }
    file.finish().unwrap()
}

/// Changes bytes: some bits, some bytes to their extremes, a cut, a piece moved elsewhere.
fn mutate(bytes: &mut Vec<u8>, any: &mut Any) {
    for _ in 0..=any.up_to(4) {
        if bytes.is_empty() {
            return;
        }
        let place = any.up_to(bytes.len() - 1);
        match any.up_to(5) {
            0 | 1 => bytes[place] ^= 1 << any.up_to(7),
            2 => bytes[place] = [0, 1, 0x7f, 0x80, 0xff][any.up_to(4)],
            3 => bytes[place] = any.u8(8),
            4 => bytes.truncate(place),
            _ => {
                let piece = bytes[place..].to_vec();
                let to = any.up_to(bytes.len() - 1);
                bytes.splice(to..to, piece.into_iter().take(40));
            }
        }
    }
}

/// Bytes to read, mostly valid.
fn buffer(any: &mut Any) -> Vec<u8> {
    match any.up_to(9) {
        0 => any.bytes(200),
        1..=3 => capture(any),
        4 => captured(LinkType::ETHERNET, any),
        5 => packet(any).1,
        6 => {
            let mut bytes = Vec::new();
            (0..any.up_to(4)).for_each(|_| append_mpdu(&frame(any), false, 0, &mut bytes));
            bytes
        }
        7 => frame(any),
        _ => captured(LinkType::RADIOTAP, any),
    }
}

#[test]
fn randomly_changed_bytes_are_read_or_refused() {
    let mut found = 0;
    for seed in 0..buffers() {
        let mut any = Any::new(seed);
        let mut bytes = buffer(&mut any);
        mutate(&mut bytes, &mut any);
        let read = std::panic::catch_unwind(|| reading::as_anything(&bytes));
        found += read.unwrap_or_else(|_| panic!("seed {seed} panics"));
    }
    // Changes that all fail at the first check would test nothing behind it.
    assert!(found as u64 > buffers() / 4, "{found} transports were found");
}

#[test]
fn every_prefix_of_valid_bytes_is_read_or_refused() {
    for seed in 0..200 {
        let bytes = buffer(&mut Any::new(seed));
        for end in 0..=bytes.len() {
            reading::as_anything(&bytes[..end]);
        }
    }
}
