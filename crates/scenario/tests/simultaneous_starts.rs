//! Flows that start at one instant: hosts tick each in its own phase, so that colliding flows do not collide for
//! ever.

use lasthop_scenario::{resolve, run};

const NO_RETRIES: &str = r#"
name = "no MAC retries"
duration = "20 s"
[bss]
standard = "802.11b"
rate_control = { kind = "fixed", rate = "11 Mbit/s" }
[[station]]
count = 3
retry_limit = 0
[tcp]
profile = "linux-2.6"
congestion_control = "newreno"
[[flow]]
station = "*"
direction = "up"
"#;

#[test]
fn syns_that_collide_without_mac_retries_are_heard_at_the_next_try() {
    let scenario = resolve(NO_RETRIES, "no-retries.toml", &[]).unwrap();
    let result = run(&scenario, 1, None).unwrap().json();
    let result: serde_json::Value = serde_json::from_str(&result).unwrap();
    let flows = result["flows"].as_array().unwrap();
    assert_eq!(flows.len(), 3);
    for flow in flows {
        assert!(flow["goodput_bps"].as_f64().unwrap() > 100_000.0, "{flow}");
    }
}
