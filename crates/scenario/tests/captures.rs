//! What stands in captures: each frame parses, its checks fit, and BlockAcks tell what has arrived.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use lasthop_scenario::{Campaign, Captures, Keep, resolve};
use lasthop_wire::capture::{LinkType, PacketFlags, Record, Records};
use lasthop_wire::ieee80211::{Data, Frame, FrameFlags, Msdus, fcs_is_good};
use lasthop_wire::ip::Ip;
use lasthop_wire::radiotap::Flags;
use lasthop_wire::{EtherType, Ethernet, MacAddress, Payload, Radiotap, Tcp, Udp, parse_llc_snap};

/// Stations that lose some of what they send and hear: errors by SINR, and with 802.11n A-MPDUs in parts.
fn scenario(standard: &str, bss: &str) -> String {
    format!(
        r#"
name = "captured"
duration = "400 ms"
warmup = "0 s"
[bss]
standard = "{standard}"
{bss}
[channel]
error_model = "nist"
[channel.path_loss]
kind = "log_distance"
[[station]]
count = 3
distance = "42 m"
[wired]
rate = "1 Gbit/s"
delay = "2 ms"
[[flow]]
station = "*"
direction = "both"
[[flow]]
station = "sta1"
direction = "up"
traffic = "ping"
"#
    )
}

/// A folder with the captures of a run, gone when a test ends.
struct Written(PathBuf);

impl Written {
    /// Runs `text` under seed 1.
    fn new(name: &str, text: &str, snap: u32) -> Written {
        let directory = std::env::temp_dir().join(format!("lasthop-captures-{}-{name}", std::process::id()));
        let written = Written(directory.clone());
        let keep = Keep { captures: Some(Captures { directory, snap }), ..Keep::default() };
        let campaign = Campaign::start(resolve(text, "f.toml", &[]).unwrap(), vec![1], 1, keep);
        while !campaign.is_done() {
            std::thread::yield_now();
        }
        let outcomes = campaign.take_finished();
        assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()), "{outcomes:?}");
        written
    }

    fn file(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.join("seed-1").join(format!("{name}.pcapng"))).unwrap()
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// A frame of a file: time, what is kept of it, how long it was, flags.
struct Packet {
    time_ns: i64,
    bytes: Vec<u8>,
    original_length: usize,
    flags: PacketFlags,
}

/// The frames of a file.
fn packets(file: &[u8], expected: LinkType) -> Vec<Packet> {
    let mut link_type = None;
    let mut found = Vec::new();
    for record in Records::new(file) {
        match record.unwrap() {
            Record::Interface { interface, .. } => link_type = Some(interface.link_type),
            Record::Packet(packet) => found.push(Packet {
                time_ns: packet.time_ns.unwrap(),
                bytes: packet.bytes.to_vec(),
                original_length: packet.original_length as usize,
                flags: packet.options.flags.unwrap_or_default(),
            }),
            _ => {}
        }
    }
    assert_eq!(link_type, Some(expected));
    assert!(found.is_sorted_by_key(|packet| packet.time_ns), "frames are in the order of time");
    found
}

/// Checks an IP packet: its lengths and checksums.
fn check_ip(bytes: &[u8]) {
    let (ip, payload) = Ip::parse(bytes).unwrap();
    assert_eq!(ip.payload_length(), payload.len());
    let good = match ip.protocol() {
        6 => Some(Tcp::checksum_is_good(&ip.addresses(), Payload::bytes(payload))),
        _ => Udp::checksum_is_good(&ip.addresses(), payload),
    };
    assert_eq!(good, Some(true));
}

fn check_data(data: &Data<'_>) {
    let check = |msdu: &[u8]| {
        let (ether_type, packet) = parse_llc_snap(msdu).unwrap().unwrap();
        assert_eq!(ether_type, EtherType::IPV4);
        check_ip(packet);
    };
    if data.qos.is_some_and(|qos| qos.is_amsdu) {
        Msdus::new(data.body).for_each(|msdu| check(msdu.unwrap().bytes));
    } else {
        check(data.body);
    }
}

#[test]
fn every_frame_parses_and_its_checks_fit() {
    for (standard, bss, kinds) in [
        ("802.11g", "", 2),
        ("802.11n", "rts_threshold = \"1 kB\"", 5),
        ("802.11ax", "aggregation = { amsdu = \"4 kB\" }\nbeacons = \"100 TU\"", 5),
    ] {
        let written = Written::new(standard, &scenario(standard, bss), 0);
        let mut seen = BTreeSet::new();
        for name in ["air", "ap", "sta1"] {
            for packet in packets(&written.file(name), LinkType::RADIOTAP) {
                let (radiotap, frame) = Radiotap::parse(&packet.bytes).unwrap();
                assert_eq!(packet.bytes.len(), packet.original_length);
                let is_bad = radiotap.flags.unwrap().contains(Flags::BAD_FCS);
                assert_eq!(fcs_is_good(frame, frame.len()), Some(!is_bad));
                assert!(name == "air" || !is_bad);
                assert_eq!(packet.flags.contains(PacketFlags::CRC_ERROR), is_bad);
                match Frame::parse(&frame[..frame.len() - 4]).unwrap() {
                    Frame::Data(data) => check_data(&data),
                    Frame::Control(control) => panic!("{control:?}"),
                    _ => {}
                }
                seen.insert(frame[0]);
            }
        }
        assert!(seen.len() >= kinds, "{standard}: {seen:x?}");
        for packet in packets(&written.file("server"), LinkType::ETHERNET) {
            let (ethernet, ip) = Ethernet::parse(&packet.bytes).unwrap();
            assert_eq!(ethernet.ether_type, EtherType::IPV4);
            check_ip(ip);
        }
    }
}

#[test]
fn what_is_received_has_a_signal_and_what_is_sent_has_none() {
    let written = Written::new("signal", &scenario("802.11n", ""), 128);
    for name in ["ap", "sta2"] {
        let mut counts = [0, 0];
        for packet in packets(&written.file(name), LinkType::RADIOTAP) {
            let (radiotap, _) = Radiotap::parse(&packet.bytes).unwrap();
            let is_received = packet.flags.contains(PacketFlags::INBOUND);
            counts[usize::from(is_received)] += 1;
            assert_eq!(radiotap.signal_dbm.is_some(), is_received);
            assert!(radiotap.signal_dbm.is_none_or(|dbm| (-95..-50).contains(&dbm)), "{radiotap:?}");
        }
        assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
    }
}

/// What is known of an agreement from the air.
#[derive(Default)]
struct Agreed {
    /// MPDUs of the latest A-MPDU, and whether they were decoded in it or before
    latest: Vec<u16>,
    arrived: BTreeSet<u16>,
    /// those that their sender knows to have arrived
    acknowledged: BTreeSet<u16>,
}

#[test]
fn a_block_ack_tells_of_what_has_arrived_and_that_is_not_sent_again() {
    for standard in ["802.11n", "802.11ax"] {
        let written = Written::new(&format!("ba-{standard}"), &scenario(standard, ""), 128);
        let mut agreements: BTreeMap<(MacAddress, MacAddress, u8), Agreed> = BTreeMap::new();
        let (mut told, mut missing, mut lost, mut again) = (0, 0, 0, 0);
        let mut reference = None;
        for packet in packets(&written.file("air"), LinkType::RADIOTAP) {
            let (radiotap, frame) = Radiotap::parse(&packet.bytes).unwrap();
            let is_good = !radiotap.fcs_is_bad();
            match Frame::parse(frame).unwrap() {
                Frame::Data(data) => {
                    let key = (data.address_2, data.address_1, data.qos.unwrap().tid);
                    let of = agreements.entry(key).or_default();
                    if radiotap.ampdu.map(|ampdu| ampdu.reference) != reference {
                        of.latest.clear();
                        reference = radiotap.ampdu.map(|ampdu| ampdu.reference);
                    }
                    let number = data.sequence.number;
                    of.latest.push(number);
                    if data.flags.contains(FrameFlags::RETRY) {
                        again += 1;
                        assert!(!of.acknowledged.contains(&number), "{number} is sent again for nothing");
                    } else {
                        // Numbers come round.
                        of.arrived.remove(&number);
                        of.acknowledged.remove(&number);
                    }
                    if is_good {
                        of.arrived.insert(number);
                    }
                }
                // What comes before its start is of no interest any more.
                Frame::BlockAckReq(request) => {
                    let key = (request.transmitter, request.receiver, request.tid);
                    let ahead = |number: &u16| number.wrapping_sub(request.start.number) % 4096 < 2048;
                    agreements.get_mut(&key).unwrap().latest.retain(ahead);
                }
                Frame::BlockAck(block_ack) => {
                    let key = (block_ack.receiver, block_ack.transmitter, block_ack.tid);
                    let of = agreements.get_mut(&key).unwrap();
                    for number in &of.latest {
                        let has_arrived = of.arrived.contains(number);
                        assert_eq!(block_ack.acknowledges(*number), has_arrived, "{number} of {block_ack:?}");
                        missing += u32::from(!has_arrived);
                        if is_good && has_arrived {
                            of.acknowledged.insert(*number);
                        }
                    }
                    told += 1;
                    lost += u32::from(!is_good);
                }
                _ => {}
            }
        }
        assert!(told > 100 && missing > 10 && again > 50, "{standard}: {told} {missing} {lost} {again}");
    }
}
