//! Captures of scripted records, read back.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lasthop_capture::{BssSite, Capture, FlowSite, Format, NodeSite, Site};
use lasthop_observe::detail::{
    Detail, FrameFacts, Mpdu, PacketFacts, Passage, PpduKind, PpduStart, TcpHeader, TcpOptions,
};
use lasthop_observe::{End, FlowId, NodeId, Observer, Outcome};
use lasthop_units::{DataRate, Dbm, Duration, Ecn, Time};
use lasthop_wire::Radiotap;
use lasthop_wire::capture::{Packet, Record, Records};
use lasthop_wire::ieee80211::{Frame, fcs_is_good};
use lasthop_wire::ip::Ipv4;
use lasthop_wire::radiotap::{Channel, Flags};
use lasthop_wire::tcp::SackBlocks;
use lasthop_wire::{Tcp, Udp, parse_llc_snap};

const AP: NodeId = NodeId(0);
const STATION: NodeId = NodeId(1);

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_micros(us)
}

fn site(format: Option<Format>, mhz: u16) -> Site {
    let node = |name: &str| NodeSite { name: name.into(), bss: 0, legacy: false };
    let bss = BssSite {
        ssid: "home".into(),
        channel: 6,
        mhz,
        format,
        short_preamble: true,
        rates: (2..14).map(|rate| (rate, rate < 4)).collect(),
        beacons: Some(Duration::from_micros(102_400)),
        qos: format.is_some(),
        block_ack_window: 64,
        width_mhz: 20,
        several_users: false,
        long_guard_interval: false,
        medium: 0,
        protected: false,
    };
    Site {
        scenario: "scripted".into(),
        seed: 7,
        measured: (us(0), us(1_000_000)),
        nodes: vec![node("ap"), node("sta"), node("other")],
        bss: vec![bss],
        flows: vec![FlowSite { station: STATION, dscp: 46, echoes: false }],
        tuned: BTreeMap::new(),
    }
}

/// A capture in a folder that is deleted when a test ends.
struct Script(PathBuf, Option<Capture>);

impl Script {
    fn new(name: &str, site: Site) -> Script {
        let folder = std::env::temp_dir().join(format!("lasthop-scripted-{}-{name}", std::process::id()));
        let capture = Capture::new(site, &folder, 128).unwrap();
        Script(folder, Some(capture))
    }

    fn tell(&mut self, at: Time, detail: Detail) {
        self.1.as_mut().unwrap().detail(at, detail);
    }

    /// Ends a PPDU whose report is complete.
    fn end(&mut self, at: Time, node: NodeId, decoded: u32) {
        let lost_to = (decoded == 0).then_some(Outcome::Noise);
        self.tell(at, Detail::PpduEnds(End { node, initiator: node, mpdus: 1, decoded, lost_to, goes_on: false }));
        self.tell(at, Detail::Told { node, by_all: false });
    }

    /// The final content of a file.
    fn read(&mut self, name: &str) -> Vec<u8> {
        if let Some(capture) = self.1.take() {
            capture.close().unwrap();
        }
        std::fs::read(self.0.join(format!("{name}.pcapng"))).unwrap()
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn packets(file: &[u8]) -> Vec<Packet<'_>> {
    Records::new(file)
        .filter_map(|record| match record.unwrap() {
            Record::Packet(packet) => Some(packet),
            _ => None,
        })
        .collect()
}

/// An Ack of the station to the AP.
fn ack() -> PpduStart {
    PpduStart {
        node: STATION,
        to: Some(AP),
        initiator: AP,
        link: None,
        channel: 0,
        kind: PpduKind::Ack,
        unit: None,
        airtime: Duration::from_micros(28),
        reserves_until: us(0),
        rate: DataRate::from_bps(24_000_000),
        mcs: None,
        streams: 1,
        guard_interval: Duration::from_nanos(800),
        width_mhz: 20,
        bytes: 14,
        mpdus: 1,
        retried: 0,
    }
}

#[test]
fn files_are_in_the_order_in_which_ppdus_began_and_hold_those_that_have_ended() {
    let mut script = Script::new("order", site(None, 5180));
    let other = PpduStart { node: NodeId(2), ..ack() };
    script.tell(us(10), Detail::PpduStarts(other));
    // It is reported a SIFS ahead.
    script.tell(us(46), Detail::PpduStarts(ack()));
    script.tell(us(40), Detail::PpduStarts(PpduStart { node: AP, to: Some(STATION), ..ack() }));
    script.end(us(60), AP, 1);
    script.end(us(74), STATION, 0);
    // The first PPDU is still on the air when the run ends.
    let file = script.read("air");
    let times: Vec<_> = packets(&file).iter().map(|packet| packet.time_ns.unwrap()).collect();
    assert_eq!(times, [40_000, 46_000]);
    assert_eq!(packets(&file)[1].options.comment, Some("lost to noise"));
}

#[test]
fn radiotap_has_the_tx_parameters_of_a_ppdu() {
    let with_mcs = PpduStart { mcs: Some(7), streams: 2, width_mhz: 80, ..ack() };
    let (short, long) = (Duration::from_nanos(400), Duration::from_nanos(1600));
    let dsss = PpduStart { guard_interval: Duration::ZERO, rate: DataRate::from_bps(11_000_000), ..ack() };
    let slow = PpduStart { rate: DataRate::from_bps(1_000_000), ..dsss };
    for (name, format, mhz, start) in [
        ("dsss", None, 2437, dsss),
        ("slow", None, 2437, slow),
        ("ofdm", None, 5180, ack()),
        ("ht", Some(Format::Ht), 2437, PpduStart { guard_interval: short, width_mhz: 40, ..with_mcs }),
        ("vht", Some(Format::Vht), 5180, PpduStart { guard_interval: short, ..with_mcs }),
        ("he", Some(Format::He), 5180, PpduStart { guard_interval: long, ..with_mcs }),
    ] {
        let mut script = Script::new(name, site(format, mhz));
        script.tell(us(5), Detail::PpduStarts(start));
        let heard = Detail::Heard { node: STATION, part: 0, by: AP, power: Dbm(-61.4), decoded: true };
        script.tell(us(33), heard);
        script.end(us(33), STATION, 1);
        let file = script.read("air");
        let (radiotap, _) = Radiotap::parse(packets(&file)[0].bytes).unwrap();
        let Channel { mhz: found, flags } = radiotap.channel.unwrap();
        let band = if mhz < 3000 { Channel::GHZ_2 } else { Channel::GHZ_5 };
        let modulation = if start.guard_interval == Duration::ZERO { Channel::CCK } else { Channel::OFDM };
        assert_eq!((found, flags, radiotap.signal_dbm), (mhz, band | modulation, Some(-61)));
        assert_eq!(radiotap.timestamp.map(|stamp| stamp.time), Some(5000));
        assert_eq!(radiotap.flags.unwrap().contains(Flags::SHORT_PREAMBLE), name == "dsss");
        let rate = [("dsss", 22), ("slow", 2), ("ofdm", 48)].iter().find(|(of, _)| *of == name).map(|(_, rate)| *rate);
        assert_eq!(radiotap.rate_500kbps, rate);
        assert_eq!(radiotap.mcs.map(|ht| (ht.index, ht.bandwidth)), (name == "ht").then_some((Some(7), Some(1))));
        assert_eq!(radiotap.vht.and_then(|vht| vht.bandwidth_mhz()), (name == "vht").then_some(80));
        assert_eq!(radiotap.he.and_then(|he| he.guard_interval_ns()), (name == "he").then_some(1600));
    }
}

fn segment(options: Option<TcpOptions>, bytes: u32) -> PacketFacts {
    let tcp = TcpHeader { connection: 1, seq: u32::MAX, ack: 9, window: 500, flags: 0x10, payload: 1000, options };
    PacketFacts {
        flow: FlowId(0),
        up: true,
        packet: 3,
        sent: true,
        bytes,
        ecn: Ecn::Ect0,
        tcp: Some(tcp),
        datagram: None,
    }
}

/// Sends a data frame of the station with `facts`, and its ECN field on the air.
fn sends(script: &mut Script, facts: PacketFacts, ecn: Ecn) {
    let PacketFacts { flow, up, packet, bytes, .. } = facts;
    script.tell(us(0), Detail::Packet(facts));
    let mpdu = bytes + 36;
    script.tell(us(0), Detail::PpduStarts(PpduStart { kind: PpduKind::Data, bytes: mpdu, ..ack() }));
    let (node, sequence, packets, decoded) = (STATION, None, 1, true);
    let told = Mpdu { node, part: 0, sequence, tid: 6, again: true, bytes: mpdu, packets, decoded };
    script.tell(us(50), Detail::Mpdu(told));
    script.tell(us(50), Detail::Holds { node: STATION, part: 0, flow, up, packet, ecn });
    script.end(us(50), STATION, 1);
}

#[test]
fn options_that_take_no_bytes_are_not_there_and_the_others_are() {
    let sack = [(50, 60), (70, 80), (90, 99), (0, 0)];
    let timestamps = Some((4, 5));
    let options = TcpOptions { timestamps, sack, sack_blocks: 3, ..TcpOptions::default() };
    for (name, options, header) in [("free", None, 20), ("real", Some(options), 60)] {
        let mut script = Script::new(name, site(None, 5180));
        sends(&mut script, segment(options, 20 + header + 1000), Ecn::Ce);
        let file = script.read("air");
        let packet = &packets(&file)[0];
        let (radiotap, frame) = Radiotap::parse(packet.bytes).unwrap();
        assert_eq!(packet.original_length as usize - radiotap.length(), 24 + 8 + 20 + header as usize + 1000 + 4);
        let Frame::Data(data) = Frame::parse(frame).unwrap() else { panic!("{frame:?}") };
        assert!(data.qos.is_none() && data.flags.contains(lasthop_wire::ieee80211::FrameFlags::RETRY));
        let (ip, payload) = Ipv4::parse(parse_llc_snap(data.body).unwrap().unwrap().1).unwrap();
        assert_eq!((ip.dscp, ip.ecn, ip.identification), (46, Ecn::Ce, 3));
        assert_eq!((ip.source, ip.destination), (Site::address(STATION), Site::SERVER));
        let tcp = Tcp::parse(payload).unwrap();
        assert_eq!((tcp.header_length, tcp.header.sequence, tcp.header.window), (header as usize, u32::MAX, 500));
        let blocks = if options.is_some() { SackBlocks::new(sack[..3].iter().copied()) } else { SackBlocks::default() };
        assert_eq!(tcp.header.options.sack, blocks);
        assert_eq!((tcp.header.source_port, tcp.header.destination_port), Site::ports(FlowId(0), 1, true));
    }
}

#[test]
fn an_echo_request_has_a_sequence_number_in_its_payload_and_other_datagrams_have_zeros() {
    for (name, echoes, first) in [("echo", true, [0, 0, 0, 0, 0, 0, 0, 5]), ("plain", false, [0; 8])] {
        let mut site = site(None, 5180);
        site.flows[0].echoes = echoes;
        let mut script = Script::new(name, site);
        let facts = PacketFacts { tcp: None, datagram: Some(4), ..segment(None, 84) };
        sends(&mut script, facts, Ecn::NotEct);
        let file = script.read("air");
        let (_, frame) = Radiotap::parse(packets(&file)[0].bytes).unwrap();
        let Frame::Data(data) = Frame::parse(frame).unwrap() else { panic!("{frame:?}") };
        let (ip, payload) = Ipv4::parse(parse_llc_snap(data.body).unwrap().unwrap().1).unwrap();
        assert_eq!((payload.len(), &payload[8..16]), (64, &first[..]));
        assert_eq!(Udp::checksum_is_good(&ip.addresses(), payload), Some(true));
    }
}

#[test]
fn a_frame_of_a_hosts_own_keeps_its_bytes_but_for_the_fields_of_the_mac() {
    let mut script = Script::new("own", site(Some(Format::Ht), 5180));
    let (node, flow, up, packet) = (STATION, FlowId(0), true, 900);
    let mut made: Vec<u8> = (0..60).collect();
    // Data with QoS Control, to its AP.
    made[..2].copy_from_slice(&[0x88, 0x01]);
    let capture = |script: &mut Script, packet, bytes: &[u8]| {
        script.1.as_mut().unwrap().frame(&FrameFacts { node, packet }, bytes);
    };
    capture(&mut script, Some((flow, up, packet)), &made);
    let mut group = made.clone();
    group[..2].copy_from_slice(&[0x08, 0x00]);
    capture(&mut script, None, &group[..50]);
    let start = PpduStart { kind: PpduKind::Ampdu, bytes: 68, reserves_until: us(28 + 44), ..ack() };
    script.tell(us(0), Detail::PpduStarts(start));
    let told = Mpdu { node, part: 0, sequence: Some(4097), tid: 0, again: true, bytes: 64, packets: 1, decoded: true };
    script.tell(us(28), Detail::Mpdu(told));
    script.tell(us(28), Detail::Holds { node, part: 0, flow, up, packet, ecn: Ecn::NotEct });
    script.end(us(28), STATION, 1);
    let what = Passage::MacDone;
    script.tell(us(72), Detail::Passes { what, node, flow, up, packet });
    let all = PpduStart { to: None, kind: PpduKind::Beacon, bytes: 54, ..ack() };
    script.tell(us(100), Detail::PpduStarts(all));
    script.end(us(128), STATION, 1);
    let file = script.read("air");
    let frames: Vec<&[u8]> = packets(&file).iter().map(|packet| Radiotap::parse(packet.bytes).unwrap().1).collect();
    // Retry; a Duration of 44 us; the sequence number 4097 modulo 4096; the rest as it was made, and an FCS.
    let mut sent = made.clone();
    (sent[1], sent[2], sent[3], sent[22], sent[23]) = (0x09, 44, 0, 0x10, 0);
    assert_eq!((&frames[0][..60], fcs_is_good(frames[0], 64)), (&sent[..], Some(true)));
    assert_eq!((&frames[1][..50], fcs_is_good(frames[1], 54)), (&group[..50], Some(true)));
}

#[test]
fn a_beacon_has_the_length_with_which_it_was_sent() {
    let mut script = Script::new("beacon", site(Some(Format::Ht), 2437));
    let beacon = PpduStart { node: AP, to: None, kind: PpduKind::Beacon, bytes: 120, ..ack() };
    for turn in 0..2 {
        script.tell(us(turn * 1000), Detail::PpduStarts(beacon));
        script.end(us(turn * 1000 + 100), AP, 1);
    }
    let file = script.read("ap");
    for (number, packet) in (0..).zip(packets(&file)) {
        let (radiotap, frame) = Radiotap::parse(packet.bytes).unwrap();
        assert_eq!((frame.len(), radiotap.signal_dbm), (120, None));
        let Frame::Beacon(beacon) = Frame::parse(&frame[..116]).unwrap() else { panic!("{frame:?}") };
        assert_eq!(
            (beacon.sequence.number, beacon.interval_tu, beacon.timestamp_us),
            (number, 100, u64::from(number) * 1000)
        );
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let error = Capture::new(site(None, 5180), "/dev/null/captures".as_ref(), 128).err().unwrap();
    assert_eq!(error, "/dev/null/captures: cannot be written: Not a directory");
}
