//! CAKE at each place of a scenario: its shaper on a wire, at an access point and above a driver, and its hosts.

use lasthop_scenario::{resolve, run};
use serde_json::Value;

/// Downloads behind a wire that is faster than the shaper, over air that is faster than the wire.
const CELL: &str = r#"
duration = "8 s"
warmup = "3 s"
[channel]
path_loss = "none"
error_model = "none"
[bss]
standard = "802.11ac"
channel_width = "80 MHz"
rate_control = { kind = "fixed", mcs = 9 }
[[station]]
name = "one"
[[station]]
name = "four"
[wired]
rate = "100 Mbit/s"
delay = "10 ms"
[tcp]
profile = "linux"
[[flow]]
station = "one"
direction = "down"
[[flow]]
station = "four"
direction = "down"
name = "a"
[[flow]]
station = "four"
direction = "down"
name = "b"
[[flow]]
station = "four"
direction = "down"
name = "c"
[[flow]]
station = "four"
direction = "down"
name = "d"
"#;

/// The bytes of TCP in those of an Ethernet frame, with timestamps.
const DATA: f64 = 1448.0 / 1514.0;

fn result(text: &str, settings: &[(&str, &str)]) -> Value {
    let settings: Vec<_> = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let scenario = resolve(text, "cake.toml", &settings).unwrap_or_else(|e| panic!("{e}"));
    serde_json::from_str(&run(&scenario, 1, None).unwrap_or_else(|e| panic!("{e}")).json()).unwrap()
}

fn goodputs_mbps(result: &Value) -> Vec<f64> {
    let flows = result["flows"].as_array().unwrap();
    flows.iter().map(|flow| flow["goodput_bps"].as_f64().unwrap() / 1e6).collect()
}

fn assert_near(found: f64, expected: f64, tolerance: f64, told: &str) {
    assert!((found / expected - 1.0).abs() < tolerance, "{told}: {found}, expected {expected}");
}

#[test]
fn shaper_of_a_wire_lets_its_rate_pass_and_hosts_share_it() {
    for (isolation, share) in [("dual_dsthost", 0.5), ("flows", 0.2), ("triple_isolate", 0.2)] {
        let queue = format!("{{ kind = \"cake\", bandwidth = \"20 Mbit/s\", isolation = \"{isolation}\" }}");
        let result = result(CELL, &[("wired.queue", &queue)]);
        let goodputs = goodputs_mbps(&result);
        let all: f64 = goodputs.iter().sum();
        assert_near(all, 20.0 * DATA, 0.01, isolation);
        // CUBIC flows do not always have a packet in the queue.
        assert_near(goodputs[0] / all, share, 0.05, isolation);
        let rtt_s = result["flows"][0]["rtt_mean_s"].as_f64().unwrap();
        // 20 ms of wire, and a queue whose target is 5 ms in each flow's.
        assert!((0.020..0.040).contains(&rtt_s), "{isolation}: {rtt_s}");
    }
}

#[test]
fn queue_up_is_that_of_uploads_alone() {
    let up = CELL.replace("station = \"one\"\ndirection = \"down\"", "station = \"one\"\ndirection = \"up\"");
    let settings = [
        ("wired.queue", r#"{ kind = "cake", bandwidth = "20 Mbit/s" }"#),
        ("wired.queue_up", r#"{ kind = "cake", bandwidth = "5 Mbit/s" }"#),
        // So that one ACK answers two segments.
        ("tcp.profile", "linux-6.12"),
        ("tcp.push_sends", "false"),
    ];
    let result = result(&up, &settings);
    let goodputs = goodputs_mbps(&result);
    assert_near(goodputs[1..].iter().sum(), 20.0 * DATA, 0.03, "down");
    // ACKs of the downloads share the 5 Mbit/s: one of 66 B for two segments of 1514 B.
    assert!((4.2..5.0 * DATA).contains(&goodputs[0]), "{goodputs:?}");
    // The resolved scenario has the key only if it is set.
    let plain = resolve(CELL, "cake.toml", &[]).unwrap().to_json();
    assert!(!plain.contains("queue_up"), "{plain}");
}

#[test]
fn filter_of_acks_speeds_a_download_up_behind_a_slow_way_back() {
    let of = |profile: &str, filter| {
        let queue = format!("{{ kind = \"cake\", bandwidth = \"100 kbit/s\", ack_filter = \"{filter}\" }}");
        let tcp = [("tcp.profile", profile), ("tcp.push_sends", "false")];
        let settings = [("wired.rate", "20 Mbit/s"), ("wired.queue_up", queue.as_str()), tcp[0], tcp[1]];
        let result = result(CELL, &settings);
        let filtered = result["nodes"][0]["wired_acks_filtered"].as_u64().unwrap();
        (goodputs_mbps(&result).iter().sum::<f64>(), filtered)
    };
    let [off, on, aggressive] = ["off", "on", "aggressive"].map(|filter| of("linux-6.12", filter));
    assert!(off.1 == 0 && on.1 > 100 && aggressive.1 > 100, "{off:?} {on:?} {aggressive:?}");
    assert!(on.0 > 1.2 * off.0 && aggressive.0 > 1.2 * off.0, "{off:?} {on:?} {aggressive:?}");
    // ACKs of accurate ECN all stay, with the filter of Linux 7.3.4 too.
    assert_eq!(of("linux-7.3", "on"), of("linux-7.3", "off"));
}

#[test]
fn shaper_of_an_access_point_lets_its_rate_pass_whatever_is_below_it() {
    let queue = r#"{ kind = "cake", bandwidth = "20 Mbit/s", isolation = "dual_dsthost" }"#;
    for standard in ["802.11ac", "802.11a"] {
        for driver in ["\"ideal\"", "\"ath9k\"", "\"mt76\"", "\"iwlwifi\"", "{ packets = \"20 packets\" }"] {
            let mcs = r#"{ kind = "fixed", mcs = 9 }"#;
            let rate = if standard == "802.11a" { r#"{ kind = "fixed", rate = "54 Mbit/s" }"# } else { mcs };
            let width = if standard == "802.11a" { "20 MHz" } else { "80 MHz" };
            let settings = [
                ("bss.standard", standard),
                ("bss.channel_width", width),
                ("bss.rate_control", rate),
                ("bss.ap.driver", driver),
                ("bss.ap.queue", queue),
                ("duration", "5 s"),
                ("warmup", "2 s"),
            ];
            let goodputs = goodputs_mbps(&result(CELL, &settings));
            let (all, told) = (goodputs.iter().sum::<f64>(), format!("{standard} {driver}"));
            assert_near(all, 20.0 * DATA, 0.03, &told);
            assert_near(goodputs[0] / all, 0.5, 0.1, &told);
        }
    }
}

#[test]
fn shaper_in_front_of_a_replayed_trace_lets_its_rate_pass() {
    let folder = std::env::temp_dir().join(format!("lasthop-cake-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    // Four packets of 1500 B each millisecond: 48 Mbit/s.
    std::fs::write(folder.join("link.down"), "1\n1\n1\n1\n").unwrap();
    let rate = format!("{{ kind = \"trace\", file = \"{}\" }}", folder.join("link.down").display());
    let goodputs = goodputs_mbps(&result(
        CELL,
        &[("wired.rate", &rate), ("wired.queue", r#"{ kind = "cake", bandwidth = "20 Mbit/s" }"#)],
    ));
    std::fs::remove_dir_all(&folder).unwrap();
    // It leaves a millisecond late at most, so its clock is behind, not the packets.
    assert_near(goodputs.iter().sum(), 20.0 * DATA, 0.01, "trace");
}

#[test]
fn saturated_source_feeds_a_shaper_at_its_rate() {
    let flow = "[[flow]]\nstation = \"one\"\ndirection = \"down\"\ntransport = \"udp\"\nrate = \"saturated\"\n";
    let text = format!("{}{flow}", &CELL[..CELL.find("[[flow]]").unwrap()]);
    let goodputs = goodputs_mbps(&result(&text, &[("wired.queue", r#"{ kind = "cake", bandwidth = "20 Mbit/s" }"#)]));
    assert_near(goodputs[0], 20.0 * 1472.0 / 1514.0, 0.01, "saturated");
}

#[test]
fn filter_that_accurate_ecn_leaves_without_work_is_a_caution() {
    let warned = |profile: &str, filter: &str| {
        let queue = format!("{{ kind = \"cake\", bandwidth = \"100 kbit/s\", ack_filter = \"{filter}\" }}");
        let settings = [("wired.queue_up", queue.as_str()), ("tcp.profile", profile)];
        let settings = settings.map(|(key, value)| (key.to_string(), value.to_string()));
        let warnings = resolve(CELL, "cake.toml", &settings).unwrap().warnings();
        warnings.iter().filter(|warning| warning.to_string().starts_with("ack_filter: ")).count()
    };
    assert_eq!(
        [("linux", "on"), ("linux", "off"), ("linux-6.12", "on")].map(|(profile, filter)| warned(profile, filter)),
        [1, 0, 0]
    );
}
