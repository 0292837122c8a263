//! Headers drawn at random are read as they were written.

use crate::any;

use any::Any;
use lasthop_wire::ieee80211::{Frame, Mpdus, Msdu, Msdus, append_mpdu, append_msdu};
use lasthop_wire::ip::{Ip, Ipv4, Ipv6};
use lasthop_wire::tcp::Segment;
use lasthop_wire::{Addresses, EtherType, Ethernet, Payload, Radiotap, Tcp, Udp};

/// Number of headers of each kind.
const DRAWS: u64 = 20_000;

fn written(append: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    append(&mut bytes);
    bytes
}

#[test]
fn radiotap() {
    for seed in 0..DRAWS {
        let mut any = Any::new(seed);
        let header = any.radiotap();
        let mut bytes = written(|out| header.append(out));
        assert_eq!(header.length(), bytes.len(), "seed {seed}");
        let frame = any.bytes(20);
        bytes.extend_from_slice(&frame);
        assert_eq!(Radiotap::parse(&bytes), Ok((header, &frame[..])), "seed {seed}");
    }
}

#[test]
fn frames_of_80211() {
    for seed in 0..DRAWS {
        let mut any = Any::new(seed);
        let body = any.bytes(40);
        let (rts, cts, ack) = (any.rts(), any.cts(), any.ack());
        let (request, block_ack) = (any.block_ack_req(), any.block_ack());
        let (data, beacon, management) = (any.data(&body), any.beacon(&body), any.management(&body));
        for (frame, bytes) in [
            (Frame::Rts(rts), written(|out| rts.append(out))),
            (Frame::Cts(cts), written(|out| cts.append(out))),
            (Frame::Ack(ack), written(|out| ack.append(out))),
            (Frame::BlockAckReq(request), written(|out| request.append(out))),
            (Frame::BlockAck(block_ack), written(|out| block_ack.append(out))),
            (Frame::Data(data), written(|out| data.append(out))),
            (Frame::Beacon(beacon), written(|out| beacon.append(out))),
            (Frame::Management(management), written(|out| management.append(out))),
        ] {
            assert_eq!(Frame::parse(&bytes), Ok(frame), "seed {seed}");
        }
    }
}

#[test]
fn aggregates() {
    for seed in 0..DRAWS / 10 {
        let mut any = Any::new(seed);
        let parts: Vec<_> = (0..any.up_to(9)).map(|_| [any.bytes(300), vec![7]].concat()).collect();
        let (mut ampdu, mut amsdu) = (Vec::new(), Vec::new());
        let msdus: Vec<_> = parts
            .iter()
            .map(|bytes| Msdu { destination: any.mac(), source: any.mac(), length: bytes.len() as u16, bytes })
            .collect();
        parts.iter().for_each(|mpdu| append_mpdu(mpdu, false, 0, &mut ampdu));
        msdus.iter().for_each(|msdu| append_msdu(msdu, 0, &mut amsdu));
        assert!(
            Mpdus::new(&ampdu).map(|mpdu| mpdu.unwrap().bytes).eq(parts.iter().map(|mpdu| &mpdu[..])),
            "seed {seed}"
        );
        assert!(Msdus::new(&amsdu).map(|msdu| msdu.unwrap()).eq(msdus.iter().copied()), "seed {seed}");
    }
}

#[test]
fn ethernet_and_ip() {
    for seed in 0..DRAWS {
        let mut any = Any::new(seed);
        let vlan = any.maybe(|any| any.u16(16));
        let ether_type = EtherType(any.u16(15));
        let ethernet = Ethernet { destination: any.mac(), source: any.mac(), vlan, ether_type };
        let mut bytes = written(|out| ethernet.append(out));
        let payload = any.bytes(50);
        bytes.extend_from_slice(&payload);
        assert_eq!(Ethernet::parse(&bytes), Ok((ethernet, &payload[..])), "seed {seed}");

        let options: Vec<u8> = any.bytes(10).iter().flat_map(|&byte| [byte; 4]).collect();
        let v4 = any.v4(&options, payload.len() as u16);
        let mut bytes = written(|out| v4.append(out));
        assert!(Ipv4::checksum_is_good(&bytes), "seed {seed}");
        bytes.extend_from_slice(&payload);
        // The padding of a link is not payload.
        bytes.extend_from_slice(&any.bytes(9));
        assert_eq!(Ip::parse(&bytes), Ok((Ip::V4(v4), &payload[..])), "seed {seed}");

        let v6: Ipv6 = any.v6(payload.len() as u16);
        let mut bytes = written(|out| v6.append(out));
        bytes.extend_from_slice(&payload);
        assert_eq!(Ip::parse(&bytes), Ok((Ip::V6(v6), &payload[..])), "seed {seed}");
    }
}

#[test]
fn transports_and_their_checksums() {
    for seed in 0..DRAWS {
        let mut any = Any::new(seed);
        let (v4, v6) = (any.v4(&[], 0), any.v6(0));
        let addresses: Addresses = if any.coin() { v4.addresses() } else { v6.addresses() };
        let (start, cookie) = (any.bytes(50), vec![9; 2 * any.up_to(8)]);
        let payload = Payload { bytes: &start, zeros: any.up_to(1500) };
        let zeros = vec![0; payload.zeros];

        let tcp = any.tcp(&cookie);
        let mut bytes = written(|out| tcp.append(&addresses, payload, out));
        let segment = Segment { header: tcp, header_length: tcp.header_length(), payload: &start };
        assert_eq!(Tcp::parse(&bytes), Ok(segment), "seed {seed}");
        assert!(Tcp::checksum_is_good(&addresses, Payload { bytes: &bytes, zeros: payload.zeros }), "seed {seed}");
        bytes.extend_from_slice(&zeros);
        let whole = Payload::bytes(&bytes);
        // An odd beginning has its zeros in the lower halves of words, so the sum does not change.
        assert!(Tcp::checksum_is_good(&addresses, whole), "seed {seed}");
        let place = any.up_to(bytes.len() - 1);
        bytes[place] ^= 1 << any.up_to(7);
        assert!(!Tcp::checksum_is_good(&addresses, Payload::bytes(&bytes)), "seed {seed}");

        let payload_length = payload.length() as u16;
        let udp = Udp { source_port: any.u16(16), destination_port: any.u16(16), payload_length };
        let mut bytes = written(|out| udp.append(&addresses, payload, out));
        assert_eq!(Udp::parse(&bytes), Ok((udp, &start[..])), "seed {seed}");
        bytes.extend_from_slice(&zeros);
        assert_eq!(Udp::checksum_is_good(&addresses, &bytes), Some(true), "seed {seed}");
    }
}
