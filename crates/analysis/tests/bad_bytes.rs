//! Invalid captures give an error or a count, never a panic.

use std::fs;
use std::path::PathBuf;

use lasthop_analysis::{Request, analyze};
use lasthop_units::Duration;
use lasthop_wire::capture::{Interface, LinkType, PacketOptions};
use lasthop_wire::ieee80211::{Bitmap, BlockAck, Data, QosControl, SequenceControl};
use lasthop_wire::ip::{Ipv4, protocol};
use lasthop_wire::radiotap::{AmpduStatus, Channel, Flags, Mcs, Timestamp};
use lasthop_wire::tcp::TcpFlags;
use lasthop_wire::{EtherType, MacAddress, Payload, PcapNg, Radiotap, Tcp, append_fcs, append_llc_snap};

const STATION: MacAddress = MacAddress::local(2);
const AP: MacAddress = MacAddress::local(1);

/// An upload: A-MPDUs of two segments, each with its BlockAck.
fn upload() -> Vec<u8> {
    let mut file = PcapNg::new(Vec::new()).unwrap();
    let air = Interface { link_type: LinkType::RADIOTAP, ..Interface::default() };
    let air = file.interface(&air).unwrap();
    let mut put = |time_ns: u64, radiotap: &Radiotap, frame: &[u8]| {
        let mut bytes = Vec::new();
        radiotap.append(&mut bytes);
        bytes.extend_from_slice(frame);
        file.packet(air, time_ns, bytes.len() as u32, &bytes, &PacketOptions::default()).unwrap();
    };
    for number in 0..20_u16 {
        let start = 1_000_000 * u64::from(number) + 5_000_000;
        let common = Radiotap {
            flags: Some(Flags::FCS_AT_END),
            channel: Some(Channel { mhz: 5180, flags: Channel::OFDM | Channel::GHZ_5 }),
            timestamp: Some(Timestamp::ppdu_start_ns(start)),
            ..Radiotap::default()
        };
        for half in 0..2 {
            let sequence = number * 2 + half;
            let ampdu = AmpduStatus { reference: number.into(), is_last: Some(half == 1), ..AmpduStatus::default() };
            let radiotap = Radiotap { mcs: Some(Mcs::mixed(7, 20, false)), ampdu: Some(ampdu), ..common };
            put(start, &radiotap, &data(sequence));
        }
        let mut answer = Vec::new();
        BlockAck {
            receiver: STATION,
            transmitter: AP,
            start: number * 2,
            bitmap: Bitmap::Of64(0b11),
            ..BlockAck::default()
        }
        .append(&mut answer);
        append_fcs(&mut answer, 0);
        // 2 (4 + 26 + 8 + 40 + 100 + 4, padded) bytes in symbols of 260 bits, after 36 us; SIFS.
        let bits = 16 + 6 + 8 * (184 + 182);
        let end = start + 36_000 + 4_000 * u64::from(u32::div_ceil(bits, 260));
        let radiotap = Radiotap { rate_500kbps: Some(48), ..common };
        put(end + 16_000, &Radiotap { timestamp: Some(Timestamp::ppdu_start_ns(end + 16_000)), ..radiotap }, &answer);
    }
    file.finish().unwrap()
}

fn data(number: u16) -> Vec<u8> {
    let mut frame = Vec::new();
    let head = Data::to_ap(STATION, AP, MacAddress::local(0));
    Data { sequence: SequenceControl::whole(number), qos: Some(QosControl::default()), ..head }.append(&mut frame);
    append_llc_snap(EtherType::IPV4, &mut frame);
    let ip = Ipv4 {
        protocol: protocol::TCP,
        source: [10, 1, 0, 2].into(),
        destination: [10, 0, 0, 1].into(),
        payload_length: 120,
        ..Ipv4::default()
    };
    ip.append(&mut frame);
    let (source_port, destination_port, sequence) = (60_100, 50_000, 1 + 100 * u32::from(number));
    let segment = Tcp { source_port, destination_port, sequence, flags: TcpFlags::ACK, ..Tcp::default() };
    segment.append(&ip.addresses(), Payload::bytes(&[0; 100]), &mut frame);
    append_fcs(&mut frame, 0);
    frame
}

fn read(name: &str, bytes: &[u8]) -> Result<lasthop_analysis::Analysis, String> {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&file, bytes).unwrap();
    let request = Request { files: vec![file], interval: Some(Duration::from_secs(1)), ..Request::default() };
    analyze(&request, &Default::default())
}

#[test]
fn an_upload_is_read() {
    let run = read("upload.pcapng", &upload()).unwrap().run;
    let (flow, link) = (&run["flows"][0], &run["links"][0]);
    // Frames that were acknowledged have passed the air, which is all that its captures show of uploads.
    assert_eq!(flow["bytes_delivered"], 4000);
    assert_eq!(run["capture"]["flows"][0]["bytes_seen"], 4000);
    assert_eq!((&link["frames_sent"], &link["mpdus_per_ampdu_mean"]), (&20.into(), &2.0.into()));
    assert_eq!((&link["mpdu_loss_fraction"], &link["mean_data_rate_bps"]), (&0.0.into(), &65e6.into()));
    assert_eq!(run["capture"]["missed"]["mpdus_acknowledged"], 40);
}

#[test]
fn random_changes_give_an_error_or_a_count() {
    let whole = upload();
    let mut draw = 1_u64;
    let mut next = |below: usize| {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (draw >> 33) as usize % below
    };
    for _ in 0..300 {
        let mut bytes = whole.clone();
        for _ in 0..1 + next(40) {
            let place = next(bytes.len());
            bytes[place] = next(256) as u8;
        }
        bytes.truncate(bytes.len() - next(bytes.len() / 4));
        let _ = read("changed.pcapng", &bytes);
    }
}

#[test]
fn file_that_is_no_capture_is_an_error_with_file_and_place() {
    let said = read("no.pcap", b"no capture at all").unwrap_err();
    assert!(said.contains("no.pcap: byte 0: the file's magic number is"), "{said}");
    let said = read("empty.pcap", b"").unwrap_err();
    assert!(said.contains("holds no packets"), "{said}");
}
