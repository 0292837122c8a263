//! Queue disciplines at each place of a scenario: at the AP, at stations, at the wired link, above a
//! driver.

use lasthop_link::QueueDisciplineKind;
use lasthop_scenario::{resolve, run};
use serde_json::Value;

/// Uploads and downloads that all wait at the AP or in front of it.
const CELL: &str = r#"
name = "cell"
duration = "5 s"
warmup = "0 s"
[bss]
standard = "802.11a"
rate_control = { kind = "fixed", rate = "24 Mbit/s" }
[[station]]
name = "sta"
count = 4
[wired]
rate = "20 Mbit/s"
delay = "10 ms"
queue = { kind = "fifo", limit = "100 packets" }
[tcp]
profile = "linux"
[[flow]]
station = "*"
direction = "both"
"#;

fn result(settings: &[(&str, &str)]) -> Value {
    let settings: Vec<_> = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let scenario = resolve(CELL, "cell.toml", &settings).unwrap_or_else(|e| panic!("{e}"));
    serde_json::from_str(&run(&scenario, 1, None).unwrap_or_else(|e| panic!("{e}")).json()).unwrap()
}

fn ap(result: &Value, metric: &str) -> f64 {
    result["nodes"][0][metric].as_f64().unwrap_or_else(|| panic!("{metric} of the AP"))
}

fn goodput_mbps(result: &Value, metric: &str) -> f64 {
    result["totals"][metric].as_f64().unwrap() / 1e6
}

#[test]
fn every_discipline_serves_every_place() {
    for kind in QueueDisciplineKind::REGISTRY.entries.iter().map(|entry| entry.name) {
        for place in ["bss.ap.queue", "station.0.queue", "wired.queue"] {
            // A run itself checks that packets are conserved.
            let result = result(&[(place, kind)]);
            let goodput = goodput_mbps(&result, "goodput_bps");
            assert!((8.0..24.0).contains(&goodput), "{kind} at {place}: {goodput} Mbit/s");
        }
    }
}

#[test]
fn a_driver_below_is_out_of_reach_of_the_law_above() {
    let waits = |driver| {
        let result = result(&[("bss.ap.queue", "pie"), ("bss.ap.driver_queue", driver)]);
        ap(&result, "queue_mean_packets")
    };
    let (without, with) = (waits("0 packets"), waits("100 packets"));
    assert!(with > without + 50.0, "{without} packets without a driver, {with} with one of 100");
}

#[test]
fn a_mark_on_the_wire_is_counted_and_costs_no_packet() {
    let ecn =
        [("tcp.ecn", "on"), ("wired.rate", "5 Mbit/s"), ("bss.ap.queue", r#"{ kind = "fifo", limit = "unlimited" }"#)];
    let marking = [ecn.as_slice(), &[("wired.queue", r#"{ kind = "codel", ecn = true }"#)]].concat();
    let result = result(&marking);
    assert!(ap(&result, "wired_queue_marks") > 10.0, "{} marks", ap(&result, "wired_queue_marks"));
    assert_eq!(ap(&result, "queue_marks"), 0.0);
    // Pure ACKs are not ECN-capable, and are dropped.
    assert_eq!(ap(&result, "wired_queue_drops_tail"), 0.0);
}

#[test]
fn a_filter_thins_acks_and_buffers_apart_save_downloads() {
    let of = |queue| result(&[("bss.ap.queue", queue)]);
    let (plain, filter, split) = (of("fifo"), of("ack_filter"), of("split_ack"));
    assert_eq!(ap(&plain, "acks_filtered"), 0.0);
    assert!(ap(&filter, "acks_filtered") > 100.0, "{}", ap(&filter, "acks_filtered"));
    assert!(ap(&filter, "queue_drops_tcp_ack") < ap(&plain, "queue_drops_tcp_ack"));
    let down = |result| goodput_mbps(result, "goodput_down_bps");
    assert!(down(&split) > down(&plain), "{} and {} Mbit/s", down(&split), down(&plain));
}

#[test]
fn wire_that_drops_a_saturated_source_for_ever_is_an_error_that_names_it() {
    let flow = "\n[[flow]]\nstation = \"*\"\ndirection = \"down\"\ntransport = \"udp\"\nrate = \"saturated\"\n";
    let loss = [("wired.loss".to_string(), "{ kind = \"random\", share = 0.9999999999 }".to_string())];
    let scenario = resolve(&format!("{CELL}{flow}"), "cell.toml", &loss).unwrap();
    let said = run(&scenario, 1, None).map(|run| run.json()).unwrap_err().to_string();
    assert!(said.contains("queue of the wired link of ap") && said.contains("one instant, 0.0000 s"), "{said}");
}

#[test]
fn a_station_out_of_range_leaves_the_others_their_turns() {
    let text = "name = \"far\"\nduration = \"4 s\"\n[bss]\nstandard = \"802.11ac\"\n\
        [[station]]\nname = \"near\"\ndistance = \"4 m\"\n[[station]]\nname = \"far\"\ndistance = \"400 m\"\n\
        [[flow]]\nstation = \"*\"\ndirection = \"down\"\ntransport = \"udp\"\nrate = \"20 Mbit/s\"\n";
    for queue in ["airtime_fq_codel", "fq_mac"] {
        let settings = [("bss.ap.queue".to_string(), queue.to_string())];
        let run = run(&resolve(text, "far.toml", &settings).unwrap(), 1, None).unwrap();
        let result: Value = serde_json::from_str(&run.json()).unwrap();
        // BlockAckReqs that are never answered take half of the time.
        let near = goodput_mbps(&result, "goodput_down_bps");
        assert!(near > 17.0, "{queue}: {near}");
    }
}
