//! Captures are read as they were written; files of either byte order, assembled by hand; files with faults.

use crate::any;

use std::io::Read;

use any::Any;
use lasthop_wire::capture::{
    Clock, Interface, LinkType, Name, NamedAddress, Packet, PacketFlags, PacketOptions, PcapNg, ReadError, Reader,
    Record, Records, Section, Statistics,
};
use lasthop_wire::{Error, MacAddress};

/// Numbers in one byte order.
#[derive(Clone, Copy)]
struct Order {
    big: bool,
}

const ORDERS: [Order; 2] = [Order { big: false }, Order { big: true }];

impl Order {
    fn u16(self, number: u16) -> [u8; 2] {
        if self.big { number.to_be_bytes() } else { number.to_le_bytes() }
    }

    fn u32(self, number: u32) -> [u8; 4] {
        if self.big { number.to_be_bytes() } else { number.to_le_bytes() }
    }

    fn words(self, words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|&word| self.u32(word)).collect()
    }

    /// A block of pcapng.
    fn block(self, block_type: u32, body: &[u8]) -> Vec<u8> {
        let length = self.u32(body.len() as u32 + 12);
        [&self.u32(block_type), &length, body, &length].concat()
    }

    /// An option, padded.
    fn option(self, code: u16, value: &[u8]) -> Vec<u8> {
        let mut option = [&self.u16(code)[..], &self.u16(value.len() as u16), value].concat();
        option.resize(option.len().next_multiple_of(4), 0);
        option
    }

    /// A Section Header Block without the length of its section.
    fn section(self, options: &[u8]) -> Vec<u8> {
        let version = [self.u16(1), self.u16(0)].concat();
        self.block(0x0a0d_0d0a, &[&self.u32(0x1a2b_3c4d)[..], &version, &[0xff; 8], options].concat())
    }

    /// An Interface Description Block.
    fn interface(self, link_type: u16, snap_length: u32, options: &[u8]) -> Vec<u8> {
        let head = [self.u16(link_type), self.u16(0)].concat();
        self.block(1, &[&head[..], &self.u32(snap_length), options].concat())
    }

    /// The header of a pcap file.
    fn pcap(self, magic: u32, link_type: u32) -> Vec<u8> {
        let version = [self.u16(2), self.u16(4)].concat();
        [&self.u32(magic)[..], &version, &self.words(&[0, 0, 65_535, link_type])].concat()
    }
}

/// A reader that returns its bytes a few at a time.
struct Trickle<'a>(&'a [u8], usize);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.1.min(buffer.len());
        self.0.read(&mut buffer[..count])
    }
}

/// The results of both readers, which must agree.
fn read(file: &[u8]) -> Vec<Result<Record<'_>, Error>> {
    let records: Vec<_> = Records::new(file).collect();
    for step in [1, 7, 1 << 20] {
        let mut reader = Reader::new(Trickle(file, step));
        for record in &records {
            match (reader.record(), record) {
                (Ok(Some(read)), Ok(record)) => assert_eq!(read, *record, "{step} bytes at a time"),
                (Err(ReadError::Format(read)), Err(error)) => assert_eq!(read, *error, "{step} bytes at a time"),
                (read, record) => panic!("{read:?} is not {record:?}, {step} bytes at a time"),
            }
        }
        assert!(matches!(reader.record(), Ok(None)));
    }
    records
}

fn packets<'a>(records: &[Result<Record<'a>, Error>]) -> Vec<Packet<'a>> {
    let packet = |record: &Result<Record<'a>, Error>| match record {
        Ok(Record::Packet(packet)) => Some(*packet),
        _ => None,
    };
    records.iter().filter_map(packet).collect()
}

#[test]
fn written_packets_are_read_back() {
    for seed in 0..300 {
        let mut any = Any::new(seed);
        let texts: Vec<_> = (0..6).map(|_| any.text(12)).collect();
        let [hardware, os, application, comment, name, description] =
            [0, 1, 2, 3, 4, 5].map(|n| any.maybe(|_| &texts[n][..]));
        let section = Section { hardware, os, application, comment };
        let mut file = PcapNg::with_section(Vec::new(), &section).unwrap();
        let interface = Interface {
            link_type: LinkType(any.u16(16)),
            snap_length: 0,
            name,
            description,
            fcs_length: any.maybe(|any| any.u8(3)),
            comment,
        };
        assert_eq!(file.interface(&interface).unwrap(), 0);
        let bytes = any.bytes(90);
        let options = PacketOptions {
            comment,
            flags: any.maybe(|any| PacketFlags(any.u32())),
            dropped: any.maybe(Any::bits),
            packet_id: any.maybe(Any::bits),
        };
        let (time, original_length) = (any.number(63), bytes.len() as u32 + any.u32() / 2);
        file.packet(0, time, original_length, &bytes, &options).unwrap();
        let statistics = Statistics {
            start_ns: any.maybe(|any| any.number(63) as i64),
            end_ns: any.maybe(|any| any.number(63) as i64),
            received: any.maybe(Any::bits),
            dropped: any.maybe(Any::bits),
        };
        file.statistics(0, time, &statistics).unwrap();
        let data = any.bytes(5).repeat(4);
        file.custom(32_473, &data).unwrap();
        let file = file.finish().unwrap();
        let (link_type, time_ns) = (interface.link_type, Some(time as i64));
        let packet = Packet { interface: 0, link_type, time_ns, original_length, bytes: &bytes, options };
        let expected = [
            Record::Section(section),
            Record::Interface { number: 0, interface, clock: Clock::NANOSECONDS },
            Record::Packet(packet),
            Record::Statistics { interface: 0, statistics },
            Record::Custom { enterprise: 32_473, data: &data },
        ];
        assert_eq!(read(&file), expected.map(Ok), "seed {seed}");
    }
}

#[test]
fn names_are_read_back() {
    let names = [
        Name { address: NamedAddress::V4([10, 0, 0, 1].into()), name: "sta1" },
        Name { address: NamedAddress::V6([7; 16].into()), name: "server" },
        Name { address: NamedAddress::Mac(MacAddress::local(1)), name: "ap" },
    ];
    let mut file = PcapNg::new(Vec::new()).unwrap();
    file.names(names).unwrap();
    let file = file.finish().unwrap();
    let records = read(&file);
    assert!(matches!(records[0], Ok(Record::Section(section)) if section.application.unwrap().starts_with("lasthop ")));
    let Ok(Record::Names(read)) = records[1] else { panic!() };
    assert!(read.eq(names.map(Ok)));
}

#[test]
fn an_interface_keeps_as_much_of_a_packet_as_its_snap_length() {
    let mut file = PcapNg::new(Vec::new()).unwrap();
    let all = file.interface(&Interface::default()).unwrap();
    let snapped = file.interface(&Interface { snap_length: 96, ..Interface::default() }).unwrap();
    for interface in [all, snapped] {
        file.packet(interface, 5, 1500, &[1; 300], &PacketOptions::default()).unwrap();
    }
    let file = file.finish().unwrap();
    let found: Vec<_> = packets(&read(&file)).iter().map(|p| (p.interface, p.bytes.len(), p.original_length)).collect();
    assert_eq!(found, [(0, 300, 1500), (1, 96, 1500)]);
}

#[test]
fn a_text_that_is_too_long_is_cut_between_letters() {
    let text = "é".repeat(40_000);
    let section = Section { comment: Some(&text), ..Section::default() };
    let file = PcapNg::with_section(Vec::new(), &section).unwrap().finish().unwrap();
    // 65,535 bytes hold 32,767 letters of two.
    let Ok(Record::Section(read)) = read(&file)[0] else { panic!() };
    assert_eq!(read.comment, Some(&text[..65_534]));
}

#[test]
fn sections_of_either_order_count_their_interfaces_anew() {
    let mut file = Vec::new();
    for order in ORDERS {
        let name = order.option(2, b"wlan0");
        let offset = [
            &order.option(9, &[6])[..],
            &order.option(14, &(if order.big { (-1i64).to_be_bytes() } else { (-1i64).to_le_bytes() })),
        ]
        .concat();
        file.extend(order.section(&order.option(4, b"test")));
        file.extend(order.interface(105, 0, &name));
        file.extend(order.interface(1, 0, &[&offset[..], &order.option(0, &[])].concat()));
        // Interface 1, 0x1_00000002 µs, 5 bytes of 9; comment and flags, no end of options.
        let body = [
            &order.words(&[1, 1, 2, 5, 9])[..],
            b"hello\0\0\0",
            &order.option(1, b"note"),
            &order.option(2, &order.u32(1 << 24)),
        ]
        .concat();
        file.extend(order.block(6, &body));
    }
    let records = read(&file);
    assert_eq!(records.len(), 8);
    let options =
        PacketOptions { comment: Some("note"), flags: Some(PacketFlags::CRC_ERROR), ..PacketOptions::default() };
    let expected = Packet {
        interface: 1,
        link_type: LinkType::ETHERNET,
        time_ns: Some(0x1_0000_0002 * 1000 - 1_000_000_000),
        original_length: 9,
        bytes: b"hello",
        options,
    };
    assert_eq!(packets(&records), [expected, expected]);
    let name = |record: &Result<_, _>| matches!(record, Ok(Record::Interface { number: 0, interface, .. }) if interface.name == Some("wlan0"));
    assert!(name(&records[1]) && name(&records[5]));
}

#[test]
fn packets_of_the_simple_and_of_the_obsolete_block_are_read() {
    for order in ORDERS {
        let simple = [&order.words(&[9])[..], b"sixsix\0\0"].concat();
        let obsolete = [&[order.u16(0), order.u16(3)].concat()[..], &order.words(&[0, 7, 2, 2]), b"ab\0\0"].concat();
        let unknown = [&[order.u16(0), order.u16(0xffff)].concat()[..], &order.words(&[0, 7, 0, 0])].concat();
        let file = [
            order.section(&[]),
            order.interface(127, 6, &[]),
            order.block(3, &simple),
            order.block(2, &obsolete),
            order.block(2, &unknown),
            order.block(0x77, b"blob"),
        ]
        .concat();
        let records = read(&file);
        let found = packets(&records);
        let about = |packet: &Packet<'_>| (packet.time_ns, packet.original_length, packet.options.dropped);
        assert_eq!(
            found.iter().map(about).collect::<Vec<_>>(),
            [(None, 9, None), (Some(7000), 2, Some(3)), (Some(7000), 0, None)]
        );
        assert_eq!(found.iter().map(|packet| packet.bytes).collect::<Vec<_>>(), [&b"sixsix"[..], b"ab", b""]);
        assert_eq!(records[5], Ok(Record::Other { block_type: 0x77 }));
    }
}

#[test]
fn pcap_has_four_forms() {
    for order in ORDERS {
        for (magic, ns, resolution) in [(0xa1b2_c3d4, 2_000_005_000, 6), (0xa1b2_3c4d, 2_000_000_005, 9)] {
            let mut file = order.pcap(magic, 0x2400_0069);
            file.extend([&order.words(&[2, 5, 3, 100])[..], b"abc"].concat());
            file.extend([&order.words(&[u32::MAX, 999_999, 1, 0])[..], b"z"].concat());
            let records = read(&file);
            let interface = Interface {
                link_type: LinkType(105),
                snap_length: 65_535,
                fcs_length: Some(4),
                ..Interface::default()
            };
            let clock = Clock { resolution, offset_s: 0 };
            assert_eq!(records[0], Ok(Record::Interface { number: 0, interface, clock }));
            let found = packets(&records);
            assert_eq!((found[0].time_ns, found[0].original_length, found[0].bytes), (Some(ns), 100, &b"abc"[..]));
            // A length below the captured length is corrected.
            assert_eq!((found[1].original_length, found[1].bytes), (1, &b"z"[..]));
        }
    }
}

#[test]
fn fault_within_a_record_does_not_hide_the_next() {
    let order = ORDERS[0];
    let far = order.block(6, &order.words(&[0, 0, 0, 9, 9]));
    let file = [
        order.section(&[]),
        order.interface(1, 0, &[9, 0, 9, 0]),
        order.block(6, &order.words(&[3, 0, 0, 0, 0])),
        far,
        order.block(6, &order.words(&[0, 0, 1, 0, 0])),
    ]
    .concat();
    let records = read(&file);
    let told: Vec<_> = records.iter().map(|record| record.map(|_| ()).map_err(|error| error.to_string())).collect();
    // The section takes 28 bytes, the interface 24, a packet without bytes 32.
    let expected = [
        Ok(()),
        Err("byte 48: option: of 9 bytes there are 0".to_owned()),
        Err("byte 60: interface number is 3, but the section has no such interface".to_owned()),
        Err("byte 112: packet: of 9 bytes there are 0".to_owned()),
        Ok(()),
    ];
    assert_eq!(told, expected);
    assert_eq!(packets(&records)[0].time_ns, Some(1000));
}

#[test]
fn a_wrong_length_and_the_end_of_a_file_within_a_record_are_the_last() {
    let order = ORDERS[1];
    let head = [order.section(&[]), order.interface(1, 0, &[])].concat();
    let last = |tail: &[u8]| {
        let file = [&head[..], tail].concat();
        let records = read(&file);
        assert_eq!(records.len(), 3);
        records[2].unwrap_err().to_string()
    };
    let empty = order.block(5, &[]);
    assert_eq!(last(&empty[..7]), "byte 48: the last record: of 8 bytes there are 7");
    assert_eq!(last(&empty[..11]), "byte 48: the last record: of 12 bytes there are 11");
    assert_eq!(
        last(&order.words(&[5, 13, 0, 13])),
        "byte 52: block length is 13, but it is a multiple of 4, and 12 or more"
    );
    assert_eq!(last(&order.words(&[5, 8, 8])), "byte 52: block length is 8, but it is a multiple of 4, and 12 or more");
    assert_eq!(
        last(&order.words(&[5, 12, 16, 0])),
        "byte 56: block length at the end is 16, but it is that at the beginning"
    );
    assert_eq!(
        last(&order.words(&[5, 0x1000_0000, 0])),
        "byte 52: length of a record is 268435456, but records of up to 64 MiB are read"
    );
    assert_eq!(
        last(&order.words(&[0x0a0d_0d0a, 28, 7])),
        "byte 56: pcapng byte order magic is 7, but it is 1a2b3c4d in either order"
    );
}

#[test]
fn another_file_is_refused_at_its_first_byte() {
    let told = |file: &[u8]| read(file)[0].unwrap_err().to_string();
    assert_eq!(told(b"PK\x03\x04etc."), "byte 0: the file's magic number is 1347093252, but it is pcap's or pcapng's");
    assert_eq!(told(b"ab"), "byte 0: the last record: of 4 bytes there are 2");
    let mut pcap = ORDERS[0].pcap(0xa1b2_c3d4, 1);
    pcap[4] = 9;
    assert_eq!(told(&pcap), "byte 4: pcap major version is 9, but it is 2");
    assert_eq!(read(&pcap).len(), 1);
    assert_eq!(read(b""), []);
}

#[test]
fn failing_input_is_reported_once() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("broken"))
        }
    }
    let mut reader = Reader::new(Broken);
    assert_eq!(reader.record().unwrap_err().to_string(), "broken");
    assert!(matches!(reader.record(), Ok(None)));
}

#[test]
#[should_panic(expected = "the interface was added before")]
fn a_packet_of_no_interface_is_refused() {
    let mut file = PcapNg::new(Vec::new()).unwrap();
    drop(file.packet(0, 0, 0, &[], &PacketOptions::default()));
}
