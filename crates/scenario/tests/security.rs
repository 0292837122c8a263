//! Protected data frames: the air time of their 16 octets, against arithmetic.

use lasthop_scenario::{resolve, run};
use serde_json::Value;

/// Goodput in Mbit/s of one saturated station without competitors.
fn goodput(bss: &str) -> f64 {
    let text = format!(
        "duration = \"20 s\"\n[bss]\n{bss}\n[[station]]\ndistance = \"1 m\"\n[[flow]]\ntransport = \"udp\"\n\
         rate = \"saturated\"\npacket_size = \"1500 B\"\n"
    );
    let scenario = resolve(&text, "f.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let result: Value = serde_json::from_str(&run(&scenario, 1, None).unwrap().json()).unwrap();
    result["totals"]["goodput_bps"].as_f64().unwrap() / 1e6
}

/// Compares it with this many packets of 1472 B in a cycle of `us`.
#[track_caller]
fn agrees(bss: &str, packets: f64, us: f64) {
    let (measured, expected) = (goodput(bss), packets * 1472.0 * 8.0 / us);
    // A backoff deviates by 41 us (slots of 9 us) to 180 us (of 20 us); the mean of at least 3000 by 3 of 5500 us at most.
    assert!((measured / expected - 1.0).abs() < 0.002, "{bss}: {measured} and {expected}");
}

#[test]
fn octets_of_ccmp_take_their_time() {
    let bss = |standard: &str, rate: &str| {
        let rate = format!("rate_control = {{ kind = \"fixed\", {rate} }}");
        [
            format!("standard = \"{standard}\"\n{rate}"),
            format!("standard = \"{standard}\"\n{rate}\nsecurity = \"ccmp\""),
        ]
    };
    // 24 + 8 + 1500 + 4 = 1536 B, and 1552 B with header and MIC. DIFS 34, mean backoff 7.5 x 9, SIFS 16.
    // 54 Mbit/s: 20 + 4 x 57 us, 20 + 4 x 58 us: 22 + 8 x 1552 bits are 57.6 symbols of 216. Ack 28 us.
    let [open, ccmp] = bss("802.11a", "rate = \"54 Mbit/s\"");
    agrees(&open, 1.0, 34.0 + 67.5 + 248.0 + 16.0 + 28.0);
    agrees(&ccmp, 1.0, 34.0 + 67.5 + 252.0 + 16.0 + 28.0);
    // 6 Mbit/s: 20 + 4 x 519 us: 518.3 symbols of 24. Ack 44 us.
    let [open, ccmp] = bss("802.11a", "rate = \"6 Mbit/s\"");
    agrees(&open, 1.0, 34.0 + 67.5 + 2072.0 + 16.0 + 44.0);
    agrees(&ccmp, 1.0, 34.0 + 67.5 + 2096.0 + 16.0 + 44.0);
    // 11 Mbit/s: 192 + 8 x 1552 / 11 us. DIFS 50, mean backoff 15.5 x 20, SIFS 10, Ack 192 + 112 / 11 us.
    let [open, ccmp] = bss("802.11b", "rate = \"11 Mbit/s\"");
    agrees(&open, 1.0, 50.0 + 310.0 + 192.0 + 12_288.0 / 11.0 + 10.0 + 192.0 + 112.0 / 11.0);
    agrees(&ccmp, 1.0, 50.0 + 310.0 + 192.0 + 12_416.0 / 11.0 + 10.0 + 192.0 + 112.0 / 11.0);
}

#[test]
fn octets_of_ccmp_are_in_every_mpdu_of_an_ampdu() {
    let bss =
        "standard = \"802.11n\"\nrate_control = { kind = \"fixed\", mcs = 7 }\nedca.be = { txop_limit = \"0 us\" }\n";
    // 5.484 ms at 65 Mbit/s hold 28 MPDUs. 26 + 8 + 1500 + 4 = 1538 B with delimiter and padding are 1544 B: 28 of them
    // 43,230 B, 36 + 4 x 1331 us. With 16 B more 1560 B: 43,678 B, 36 + 4 x 1345 us: 1344.02 symbols of 260 bits.
    // AIFS 43, mean backoff 67.5, SIFS 16, BlockAck 32 us.
    agrees(bss, 28.0, 43.0 + 67.5 + 5360.0 + 16.0 + 32.0);
    agrees(&format!("{bss}security = \"ccmp\"\n"), 28.0, 43.0 + 67.5 + 5416.0 + 16.0 + 32.0);
}

#[test]
fn protected_a_msdu_leaves_room_for_the_octets() {
    let complaint = |amsdu: u32, security: &str| {
        let text = format!(
            "[bss]\nstandard = \"802.11n\"\nsecurity = \"{security}\"\naggregation = {{ amsdu = \"{amsdu} B\" }}\n[[station]]\n"
        );
        resolve(&text, "f.toml", &[]).err().map(|error| error.to_string()).unwrap_or_default()
    };
    // An MPDU of an A-MPDU has at most 4095 B: 4065 and 30, or 4049, 30 and 16.
    assert_eq!((complaint(4065, "open").as_str(), complaint(4049, "ccmp").as_str()), ("", ""));
    assert!(complaint(4050, "ccmp").contains("from 1 to 4049 B"), "{}", complaint(4050, "ccmp"));
}
