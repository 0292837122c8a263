//! Whatever stands in a file: an error with a sentence, or a run; never a panic.

use lasthop_scenario::{resolve, run};
use proptest::prelude::*;

const FILES: [&str; 4] = [
    include_str!("../../../scenarios/khademi2011-uplink-11b.toml"),
    include_str!("../../../scenarios/khademi2011-uplink-11g-delay.toml"),
    include_str!("../../../scenarios/saturation-11a.toml"),
    include_str!("../../../scenarios/hashimoto2008-updown-11a.toml"),
];

/// Keys and values that stand in no good file, and some that do.
const STRANGE: [&str; 24] = [
    "-1",
    "0",
    "1e308",
    "nan",
    "inf",
    "\"\"",
    "\"-5 s\"",
    "\"50\"",
    "\"NaN ms\"",
    "\"1e300 s\"",
    "\"0 B\"",
    "[]",
    "{}",
    "true",
    "\"off\"",
    "\"unlimited\"",
    "999999999999",
    "\"saturated\"",
    "{ kind = \"fifo\" }",
    "\"802.11g\"",
    "[\"1 Mbit/s\", 3]",
    "\"ä\u{1F4E1}\"",
    "1979-05-27",
    "\"0 packets\"",
];

/// The file with its `line`-th assignment given another value, cut, doubled or broken.
fn mutate(text: &str, line: usize, value: &str, kind: u8) -> String {
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    let at = line % lines.len();
    match kind {
        0 | 1 => {
            if let Some((key, _)) = lines[at].split_once('=') {
                lines[at] = format!("{key}= {value}");
            }
        }
        2 => drop(lines.remove(at)),
        3 => lines.insert(at, lines[at].clone()),
        4 => {
            let middle = (0..=lines[at].len() / 2).rev().find(|&i| lines[at].is_char_boundary(i)).unwrap_or(0);
            lines[at].insert_str(middle, value.trim_matches('"'));
        }
        _ => lines.truncate(at),
    }
    lines.join("\n")
}

fn an_error_or_a_run(text: &str) {
    // Short, so that a run costs little; a mutation may have set its own duration, which then counts.
    let settings = [("duration".to_string(), "20 ms".to_string()), ("warmup".to_string(), "0 s".to_string())];
    match resolve(text, "mutated.toml", &settings) {
        Err(error) => {
            let sentence = error.to_string();
            assert!(sentence.starts_with("mutated.toml") || sentence.starts_with("--set"), "{sentence}");
            assert!(!sentence.contains('\n'), "{sentence}");
        }
        Ok(scenario) => drop(run(&scenario, 1, None).expect("what resolves, runs")),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_mutation_gives_an_error_or_a_run(
        file in 0..FILES.len(), line in 0..60usize, value in 0..STRANGE.len(), kind in 0..6u8,
    ) {
        an_error_or_a_run(&mutate(FILES[file], line, STRANGE[value], kind));
    }

    #[test]
    fn several_mutations_give_an_error_or_a_run(
        file in 0..FILES.len(),
        mutations in proptest::collection::vec((0..60usize, 0..STRANGE.len(), 0..6u8), 2..6),
    ) {
        let text = mutations.iter().fold(FILES[file].to_string(), |text, &(line, value, kind)| {
            if text.is_empty() { text } else { mutate(&text, line, STRANGE[value], kind) }
        });
        an_error_or_a_run(&text);
    }

    #[test]
    fn any_text_gives_an_error_or_a_run(text in "\\PC{0,200}") {
        an_error_or_a_run(&text);
    }
}

#[test]
fn every_value_at_every_line() {
    for file in FILES {
        for line in 0..file.lines().count() {
            for value in STRANGE {
                an_error_or_a_run(&mutate(file, line, value, 0));
            }
        }
    }
}
