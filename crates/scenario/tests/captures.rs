//! The content of captures: each frame parses, its checksums fit, and BlockAcks match the MPDUs that
//! arrived.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use lasthop_scenario::{Campaign, Captures, Keep, resolve};
use lasthop_wire::capture::{LinkType, PacketFlags, Record, Records};
use lasthop_wire::ieee80211::{BlockAck, BlockAckReq, Data, Frame, FrameFlags, Msdus, fcs_is_good};
use lasthop_wire::ip::Ip;
use lasthop_wire::radiotap::Flags;
use lasthop_wire::{EtherType, Ethernet, MacAddress, Payload, Radiotap, Tcp, Udp, parse_llc_snap};

/// Stations that lose some frames in both directions: errors by SINR, and with 802.11n partly lost
/// A-MPDUs.
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

/// A frame of a file: time, captured bytes, original length, flags.
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
fn received_frames_have_a_signal_and_sent_frames_none() {
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

/// The number of frames of each sender in a file, for frames that name the sender.
fn senders(file: &[u8]) -> BTreeMap<MacAddress, usize> {
    let mut counts = BTreeMap::new();
    for packet in packets(file, LinkType::RADIOTAP) {
        let (_, frame) = Radiotap::parse(&packet.bytes).unwrap();
        let sender = match Frame::parse(frame).unwrap() {
            Frame::Data(data) => data.address_2,
            Frame::Rts(rts) => rts.transmitter,
            Frame::BlockAck(block_ack) => block_ack.transmitter,
            _ => continue,
        };
        *counts.entry(sender).or_default() += 1;
    }
    counts
}

#[test]
fn a_node_overhears_whom_it_can_hear() {
    let text = scenario("802.11n", "").replace("[channel]", "[channel]\nhidden = [[\"sta1\", \"sta2\"]]");
    let written = Written::new("hidden", &text.replace("42 m", "12 m"), 128);
    let [ap, sta1, sta2, sta3] = [1, 2, 3, 4].map(MacAddress::local);
    let air = senders(&written.file("air"));
    for (name, own, hidden, heard) in [("sta1", sta1, sta2, sta3), ("sta2", sta2, sta1, sta3)] {
        let counts = senders(&written.file(name));
        assert_eq!((counts.get(&own), counts.get(&hidden)), (air.get(&own), None));
        assert!(counts[&heard] > air[&heard] / 4 && counts[&ap] > air[&ap] / 2, "{counts:?} of {air:?}");
    }
    assert_eq!(senders(&written.file("sta3")).len(), 4);
}

/// The state of an agreement as seen from the air.
#[derive(Default)]
struct Agreed {
    /// the PPDU of the latest A-MPDU, and its MPDUs
    reference: Option<u32>,
    latest: Vec<u16>,
    arrived: BTreeSet<u16>,
    /// those that their sender knows to have arrived
    acknowledged: BTreeSet<u16>,
}

/// Counts of events.
#[derive(Debug, Default)]
struct Seen {
    again: u32,
    told: u32,
    missing: u32,
}

impl Agreed {
    fn sends(&mut self, data: &Data<'_>, reference: u32, is_good: bool, seen: &mut Seen) {
        if self.reference.replace(reference) != Some(reference) {
            self.latest.clear();
        }
        let number = data.sequence.number;
        self.latest.push(number);
        if data.flags.contains(FrameFlags::RETRY) {
            seen.again += 1;
            assert!(!self.acknowledged.contains(&number), "{number} is sent again for nothing");
        } else {
            // Numbers wrap around.
            self.arrived.remove(&number);
            self.acknowledged.remove(&number);
        }
        if is_good {
            self.arrived.insert(number);
        }
    }

    /// MPDUs before the start of a request no longer matter.
    fn asks(&mut self, request: &BlockAckReq) {
        self.latest.retain(|number| number.wrapping_sub(request.start.number) % 4096 < 2048);
    }

    fn answers(&mut self, block_ack: &BlockAck, is_good: bool, seen: &mut Seen) {
        seen.told += 1;
        for number in &self.latest {
            let has_arrived = self.arrived.contains(number);
            assert_eq!(block_ack.acknowledges(*number), has_arrived, "{number} of {block_ack:?}");
            seen.missing += u32::from(!has_arrived);
            if is_good && has_arrived {
                self.acknowledged.insert(*number);
            }
        }
    }
}

#[test]
fn block_ack_lists_arrivals_which_are_not_resent() {
    for standard in ["802.11n", "802.11ax"] {
        let written = Written::new(&format!("ba-{standard}"), &scenario(standard, ""), 128);
        let mut agreements: BTreeMap<(MacAddress, MacAddress, u8), Agreed> = BTreeMap::new();
        let mut seen = Seen::default();
        for packet in packets(&written.file("air"), LinkType::RADIOTAP) {
            let (radiotap, frame) = Radiotap::parse(&packet.bytes).unwrap();
            let is_good = !radiotap.fcs_is_bad();
            match Frame::parse(frame).unwrap() {
                Frame::Data(data) => {
                    let of = agreements.entry((data.address_2, data.address_1, data.qos.unwrap().tid)).or_default();
                    of.sends(&data, radiotap.ampdu.unwrap().reference, is_good, &mut seen);
                }
                Frame::BlockAckReq(request) => {
                    let key = (request.transmitter, request.receiver, request.tid);
                    agreements.get_mut(&key).unwrap().asks(&request);
                }
                Frame::BlockAck(block_ack) => {
                    let key = (block_ack.receiver, block_ack.transmitter, block_ack.tid);
                    agreements.get_mut(&key).unwrap().answers(&block_ack, is_good, &mut seen);
                }
                _ => {}
            }
        }
        assert!(seen.told > 100 && seen.missing > 10 && seen.again > 50, "{standard}: {seen:?}");
    }
}
