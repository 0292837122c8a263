//! Changes that must not affect a result: later events, a bystander, the order of names.

use lasthop_scenario::{RunResult, SeriesBlock, resolve, run};
use lasthop_units::Duration;
use serde_json::Value;

const INTERVAL: Duration = Duration::from_millis(10);

fn ran(text: &str, settings: &[(&str, &str)]) -> RunResult {
    let settings: Vec<_> = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let scenario = resolve(text, "test.toml", &settings).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, 1, Some(INTERVAL)).unwrap_or_else(|error| panic!("{error}"))
}

fn json(result: &RunResult) -> Value {
    serde_json::from_str(&result.json()).expect("a result is JSON")
}

fn scenario(name: &str) -> String {
    let path = format!("{}/../../scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the scenario is there")
}

/// The samples of each metric and entity up to `times`, as bits: NaN equals itself.
fn samples(blocks: &[SeriesBlock], times: usize) -> Vec<(&'static str, String, Vec<u64>)> {
    let mut all = Vec::new();
    for block in blocks {
        assert!(block.times >= times, "{} has {} samples", block.quantity.name, block.times);
        for (column, entity) in block.entities.iter().enumerate() {
            let of = block.values.iter().skip(column).step_by(block.entities.len()).take(times);
            all.push((block.quantity.name, entity.clone(), of.map(|value| value.to_bits()).collect()));
        }
    }
    all.sort();
    all
}

/// Compares the samples of `longer` with those of `shorter`: a series without any event yet is left
/// out.
fn common(shorter: &RunResult, longer: &RunResult, times: usize) {
    let (shorter, longer) = (samples(shorter.series(), times), samples(longer.series(), times));
    assert!(shorter.len() > 5);
    for series in &shorter {
        assert!(longer.contains(series), "{} of {} differs", series.0, series.1);
    }
}

/// Calls whose packets fall on the sampling times, beside uploads, in 802.11n and 802.11b.
const CALLS: &str = "[bss]\nstandard = \"802.11n\"\nchannel_width = \"20 MHz\"\n[channel]\npath_loss = \"none\"\n\
                     [[station]]\ncount = 3\n[[flow]]\ntraffic = \"voip\"\ndirection = \"both\"\n[[flow]]\n";

#[test]
fn a_longer_run_begins_as_a_shorter_one() {
    let files = ["khademi2011-uplink-11b", "anomaly-3-stations", "saturation-11n"].map(scenario);
    for text in files.iter().map(String::as_str).chain([CALLS]) {
        let of = |duration| ran(text, &[("duration", duration), ("warmup", "0 s")]);
        common(&of("300 ms"), &of("600 ms"), 30);
    }
}

#[test]
fn total_of_a_run_is_the_sum_of_its_samples() {
    // A PPDU on the air at a sample is divided between both intervals.
    let result = ran(CALLS, &[("duration", "300 ms")]);
    let block = result.series().iter().find(|block| block.quantity.name == "airtime_fraction").expect("it is there");
    let links = json(&result)["links"].as_array().expect("a list").clone();
    for (column, link) in links.iter().enumerate() {
        let of: Vec<f64> = block.values.iter().skip(column).step_by(block.entities.len()).copied().collect();
        assert!(of.iter().all(|share| (0.0..=1.0).contains(share)), "{of:?}");
        let mean = of.iter().sum::<f64>() / of.len() as f64;
        assert!((mean - link["airtime_fraction"].as_f64().expect("a number")).abs() < 1e-12);
    }
}

#[test]
fn airtime_is_a_share_of_the_window_however_short_it_is() {
    // A beacon at 1 Mbit/s lasts for more than 1 ms.
    let text = "[bss]\nstandard = \"802.11b\"\nbeacons = \"10 ms\"\n[[station]]\n[[flow]]\n";
    let mut cut = 0;
    for warmup_us in (1000..30_000).step_by(250) {
        let (warmup, duration) = (format!("{warmup_us} us"), format!("{} us", warmup_us + 500));
        let result = json(&ran(text, &[("warmup", &warmup), ("duration", &duration)]));
        let of = |value: &Value, key: &str| value[key].as_f64().expect("a number");
        let nodes: f64 = result["nodes"].as_array().expect("a list").iter().map(|n| of(n, "airtime_fraction")).sum();
        let medium = &result["medium"];
        let (busy, idle, twice) =
            (of(medium, "busy_fraction"), of(medium, "idle_fraction"), of(medium, "collision_fraction"));
        assert!((busy + idle - 1.0).abs() < 1e-12 && (0.0..=1.0).contains(&busy), "{warmup}: {busy}, {idle}");
        assert!((nodes - busy - twice).abs() < 1e-9, "{warmup}: {nodes} is not {busy} and {twice}");
        cut += usize::from(busy > 0.999);
    }
    assert!(cut > 5, "{cut} windows lie within PPDUs");
}

#[test]
fn a_bystander_without_flows_changes_nothing() {
    for (name, stations) in [("khademi2011-uplink-11b", "sta*"), ("anomaly-3-stations", "*s*")] {
        let text = scenario(name);
        let text = text.replace("station = \"*\"", &format!("station = \"{stations}\""));
        let settings = [("duration", "2 s"), ("warmup", "0 s")];
        let (alone, with) =
            (json(&ran(&text, &settings)), json(&ran(&format!("{text}\n[[station]]\nname = \"idle\"\n"), &settings)));
        assert!(alone["flows"].as_array().is_some_and(|flows| !flows.is_empty()));
        for part in ["flows", "totals", "medium"] {
            assert_eq!(alone[part], with[part], "{name}: {part}");
        }
    }
}

#[test]
fn the_order_of_stations_only_orders_them() {
    let of = |names: [&str; 3]| {
        let station = |name: &str| format!("[[station]]\nname = \"{name}\"\n");
        let flow = |name: &str| format!("[[flow]]\nstation = \"{name}\"\nstart_jitter = \"10 ms\"\n");
        let all = names.map(station).concat() + &names.map(flow).concat();
        let head = "duration = \"3 s\"\n[bss]\nstandard = \"802.11b\"\n[channel]\npath_loss = \"none\"\n";
        let result = json(&ran(&format!("{head}{all}"), &[]));
        let mut flows = result["flows"].as_array().expect("a list").clone();
        flows.sort_by_key(|flow| flow["id"].to_string());
        (flows, result["medium"].clone())
    };
    assert_eq!(of(["a", "b", "c"]), of(["c", "a", "b"]));
}
