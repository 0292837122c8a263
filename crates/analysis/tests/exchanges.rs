//! Flows and nodes of captures made by hand: echoes and calls, equals at a bound, lengths by the FCS of each file.

use crate::made;

use std::path::PathBuf;

use lasthop_analysis::{Analysis, Request, analyze};
use lasthop_wire::capture::LinkType;
use lasthop_wire::ieee80211::Ack;
use lasthop_wire::{MacAddress, append_fcs};
use made::{Packets, analysis, data, datagram, file, framed, radiotap};
use serde_json::Value as Json;

/// A payload of `bytes` bytes with a number.
fn payload(number: u32, bytes: usize) -> Vec<u8> {
    let mut payload = number.to_be_bytes().to_vec();
    payload.resize(bytes, 0);
    payload
}

/// Ids of flows with their traffic.
fn flows(analysis: &Analysis) -> Vec<(String, Json)> {
    let flows = analysis.run["flows"].as_array().unwrap();
    flows.iter().map(|flow| (flow["id"].as_str().unwrap().into(), flow["traffic"].clone())).collect()
}

#[test]
fn streams_of_a_call_are_two_flows() {
    let mut packets: Packets = Vec::new();
    for n in 0..250_u64 {
        // 172 bytes every 20 ms both ways, as RTP has them.
        packets.push((20_000 * n + 1000, datagram(true, 1, 5000, &payload(n as u32 + 1, 172))));
        packets.push((20_000 * n + 8000, datagram(false, 1, 5000, &payload(n as u32 + 70_000, 172))));
    }
    let found = analysis("call.pcapng", LinkType::RAW_IP, &packets, 1);
    let expected = [("10.0.0.1.up".into(), Json::Null), ("10.0.0.1.down".into(), Json::Null)];
    assert_eq!(flows(&found), expected);
    // 249 intervals of 20 ms and 7 ms for 250 payloads of 172 bytes.
    for flow in found.run["flows"].as_array().unwrap() {
        let goodput = flow["goodput_bps"].as_f64().unwrap();
        assert!((goodput - 250.0 * 172.0 * 8.0 / 4.987).abs() < 5.0, "{goodput}");
    }
}

#[test]
fn echoes_are_one_flow_with_an_rtt() {
    let mut packets: Packets = Vec::new();
    for n in 0..100_u64 {
        packets.push((100_000 * n + 1000, datagram(true, 1, 5000, &payload(n as u32 + 1, 64))));
        // Each fifth is lost; the others take 30 or 50 ms.
        if n % 5 > 0 {
            let took = if n % 2 == 0 { 30_000 } else { 50_000 };
            packets.push((100_000 * n + 1000 + took, datagram(false, 1, 5000, &payload(n as u32 + 1, 64))));
        }
    }
    packets.sort();
    let found = analysis("echoes.pcapng", LinkType::RAW_IP, &packets, 1);
    assert_eq!(flows(&found), [("10.0.0.1.up".into(), Json::from("ping"))]);
    let (flow, echo) = (&found.run["flows"][0], &found.run["capture"]["flows"][0]["echo"]);
    assert_eq!((&echo["requests"], &echo["answered"]), (&100.into(), &80.into()));
    assert!((echo["rtt_beyond_mean_s"].as_f64().unwrap() - 0.04).abs() < 1e-9);
    assert!((flow["rtt_mean_s"].as_f64().unwrap() - 0.04).abs() < 1e-9);
    assert!((flow["rtt_p95_s"].as_f64().unwrap() - 0.05).abs() < 0.05 / 16.0);
}

#[test]
fn exchanges_of_equal_size_fill_the_tables_in_the_order_of_time() {
    let sent: Packets =
        (0..2500).map(|n| (1000 * u64::from(n + 1), datagram(true, n, 5000, &payload(n + 1, 100)))).collect();
    let found = analysis("equal-flows.pcapng", LinkType::RAW_IP, &sent, 1);
    assert_eq!(flows(&found).len(), 2000);
    assert_eq!(found.run["capture"]["flows_left_out"], 500);
    // Exchanges without data are no flows, and are not left out either.
    let empty = (0..3000).map(|n| (4_000_000 + u64::from(n), made::syn(n, &[0, 0x81])));
    let with_empty: Packets = sent.into_iter().take(10).chain(empty).collect();
    let found = analysis("empty-flows.pcapng", LinkType::RAW_IP, &with_empty, 1);
    assert_eq!((flows(&found).len(), &found.run["capture"]["flows_left_out"]), (10, &0.into()));
}

#[test]
fn answered_stations_of_equal_activity_fill_the_tables() {
    let mut packets: Packets = Vec::new();
    for station in 0..2200_u32 {
        let at = 1000 * u64::from(station + 1);
        packets.push((at, data(&radiotap(5180, None), 2 + station, 1, 0, false)));
        let ack = Ack { receiver: MacAddress::local(2 + station), ..Ack::default() };
        packets.push((at + 250, framed(&radiotap(5180, None), |out| ack.append(out))));
    }
    let found = analysis("equal-nodes.pcapng", LinkType::RADIOTAP, &packets, 1);
    assert_eq!(found.run["nodes"].as_array().unwrap().len(), 2000);
    assert_eq!(found.run["capture"]["addresses_left_out"], 201);
}

#[test]
fn latest_frame_lasts_by_the_fcs_of_its_file() {
    // File 0 has no FCS, file 1 has one without a flag.
    let without: Packets = vec![(1000, data(&radiotap(5180, None), 2, 0, 0, false))];
    let mut with_fcs = data(&radiotap(5180, None), 2, 1, 0, false);
    let header = framed(&radiotap(5180, None), |_| ()).len();
    append_fcs(&mut with_fcs, header);
    let files = vec![
        file("no-fcs.pcapng", LinkType::RADIOTAP, &without, 0),
        file("fcs.pcapng", LinkType::RADIOTAP, &vec![(2000, with_fcs)], 0),
    ];
    let run = analyze(&Request { files, ..Request::default() }, &Default::default()).unwrap().run;
    // 530 bytes at 24 Mbit/s: 20 us and ceil((16 + 8 x 530 + 6) / 96) = 45 symbols of 4 us.
    let to_s = run["capture"]["to_s"].as_f64().unwrap();
    assert!((to_s - (0.002 + 200e-6)).abs() < 2e-9, "{to_s}");
}

#[test]
fn retry_bits_show_losses_that_the_sniffer_did_not_hear() {
    let mut packets: Packets = Vec::new();
    for n in 0..100_u16 {
        let at = 1000 * u64::from(n + 1);
        // Each fourth arrives at its second attempt.
        packets.push((at, data(&radiotap(5180, None), 2, n, 0, n % 4 == 3)));
        let ack = Ack { receiver: MacAddress::local(2), ..Ack::default() };
        // 20 us and 45 symbols, and SIFS.
        packets.push((at + 216, framed(&radiotap(5180, None), |out| ack.append(out))));
    }
    let loss = |packets: &Packets| {
        let run = analysis("retries.pcapng", LinkType::RADIOTAP, packets, 1).run;
        let link = run["links"].as_array().unwrap().iter().position(|link| link["frames_sent"] == 100).unwrap();
        (run["links"][link]["mpdu_loss_fraction"].clone(), run["capture"]["links"][link]["mpdu_loss_from"].clone())
    };
    assert_eq!(loss(&packets), (0.25.into(), "retry_bits".into()));
    let first_attempts: Packets = packets
        .iter()
        .enumerate()
        .map(|(place, (at, bytes))| {
            let frame = data(&radiotap(5180, None), 2, place as u16 / 2, 0, false);
            (*at, if place % 2 == 0 { frame } else { bytes.clone() })
        })
        .collect();
    assert_eq!(loss(&first_attempts), (0.0.into(), "answers".into()));
}

#[test]
fn goodput_of_encrypted_frames_is_unknown_unless_a_wire_was_captured() {
    let header = framed(&radiotap(5180, None), |_| ()).len();
    // Times that show the clock's step of 1 us.
    let at = |n: u64| 1000 * (n + 1) + n * 7 % 13;
    let air = |name, protected: u8| {
        let frame = |n: u16| {
            let mut frame = data(&radiotap(5180, None), 2, n, 0, false);
            frame[header + 1] |= protected;
            (at(n.into()), frame)
        };
        file(name, LinkType::RADIOTAP, &(0..50).map(frame).collect(), 0)
    };
    let goodputs = |files: Vec<PathBuf>| {
        let run = analyze(&Request { files, ..Request::default() }, &Default::default()).unwrap().run;
        ["goodput_bps", "goodput_up_bps", "goodput_down_bps"].map(|name| run["totals"][name].as_f64())
    };
    assert_eq!(goodputs(vec![air("plain.pcapng", 0)]), [Some(0.0); 3]);
    // Protected Frame. [802.11-2020 §9.2.4.1.9]
    let encrypted = air("encrypted.pcapng", 0x40);
    assert_eq!(goodputs(vec![encrypted.clone()]), [None; 3]);
    let datagrams = (0..50).map(|n| (at(n) + 500, datagram(true, 1, 5000, &payload(n as u32 + 1, 100)))).collect();
    let wire = file("beside-encrypted.pcapng", LinkType::RAW_IP, &datagrams, 0);
    let [all, up, down] = goodputs(vec![encrypted.clone(), wire]);
    assert!(all > Some(0.0) && up == all && down == Some(0.0), "{all:?} {up:?} {down:?}");
}

/// A capture of encrypted frames of two stations, and one of a wire on which the server opened the connections.
fn behind_encryption(name: &str, link_type: LinkType, heads: [&[u8]; 2]) -> Json {
    let header = framed(&radiotap(5180, None), |_| ()).len();
    let frame = |n: u64| {
        let mut frame = data(&radiotap(5180, None), 2 + n as u32 % 2, n as u16 / 2, 0, false);
        frame[header + 1] |= 0x40;
        (1000 * (n + 1), frame)
    };
    let air = file(&format!("air-{name}"), LinkType::RADIOTAP, &(0..50).map(frame).collect(), 0);
    let down = |n: u64| {
        let host = n as usize % heads.len();
        // The server has the higher port.
        let packet = datagram(false, 1 + host as u32, 80, &payload(n as u32 + 1, 100));
        (1000 * (n + 1) + 500, [heads[host], &packet].concat())
    };
    let wire = file(name, link_type, &(0..50).map(down).collect(), 0);
    analyze(&Request { files: vec![air, wire], ..Request::default() }, &Default::default()).unwrap().run
}

#[test]
fn host_of_all_connections_is_the_server_behind_encrypted_air() {
    let run = behind_encryption("one-server.pcapng", LinkType::RAW_IP, [&[], &[]]);
    let ids: Vec<_> = run["flows"].as_array().unwrap().iter().map(|flow| flow["id"].clone()).collect();
    assert_eq!(ids, ["10.0.0.1.down", "10.0.0.2.down"]);
}

#[test]
fn addresses_of_stations_on_the_wire_show_their_flows() {
    let ethernet = |station: u32| {
        let ends = [MacAddress::local(station).0, MacAddress::local(9).0];
        [ends.concat().as_slice(), &[8, 0]].concat()
    };
    let run = behind_encryption("bridged.pcapng", LinkType::ETHERNET, [&ethernet(2), &ethernet(3)]);
    let flows = run["flows"].as_array().unwrap();
    let found: Vec<_> = flows.iter().map(|flow| (flow["station"].clone(), flow["direction"].clone())).collect();
    let of = |station: u32| (Json::from(MacAddress::local(station).to_string()), Json::from("down"));
    assert_eq!(found, [of(2), of(3)]);
}
