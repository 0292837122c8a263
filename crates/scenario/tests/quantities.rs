//! The list of quantities against the results of runs: neither has a quantity that the other lacks.

use std::collections::BTreeSet;

use lasthop_observe::Scope;
use lasthop_scenario::quantities::identifying_columns;
use lasthop_scenario::{RunResult, quantities, resolve, result_schema_json, run, show_json};
use lasthop_units::Duration;
use serde_json::Value;

/// Every kind of traffic; queues that are full, that drop early, mark and filter ACKs; frames that are lost.
const EVERYTHING: &str = r#"
duration = "4 s"
warmup = "1 s"
[channel]
error_model = { kind = "fixed", frame_error_rate = 0.3 }
[bss]
standard = "802.11n"
rate_control = "minstrel_ht"
retry_limit = 2
[bss.ap]
queue = { kind = "codel", limit = "60 packets", ecn = true }
[[station]]
name = "near"
queue = { kind = "fifo", limit = "5 packets" }
[[station]]
name = "filter"
queue = { kind = "ack_filter", limit = "100 packets" }
[wired]
rate = "50 Mbit/s"
queue = { kind = "fifo", limit = "20 packets" }
loss = { kind = "random", share = 0.01 }
[[flow]]
station = "near"
direction = "both"
[[flow]]
station = "filter"
direction = "down"
ecn = "on"
congestion_control = "bbr"
[[flow]]
station = "near"
direction = "up"
size = "20 kB"
repeat = 3
[[flow]]
station = "near"
direction = "down"
transport = "udp"
rate = "20 Mbit/s"
phase = "0 s"
clock_error = "0 ppm"
[[flow]]
station = "near"
direction = "both"
traffic = "voip"
phase = "0 s"
clock_error = "0 ppm"
[[flow]]
station = "near"
direction = "down"
traffic = { kind = "web", think_time = "100 ms", page = "fixed", main_size = "10 kB" }
[[flow]]
station = "near"
direction = "down"
traffic = { kind = "video", ladder = ["200 kbit/s", "400 kbit/s"], segment = "1 s", startup = "1 s" }
[[flow]]
station = "near"
direction = "down"
traffic = "ping"
phase = "0 s"
clock_error = "0 ppm"
[[flow]]
station = "near"
direction = "down"
transport = "udp"
rate = "1 Mbit/s"
traffic = { kind = "on_off" }
phase = "0 s"
clock_error = "0 ppm"
[[flow]]
station = "near"
direction = "down"
size = "10 kB"
traffic = "poisson"
rate = "400 kbit/s"
[[flow]]
station = "near"
direction = "down"
transport = "quic"
size = "20 kB"
"#;

/// Queues that treat L4S packets unlike others, at a station and on a wire that loses some.
const L4S: &str = r#"
duration = "2 s"
[bss]
standard = "802.11n"
[[station]]
queue = "dualpi2"
[wired]
rate = "20 Mbit/s"
queue = "dualpi2"
loss = { kind = "random", share = 0.001 }
[[flow]]
direction = "both"
congestion_control = "prague"
ecn = "accurate"
"#;

/// Data go to several stations in one PPDU, and several are asked for theirs.
const SEVERAL_USERS: &str = r#"
duration = "1 s"
[bss]
standard = "802.11ax"
[bss.ap]
multi_user = "airtime"
[[station]]
count = 3
[[flow]]
direction = "both"
"#;

/// An interferer destroys frames.
const INTERFERER: &str = r#"
duration = "1 s"
[bss]
standard = "802.11ax"
[[station]]
[[flow]]
direction = "both"
[[interferer]]
kind = "periodic"
on = "8 ms"
off = "12 ms"
"#;

/// Retransmissions continue until the recipient has given up, and the queue marks.
const LOSSY: &str = r#"
duration = "3 s"
[channel]
error_model = { kind = "fixed", frame_error_rate = 0.8 }
[bss]
standard = "802.11n"
rate_control = { kind = "fixed", mcs = 7 }
retry_limit = "unlimited"
[bss.ap]
queue = { kind = "codel", limit = "60 packets", ecn = true }
[[station]]
[[flow]]
direction = "down"
ecn = "on"
"#;

fn result_of(text: &str) -> RunResult {
    let scenario = resolve(text, "scenario.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, 1, Some(Duration::from_millis(100))).expect("it runs")
}

fn rows(run: &Value, scope: Scope) -> Vec<&Value> {
    let table = &run[scope.table()];
    table.as_array().map_or_else(|| vec![table], |rows| rows.iter().collect())
}

/// The names of a scope in the list, either those of the summary or those of series.
fn listed(scope: Scope, in_summary: bool) -> BTreeSet<&'static str> {
    let of_scope = quantities().into_iter().filter(|q| q.scope == scope);
    let presence =
        |q: &lasthop_observe::Definition| if in_summary { q.presence.in_summary() } else { q.presence.in_series() };
    of_scope.filter(|q| presence(q)).map(|q| q.name).collect()
}

#[test]
fn names_are_unique_within_a_scope() {
    let all = quantities();
    let unique: BTreeSet<_> = all.iter().map(|q| (q.scope, q.name)).collect();
    assert_eq!(unique.len(), all.len());
    assert!(all.len() > 120, "{}", all.len());
}

#[test]
fn a_name_ends_in_its_unit() {
    for quantity in quantities() {
        let ending = match quantity.unit.word() {
            "bit/s" => "_bps",
            "s" => "_s",
            "segments" => "_segments",
            _ => continue,
        };
        assert!(quantity.name.ends_with(ending), "{}", quantity.name);
    }
}

#[test]
fn every_number_of_a_run_is_in_the_list_and_every_quantity_of_the_list_in_the_run() {
    let runs = [EVERYTHING, L4S, SEVERAL_USERS, INTERFERER]
        .map(|text| serde_json::from_str::<Value>(&result_of(text).json()).unwrap());
    for scope in Scope::ALL {
        let names: BTreeSet<&str> = identifying_columns(scope).iter().map(|(name, _)| *name).collect();
        let rows: Vec<&Value> = runs.iter().flat_map(|run| rows(run, scope)).collect();
        let found: BTreeSet<&str> =
            rows.iter().flat_map(|row| row.as_object().unwrap().keys()).map(String::as_str).collect();
        let expected: BTreeSet<&str> = listed(scope, true).union(&names).copied().collect();
        assert_eq!(found, expected, "{scope:?}");
        let is_told = |name: &str| rows.iter().any(|row| !row[name].is_null());
        let untold: Vec<_> = listed(scope, true).into_iter().filter(|name| !is_told(name)).collect();
        assert!(untold.is_empty(), "{scope:?}: {untold:?} are null in every row");
    }
}

#[test]
fn every_series_is_in_the_list_and_every_series_of_the_list_in_the_run() {
    let results = [EVERYTHING, LOSSY].map(result_of);
    let blocks = results.iter().flat_map(RunResult::series);
    let found: BTreeSet<_> = blocks.map(|block| (block.quantity.scope, block.quantity.name)).collect();
    let expected: BTreeSet<_> = Scope::ALL
        .into_iter()
        .flat_map(|scope| listed(scope, false).into_iter().map(move |name| (scope, name)))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn the_report_beside_the_json_has_the_same_values() {
    let result = result_of(EVERYTHING);
    let run: Value = serde_json::from_str(&result.json()).unwrap();
    let report = result.report();
    let goodput = lasthop_observe::metric::goodput::GOODPUT_OF_ALL;
    assert_eq!(report.totals.get(goodput), run["totals"]["goodput_bps"].as_f64());
    let packets: Vec<_> = report.queues.iter().map(|row| row.get(quantities::PACKETS)).collect();
    let written: Vec<_> = rows(&run, Scope::Queue).iter().map(|row| row["packets"].as_u64()).collect();
    assert_eq!(packets, written);
    assert_eq!(report.queues.len(), 3);
}

#[test]
fn the_schema_of_results_has_every_quantity_of_the_summary() {
    let schema: Value = serde_json::from_str(&result_schema_json()).unwrap();
    let run = &schema["properties"]["runs"]["items"]["properties"];
    for quantity in quantities().into_iter().filter(|q| q.presence.in_summary()) {
        let table = &run[quantity.scope.table()];
        let row = if table["type"] == "array" { &table["items"] } else { table };
        let described = row["properties"][quantity.name]["description"].as_str().unwrap_or_default();
        assert!(described.starts_with(quantity.meaning), "{}", quantity.name);
    }
}

#[test]
fn a_name_is_shown_in_all_scopes_that_have_it_and_a_dotted_one_in_its_own() {
    let shown = |name: &str| -> Value { serde_json::from_str(&show_json(name).unwrap()).unwrap() };
    let scopes = |name: &str| -> Vec<String> {
        let shown = shown(name);
        let entries = shown["quantities"].as_array().unwrap();
        entries.iter().map(|entry| entry["scope"].as_str().unwrap().to_string()).collect()
    };
    assert_eq!(scopes("goodput_bps"), ["totals", "flow"]);
    assert_eq!(scopes("queue_drops"), ["node", "wire"]);
    assert_eq!(scopes("flows.near.down.goodput_bps"), ["flow"]);
    // The name of an algorithm or a section is never that of a quantity.
    for quantity in quantities() {
        assert_eq!(shown(quantity.name)["kind"], "quantity", "{}", quantity.name);
    }
    let unknown = show_json("goodput_bsp").unwrap_err().to_string();
    assert!(unknown.contains("did you mean \"goodput_bps\"?"), "{unknown}");
}
