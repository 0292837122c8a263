//! L4S: a dual queue on a wire, and marks behind an access point.

use lasthop_scenario::{resolve, run};
use serde_json::Value;

fn result(text: &str, settings: &[(&str, &str)], seed: u64) -> Value {
    let settings: Vec<_> = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let scenario = resolve(text, "l4s.toml", &settings).unwrap_or_else(|e| panic!("{e}"));
    serde_json::from_str(&run(&scenario, seed, None).unwrap_or_else(|e| panic!("{e}")).json()).unwrap()
}

/// Prague and CUBIC behind a wire of 40 Mbit/s. The wire is 8 ms there and back, the air about 1 ms, and each packet
/// takes 0.3 ms: an RTT of some 10 ms without queues.
const WIRE: &str = r#"
duration = "25 s"
warmup = "5 s"
[channel]
path_loss = "none"
[bss]
standard = "802.11ax"
channel_width = "80 MHz"
rate_control = { kind = "fixed", mcs = 11 }
[[station]]
name = "prague"
[[station]]
name = "cubic"
[wired]
rate = "40 Mbit/s"
delay = "4 ms"
queue = "dualpi2"
[tcp]
profile = "linux"
[[flow]]
station = "prague"
direction = "down"
congestion_control = "prague"
ecn = "accurate"
[[flow]]
station = "cubic"
direction = "down"
congestion_control = "cubic"
"#;

#[test]
fn prague_and_cubic_share_a_wire_at_their_own_delays() {
    for preset in ["linux", "rfc9332"] {
        for seed in 1..=2 {
            let queue = format!("{{ kind = \"dualpi2\", preset = \"{preset}\" }}");
            let run = result(WIRE, &[("wired.queue", &queue)], seed);
            let goodput = |flow: usize| run["flows"][flow]["goodput_bps"].as_f64().unwrap();
            let wire = &run["wires"][1];
            let ms = |key: &str| wire[key].as_f64().unwrap() * 1e3;
            let told = format!("{preset} {seed}: {} {} {wire}", goodput(0), goodput(1));
            let ratio = goodput(0) / goodput(1);
            assert!((1.0 / 1.5..1.5).contains(&ratio), "{told}");
            assert!(goodput(0) + goodput(1) > 0.95 * 40e6 * 1448.0 / 1500.0, "{told}");
            assert!(ms("l4s_wait_p99_s") < 2.0, "{told}");
            assert!((ms("classic_wait_mean_s") - 15.0).abs() < 3.0, "{told}");
            assert!(wire["queue_marks_l4s"].as_u64().unwrap() > 500, "{told}");
        }
    }
}

/// A Prague download behind an AP, alone.
const AIR: &str = r#"
duration = "4 s"
warmup = "0 s"
[channel]
path_loss = "none"
error_model = { kind = "fixed", frame_error_rate = 0.2 }
[bss]
standard = "802.11ax"
rate_control = { kind = "fixed", mcs = 7 }
ap = { queue = { kind = "airtime_fq_codel", l4s = "step" } }
[[station]]
[wired]
delay = "5 ms"
[tcp]
profile = "linux"
[[flow]]
direction = "down"
congestion_control = "prague"
ecn = "accurate"
"#;

#[test]
fn marks_behind_an_ap_are_made_once_for_each_packet() {
    for kind in ["step", "dual"] {
        let run = result(AIR, &[("bss.ap.queue.l4s", &format!("\"{kind}\""))], 1);
        let count = |key: &str| run["queues"][0][key].as_u64().unwrap();
        let all = run["nodes"][0]["queue_marks"].as_u64().unwrap();
        assert!(count("queue_marks_l4s") > 100, "{kind}: {}", run["queues"][0]);
        assert_eq!(all, count("queue_marks_l4s") + count("queue_marks_classic"), "{kind}");
        assert!(count("queue_marks_of_bursts") <= count("queue_marks_l4s"), "{kind}");
        // MPDUs are sent again; their packets are counted once.
        assert!(run["links"].as_array().unwrap().iter().any(|link| link["mpdu_loss_fraction"].as_f64() > Some(0.1)));
        assert!(all <= count("packets"), "{kind}");
    }
}

#[test]
fn a_high_step_never_marks_and_off_is_as_without_the_key() {
    let run = |l4s: &str| result(AIR, &[("bss.ap.queue.l4s", l4s)], 1);
    let high = run("{ kind = \"step\", step = \"10 s\" }");
    let off = run("\"off\"");
    let without = result(&AIR.replace(", l4s = \"step\"", ""), &[], 1);
    assert_eq!(off["flows"], without["flows"]);
    assert_eq!(high["flows"], without["flows"]);
    assert!(off["queues"][0].get("queue_marks_l4s").is_none() && without["queues"] == off["queues"]);
}

/// A Prague flow and a plain one, down and up, and voice without a queue.
const CATEGORIES: &str = r#"
duration = "2 s"
warmup = "0 s"
[channel]
path_loss = "none"
[bss]
standard = "802.11ax"
rate_control = { kind = "fixed", mcs = 7 }
[[station]]
count = 3
[tcp]
profile = "linux"
[[flow]]
station = "sta1"
direction = "both"
congestion_control = "prague"
ecn = "accurate"
[[flow]]
station = "sta2"
direction = "both"
[[flow]]
station = "sta3"
direction = "down"
transport = "udp"
dscp = 45
rate = "1 Mbit/s"
"#;

#[test]
fn l4s_packets_go_to_the_category_that_the_bss_has_for_them() {
    let shares = |category: &str| {
        let run = result(CATEGORIES, &[("bss.l4s_category", &format!("\"{category}\""))], 1);
        let flows = run["flows"].as_array().unwrap().iter();
        flows.map(|flow| flow["goodput_bps"].as_f64().unwrap() / 1e6).collect::<Vec<_>>()
    };
    let without = result(CATEGORIES, &[], 1);
    let plain: Vec<f64> =
        without["flows"].as_array().unwrap().iter().map(|flow| flow["goodput_bps"].as_f64().unwrap() / 1e6).collect();
    assert_eq!(shares("be"), plain);
    // Video contends earlier and in longer TXOPs: Prague's upload gains on the plain one.
    let video = shares("vi");
    assert_ne!(video, plain);
    let own = |of: &[f64]| of[1] / of[3];
    assert!(own(&video) > 1.2 * own(&plain), "{video:?} against {plain:?}");
}

#[test]
fn a_standard_without_categories_has_none_for_l4s() {
    let settings = [
        ("bss.standard".to_string(), "\"802.11a\"".to_string()),
        ("bss.l4s_category".to_string(), "\"vi\"".to_string()),
    ];
    let refused = resolve(&CATEGORIES.replace("mcs = 7", "rate = \"54 Mbit/s\""), "l4s.toml", &settings);
    assert!(refused.err().expect("it is refused").to_string().contains("802.11a has no access categories"));
}
