//! All readers, applied to arbitrary bytes. The fuzz target uses it too.

use lasthop_wire::capture::{LinkType, Packet, Reader, Record, Records};
use lasthop_wire::ieee80211::{Data, Delimiter, Frame, Mpdus, Msdus, fcs_is_good, split_fcs};
use lasthop_wire::ip::{Ip, Ipv4, Ipv6, protocol};
use lasthop_wire::{Carried, Layer, Part, carried as content, parse_avs, parse_ppi, parse_prism};
use lasthop_wire::{Error, EtherType, Ethernet, Payload, Radiotap, Tcp, Udp, parse_llc_snap};

/// Reads `bytes` with each reader. Returns the number of transport headers found with a good checksum.
pub fn as_anything(bytes: &[u8]) -> usize {
    let mut found = as_capture(bytes);
    for parse in [ethernet, radiotap, network_80211, ip] {
        match parse(bytes) {
            Ok(count) => found += count,
            Err(error) => assert!(error.offset <= bytes.len() as u64, "{error}: there are {} bytes", bytes.len()),
        }
    }
    let _ = (Frame::parse_padded(bytes), Ipv4::parse(bytes), Ipv6::parse(bytes));
    let _ = (Tcp::parse(bytes), Udp::parse(bytes), parse_llc_snap(bytes), fcs_is_good(bytes, bytes.len()));
    let _ = (parse_avs(bytes), parse_ppi(bytes), parse_prism(bytes));
    aggregates(bytes);
    within_layers(bytes);
    found
}

/// Follows tags and tunnels from each layer on.
fn within_layers(bytes: &[u8]) {
    const LAYERS: [Layer; 6] = [Layer::Ethernet, Layer::Llc, Layer::Ppp, Layer::PppoeSession, Layer::Ip, Layer::Family];
    for layer in LAYERS {
        match content(layer, Part::of(bytes, 2 * bytes.len())) {
            Ok(Carried::Packet(_, payload)) => assert!(payload.bytes.len() <= payload.length),
            Ok(Carried::LeftOut(what)) => assert!(!what.to_string().is_empty()),
            Err(error) => assert!(error.offset <= bytes.len() as u64, "{error}: there are {} bytes", bytes.len()),
        }
    }
}

/// Reads a capture with both readers, and each packet according to its link type.
fn as_capture(bytes: &[u8]) -> usize {
    let mut found = 0;
    let mut reader = Reader::new(bytes);
    for record in Records::new(bytes) {
        let again = reader.record();
        match &record {
            Ok(record) => assert_eq!(again.expect("both read it").expect("both find it"), *record),
            Err(error) => {
                assert!(error.offset <= bytes.len() as u64, "{error}: there are {} bytes", bytes.len());
                assert_eq!(again.expect_err("both refuse it").to_string(), error.to_string());
            }
        }
        match record {
            Ok(Record::Packet(packet)) => found += as_packet(&packet),
            Ok(Record::Names(names)) => assert!(names.count() <= bytes.len()),
            _ => {}
        }
    }
    assert!(matches!(reader.record(), Ok(None)));
    found
}

fn as_packet(packet: &Packet<'_>) -> usize {
    assert!(packet.bytes.len() <= packet.original_length as usize);
    let length = packet.original_length as usize;
    let (body, _) = split_fcs(packet.bytes, length);
    let read = match packet.link_type {
        LinkType::ETHERNET => ethernet(packet.bytes),
        LinkType::RADIOTAP => radiotap(packet.bytes),
        LinkType::IEEE_802_11 => network_80211(body),
        LinkType::RAW_IP => ip(packet.bytes),
        LinkType(_) => Ok(0),
    };
    read.unwrap_or_else(|error| {
        assert!(!error.to_string().contains('\n'));
        0
    })
}

fn ethernet(bytes: &[u8]) -> Result<usize, Error> {
    let (header, payload) = Ethernet::parse(bytes)?;
    let before = bytes.len() - payload.len();
    network(header.ether_type, payload).map_err(|error| error.moved_by(before as u64))
}

fn radiotap(bytes: &[u8]) -> Result<usize, Error> {
    let (header, frame) = Radiotap::parse(bytes)?;
    // A header that was read can be written, and is then read as the same.
    let mut again = Vec::new();
    header.append(&mut again);
    assert_eq!(Radiotap::parse(&again), Ok((header, &[][..])));
    network_80211(frame).map_err(|error| error.moved_by((bytes.len() - frame.len()) as u64))
}

fn network_80211(bytes: &[u8]) -> Result<usize, Error> {
    match Frame::parse(bytes)? {
        Frame::Data(data) => {
            let before = bytes.len() - data.body.len();
            carried(&data).map_err(|error| error.moved_by(before as u64))
        }
        Frame::Beacon(beacon) => {
            assert!(beacon.elements.iter().count() <= bytes.len());
            let _ = (beacon.elements.ssid(), beacon.elements.channel(), beacon.elements.rates().count());
            Ok(0)
        }
        Frame::BlockAck(block_ack) => {
            let told = (0..4096).filter(|&number| block_ack.acknowledges(number)).count();
            assert!(told <= block_ack.bitmap.frames().into());
            Ok(0)
        }
        _ => Ok(0),
    }
}

fn carried(data: &Data<'_>) -> Result<usize, Error> {
    assert_eq!(data.bssid().is_none(), data.address_4.is_some());
    aggregates(data.body);
    match parse_llc_snap(data.body)? {
        Some((ether_type, payload)) => {
            let before = data.body.len() - payload.len();
            network(ether_type, payload).map_err(|error| error.moved_by(before as u64))
        }
        None => Ok(0),
    }
}

fn aggregates(bytes: &[u8]) {
    for mpdu in Mpdus::new(bytes).filter_map(Result::ok) {
        assert_eq!(&bytes[mpdu.offset..][..mpdu.bytes.len()], mpdu.bytes);
        assert_eq!(Delimiter::parse(mpdu.delimiter.bytes()), Some(mpdu.delimiter));
    }
    let carried: usize = Msdus::new(bytes).filter_map(Result::ok).map(|msdu| 14 + msdu.bytes.len()).sum();
    assert!(carried <= bytes.len());
}

fn network(ether_type: EtherType, payload: &[u8]) -> Result<usize, Error> {
    match ether_type {
        EtherType::IPV4 | EtherType::IPV6 => ip(payload),
        _ => Ok(0),
    }
}

fn ip(bytes: &[u8]) -> Result<usize, Error> {
    let (header, payload) = Ip::parse(bytes)?;
    assert!(payload.len() <= header.payload_length());
    let addresses = header.addresses();
    let moved = |error: Error| error.moved_by((payload.as_ptr().addr() - bytes.as_ptr().addr()) as u64);
    match header.protocol() {
        protocol::TCP => {
            let segment = Tcp::parse(payload).map_err(moved)?;
            assert!(segment.payload.len() + 20 <= payload.len() && (20..=60).contains(&segment.header_length));
            let zeros = header.payload_length() - payload.len();
            let _ = Tcp::checksum_is_good(&addresses, Payload { bytes: payload, zeros });
        }
        protocol::UDP => {
            let (udp, data) = Udp::parse(payload).map_err(moved)?;
            assert!(data.len() <= udp.payload_length.into());
            let _ = Udp::checksum_is_good(&addresses, payload);
        }
        _ => return Ok(0),
    }
    Ok(1)
}
