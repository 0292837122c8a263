//! One station that always has packets, with 802.11n, 802.11ac and 802.11ax, against the closed form.
//!
//! Nothing is lost and no other node sends, so only the mean of the drawn backoffs varies: a standard deviation of
//! 41 us per exchange of 1.1 to 2.9 ms, at most 0.1 % over 1000 exchanges or more. Three of these are allowed.

use lasthop_scenario::{resolve, run, theory_json};
use serde_json::Value;

const STATION: &str = r#"
duration = "5 s"
warmup = "1 s"
[channel]
path_loss = "none"
[[station]]
[wired]
rate = "10 Gbit/s"
[[flow]]
station = "sta"
transport = "udp"
rate = "saturated"
[bss]
edca.be = { txop_limit = "0 s" }
spatial_streams = 2
rate_control = "fixed"
"#;

fn simulated_and_closed_form(bss: &str) -> (f64, f64) {
    let scenario = resolve(&format!("{STATION}{bss}"), "test.toml", &[]).map_err(|e| e.to_string()).unwrap();
    let result: Value = serde_json::from_str(&run(&scenario, 1, None).unwrap().json()).unwrap();
    let theory: Value = serde_json::from_str(&theory_json(&scenario).unwrap()).unwrap();
    let rows = theory["rows"].as_array().unwrap();
    let speaks_of_it = |row: &&Value| row["simulated_metric"] == "totals.goodput_bps";
    let matching: Vec<&Value> = rows.iter().filter(speaks_of_it).collect();
    assert_eq!(matching.len(), 1, "{rows:?}");
    (result["totals"]["goodput_bps"].as_f64().unwrap(), matching[0]["closed_form"].as_f64().unwrap())
}

#[test]
fn a_lone_station_gets_the_closed_form_of_ampdus() {
    // Mbit/s of UDP payload: 42, 64 and 256 times 1472 bytes in 1930.5, 1118.5 and 2855.3 us.
    for (bss, expected) in [
        ("standard = \"802.11n\"\nchannel_width = \"40 MHz\"\nguard_interval = \"short\"\n", 256.2),
        ("standard = \"802.11ac\"\nchannel_width = \"80 MHz\"\nguard_interval = \"short\"\n", 673.8),
        ("standard = \"802.11ax\"\nchannel_width = \"80 MHz\"\n", 1055.8),
    ] {
        let (simulated, closed) = simulated_and_closed_form(bss);
        assert!((closed / 1e6 - expected).abs() < 0.1, "{bss}: {closed}");
        assert!((simulated / closed - 1.0).abs() < 3e-3, "{bss}: {simulated} {closed}");
    }
}
