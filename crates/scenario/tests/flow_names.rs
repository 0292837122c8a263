//! Names of flows, which have no other effect.

use lasthop_scenario::{resolve, run};
use serde_json::Value;

/// A scenario with every kind of draw of a flow: a random start, an application that draws, initial sequence
/// numbers.
const MIXED: &str = r#"
duration = "4 s"
[bss]
standard = "802.11g"
rate_control = { kind = "fixed", rate = "54 Mbit/s" }
[[station]]
count = 2
[wired]
delay = "10 ms"
[[flow]]
direction = "down"
start_jitter = "200 ms"
[[flow]]
direction = "both"
traffic = "ping"
[[flow]]
station = "sta1"
direction = "down"
traffic = { kind = "web", think_time = "100 ms" }
[[flow]]
station = "sta2"
direction = "up"
traffic = "poisson"
transport = "udp"
rate = "1 Mbit/s"
"#;

fn settings(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

fn flows(pairs: &[(&str, &str)]) -> Vec<Value> {
    let scenario = resolve(MIXED, "mixed.toml", &settings(pairs)).unwrap_or_else(|error| panic!("{error}"));
    let document: Value = serde_json::from_str(&run(&scenario, 5, None).unwrap().json()).unwrap();
    document["flows"].as_array().unwrap().clone()
}

fn ids(pairs: &[(&str, &str)]) -> Vec<String> {
    flows(pairs).iter().map(|flow| flow["id"].as_str().unwrap().to_string()).collect()
}

fn complaint(pairs: &[(&str, &str)]) -> String {
    resolve(MIXED, "mixed.toml", &settings(pairs)).err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn a_name_stands_in_the_place_of_the_direction_and_before_it_where_there_are_both() {
    let unnamed =
        ["sta1.down", "sta2.down", "sta1.up", "sta1.down.2", "sta2.up", "sta2.down.2", "sta1.down.3", "sta2.up.2"];
    assert_eq!(ids(&[]), unnamed);
    let named = [("flow.1.name", "ping"), ("flow.2.name", "pages")];
    let expected = [
        "sta1.down",
        "sta2.down",
        "sta1.ping.up",
        "sta1.ping.down",
        "sta2.ping.up",
        "sta2.ping.down",
        "sta1.pages",
        "sta2.up.2",
    ];
    assert_eq!(ids(&named), expected);
}

#[test]
fn several_flows_of_one_table_are_numbered_as_those_without_a_name() {
    let two = [("flow.0.name", "bulk"), ("flow.0.count", "2"), ("flow.0.station", "sta1"), ("flow.1.name", "a_b-9")];
    assert_eq!(ids(&two)[..4], ["sta1.bulk", "sta1.bulk.2", "sta1.a_b-9.up", "sta1.a_b-9.down"]);
    let both = [("flow.1.name", "ping"), ("flow.1.count", "2"), ("flow.1.station", "sta1")];
    assert_eq!(ids(&both)[2..6], ["sta1.ping.up", "sta1.ping.up.2", "sta1.ping.down", "sta1.ping.down.2"]);
}

#[test]
fn a_name_changes_no_number_and_no_other_flows_id() {
    let numbers = |pairs: &[(&str, &str)]| -> Vec<Value> {
        let without_id = |mut flow: Value| {
            flow.as_object_mut().unwrap().remove("id");
            flow
        };
        flows(pairs).into_iter().map(without_id).collect()
    };
    let plain = numbers(&[]);
    for named in [
        &[("flow.0.name", "bulk")][..],
        &[("flow.0.name", "bulk"), ("flow.1.name", "ping"), ("flow.2.name", "web"), ("flow.3.name", "burst")],
        &[("flow.2.name", "web")],
    ] {
        assert_eq!(numbers(named), plain, "{named:?}");
    }
    // The second and third download of sta1 keep their numbers although the first has a name.
    assert_eq!(ids(&[("flow.0.name", "bulk")])[3], "sta1.down.2");
}

#[test]
fn a_name_that_cannot_be_is_refused_with_its_place() {
    for name in ["up", "down"] {
        let said = complaint(&[("flow.1.name", name)]);
        assert!(said.contains("flow[1].name") && said.contains("without a name") && said.contains("another"), "{said}");
    }
    for name in ["", "a b", "a.b", "ping*", "a/b", "->"] {
        let said = complaint(&[("flow.1.name", &format!("'{name}'"))]);
        assert!(said.contains("flow[1].name") && said.contains("use letters, digits, - and _"), "{name}: {said}");
    }
}

#[test]
fn one_name_in_two_tables_is_refused_at_a_station_and_allowed_at_two() {
    let said = complaint(&[("flow.0.name", "call"), ("flow.2.name", "call")]);
    assert!(said.contains("flow[2].name") && said.contains("sta1") && said.contains("flow[0]"), "{said}");
    assert_eq!(complaint(&[("flow.2.name", "call"), ("flow.3.name", "call")]), "");
}
