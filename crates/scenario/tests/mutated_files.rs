//! Any content of a file gives an error with a sentence, or a run that ends with a plausible result; never a panic.
//!
//! `PROPTEST_CASES` sets how many mutations are tried.

mod vocabulary;

use std::path::Path;
use std::sync::{LazyLock, mpsc};

use lasthop_scenario::{RunResult, resolve, run, run_with_account};
use lasthop_units::Duration;
use proptest::prelude::*;
use serde_json::Value;
use vocabulary::{Key, vocabulary};

/// Long enough for a retransmission timeout, and for a second one.
const DURATION: &str = "1500 ms";
/// A run that takes longer than this is taken for endless. Usual ones take less than a hundredth of it.
const BOUND: std::time::Duration = std::time::Duration::from_secs(60);

/// Every ready scenario, with all flows from the start.
static FILES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let entries = std::fs::read_dir(folder).expect("the scenarios are there");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    assert!(files.len() >= 16, "{files:?}");
    files.iter().map(|file| from_the_start(&std::fs::read_to_string(file).expect("it is text"))).collect()
});

static KEYS: LazyLock<Vec<Key>> = LazyLock::new(vocabulary);

/// The text without keys for the time of an event: they would lie beyond the end.
fn from_the_start(text: &str) -> String {
    let key = |line: &str| line.split('=').next().unwrap_or_default().trim().to_string();
    let timed = |line: &&str| !["start", "start_jitter", "waypoints"].contains(&key(line).as_str());
    text.lines().filter(timed).collect::<Vec<_>>().join("\n")
}

/// Keys and values that no good file has, and some that good files have.
const STRANGE: [&str; 48] = [
    "-1",
    "0",
    "1",
    "2",
    "7",
    "1e308",
    "-1e-300",
    "nan",
    "inf",
    "0.5",
    "9223372036854775807",
    "-9223372036854775808",
    "\"\"",
    "\"-5 s\"",
    "\"50\"",
    "\"NaN ms\"",
    "\"1e300 s\"",
    "\"1 ns\"",
    "\"0 s\"",
    "\"1e9 s\"",
    "\"0 B\"",
    "\"1 B\"",
    "\"9e18 B\"",
    "\"0 bit/s\"",
    "\"100 Gbit/s\"",
    "\"0 m\"",
    "\"1e12 m\"",
    "\"300 dBm\"",
    "\"-300 dBm\"",
    "[]",
    "{}",
    "[[]]",
    "[{}]",
    "true",
    "false",
    "\"off\"",
    "\"unlimited\"",
    "\"autotune\"",
    "\"backpressure\"",
    "999999999999",
    "\"saturated\"",
    "{ kind = \"fifo\" }",
    "{ kind = \"fq_codel\", flows = 1 }",
    "\"802.11g\"",
    "\"802.11ax\"",
    "[\"1 Mbit/s\", 3]",
    "\"ä\u{1F4E1}\"",
    "1979-05-27",
];

/// A change of a file.
#[derive(Clone, Debug)]
enum Mutation {
    Replace(usize, usize),
    Cut(usize),
    Double(usize),
    Break(usize, usize),
    Truncate(usize),
    /// An existing key with a value of its kind: indices of place, key and value.
    Insert(usize, usize, usize),
}

fn mutations() -> impl Strategy<Value = Mutation> {
    prop_oneof![
        3 => (0..120usize, 0..STRANGE.len()).prop_map(|(line, value)| Mutation::Replace(line, value)),
        1 => (0..120usize).prop_map(Mutation::Cut),
        1 => (0..120usize).prop_map(Mutation::Double),
        1 => (0..120usize, 0..STRANGE.len()).prop_map(|(line, value)| Mutation::Break(line, value)),
        1 => (0..120usize).prop_map(Mutation::Truncate),
        8 => (0..40usize, 0..100_000usize, 0..100_000usize).prop_map(|(at, key, value)| Mutation::Insert(at, key, value)),
    ]
}

fn mutate(text: &str, mutation: &Mutation) -> String {
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    if lines.is_empty() {
        return String::new();
    }
    let of = |at: usize| at % lines.len();
    match *mutation {
        Mutation::Replace(at, value) => {
            let at = of(at);
            if let Some((key, _)) = lines[at].split_once('=') {
                lines[at] = format!("{key}= {}", STRANGE[value]);
            }
        }
        Mutation::Cut(at) => drop(lines.remove(of(at))),
        Mutation::Double(at) => lines.insert(of(at), lines[of(at)].clone()),
        Mutation::Break(at, value) => {
            let at = of(at);
            let middle = (0..=lines[at].len() / 2).rev().find(|&i| lines[at].is_char_boundary(i)).unwrap_or(0);
            lines[at].insert_str(middle, STRANGE[value].trim_matches('"'));
        }
        Mutation::Truncate(at) => lines.truncate(of(at)),
        Mutation::Insert(at, key, value) => insert(&mut lines, at, key, value),
    }
    lines.join("\n")
}

/// Inserts a line after a header of the file, with a key of that section in place of the existing one.
fn insert(lines: &mut Vec<String>, at: usize, key: usize, value: usize) {
    let headers: Vec<(usize, String)> =
        lines.iter().enumerate().filter_map(|(i, line)| Some((i, section(line)?))).collect();
    let Some((line, section)) = headers.get(at % headers.len().max(1)) else { return };
    let keys: Vec<&Key> = KEYS.iter().filter(|key| key.section == *section).collect();
    let Some(key) = keys.get(key % keys.len().max(1)) else { return };
    let end = headers.iter().map(|(next, _)| *next).find(|next| next > line).unwrap_or(lines.len());
    let is_same = |line: &String| line.split('=').next().is_some_and(|name| name.trim() == key.name);
    if let Some(same) = (line + 1..end).find(|&i| is_same(&lines[i])) {
        lines.remove(same);
    }
    lines.insert(line + 1, format!("{} = {}", key.name, key.values[value % key.values.len()]));
}

/// The section that a line begins, if it is a header.
fn section(line: &str) -> Option<String> {
    let name = line.trim().strip_prefix('[')?.trim_start_matches('[').split(']').next()?;
    Some(name.to_string())
}

fn settings() -> [(String, String); 2] {
    [("duration", DURATION), ("warmup", "100 ms")].map(|(key, value)| (key.to_string(), value.to_string()))
}

/// The scenario that `text` resolves to, if it does; a refusal is one line that names the place.
fn resolved(text: &str) -> Option<lasthop_scenario::ResolvedScenario> {
    match resolve(text, "mutated.toml", &settings()) {
        Err(error) => {
            let sentence = error.to_string();
            assert!(sentence.starts_with("mutated.toml") || sentence.starts_with("--set"), "{sentence}");
            assert!(!sentence.contains('\n'), "{sentence}");
            None
        }
        Ok(scenario) => Some(scenario),
    }
}

/// Checks that there is an error or a run; true if it ran.
fn an_error_or_a_run(text: &str) -> bool {
    let Some(scenario) = resolved(text) else { return false };
    // Commands run under `lasthop emulate` only, and this test has no loader of code.
    if scenario.check_simulable().is_err() || !scenario.code().is_empty() {
        return false;
    }
    let (done, result) = mpsc::channel();
    let account = text.len().is_multiple_of(2);
    let work = move || {
        let result =
            if account { run_with_account(&scenario, 1) } else { run(&scenario, 1, Some(Duration::from_millis(100))) };
        let _ = done.send(result);
    };
    let thread = std::thread::spawn(work);
    match result.recv_timeout(BOUND) {
        Ok(result) => check(&result.unwrap_or_else(|why| panic!("what resolves, runs: {why}\n{text}"))),
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("it does not end:\n{text}"),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            let panic = thread.join().expect_err("it sent no result");
            eprintln!("{text}");
            std::panic::resume_unwind(panic)
        }
    }
    true
}

/// Checks properties of every result.
fn check(result: &RunResult) {
    let json: Value = serde_json::from_str(&result.json()).expect("a result is JSON");
    for part in ["flows", "totals", "nodes", "links", "medium", "queues", "wires"] {
        check_value(part, &json[part]);
    }
    let medium = &json["medium"];
    let sum: f64 = ["busy_fraction", "idle_fraction"].map(|key| medium[key].as_f64().expect("a number")).iter().sum();
    assert!((sum - 1.0).abs() < 1e-9, "{medium}");
    for node in json["nodes"].as_array().expect("a list") {
        assert!(node["airtime_fraction"].is_number() && node["queue_mean_packets"].is_number(), "{node}");
    }
    if let Some(flows) = json["account"]["flows"].as_array() {
        let covered = json["account"]["covered_s"].as_f64().expect("a number");
        for flow in flows {
            let terms = flow["terms"].as_object().expect("a table").values();
            let sum: f64 = terms.map(|term| term.as_f64().expect("a number")).sum();
            assert!((sum - covered).abs() < 1e-6, "{flow}");
        }
    }
    for block in result.series() {
        let possible = |value: &f64| value.is_nan() || (*value >= 0.0 && value.is_finite());
        assert!(block.values.iter().all(possible), "{} has an impossible value", block.quantity.name);
    }
}

/// Numbers are finite and not negative, fractions 1 at most.
fn check_value(key: &str, value: &Value) {
    match value {
        Value::Number(number) => {
            let number = number.as_f64().expect("a number of JSON");
            assert!(number.is_finite() && number >= 0.0, "{key}: {number}");
            let is_share = ["_fraction", "_probability", "_index"].iter().any(|ending| key.contains(ending));
            assert!(!is_share || number <= 1.0 + 1e-9, "{key}: {number}");
        }
        Value::Array(items) => items.iter().for_each(|item| check_value(key, item)),
        Value::Object(entries) => entries.iter().for_each(|(key, value)| check_value(key, value)),
        _ => {}
    }
}

fn cases(usual: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig {
        cases: asked.unwrap_or(usual),
        failure_persistence: None,
        max_shrink_iters: 200,
        ..ProptestConfig::default()
    }
}

fn mutated(file: usize, mutations: &[Mutation]) -> String {
    mutations.iter().fold(FILES[file % FILES.len()].clone(), |text, mutation| mutate(&text, mutation))
}

proptest! {
    #![proptest_config(cases(120))]

    #[test]
    fn mutations_give_an_error_or_a_run(
        file in 0..1000usize, mutations in proptest::collection::vec(mutations(), 1..4),
    ) {
        an_error_or_a_run(&mutated(file, &mutations));
    }
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn mutations_resolve_or_are_refused(
        file in 0..1000usize, mutations in proptest::collection::vec(mutations(), 1..7),
    ) {
        resolved(&mutated(file, &mutations));
    }

    #[test]
    fn any_text_resolves_or_is_refused(text in "\\PC{0,200}") {
        resolved(&text);
    }
}

#[test]
fn strange_values_at_every_line_resolve_or_are_refused() {
    for file in FILES.iter() {
        for line in 0..file.lines().count() {
            // Without PROPTEST_CASES one value in seven, others at each line.
            for value in (0..STRANGE.len()).filter(|value| (value + line).is_multiple_of(every_nth(7))) {
                resolved(&mutate(file, &Mutation::Replace(line, value)));
            }
        }
    }
}

/// With `PROPTEST_CASES` all, else one in `n`.
fn every_nth(n: usize) -> usize {
    if std::env::var("PROPTEST_CASES").is_ok() { 1 } else { n }
}

/// Two stations near and one far, slow, so that a run has few frames and loses some, with short queues.
const SMALL: [&str; 2] = [
    "[bss]\nstandard = \"802.11b\"\nrate_control = { kind = \"fixed\", rate = \"2 Mbit/s\" }\nretry_limit = 1\n[bss.ap]\n\
     queue = { kind = \"fifo\", limit = \"3 packets\" }\n[[station]]\ncount = 2\n[[station]]\nname = \"far\"\n\
     distance = \"110 m\"\n[wired]\n[tcp]\n[channel]\n[[flow]]\nstation = \"sta1\"\n[[flow]]\nstation = \"sta2\"\n\
     direction = \"down\"\n[[flow]]\nstation = \"far\"\n",
    "[bss]\nstandard = \"802.11n\"\nrate_control = { kind = \"fixed\", mcs = 0 }\n[bss.ap]\n[[station]]\ncount = 2\n\
     [wired]\nrate = \"1 Mbit/s\"\nqueue = { kind = \"fifo\", limit = \"5 packets\" }\n[tcp]\n[channel]\n[[flow]]\n\
     station = \"sta1\"\nwired_delay = \"10 ms\"\n[[flow]]\nstation = \"sta2\"\ndirection = \"down\"\n",
];

#[test]
fn every_key_takes_the_ends_of_its_range_or_refuses_them() {
    let (mut tried, mut ran, mut failed) = (0, 0, Vec::new());
    for base in SMALL {
        for key in KEYS.iter() {
            let at = base.lines().position(|line| section(line).as_deref() == Some(&key.section));
            let Some(at) = at else { continue };
            let headers = base.lines().take(at).filter(|line| section(line).is_some()).count();
            let number = KEYS.iter().filter(|k| k.section == key.section).position(|k| k.name == key.name);
            for value in 0..key.values.len() {
                tried += 1;
                if usize::is_multiple_of(tried, every_nth(8)) {
                    let text = mutate(base, &Mutation::Insert(headers, number.expect("it is one"), value));
                    match std::panic::catch_unwind(|| an_error_or_a_run(&text)) {
                        Ok(has_run) => ran += usize::from(has_run),
                        Err(_) => failed.push(format!("[{}] {} = {}", key.section, key.name, key.values[value])),
                    }
                }
            }
        }
    }
    assert!(failed.is_empty(), "{} of {ran} failed:\n{}", failed.len(), failed.join("\n"));
    assert!(tried > 2000 && ran > 100, "{tried} values, {ran} runs");
}
