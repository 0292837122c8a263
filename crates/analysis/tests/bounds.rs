//! State for each address, connection or number of a capture has a bound, and a note says that it was reached.

use crate::made;

use lasthop_analysis::{Request, analyze};
use lasthop_wire::capture::LinkType;
use made::{Packets, analysis, data, datagram, in_ampdu, probe, radiotap, rts, syn};

/// Asserts that a capture reaches a bound with this divisor alone, and that the note has the words.
fn reaches(words: &str, link_type: LinkType, divisor: usize, packets: &Packets) {
    let name = format!("bound-{}.pcapng", words.replace(' ', "-"));
    let notes = |divisor| analysis(&name, link_type, packets, divisor).notes.join("\n");
    let (bounded, plain) = (notes(divisor), notes(1));
    assert!(bounded.contains(words), "{words}: {bounded}");
    assert!(!plain.contains("more than"), "{plain}");
}

fn every_us(step: u64, packets: impl IntoIterator<Item = Vec<u8>>) -> Packets {
    (1..).map(|n| n * step).zip(packets).collect()
}

#[test]
fn addresses() {
    let probes = (10..40).map(probe);
    let first = [data(&radiotap(5180, None), 2, 0, 0, false)];
    reaches("more than 20 addresses", LinkType::RADIOTAP, 100_000, &every_us(1000, first.into_iter().chain(probes)));
}

#[test]
fn channels() {
    let frames = (0..5).map(|n| data(&radiotap(5180 + 20 * n, None), 2, n, 0, false));
    reaches("more than 2 channels", LinkType::RADIOTAP, 32, &every_us(1000, frames));
}

#[test]
fn connections() {
    let packets = every_us(1000, (0..30).map(|n| datagram(true, n, 5000, &[1; 40])));
    reaches("more than 10 connections: packets", LinkType::RAW_IP, 10_000, &packets);
}

#[test]
fn subflows_and_tokens() {
    let capable = [0, 0x81, 0, 0, 0, 0, 0, 0, 0, 9];
    let subflows = every_us(1000, (0..30).map(|host| syn(host, &capable)));
    reaches("more than 20 subflows", LinkType::RAW_IP, 1000, &subflows);
    let join = |token: u8| [0x10, 1, token, 0, 0, 0, 0, 0, 0, 1];
    let tokens = every_us(1000, (0..30).map(|token| syn(1, &join(token))));
    reaches("more than 20 tokens", LinkType::RAW_IP, 1000, &tokens);
}

/// A Handshake packet of QUIC.
fn quic(version: u32) -> Vec<u8> {
    let mut payload = vec![0xe0];
    payload.extend(version.to_be_bytes());
    payload.extend([0, 0, 0x40, 20]);
    payload.resize(payload.len() + 20, 7);
    payload
}

#[test]
fn connections_and_versions_of_quic() {
    let connections = every_us(1000, (0..15).map(|host| datagram(true, host, 5000, &quic(1))));
    reaches("more than 10 connections of QUIC", LinkType::RAW_IP, 200, &connections);
    let versions = every_us(1000, (1..11).map(|draft| datagram(true, 1, 5000, &quic(0xff00_0000 + draft))));
    reaches("more than 4 versions of QUIC", LinkType::RAW_IP, 4, &versions);
}

#[test]
fn sequence_numbers() {
    let frames = (0..15).map(|tid| data(&radiotap(5180, None), 2, 0, tid, false));
    reaches("more than 10 pairs of nodes and TIDs", LinkType::RADIOTAP, 2000, &every_us(1000, frames));
}

#[test]
fn overlapping_ppdus_and_hidden_pairs() {
    // 530 bytes at 24 Mbit/s take 200 us; stations begin 41 us apart, so that the clock has steps of 1 us.
    let rounds = (0..4_u64).flat_map(|round| (0..4_u64).map(move |n| (round, n)));
    let frame = |(round, n): (u64, u64)| {
        let at = 1001 * (1 + round) + 41 * n;
        (at, data(&radiotap(5180, None), 2 + n as u32, round as u16, 0, false))
    };
    let packets: Packets = rounds.map(frame).collect();
    reaches("more than 2 pairs of nodes that do not hear", LinkType::RADIOTAP, 5000, &packets);
    reaches("more than 2 PPDUs at one time", LinkType::RADIOTAP, 500, &packets);
}

#[test]
fn mpdus_of_a_ppdu() {
    let frames = (0..1100).map(|number| (1000, data(&in_ampdu(5), 2, number, 0, false)));
    let packets: Packets = frames.collect();
    let analysis = analysis("bound-mpdus.pcapng", LinkType::RADIOTAP, &packets, 1);
    assert!(analysis.notes.join("\n").contains("more than 1024 MPDUs in a PPDU"), "{:?}", analysis.notes);
    let (mpdus, ppdus) = (&analysis.run["capture"]["links"][0]["mpdus"], &analysis.run["capture"]["air"]["ppdus"]);
    assert_eq!((mpdus, ppdus), (&1100.into(), &2.into()));
}

#[test]
fn rts_without_a_cts() {
    let first = [data(&radiotap(5180, None), 2, 0, 0, false)];
    let packets = every_us(300, first.into_iter().chain((0..10).map(|_| rts(2))));
    reaches("more than 4 RTS without a CTS", LinkType::RADIOTAP, 1024, &packets);
}

#[test]
fn intervals_of_rates() {
    let frames = (0..10).map(|n| data(&radiotap(5180, Some(n as u8 % 3)), 2, n, 0, false));
    let packets = every_us(100_000, frames);
    reaches("more than 2 intervals of rates over time", LinkType::RADIOTAP, 1_000_000, &packets);
}

#[test]
fn names_of_addresses() {
    let packets = every_us(1000, [datagram(true, 1, 5000, &[1; 40])]);
    let files = vec![made::file("bound-names.pcapng", LinkType::RAW_IP, &packets, 5)];
    let notes = |bounds_divisor| {
        let request = Request { files: files.clone(), bounds_divisor, ..Request::default() };
        analyze(&request, &Default::default()).unwrap().notes.join("\n")
    };
    assert!(notes(50_000).contains("more than 2 names of addresses") && !notes(1).contains("more than"));
}
