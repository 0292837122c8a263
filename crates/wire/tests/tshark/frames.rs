//! A frame of each kind, and the fields that tshark must find in it.

use lasthop_units::Ecn;
use lasthop_wire::capture::{Interface, LinkType, Name, NamedAddress, PacketFlags, PacketOptions, PcapNg, Statistics};
use lasthop_wire::ieee80211::{
    Ack, AckPolicy, Beacon, Bitmap, BlockAck, BlockAckReq, Cts, Data, DataKind, Delimiter, Elements, FrameFlags, Msdu,
    QosControl, Rts, SequenceControl, append_elements, append_msdu,
};
use lasthop_wire::ip::{Ipv4, Ipv6, protocol};
use lasthop_wire::radiotap::{AmpduStatus, Channel, Flags, He, Mcs, Timestamp, TxFlags, Vht, VhtUser};
use lasthop_wire::tcp::{AccEcn, SackBlocks, TcpFlags, TcpOptions, Timestamps};
use lasthop_wire::{EtherType, Ethernet, MacAddress, Payload, Radiotap, Tcp, Udp, append_fcs, append_llc_snap};

const AP: MacAddress = MacAddress::local(1);
const STATION: MacAddress = MacAddress::local(2);
const SERVER: MacAddress = MacAddress::local(3);

/// A field of tshark and its value.
pub type Field = (&'static str, String);

/// A file under construction, and its expected fields.
pub struct Capture {
    pub file: PcapNg<Vec<u8>>,
    /// Interfaces by link type.
    interfaces: Vec<(LinkType, u32)>,
    expected: Vec<Vec<Field>>,
}

/// Fields with their values.
macro_rules! fields {
    ($($field:literal: $value:expr),* $(,)?) => { vec![$(($field, $value.to_string())),*] };
}

impl Capture {
    pub fn new() -> Capture {
        let mut file = PcapNg::new(Vec::new()).unwrap();
        let interfaces = [
            (LinkType::RADIOTAP, "air", 0),
            (LinkType::ETHERNET, "server", 0),
            (LinkType::RAW_IP, "tun", 0),
            (LinkType::IEEE_802_11, "bare", 0),
            (LinkType::RADIOTAP, "snapped", 96),
        ]
        .map(|(link_type, name, snap_length)| {
            let interface = Interface { link_type, snap_length, name: Some(name), ..Interface::default() };
            (link_type, file.interface(&interface).unwrap())
        });
        Capture { file, interfaces: interfaces.into(), expected: Vec::new() }
    }

    /// Adds a packet of the first interface with this link type.
    fn packet(&mut self, link_type: LinkType, bytes: &[u8], expected: Vec<Field>) {
        let (_, interface) = self.interfaces.iter().find(|(of, _)| *of == link_type).unwrap();
        self.packet_of(*interface, bytes.len(), bytes, &PacketOptions::default(), expected);
    }

    fn packet_of(
        &mut self,
        interface: u32,
        original_length: usize,
        bytes: &[u8],
        options: &PacketOptions<'_>,
        mut expected: Vec<Field>,
    ) {
        let time_ns = 1_000_000_007 + 1_000_000 * self.expected.len() as u64;
        self.file.packet(interface, time_ns, original_length as u32, bytes, options).unwrap();
        expected.push(("frame.time_epoch", format!("{}.{:09}", time_ns / 1_000_000_000, time_ns % 1_000_000_000)));
        expected.push(("frame.len", original_length.to_string()));
        if !expected.iter().any(|(name, _)| *name == "_ws.malformed") {
            expected.push(("_ws.malformed", String::new()));
        }
        self.expected.push(expected);
    }

    /// Adds a frame of 802.11 after `radiotap`, with its FCS.
    pub fn frame(&mut self, radiotap: Radiotap, append: impl FnOnce(&mut Vec<u8>), mut expected: Vec<Field>) {
        let flags = Some(radiotap.flags.unwrap_or_default().with(Flags::FCS_AT_END));
        let mut bytes = Vec::new();
        Radiotap { flags, ..radiotap }.append(&mut bytes);
        let start = bytes.len();
        append(&mut bytes);
        append_fcs(&mut bytes, start);
        expected.push(("wlan.fcs.status", "1".to_owned()));
        self.packet(LinkType::RADIOTAP, &bytes, expected);
    }
}

/// A frame at a rate of 802.11b or g, with all facts that a radio may report.
fn at_rate(rate_500kbps: u8, flags: Flags) -> Radiotap {
    Radiotap {
        tsft_us: Some(123_456),
        flags: Some(flags),
        rate_500kbps: Some(rate_500kbps),
        channel: Some(Channel { mhz: 2437, flags: Channel::GHZ_2 | Channel::CCK }),
        signal_dbm: Some(-61),
        noise_dbm: Some(-94),
        antenna: Some(1),
        ..Radiotap::default()
    }
}

/// A frame in a PPDU with MCSs at 5 GHz.
pub fn in_ppdu() -> Radiotap {
    let channel = Some(Channel { mhz: 5180, flags: Channel::GHZ_5 | Channel::OFDM });
    Radiotap { tsft_us: Some(1), channel, signal_dbm: Some(-50), noise_dbm: Some(-95), ..Radiotap::default() }
}

/// A segment from the station to the server.
fn segment(sequence: u32, flags: TcpFlags, options: TcpOptions<'_>) -> Tcp<'_> {
    let (source_port, destination_port, window) = (40_000, 5201, 502);
    Tcp { source_port, destination_port, sequence, acknowledgement: 9000, flags, window, urgent: 0, options }
}

/// The packet of a segment with a payload of zeros, which may not be written; returns the length of the packet.
fn append_packet(tcp: &Tcp<'_>, zeros: usize, out: &mut Vec<u8>) -> usize {
    let ip = Ipv4 {
        dscp: 46,
        ecn: Ecn::Ect0,
        identification: 0x1234,
        ttl: 63,
        protocol: protocol::TCP,
        source: [10, 0, 0, 2].into(),
        destination: [10, 0, 0, 1].into(),
        payload_length: (tcp.header_length() + zeros) as u16,
        ..Ipv4::default()
    };
    ip.append(out);
    tcp.append(&ip.addresses(), Payload::zeros(zeros), out);
    20 + usize::from(ip.payload_length)
}

pub fn qos_data(number: u16, flags: FrameFlags) -> Data<'static> {
    let data = Data::to_ap(STATION, AP, SERVER);
    Data {
        flags: data.flags.with(flags),
        duration_us: 44,
        sequence: SequenceControl::whole(number),
        qos: Some(QosControl { tid: 5, ..QosControl::default() }),
        ..data
    }
}

/// A QoS Data frame with a segment.
fn append_data(number: u16, tcp: &Tcp<'_>, zeros: usize, out: &mut Vec<u8>) {
    qos_data(number, FrameFlags::NONE).append(out);
    append_llc_snap(EtherType::IPV4, out);
    append_packet(tcp, zeros, out);
    out.resize(out.len() + zeros, 0);
}

fn control_frames(capture: &mut Capture) {
    let legacy = |rate| at_rate(rate, Flags::default());
    let rts = Rts { duration_us: 312, receiver: AP, transmitter: STATION, ..Rts::default() };
    capture.frame(
        at_rate(22, Flags::SHORT_PREAMBLE),
        |out| rts.append(out),
        fields! {
            "wlan.fc.type_subtype": "0x001b", "wlan.duration": 312, "wlan.ra": AP, "wlan.ta": STATION,
            "radiotap.mactime": 123_456, "radiotap.dbm_antsignal": -61, "radiotap.dbm_antnoise": -94,
            "radiotap.antenna": 1, "radiotap.channel.freq": 2437, "radiotap.flags.preamble": 1,
            "radiotap.flags.badfcs": 0, "wlan_radio.data_rate": 11, "wlan_radio.channel": 6, "wlan_radio.phy": 4,
        },
    );
    let cts = Cts { flags: FrameFlags::POWER_MANAGEMENT, duration_us: 32_767, receiver: STATION };
    capture.frame(
        legacy(4),
        |out| cts.append(out),
        fields! { "wlan.fc.type_subtype": "0x001c", "wlan.duration": 32_767, "wlan.fc.pwrmgt": 1, "wlan_radio.data_rate": 2 },
    );
    let ack = Ack { receiver: STATION, ..Ack::default() };
    capture.frame(
        legacy(11),
        |out| ack.append(out),
        fields! { "wlan.fc.type_subtype": "0x001d", "wlan.duration": 0, "wlan.ra": STATION, "wlan_radio.data_rate": "5.5" },
    );
}

fn block_acks(capture: &mut Capture) {
    let request = BlockAckReq {
        duration_us: 40,
        receiver: AP,
        transmitter: STATION,
        tid: 5,
        start: SequenceControl::whole(4090),
        ..BlockAckReq::default()
    };
    capture.frame(
        at_rate(48, Flags::default()),
        |out| request.append(out),
        fields! {
            "wlan.fc.type_subtype": "0x0018", "wlan.fixed.ssc.sequence": 4090, "wlan.fixed.ssc.fragment": 0,
            "wlan.ba.control.ba_type": "0x0002", "wlan.ba.basic.tidinfo": "0x0005",
        },
    );
    let words = [0x8000_0000_0000_0007, 0, 0, 1];
    for (bitmap, bytes) in [
        (Bitmap::Of64(words[0]), words[0].to_le_bytes().to_vec()),
        (Bitmap::Of256(words), words.map(u64::to_le_bytes).concat()),
    ] {
        let block_ack =
            BlockAck { bitmap, receiver: STATION, transmitter: AP, tid: 5, start: 4090, ..BlockAck::default() };
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        capture.frame(
            at_rate(48, Flags::default()),
            |out| block_ack.append(out),
            fields! {
                "wlan.fc.type_subtype": "0x0019", "wlan.fixed.ssc.sequence": 4090, "wlan.ba.bm": hex,
                "wlan.ba.control.ba_type": "0x0002", "wlan.ba.basic.tidinfo": "0x0005",
            },
        );
    }
}

fn management_and_null(capture: &mut Capture) {
    let mut elements = Vec::new();
    append_elements(b"lasthop", &[0x82, 0x84, 11, 22, 12, 18, 24, 36, 48, 108], 6, &mut elements);
    let beacon = Beacon {
        receiver: MacAddress::BROADCAST,
        transmitter: AP,
        bssid: AP,
        sequence: SequenceControl::whole(77),
        timestamp_us: 102_400,
        interval_tu: 100,
        capability: 0x0421,
        elements: Elements(&elements),
        ..Beacon::default()
    };
    capture.frame(
        at_rate(2, Flags::default()),
        |out| beacon.append(out),
        fields! {
            "wlan.fc.type_subtype": "0x0008", "wlan.ssid": "6c617374686f70", "wlan.ds.current_channel": 6, "wlan.seq": 77,
            "wlan.fixed.timestamp": 102_400, "wlan.fixed.beacon": 100, "wlan.fixed.capabilities.short_preamble": 1,
            "wlan.supported_rates": "0x82,0x84,0x0b,0x16,0x0c,0x12,0x18,0x24", "wlan.extended_supported_rates": "0x30,0x6c",
        },
    );
    let null = Data { kind: DataKind::Null, ..qos_data(8, FrameFlags::POWER_MANAGEMENT) };
    capture.frame(
        at_rate(12, Flags::default()),
        |out| null.append(out),
        fields! { "wlan.fc.type_subtype": "0x002c", "wlan.seq": 8, "wlan.qos.tid": 5, "wlan.fc.pwrmgt": 1 },
    );
}

fn data_without_qos(capture: &mut Capture) {
    let tcp = segment(1000, TcpFlags::ACK.with(TcpFlags::PSH), TcpOptions::default());
    let data = Data {
        duration_us: 314,
        flags: FrameFlags::FROM_DS.with(FrameFlags::RETRY),
        ..Data::from_ap(AP, STATION, SERVER)
    };
    let radiotap = Radiotap {
        tx_flags: Some(TxFlags::RTS),
        data_retries: Some(3),
        rx_flags: Some(0),
        ..at_rate(108, Flags::default())
    };
    capture.frame(
        radiotap,
        |out| {
            data.append(out);
            append_llc_snap(EtherType::IPV4, out);
            append_packet(&tcp, 0, out);
        },
        fields! {
            "wlan.fc.type_subtype": "0x0020", "wlan.fc.retry": 1, "wlan.duration": 314, "wlan.sa": SERVER, "wlan.bssid": AP,
            "radiotap.data_retries": 3, "radiotap.txflags": "0x0004", "wlan_radio.data_rate": 54, "tcp.seq_raw": 1000,
            "tcp.flags.push": 1, "tcp.checksum.status": 1, "ip.checksum.status": 1,
        },
    );
}

/// MPDUs of an A-MPDU in PPDUs of HT, VHT and HE.
fn ppdus(capture: &mut Capture) {
    let ack = TcpFlags::ACK;
    let ampdu = |is_last, length| AmpduStatus {
        reference: 0x0102,
        is_last: Some(is_last),
        delimiter_crc: Some(Delimiter { end_of_frame: false, length }.bytes()[2]),
        ..AmpduStatus::default()
    };
    let ht = Radiotap { mcs: Some(Mcs::mixed(15, 40, true)), ampdu: Some(ampdu(false, 1538)), ..in_ppdu() };
    capture.frame(
        ht,
        |out| append_data(100, &segment(1000, ack, TcpOptions::default()), 1460, out),
        fields! {
            "wlan.fc.type_subtype": "0x0028", "wlan.seq": 100, "wlan.qos.tid": 5, "wlan.duration": 44,
            "radiotap.mcs.index": 15, "radiotap.mcs.bw": 1, "radiotap.mcs.gi": 1, "radiotap.mcs.stbc": 0,
            "radiotap.ampdu.reference": 0x0102, "radiotap.ampdu.flags.lastknown": 1, "radiotap.ampdu.flags.last": 0,
            "radiotap.ampdu.delim_crc": format!("0x{:02x}", ht.ampdu.unwrap().delimiter_crc.unwrap()),
            "wlan_radio.data_rate": 300, "wlan_radio.phy": 7, "wlan_radio.channel": 36,
            "tcp.seq_raw": 1000, "tcp.len": 1460, "tcp.checksum.status": 1,
            "ip.dsfield.dscp": 46, "ip.dsfield.ecn": 2, "ip.ttl": 63, "ip.id": "0x1234", "ip.checksum.status": 1,
        },
    );
    let vht = Vht { group_id: Some(63), partial_aid: Some(0x123), ..Vht::single_user(9, 2, 80, true) };
    capture.frame(
        Radiotap { vht: Some(vht), ampdu: Some(ampdu(true, 1538)), ..in_ppdu() },
        |out| append_data(101, &segment(2460, ack, TcpOptions::default()), 1460, out),
        fields! {
            "radiotap.vht.bw": 4, "radiotap.vht.mcs.0": 9, "radiotap.vht.nss.0": 2, "radiotap.vht.gi": 1,
            "radiotap.vht.coding.0": 0, "radiotap.vht.gid": 63, "radiotap.vht.paid": 0x123, "radiotap.ampdu.flags.last": 1,
            "wlan_radio.data_rate": "866.667", "wlan_radio.phy": 8, "tcp.seq_raw": 2460, "tcp.checksum.status": 1,
        },
    );
    let user = VhtUser { mcs: 3, spatial_streams: 1, ldpc: true };
    let mu = Vht { users: [Some(user), None, Some(user), None], ..Vht::single_user(0, 1, 20, false) };
    capture.frame(
        Radiotap { vht: Some(mu), ..in_ppdu() },
        |out| Data { kind: DataKind::Null, ..qos_data(102, FrameFlags::NONE) }.append(out),
        fields! {
            "radiotap.vht.mcs.0": 3, "radiotap.vht.coding.0": 1, "radiotap.vht.mcs.2": 3, "radiotap.vht.nss.2": 1,
            "radiotap.vht.mcs.1": "",
        },
    );
    he_ppdus(capture);
}

fn he_ppdus(capture: &mut Capture) {
    let he = He {
        bss_color: Some(33),
        uplink: Some(true),
        txop: Some(127),
        ltf_symbols: Some(1),
        ltf_size: 2,
        ..He::single_user(11, 2, 80, 800)
    };
    capture.frame(
        Radiotap { he: Some(he), timestamp: Some(Timestamp::ppdu_start_ns(987_654_321)), ..in_ppdu() },
        |out| append_data(103, &segment(3920, TcpFlags::ACK, TcpOptions::default()), 1460, out),
        fields! {
            "radiotap.he.data_1.ppdu_format": "0x0000", "radiotap.he.data_3.bss_color": "0x0021", "radiotap.he.data_3.ul_dl": "0x0001",
            "radiotap.he.data_3.data_mcs": "0x000b", "radiotap.he.data_3.coding": "0x0001",
            "radiotap.he.data_5.data_bw_ru_allocation": "0x0002", "radiotap.he.data_5.gi": "0x0000",
            "radiotap.he.data_5.ltf_symbol_size": "0x0002", "radiotap.he.num_ltf_symbols": "0x0001",
            "radiotap.he.data_6.nsts": "0x0002", "radiotap.he.data_6.txop_value": "0x007f",
            "radiotap.timestamp.ts": 987_654_321, "radiotap.timestamp.unit": 2, "radiotap.timestamp.samplingpos": 1,
            "wlan_radio.phy": 11, "wlan_radio.data_rate": 1201, "tcp.checksum.status": 1,
        },
    );
}

fn options_of_tcp(capture: &mut Capture) {
    let timestamps = Some(Timestamps { value: 0xdead_beef, echo: 7 });
    let syn = TcpOptions {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps,
        fast_open: Some(&[1, 2, 3, 4, 5, 6, 7, 8]),
        ..TcpOptions::default()
    };
    let ethernet = Ethernet { destination: AP, source: SERVER, vlan: None, ether_type: EtherType::IPV4 };
    let mut on_ethernet = |tcp: &Tcp<'_>, expected| {
        let mut bytes = Vec::new();
        ethernet.append(&mut bytes);
        append_packet(tcp, 0, &mut bytes);
        capture.packet(LinkType::ETHERNET, &bytes, expected);
    };
    let flags = TcpFlags::SYN.with(TcpFlags::ECE).with(TcpFlags::CWR).with(TcpFlags::AE);
    on_ethernet(
        &Tcp { source_port: 40_001, acknowledgement: 0, ..segment(u32::MAX, flags, syn) },
        fields! {
            "eth.dst": AP, "eth.src": SERVER, "tcp.flags": "0x01c2", "tcp.seq_raw": u32::MAX, "tcp.hdr_len": 52,
            "tcp.options.mss_val": 1460, "tcp.options.wscale.shift": 7, "tcp.options.sack_perm": "0402",
            "tcp.options.timestamp.tsval": 0xdead_beef_u32, "tcp.options.timestamp.tsecr": 7,
            "tcp.options.tfo.cookie": "0102030405060708", "tcp.checksum.status": 1, "tcp.window_size_value": 502,
        },
    );
    let sack = SackBlocks::new([(13_000, 14_000), (15_000, 16_000), (17_000, 18_000)]);
    on_ethernet(
        &segment(5380, TcpFlags::ACK.with(TcpFlags::ECE), TcpOptions { timestamps, sack, ..TcpOptions::default() }),
        fields! {
            "tcp.options.sack_le": "13000,15000,17000", "tcp.options.sack_re": "14000,16000,18000", "tcp.options.sack.count": 3,
            "tcp.flags.ece": 1, "tcp.hdr_len": 60, "tcp.checksum.status": 1,
        },
    );
    let counters = [Some(0x01_0203), Some(0x04_0506), Some(0x07_0809)];
    for ect1_first in [false, true] {
        let acc_ecn = Some(AccEcn { ect1_first, counters });
        let mut values = ["66051", "263430", "460809"];
        if ect1_first {
            values.reverse();
        }
        on_ethernet(
            &segment(5380, TcpFlags::ACK, TcpOptions { acc_ecn, ..TcpOptions::default() }),
            fields! {
                "tcp.options.acc_ecn.ee0b": values[0], "tcp.options.acc_ecn.eceb": values[1],
                "tcp.options.acc_ecn.ee1b": values[2], "tcp.checksum.status": 1,
            },
        );
    }
}

fn other_links(capture: &mut Capture) {
    let v6 = Ipv6 {
        dscp: 10,
        ecn: Ecn::Ce,
        flow_label: 0xabcde,
        payload_length: 20,
        protocol: protocol::TCP,
        source: "2001:db8::2".parse().unwrap(),
        destination: "2001:db8::1".parse().unwrap(),
        ..Ipv6::default()
    };
    let mut bytes = Vec::new();
    v6.append(&mut bytes);
    let flags = TcpFlags::ACK.with(TcpFlags::FIN);
    segment(1, flags, TcpOptions::default()).append(&v6.addresses(), Payload::bytes(&[]), &mut bytes);
    capture.packet(
        LinkType::RAW_IP,
        &bytes,
        fields! {
            "ipv6.src": "2001:db8::2", "ipv6.tclass.dscp": 10, "ipv6.tclass.ecn": 3, "ipv6.flow": "0x0abcde",
            "ipv6.plen": 20, "tcp.flags.fin": 1, "tcp.checksum.status": 1,
        },
    );
    let v4 = Ipv4 {
        protocol: protocol::UDP,
        source: [10, 0, 0, 2].into(),
        destination: [10, 0, 0, 1].into(),
        payload_length: 108,
        ..Ipv4::default()
    };
    let udp = Udp { source_port: 40_000, destination_port: 5001, payload_length: 100 };
    bytes.clear();
    Ethernet { destination: AP, source: SERVER, vlan: Some(42), ether_type: EtherType::IPV4 }.append(&mut bytes);
    v4.append(&mut bytes);
    udp.append(&v4.addresses(), Payload::bytes(&[0x55; 100]), &mut bytes);
    capture.packet(
        LinkType::ETHERNET,
        &bytes,
        fields! {
            "vlan.id": 42, "udp.srcport": 40_000, "udp.dstport": 5001, "udp.length": 108, "udp.checksum.status": 1,
            "ip.checksum.status": 1, "ip.flags.df": 1,
        },
    );
    bytes.clear();
    Ack { receiver: AP, ..Ack::default() }.append(&mut bytes);
    capture.packet(LinkType::IEEE_802_11, &bytes, fields! { "wlan.fc.type_subtype": "0x001d", "wlan.ra": AP });
}

fn an_amsdu(capture: &mut Capture) {
    let mut body = Vec::new();
    for sequence in [5380, 6380] {
        let mut msdu = Vec::new();
        append_llc_snap(EtherType::IPV4, &mut msdu);
        append_packet(&segment(sequence, TcpFlags::ACK, TcpOptions::default()), 1000, &mut msdu);
        msdu.resize(msdu.len() + 1000, 0);
        let length = msdu.len() as u16;
        append_msdu(&Msdu { destination: SERVER, source: STATION, length, bytes: &msdu }, 0, &mut body);
    }
    let qos = Some(QosControl { tid: 5, is_amsdu: true, ack_policy: AckPolicy::BlockAck, ..QosControl::default() });
    let frame = Data { qos, body: &body, ..qos_data(104, FrameFlags::NONE) };
    capture.frame(
        Radiotap { mcs: Some(Mcs::mixed(0, 20, false)), ..in_ppdu() },
        |out| frame.append(out),
        fields! {
            "wlan.qos.amsdupresent": 1, "wlan.qos.ack": "0x0003", "tcp.seq_raw": "5380,6380", "tcp.len": "1000,1000",
            "tcp.checksum.status": "1,1", "wlan_radio.data_rate": "6.5",
        },
    );
}

/// A frame that was cut off has the headers of the whole, and a frame that was lost is marked as such.
fn cut_off_and_lost(capture: &mut Capture) {
    let mut bytes = Vec::new();
    at_rate(22, Flags::FCS_AT_END).append(&mut bytes);
    let tcp = segment(7380, TcpFlags::ACK, TcpOptions::default());
    qos_data(105, FrameFlags::NONE).append(&mut bytes);
    append_llc_snap(EtherType::IPV4, &mut bytes);
    append_packet(&tcp, 1460, &mut bytes);
    let original_length = bytes.len() + 1460 + 4;
    let options = PacketOptions { comment: Some("cut off"), packet_id: Some(0x0102_0304), ..PacketOptions::default() };
    let expected = fields! {
        "tcp.seq_raw": 7380, "tcp.len": 1460, "ip.checksum.status": 1, "frame.comment": "cut off", "frame.cap_len": 96,
        "frame.packet_id": 0x0102_0304, "frame.interface_name": "snapped",
    };
    capture.packet_of(4, original_length, &bytes, &options, expected);

    bytes.clear();
    at_rate(22, Flags::FCS_AT_END.with(Flags::BAD_FCS)).append(&mut bytes);
    Ack { receiver: STATION, ..Ack::default() }.append(&mut bytes);
    bytes.extend_from_slice(&[0; 4]);
    let flags = Some(PacketFlags::INBOUND.with(PacketFlags::CRC_ERROR));
    let expected = fields! {
        "radiotap.flags.badfcs": 1, "wlan.fcs.status": 0, "frame.packet_flags_crc_error": 1,
        "frame.packet_flags_direction": "0x00000001",
        // tshark marks a frame with a wrong FCS in this way.
        "_ws.malformed": "_ws.malformed",
    };
    capture.packet_of(0, bytes.len(), &bytes, &PacketOptions { flags, ..PacketOptions::default() }, expected);
}

/// A file with a frame of each kind, and the fields of each.
pub fn everything() -> (Vec<u8>, Vec<Vec<Field>>) {
    let mut capture = Capture::new();
    let names = [
        Name { address: NamedAddress::V4([10, 0, 0, 1].into()), name: "server" },
        Name { address: NamedAddress::V6("2001:db8::1".parse().unwrap()), name: "server" },
        Name { address: NamedAddress::Mac(AP), name: "ap" },
    ];
    capture.file.names(names).unwrap();
    control_frames(&mut capture);
    block_acks(&mut capture);
    management_and_null(&mut capture);
    data_without_qos(&mut capture);
    ppdus(&mut capture);
    options_of_tcp(&mut capture);
    other_links(&mut capture);
    an_amsdu(&mut capture);
    cut_off_and_lost(&mut capture);
    let statistics = Statistics { received: Some(9), ..Statistics::default() };
    capture.file.statistics(0, 2_000_000_000, &statistics).unwrap();
    capture.file.custom(32_473, b"a block of one's own").unwrap();
    (capture.file.finish().unwrap(), capture.expected)
}
