//! A-MPDUs, Acks and random addresses as sniffers without A-MPDU status write them.

use std::fs;
use std::path::PathBuf;

use lasthop_analysis::{Analysis, Request, analyze};
use lasthop_wire::capture::{Interface, LinkType, PacketOptions};
use lasthop_wire::ieee80211::{Ack, Bitmap, BlockAck, Data, QosControl, SequenceControl};
use lasthop_wire::ip::{Ipv4, protocol};
use lasthop_wire::radiotap::{Channel, Flags, Mcs};
use lasthop_wire::tcp::TcpFlags;
use lasthop_wire::{MacAddress, Payload, PcapNg, Radiotap, Tcp};

const STATION: MacAddress = MacAddress::local(2);
const AP: MacAddress = MacAddress::local(1);

/// A capture of frames with their times in microseconds.
fn capture(name: &str, frames: &[(u64, Radiotap, Vec<u8>)]) -> Analysis {
    let with_header = |(at_us, radiotap, frame): &(u64, Radiotap, Vec<u8>)| {
        let mut bytes = Vec::new();
        radiotap.append(&mut bytes);
        bytes.extend_from_slice(frame);
        (*at_us, bytes)
    };
    written(name, LinkType::RADIOTAP, frames.iter().map(with_header).collect())
}

/// A capture of packets with their times in microseconds.
fn written(name: &str, link_type: LinkType, packets: Vec<(u64, Vec<u8>)>) -> Analysis {
    let mut file = PcapNg::new(Vec::new()).unwrap();
    let interface = file.interface(&Interface { link_type, ..Interface::default() }).unwrap();
    for (at_us, bytes) in packets {
        file.packet(interface, at_us * 1000, bytes.len() as u32, &bytes, &PacketOptions::default()).unwrap();
    }
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, file.finish().unwrap()).unwrap();
    analyze(&Request { files: vec![path], ..Request::default() }, &Default::default()).unwrap()
}

fn header(mcs: Option<u8>) -> Radiotap {
    Radiotap {
        flags: Some(Flags(0)),
        channel: Some(Channel { mhz: 5180, flags: Channel::OFDM | Channel::GHZ_5 }),
        mcs: mcs.map(|index| Mcs::mixed(index, 20, false)),
        rate_500kbps: if mcs.is_none() { Some(48) } else { None },
        ..Radiotap::default()
    }
}

/// A QoS data frame with this number, of 126 bytes without FCS.
fn data(number: u16) -> Vec<u8> {
    let mut frame = Vec::new();
    let head = Data::to_ap(STATION, AP, MacAddress::local(0));
    let qos = Some(QosControl::default());
    Data { sequence: SequenceControl::whole(number), qos, body: &[0; 100], ..head }.append(&mut frame);
    frame
}

fn ack() -> Vec<u8> {
    let mut frame = Vec::new();
    Ack { receiver: STATION, ..Ack::default() }.append(&mut frame);
    frame
}

fn block_ack(start: u16, bitmap: u64) -> Vec<u8> {
    let mut frame = Vec::new();
    let (receiver, transmitter, bitmap) = (STATION, AP, Bitmap::Of64(bitmap));
    BlockAck { receiver, transmitter, start, bitmap, ..BlockAck::default() }.append(&mut frame);
    frame
}

/// PPDUs of the station, MPDUs, attempts, and the share lost.
fn counts(analysis: &Analysis) -> (u64, u64, u64, f64) {
    let run = &analysis.run;
    let from_station = |row: &&serde_json::Value| row["node"] == STATION.to_string();
    let (links, tallies) = (run["links"].as_array().unwrap(), run["capture"]["links"].as_array().unwrap());
    let (link, tally) = (links.iter().find(from_station).unwrap(), tallies.iter().find(from_station).unwrap());
    let count = |value: &serde_json::Value| value.as_u64().unwrap();
    let ppdus = count(&run["capture"]["air"]["ppdus"]);
    (ppdus, count(&tally["mpdus"]), count(&link["frames_sent"]), link["mpdu_loss_fraction"].as_f64().unwrap())
}

/// A packet with a TCP segment of 100 bytes.
fn segment(number: u32) -> Vec<u8> {
    let mut packet = Vec::new();
    let (source, destination) = ([10, 1, 0, 2].into(), [10, 0, 0, 1].into());
    let ip = Ipv4 { protocol: protocol::TCP, source, destination, payload_length: 120, ..Ipv4::default() };
    ip.append(&mut packet);
    let (source_port, destination_port, sequence) = (60_100, 50_000, 1 + 100 * number);
    let segment = Tcp { source_port, destination_port, sequence, flags: TcpFlags::ACK, ..Tcp::default() };
    segment.append(&ip.addresses(), Payload::bytes(&[0; 100]), &mut packet);
    packet
}

#[test]
fn goodput_is_absent_if_one_direction_was_captured() {
    let packets: Vec<_> = (0..20).map(|number| (1000 * u64::from(number), segment(number))).collect();
    let run = written("one-way.pcapng", LinkType::RAW_IP, packets).run;
    let (flow, told) = (&run["flows"][0], &run["capture"]["flows"][0]);
    assert_eq!((&flow["direction"], &told["segments_seen"]), (&"up".into(), &20.into()));
    assert!(flow["goodput_bps"].is_null() && flow["bytes_delivered"].is_null());
    assert!(run["totals"]["goodput_up_bps"].is_null() && run["totals"]["goodput_bps"].is_null());
}

#[test]
fn mpdus_before_one_block_ack_are_one_ppdu() {
    let mut frames = Vec::new();
    for round in 0..10 {
        let start = 1000 * u64::from(round);
        // An MPDU of 130 bytes at 65 Mbit/s takes 16 us of the PPDU.
        for part in 0..3_u16 {
            frames.push((start + 16 * u64::from(part), header(Some(7)), data(3 * round + part)));
        }
        // 2 (4 + 130 + 2) + 134 bytes in 13 symbols, after 36 us; SIFS. The second MPDU of each was lost.
        frames.push((start + 36 + 52 + 16, header(None), block_ack(3 * round, 0b101)));
    }
    let analysis = capture("block-acks.pcapng", &frames);
    assert_eq!(counts(&analysis), (20, 30, 10, 1.0 / 3.0));
    assert_eq!(analysis.run["capture"]["air"]["stamps"]["mark"], "begin");
}

#[test]
fn mpdus_before_an_ack_were_sent_one_by_one() {
    let mut frames = Vec::new();
    for round in 0..10 {
        // Stamps of a coarse clock: their gaps have no meaning.
        let at = 10_000 * u64::from(round);
        frames.push((at, header(Some(7)), data(2 * round)));
        frames.push((at, header(Some(7)), data(2 * round + 1)));
        frames.push((at, header(None), ack()));
    }
    // The last of two frames was answered.
    assert_eq!(counts(&capture("acks.pcapng", &frames)), (30, 20, 20, 0.5));
}

#[test]
fn addresses_without_an_answer_are_left_out_if_there_are_many() {
    let mut frames = Vec::new();
    for number in 0..3000_u64 {
        let stranger = MacAddress::local(1000 + number as u32);
        let mut frame = Vec::new();
        Data { body: &[0; 20], ..Data::to_ap(stranger, AP, MacAddress::local(0)) }.append(&mut frame);
        frames.push((1000 * number, header(None), frame));
        frames.push((1000 * number + 500, header(Some(7)), data(number as u16)));
        frames.push((1000 * number + 600, header(None), ack()));
    }
    let analysis = capture("strangers.pcapng", &frames);
    let (run, table) = (&analysis.run, &analysis.run["capture"]);
    assert_eq!(run["nodes"].as_array().unwrap().len(), 2);
    assert_eq!((&table["addresses_left_out"], &table["addresses_left_out_seen_once"]), (&3000.into(), &3000.into()));
    assert_eq!((&table["air"]["frames"], &table["links"][0]["mpdus"]), (&9000.into(), &3000.into()));
}
