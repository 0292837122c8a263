//! The scenario of this crate, run with its algorithms.

use lasthop_observe::metric::drops::DROPS;
use lasthop_plugins_example::Mine;
use lasthop_scenario::{ResolvedScenario, resolve, resolve_with, run};

const FILE: &str = "mine.toml";

fn text() -> String {
    std::fs::read_to_string(FILE).unwrap()
}

fn with(settings: &[(&str, &str)]) -> Result<ResolvedScenario, String> {
    let settings: Vec<_> = settings.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    resolve_with(&text(), FILE, &settings, &Mine).map_err(|error| error.to_string())
}

fn json(settings: &[(&str, &str)]) -> String {
    let result = run(&with(settings).unwrap(), 1, None).unwrap();
    // All but the wall clock.
    result.json().split("\"wall_s\"").next().unwrap().to_string()
}

#[test]
fn results_name_the_choices_and_repeat_with_a_seed() {
    let result = json(&[]);
    assert!(result == json(&[]));
    for words in [r#""congestion_control":"aimd""#, r#""congestion_control":"cubic""#, r#""kind":"head_drop""#] {
        assert!(result.contains(words), "{words} is not in {result}");
    }
    let resolved = with(&[]).unwrap().to_json();
    assert!(resolved.contains(r#"{"kind":"aimd","increase":0.5,"keep":0.8}"#), "{resolved}");
    assert!(resolved.contains(r#""rate_control":"cautious""#), "{resolved}");
}

#[test]
fn each_parameter_matters() {
    let changes = [
        ("tcp.congestion_control.keep", "0.5"),
        ("bss.ap.queue.limit", "\"5 packets\""),
        ("bss.rate_control", "{ kind = \"cautious\", patience = 3 }"),
    ];
    for change in changes {
        assert!(json(&[]) != json(&[change]), "{change:?} changes nothing");
    }
}

#[test]
fn an_increase_of_one_and_a_half_kept_are_newrenos_where_acks_are_counted() {
    let with_control = |control| {
        let queue = "{ kind = \"fifo\", limit = \"30 packets\" }";
        [("tcp.growth", "per_ack"), ("tcp.congestion_control", control), ("bss.ap.queue", queue)]
    };
    let run_with = |control| json(&with_control(control));
    let lost = run(&with(&with_control("aimd")).unwrap(), 1, None).unwrap().report().nodes[0].get(DROPS);
    assert!(lost.is_some_and(|packets| packets > 10), "{lost:?} packets were dropped, too few to tell them apart");
    let ours = run_with("{ kind = \"newreno\", era = \"rfc5681\" }");
    let names = |name: &str, validation: &str| {
        format!(r#""congestion_control":"{name}","congestion_control_validation":"{validation}""#)
    };
    assert!(ours.replace(&names("newreno", "paper"), &names("aimd", "unverified")) == run_with("aimd"));
}

#[test]
fn a_queue_that_never_fills_drops_nowhere() {
    let run_with =
        |kind: &str| json(&[("bss.ap.queue", &format!("{{ kind = \"{kind}\", limit = \"100000 packets\" }}"))]);
    let of = |kind: &str| format!(r#""kind":"{kind}","limit":"100000 packets""#);
    assert!(run_with("fifo").replace(&of("fifo"), &of("head_drop")) == run_with("head_drop"));
}

#[test]
fn mistakes_are_errors_with_their_place() {
    let error = with(&[("tcp.congestion_control.keep", "1.5")]).err().unwrap();
    assert!(error.contains("tcp.congestion_control.keep: at least 0.1, and less than 1"), "{error}");
    let error = with(&[("bss.ap.queue", "{ kind = \"head_drop\", limits = 3 }")]).err().unwrap();
    assert!(error.contains("unknown key \"limits\"; did you mean \"limit\"?"), "{error}");
    let error = with(&[("bss.rate_control", "\"cautios\"")]).err().unwrap();
    assert!(error.contains("unknown rate control \"cautios\""), "{error}");
}

#[test]
fn without_plugins_the_names_are_unknown() {
    let error = resolve(&text(), FILE, &[]).err().unwrap().to_string();
    assert!(error.starts_with("mine.toml:8: bss.rate_control: unknown rate control \"cautious\""), "{error}");
}
