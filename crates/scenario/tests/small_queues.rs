//! Senders that keep the queue of their own host short, and senders that fill it.

use lasthop_scenario::{resolve, run};
use serde_json::Value;

use crate::applications::number;

const ONE_FLOW: &str = r#"
name = "one flow"
duration = "20 s"
warmup = "0 s"
[bss]
standard = "802.11a"
rate_control = { kind = "fixed", rate = "24 Mbit/s" }
[[station]]
queue = { kind = "fifo", limit = "50 packets" }
[wired]
rate = "100 Mbit/s"
delay = "20 ms"
[[flow]]
station = "*"
"#;

fn result(settings: &[(&str, &str)]) -> Value {
    let settings: Vec<_> = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let scenario = resolve(ONE_FLOW, "one-flow.toml", &settings).unwrap();
    serde_json::from_str(&run(&scenario, 1, None).unwrap().json()).unwrap()
}

fn ap_and_station(result: &Value) -> (&Value, &Value) {
    (&result["nodes"][0], &result["nodes"][1])
}

/// What holds the limit and one send of a fast station.
const ROOMY: (&str, &str) = ("station.0.queue", "{ kind = \"fifo\", limit = \"200 packets\" }");
const UPLOAD: (&str, &str) = ("flow.0.direction", "up");
const LINUX: (&str, &str) = ("tcp.profile", "linux");

#[test]
fn linux_does_not_drop_its_own_burst_and_ns2_does() {
    let drops = |profile| number(ap_and_station(&result(&[UPLOAD, ROOMY, ("tcp.profile", profile)])).1, "queue_drops");
    assert_eq!(drops("linux"), 0.0);
    assert_eq!(drops("linux-3.13"), 0.0);
    assert!(drops("ns2") > 0.0);
}

#[test]
fn station_backlog_has_two_sends_of_a_128th_of_a_second_and_a_third_comes_to_them() {
    let result = result(&[UPLOAD, ROOMY, LINUX]);
    let flow = &result["flows"][0];
    // There is no loss, so it is slow start throughout: twice the window per round trip.
    let rate = 2.0 * number(flow, "cwnd_max_segments") * 1448.0 / number(flow, "rtt_mean_s");
    let send = (rate / 128.0).min(65_535.0);
    // A buffer of 1448 B takes 2280 B of memory, one of a whole send 832 B more than it holds.
    let most = 2.0 * (send + 832.0) / 2280.0 + send / 1448.0 + 1.0;
    let seen = number(ap_and_station(&result).1, "queue_max_packets");
    assert!(seen <= most && seen > most / 2.0, "{seen} packets, {most} at most");
}

#[test]
fn a_shorter_queue_is_as_asked_for_and_costs_no_goodput() {
    let of = |setting| {
        // The end of a send of an odd number of segments has an ACK of its own, which takes some of the air; fewer after a loss leave more.
        let plain = [("tcp.push_sends", "false"), ("tcp.compressed_acks", "0")];
        let result = result(&[UPLOAD, LINUX, ("tcp.small_queue", setting), plain[0], plain[1]]);
        (number(ap_and_station(&result).1, "queue_mean_packets"), number(&result["flows"][0], "goodput_bps"))
    };
    let ((off, without), (on, with), (short, least)) = (of("off"), of("on"), of("2 ms"));
    assert!(short < on / 2.0, "{short} {on} {off}");
    assert!(with > 0.99 * without && least > 0.99 * without, "{with} {least} {without}");
}

#[test]
fn the_wired_link_is_the_path_and_drops() {
    let slow = ("wired.rate", "5 Mbit/s");
    let short = ("wired.queue", "{ kind = \"fifo\", limit = \"20 packets\" }");
    let result = result(&[LINUX, slow, short, ("flow.0.direction", "down")]);
    assert!(number(ap_and_station(&result).0, "wired_queue_drops") > 0.0);
}

#[test]
fn a_drop_in_the_own_queue_lowers_the_window_before_anything_is_missed() {
    let drops = |local_drop| {
        let result = result(&[UPLOAD, LINUX, ("tcp.small_queue", "off"), ("tcp.local_drop", local_drop)]);
        number(ap_and_station(&result).1, "queue_drops")
    };
    assert!(drops("cwr") < drops("unnoticed"));
}

/// Transfers of 2 MB at random times, three in four seconds on average, each over a connection of its own.
const TRANSFERS: [(&str, &str); 5] =
    [UPLOAD, LINUX, ("flow.0.traffic", "poisson"), ("flow.0.size", "2 MB"), ("flow.0.rate", "12 Mbit/s")];

#[test]
fn transfers_that_come_by_chance_keep_the_queue_of_their_station_short_too() {
    let waiting = |setting| {
        let result = result(&[&TRANSFERS[..], &[ROOMY, ("tcp.small_queue", setting)]].concat());
        number(ap_and_station(&result).1, "queue_mean_packets")
    };
    let (off, on) = (waiting("off"), waiting("on"));
    assert!(on < off / 2.0, "{on} packets with small queues, {off} without");
}

#[test]
fn transfers_that_come_by_chance_hear_of_drops_in_their_own_queue() {
    let drops = |local_drop| {
        let settings = [("tcp.small_queue", "off"), ("tcp.local_drop", local_drop)];
        let result = result(&[&TRANSFERS[..], &settings[..]].concat());
        number(ap_and_station(&result).1, "queue_drops")
    };
    let (told, untold) = (drops("cwr"), drops("unnoticed"));
    assert!(told < untold, "{told} drops where they are told, {untold} where not");
}
