//! A-MPDUs, Acks and random addresses as sniffers without A-MPDU status write them.

use std::fs;
use std::path::PathBuf;

use lasthop_analysis::{Analysis, Request, analyze};
use lasthop_wire::capture::{Interface, LinkType, PacketOptions};
use lasthop_wire::ieee80211::{Ack, Bitmap, BlockAck, Data, FrameFlags, QosControl, SequenceControl};
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

/// A BlockAck in the form for several stations, of which one record is given.
fn block_ack_of_stations(receiver: MacAddress, start: u16, bitmap: u64) -> Vec<u8> {
    let mut frame = vec![0x94, 0, 0, 0];
    frame.extend([receiver.0, AP.0].concat());
    frame.extend([11 << 1, 0, 1, 0]);
    frame.extend((start << 4).to_le_bytes());
    frame.extend(bitmap.to_le_bytes());
    frame
}

/// Rounds of three MPDUs, of which the second is lost, with the answers that `answer` gives by round.
fn answered_by(name: &str, answer: impl Fn(u16) -> Vec<u8>) -> Analysis {
    let mut frames = Vec::new();
    for round in 0..20 {
        let start = 1000 * u64::from(round);
        for part in 0..3_u16 {
            frames.push((start + 16 * u64::from(part), header(Some(7)), data(3 * round + part)));
        }
        frames.push((start + 36 + 52 + 16, header(None), answer(round)));
    }
    capture(name, &frames)
}

#[test]
fn answers_in_the_form_for_several_stations_count_as_others() {
    let mixed = answered_by("stations.pcapng", |round| match round % 2 {
        0 => block_ack(3 * round, 0b101),
        _ => block_ack_of_stations(STATION, 3 * round, 0b101),
    });
    assert_eq!(counts(&mixed), (40, 60, 20, 1.0 / 3.0));
}

#[test]
fn attempts_before_an_answer_that_is_not_understood_do_not_count() {
    let mixed = answered_by("groups.pcapng", |round| match round % 2 {
        0 => block_ack(3 * round, 0b101),
        _ => block_ack_of_stations(MacAddress::BROADCAST, 3 * round, 0b101),
    });
    assert_eq!(counts(&mixed), (40, 60, 10, 1.0 / 3.0));
    assert!(
        mixed.notes.iter().any(|note| note.starts_with("10 BlockAcks are for several stations")),
        "{:?}",
        mixed.notes
    );
}

#[test]
fn an_ack_of_a_ps_poll_shows_no_missed_frame() {
    let mut frames = Vec::new();
    for round in 0..20 {
        let at = 1000 * round;
        // 20 bytes at 24 Mbit/s take 28 us.
        let poll = [&[0xa4, 0, 1, 0xc0][..], &AP.0, &STATION.0].concat();
        frames.push((at, header(None), poll));
        frames.push((at + 28 + 16, header(None), ack()));
        frames.push((at + 500, header(Some(7)), data(round as u16)));
        frames.push((at + 500 + 52 + 16, header(None), ack()));
    }
    let missed = capture("polls.pcapng", &frames).run["capture"]["missed"].clone();
    assert_eq!((&missed["mpdus_acknowledged"], &missed["mpdus_acknowledged_unheard"]), (&40.into(), &0.into()));
}

#[test]
fn frames_that_two_antennas_hear_count_once() {
    let mut frames = Vec::new();
    for round in 0..20 {
        let at = 1000 * round;
        for late in [0, 3] {
            frames.push((at + late, header(Some(7)), data(round as u16)));
        }
        for late in [0, 3] {
            frames.push((at + 52 + 16 + late, header(None), ack()));
        }
    }
    let analysis = capture("antennas.pcapng", &frames);
    assert_eq!(counts(&analysis), (40, 20, 20, 0.0));
    assert_eq!(analysis.run["capture"]["air"]["frames_captured_twice"], 40);
    assert_eq!(analysis.run["capture"]["missed"]["mpdus_acknowledged_unheard"], 0);
}

/// The frames of a run of datagrams: LLC, SNAP, IPv4 and UDP, from a host to another or to a group.
fn datagram_to(destination: [u8; 4], number: u8) -> Vec<u8> {
    let (source, destination) = ([10, 0, 0, 2].into(), destination.into());
    let ip = Ipv4 { protocol: protocol::UDP, source, destination, payload_length: 108, ..Ipv4::default() };
    let mut packet = vec![0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
    ip.append(&mut packet);
    packet.extend([0x13, 0x88, 0x17, 0x70, 0, 108, 0, 0]);
    packet.extend([number; 100]);
    packet
}

#[test]
fn stations_without_an_access_point_have_links_and_flows() {
    let (peer, network) = (MacAddress::local(3), MacAddress::local(77));
    let mut frames = Vec::new();
    for round in 0..20_u8 {
        let at = 1000 * u64::from(round);
        let body = datagram_to([10, 0, 0, 3], round);
        let sequence = SequenceControl::whole(round.into());
        let data =
            Data { address_1: peer, address_2: STATION, address_3: network, sequence, body: &body, ..Data::default() };
        let mut frame = Vec::new();
        data.append(&mut frame);
        frames.push((at, header(None), frame));
        // 164 bytes at 24 Mbit/s: 14 symbols after 20 us.
        frames.push((at + 76 + 16, header(None), ack()));
    }
    let run = capture("ibss.pcapng", &frames).run;
    assert_eq!((&run["flows"][0]["bytes_delivered"], &run["flows"][1]), (&2000.into(), &serde_json::Value::Null));
    assert_eq!(run["capture"]["missed"]["mpdus_acknowledged_unheard"], 0);
    let ends = |row: &serde_json::Value| (row["node"] == STATION.to_string(), row["peer"] == peer.to_string());
    let link = run["capture"]["links"].as_array().unwrap().iter().find(|row| ends(row) == (true, true)).unwrap();
    assert_eq!((&link["mpdus"], &link["mpdus_retried"]), (&20.into(), &0.into()));
}

#[test]
fn packets_to_groups_are_no_flows() {
    let mut frames = Vec::new();
    for round in 0..20_u8 {
        let body = datagram_to([224, 0, 0, 251], round);
        let (group, sequence) = (MacAddress([1, 0, 0x5e, 0, 0, 0xfb]), SequenceControl::whole(round.into()));
        let data = Data { sequence, body: &body, ..Data::from_ap(AP, group, MacAddress::local(9)) };
        let mut frame = Vec::new();
        data.append(&mut frame);
        frames.push((1000 * u64::from(round), header(None), frame));
    }
    let analysis = capture("groups-of-stations.pcapng", &frames);
    assert_eq!(analysis.run["flows"].as_array().unwrap().len(), 0);
    assert!(
        analysis.notes.iter().any(|note| note.starts_with("20 data frames are for groups")),
        "{:?}",
        analysis.notes
    );
}

#[test]
fn later_fragments_are_named() {
    let mut frames = Vec::new();
    for round in 0..20_u16 {
        let body = datagram_to([10, 0, 0, 3], round as u8);
        for (fragment, part) in [&body[..64], &body[64..]].into_iter().enumerate() {
            let flags = if fragment == 0 { FrameFlags::MORE_FRAGMENTS } else { FrameFlags::NONE };
            let head = Data::to_ap(STATION, AP, MacAddress::local(9));
            let sequence = SequenceControl { number: round, fragment: fragment as u8 };
            let data = Data { sequence, body: part, flags: head.flags.with(flags), ..head };
            let mut frame = Vec::new();
            data.append(&mut frame);
            let at = 1000 * u64::from(round) + 200 * fragment as u64;
            frames.push((at, header(None), frame));
            // 92 bytes in 10 symbols, and 100 in 9.
            frames.push((at + [56, 52][fragment] + 16, header(None), ack()));
        }
    }
    let run = capture("fragments.pcapng", &frames).run;
    assert_eq!(run["capture"]["files"][0]["left_out"], serde_json::json!({"later fragments": 20}));
    assert_eq!(run["flows"][0]["bytes_delivered"], 2000);
}

/// Segments of one direction and their acknowledgements, at the times that `time_us` gives.
fn download(name: &str, time_us: impl Fn(u64) -> u64) -> Analysis {
    let packets = (0..20_u32).map(|number| (time_us(number.into()), segment(number))).collect();
    written(name, LinkType::RAW_IP, packets)
}

#[test]
fn a_clock_that_was_set_is_told_of_and_leaves_no_gap() {
    let hour = 3_600_000_000;
    let set_back = download("set-back.pcapng", |n| 9 * hour + 1000 * n - if n > 10 { hour } else { 0 });
    let covered =
        set_back.run["capture"]["to_s"].as_f64().unwrap() - set_back.run["capture"]["from_s"].as_f64().unwrap();
    // The pause at the jump is lost.
    assert!((covered - 0.018).abs() < 1e-5, "{covered}");
    assert!(set_back.notes.iter().any(|note| note.contains("its clock was set 1 times, first by -3599.999 s")));
}

#[test]
fn a_long_pause_is_told_of() {
    let notes = download("pause.pcapng", |n| 1000 * n + if n > 10 { 100_000_000 } else { 0 }).notes;
    assert!(
        notes.iter().any(|note| note.starts_with("no packet was captured for 100.001 s after 0.010 s")),
        "{notes:?}"
    );
}

#[test]
fn packets_of_one_moment_have_no_rates() {
    let analysis = download("moment.pcapng", |_| 5);
    assert!(analysis.notes.iter().any(|note| note.starts_with("all packets have the same time")));
    assert!(analysis.run["totals"]["goodput_bps"].is_null());
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
