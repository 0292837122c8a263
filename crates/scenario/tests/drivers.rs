//! Drivers below the queues of an AP and of stations: the packets that they hold, by the wait of a ping behind them; shares by the airtime
//! that is known, against the loss of a link; and drivers that are the same.

use lasthop_scenario::{resolve, run};
use serde_json::Value;

/// A flood and a ping to one station at 65 Mbit/s.
const FLOOD: &str = r#"
name = "flood"
duration = "6 s"
warmup = "2 s"
[channel]
path_loss = "none"
[bss]
standard = "802.11n"
rate_control = { kind = "fixed", mcs = 7 }
[bss.ap]
queue = { kind = "airtime_fq_codel", limit = "1000 packets" }
[[station]]
name = "sta"
[wired]
rate = "1 Gbit/s"
delay = "0 s"
[tcp]
profile = "linux"
[[flow]]
name = "flood"
station = "sta"
direction = "down"
transport = "udp"
rate = "100 Mbit/s"
"#;

const PING: &str = r#"
[[flow]]
name = "ping"
station = "sta"
direction = "down"
traffic = "ping"
"#;

/// A second flood, to a station that loses two frames of five.
const LOSSY: &str = r#"
[[station]]
name = "lossy"
frame_error_rate = 0.4
[[flow]]
name = "other"
station = "lossy"
direction = "down"
transport = "udp"
rate = "100 Mbit/s"
"#;

/// Goodput of a flood of packets with 1472 B of payload, in packets a second.
fn packets_per_s(flow: &Value) -> f64 {
    flow["goodput_bps"].as_f64().unwrap_or(f64::NAN) / 8.0 / 1472.0
}

fn result_of(scenario: &str, given: &[(&str, &str)]) -> Value {
    let given: Vec<_> = given.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let scenario = resolve(scenario, "cell.toml", &given).unwrap_or_else(|e| panic!("{e}"));
    serde_json::from_str(&run(&scenario, 1, None).unwrap_or_else(|e| panic!("{e}")).json()).unwrap()
}

/// Rates of the flows, and the mean round-trip time of a ping.
fn flows(result: &Value) -> (f64, f64, f64) {
    let of = |index: usize| &result["flows"][index];
    (packets_per_s(of(0)), packets_per_s(of(1)), of(1)["rtt_mean_s"].as_f64().unwrap_or(f64::NAN))
}

#[test]
fn a_ping_waits_for_the_packets_that_the_hardware_holds() {
    let scenario = format!("{FLOOD}{PING}");
    // 1538 B at 65 Mbit/s and a 16th of 40 us are 191.8 us: AQL stops at the 63rd packet, which passes 12 ms.
    let mt76 = [("bss.ap.driver", "mt76"), ("bss.ap.airtime", "reported")];
    let iwlwifi = [("bss.ap.driver", "iwlwifi"), ("bss.ap.airtime", "none")];
    let table = [("bss.ap.driver", "{ packets = \"150 packets\", in_turn = true }"), ("bss.ap.airtime", "none")];
    let fifo = [("bss.ap.driver", "{ packets = \"100 packets\" }"), ("bss.ap.airtime", "none")];
    for (given, held, late) in [(mt76, 63.0, 0.0), (iwlwifi, 224.0, 2.048e-3), (table, 150.0, 0.0), (fifo, 100.0, 0.0)]
    {
        let (rate, _, rtt) = flows(&result_of(&scenario, &given));
        // A-MPDUs of a TXOP of 2.528 ms: the ping waits for all that is held, and for the end of its own, and its answer for
        // the air. Packets that were sent and not reported are no wait.
        let (least, most) = (held / rate - late, held / rate + 2.0 * 2.8e-3);
        assert!((least..most).contains(&rtt), "{given:?}: {rtt} for {least} to {most}");
    }
}

#[test]
fn stations_share_the_airtime_that_is_known() {
    let scenario = format!("{FLOOD}{LOSSY}");
    for driver in ["ideal", "ath9k"] {
        // Equal airtime is 0.6 of the packets at 0.4 of losses; an estimate sees each packet once, and makes them equal.
        for (airtime, expected) in [("reported", 0.6), ("estimate", 1.0)] {
            let result = result_of(&scenario, &[("bss.ap.driver", driver), ("bss.ap.airtime", airtime)]);
            let (clean, lossy, _) = flows(&result);
            assert!((lossy / clean - expected).abs() < 0.02, "{driver}, {airtime}: {lossy} to {clean}");
        }
    }
}

#[test]
fn the_fifo_of_an_older_driver_is_a_driver_of_packets() {
    let scenario = format!("{FLOOD}{LOSSY}");
    for standard in ["802.11a", "802.11n"] {
        for queue in ["fifo", "fq_codel", "pie"] {
            let of = |driver| {
                let rate = if standard == "802.11a" { "{ kind = \"fixed\" }" } else { "minstrel_ht" };
                let bss = [("bss.standard", standard), ("bss.rate_control", rate), ("bss.ap.queue", queue)];
                let result = result_of(&scenario, &[bss.as_slice(), &[driver], &[("duration", "3 s")]].concat());
                [result["flows"].clone(), result["nodes"].clone(), result["totals"].clone()]
            };
            let old = of(("bss.ap.driver_queue", "30 packets"));
            assert_eq!(old, of(("bss.ap.driver", "{ packets = \"30 packets\" }")), "{standard}, {queue}");
            assert_ne!(old, of(("bss.ap.driver", "ideal")), "{standard}, {queue}");
        }
    }
}

#[test]
fn every_driver_serves_every_place_under_every_queue() {
    let both =
        FLOOD.replace("direction = \"down\"\ntransport = \"udp\"\nrate = \"100 Mbit/s\"", "direction = \"both\"");
    for driver in [
        "ath9k",
        "mt76",
        "iwlwifi",
        "{ packets = \"3 packets\" }",
        "{ packets_each = \"3 packets\", completion = \"1 ms\" }",
    ] {
        for aggregation in ["off", "{}"] {
            for queue in ["fifo", "fq_codel", "fq_mac", "airtime_fq_codel"] {
                // A run itself checks that packets are conserved.
                let of = [
                    ("bss.ap.driver", driver),
                    ("station.0.driver", driver),
                    ("duration", "1500 ms"),
                    ("warmup", "0 s"),
                ];
                let bss = [("bss.aggregation", aggregation), ("bss.ap.queue", queue)];
                let station = if queue == "fifo" { "backpressure" } else { queue };
                let result = result_of(&both, &[of.as_slice(), &bss, &[("station.0.queue", station)]].concat());
                let goodput = result["totals"]["goodput_bps"].as_f64().unwrap();
                assert!(goodput > 1e6, "{driver}, {aggregation}, {queue}: {goodput}");
            }
        }
    }
}

#[test]
fn small_queues_cost_throughput_where_completions_come_late() {
    let upload = |driver, small_queue| {
        let scenario =
            FLOOD.replace("direction = \"down\"\ntransport = \"udp\"\nrate = \"100 Mbit/s\"", "direction = \"up\"");
        let bss = [("bss.standard", "802.11ac"), ("bss.channel_width", "80 MHz"), ("bss.spatial_streams", "2")];
        let own = [("bss.rate_control", "{ kind = \"fixed\", mcs = 9 }"), ("station.0.queue", "fq_codel")];
        let own = [own.as_slice(), &[("wired.delay", "5 ms")]].concat();
        let given = [bss.as_slice(), &own, &[("station.0.driver", driver), ("tcp.small_queue", small_queue)]].concat();
        result_of(&scenario, &given)["totals"]["goodput_bps"].as_f64().unwrap()
    };
    let share = |driver| upload(driver, "1 ms") / upload(driver, "off");
    let (ideal, iwlwifi) = (share("ideal"), share("iwlwifi"));
    assert!(ideal > 0.98 && iwlwifi < 0.75, "{ideal}, {iwlwifi}");
}
