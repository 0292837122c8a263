//! Receive offload: one ACK for the segments in order that an A-MPDU brought.

use lasthop_scenario::{resolve, run};
use serde_json::Value;

/// A download without losses over 802.11ax; CUBIC fills the queue, so A-MPDUs are of many MPDUs.
const DOWNLOAD: &str = r#"
duration = "4 s"
warmup = "1 s"
[channel]
path_loss = "none"
[bss]
standard = "802.11ax"
rate_control = { kind = "fixed", mcs = 7 }
aggregation = { max_mpdus = 16 }
[[station]]
[wired]
delay = "5 ms"
[tcp]
profile = "linux"
[[flow]]
direction = "down"
"#;

/// Data segments, ACKs of the station, and the goodput in Mbit/s.
fn counts(offload: &str, push_sends: bool) -> (f64, f64, f64) {
    let of_tcp = [("receive_offload", format!("\"{offload}\"")), ("push_sends", push_sends.to_string())];
    let settings = of_tcp.map(|(key, value)| (format!("tcp.{key}"), value));
    let scenario = resolve(DOWNLOAD, "offload.toml", &settings).unwrap_or_else(|e| panic!("{e}"));
    let run: Value = serde_json::from_str(&run(&scenario, 1, None).unwrap_or_else(|e| panic!("{e}")).json()).unwrap();
    let number = |value: &Value| value.as_f64().unwrap();
    let flow = &run["flows"][0];
    (number(&flow["segments_sent"]), number(&run["queues"][1]["packets"]), number(&flow["goodput_bps"]) / 1e6)
}

#[test]
fn one_ack_answers_an_ampdu() {
    let (segments, acks, goodput) = counts("off", false);
    // Delayed ACKs answer each second segment.
    assert!((0.48..0.56).contains(&(acks / segments)), "{acks} of {segments}");
    let (joined_segments, joined_acks, joined_goodput) = counts("ampdu", false);
    // The A-MPDUs are of 16 segments, but for those of which collisions with ACKs left a part to be repeated: a run then
    // ends where the window of the recipient waits.
    let per_ack = joined_segments / joined_acks;
    assert!((11.0..=16.5).contains(&per_ack), "{joined_acks} of {joined_segments}");
    // Fewer ACKs leave the medium to data.
    assert!(joined_goodput > goodput, "{joined_goodput} and {goodput}");
    // A segment with PSH ends a run, and Linux sets it on the last of each send.
    let (pushed_segments, pushed_acks, _) = counts("ampdu", true);
    assert!((2.0..0.75 * per_ack).contains(&(pushed_segments / pushed_acks)), "{pushed_acks} of {pushed_segments}");
}

#[test]
fn off_is_as_without_the_key() {
    let scenario = resolve(DOWNLOAD, "offload.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    let without: Value =
        serde_json::from_str(&run(&scenario, 1, None).unwrap_or_else(|e| panic!("{e}")).json()).unwrap();
    let number = |value: &Value| value.as_f64().unwrap();
    let flow = &without["flows"][0];
    let counted =
        (number(&flow["segments_sent"]), number(&without["queues"][1]["packets"]), number(&flow["goodput_bps"]) / 1e6);
    assert_eq!(counts("off", true), counted);
    assert!(without["scenario"].get("tcp").and_then(|tcp| tcp.get("receive_offload")).is_none());
}
