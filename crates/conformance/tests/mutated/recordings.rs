//! Any recording gives a sentence, or a verdict; never a panic, a number that wraps, or work without end.

use std::io::Read as _;
use std::path::Path;

use crate::mutated::mutation::{cases, mutated, mutations, soon};
use lasthop_conformance::recovery::{Trace, replay};
use proptest::prelude::*;

/// The recordings of the repository. The random ones are alike, so that a few will do.
fn recordings() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/vectors/recovery");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.retain(|path| path.to_str().is_some_and(|path| !path.contains("chance") || path.contains("1.json")));
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text
}

/// Its line, or the sentence.
fn judge(text: &str) -> Result<String, String> {
    soon(|| {
        let report = replay(&Trace::parse(text)?);
        drop(report.side_by_side());
        Ok(report.line())
    })
}

fn a_sentence_or_a_verdict(text: &str) {
    if let Err(sentence) = judge(text) {
        assert!(!sentence.contains('\n'), "{sentence}");
    }
}

#[test]
fn mutated_recordings_give_a_sentence_or_a_verdict() {
    let recordings = recordings();
    proptest!(cases(1500), |(which in 0..recordings.len(), changes in mutations(4))| {
        a_sentence_or_a_verdict(&mutated(&recordings[which], &changes));
    });
}

/// The part before the events is where numbers steer the replay.
#[test]
fn mutated_scenarios_give_a_sentence_or_a_verdict() {
    let recordings = recordings();
    proptest!(cases(1500), |(which in 0..recordings.len(), changes in mutations(3))| {
        let (scenario, events) = recordings[which].split_once("\"events\"").unwrap();
        a_sentence_or_a_verdict(&format!("{}\"events\"{events}", mutated(scenario, &changes)));
    });
}

fn with_scenario(old: &str, new: &str) -> String {
    let text = recordings().into_iter().find(|text| text.contains("s_reno_loss1")).unwrap();
    assert!(text.contains(old), "{old}");
    text.replacen(old, new, 1)
}

#[test]
fn a_number_that_no_recording_has_is_refused() {
    let cases = [
        ("\"segments\": ", "4294967296", "scenario: \"segments\" = 4294967296 is out of range: it may be 1 to 100000"),
        ("\"mss\": ", "0", "scenario: \"mss\" = 0 is out of range: it may be 48 to 65483"),
        ("\"rtt_ms\": ", "1e300", "scenario: \"rtt_ms\" = 1"),
        ("\"gap_ms\": ", "-1", "scenario: \"gap_ms\" = -1 is out of range: it may be 0 to 10000"),
        ("\"window\": ", "18446744073709551615", "scenario: \"window\" = 18446744073709551615 is out of range"),
        ("\"delack\": ", "0", "scenario: \"delack\" = 0 is out of range: it may be 1 to 100000"),
        ("\"HZ\": ", "2000000000", "\"HZ\" is not a number from 1 to 10000"),
    ];
    for (key, value, why) in cases {
        let sentence = judge(&with_scenario(key, &format!("{key}{value}, \"desc\": "))).unwrap_err();
        assert!(sentence.starts_with(why), "{key}{value}: {sentence}");
    }
    for (new, why) in [
        ("\"stop_ms\": 1e12", "scenario: \"stop_ms\" = 1000000000000 is out of range"),
        ("\"mark\": [[-1, 1]]", "scenario: \"mark\" = -1 is out of range"),
        ("\"extra_delay_ms\": [[1, 1, 1e99]]", "scenario: \"extra_delay_ms\" = 1"),
        ("\"window_script\": [[1]]", "scenario: \"window_script\": [1] is not a list of 2 numbers"),
        ("\"sysctl\": {\"tcp_reordering\": 0}", "scenario: \"tcp_reordering\" = 0 is out of range"),
    ] {
        let text = with_scenario("\"window\": ", &format!("{new}, \"window\": "));
        let sentence = judge(&text).unwrap_err();
        assert!(sentence.starts_with(why), "{new}: {sentence}");
    }
}
