//! Any content of a trace of congestion control gives a sentence with its place, or a verdict; never a panic, a number
//! that wraps, or work without end.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::mutated::mutation::{cases, mutated, mutations, soon};
use lasthop_conformance::cc::replay::{Agreement, judge};
use proptest::prelude::*;

/// The traces of the repository, each with its first rows and some of those with events.
static TRACES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/vectors/cc");
    let folders = ["linux612", "linux2622", "ns2fast"].map(|kernel| std::fs::read_dir(root.join(kernel)).unwrap());
    let mut paths: Vec<PathBuf> = folders.into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| shortened(path)).collect()
});

fn shortened(path: &Path) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let is_quiet = |line: &str| line.split(',').any(|field| field == "ack");
    let events = (12..lines.len()).filter(|&at| !is_quiet(lines[at]) || !is_quiet(lines[at - 1])).take(30);
    let kept: Vec<&str> = (0..12).chain(events).map(|at| lines[at]).collect();
    kept.join("\n")
}

fn a_sentence_or_a_verdict(text: &str) {
    match soon(|| judge(text)) {
        Ok((line, _)) => assert!(!line.contains("NaN"), "{line}"),
        Err(sentence) => {
            assert!(!sentence.contains('\n'), "{sentence}");
            let has_place = ["line ", "an empty file", "no rows after"].iter().any(|place| sentence.contains(place));
            assert!(has_place, "{sentence}");
        }
    }
}

#[test]
fn mutated_traces_give_a_sentence_or_a_verdict() {
    proptest!(cases(2000), |(which in 0..TRACES.len(), changes in mutations(4))| {
        a_sentence_or_a_verdict(&mutated(&TRACES[which], &changes));
    });
}

#[test]
fn any_text_gives_a_sentence() {
    proptest!(cases(500), |(text in "(# scenario: )?[a-z0-9,=.\\-\n]{0,200}")| a_sentence_or_a_verdict(&text));
}

/// The trace with one field of its row in the middle changed.
fn with_field(column: &str, value: &str) -> String {
    let trace = TRACES.iter().find(|trace| trace.contains("cc=reno ") && trace.contains("srtt8_us")).unwrap();
    let mut lines: Vec<String> = trace.lines().map(str::to_string).collect();
    let at = lines[1].split(',').position(|name| name == column).unwrap();
    let mut fields: Vec<&str> = lines[9].split(',').collect();
    fields[at] = value;
    lines[9] = fields.join(",");
    lines.join("\n")
}

#[test]
fn a_number_that_tcp_cannot_carry_is_refused_in_its_line() {
    let columns = ["t_us", "n", "k", "dt_us", "rtt_us", "flight0", "una", "nxt", "srtt8_us", "cwnd", "ssthresh"];
    for column in columns {
        let sentence = judge(&with_field(column, "9223372036854775807")).unwrap_err();
        assert!(sentence.starts_with("line 10: ") && sentence.contains("out of range"), "{column}: {sentence}");
    }
    assert_eq!(
        judge(&with_field("n", "2147483647")).unwrap_err(),
        "line 10: n = 2147483647 is out of range: it may be 0 to 741534"
    );
    for key in ["cwnd0", "ss0", "alpha", "gamma"] {
        let text = with_field("n", "1").replacen("scenario:", &format!("scenario: {key}=nan"), 1);
        assert!(judge(&text).unwrap_err().starts_with(&format!("line 1: {key} = NaN is out of range")), "{key}");
    }
}

#[test]
fn a_row_before_the_one_above_is_refused() {
    let sentence = judge(&with_field("t_us", "1")).unwrap_err();
    assert_eq!(sentence, "line 10: its time is before the last ACK of the row above");
    assert!(judge(&with_field("nxt", "0")).unwrap_err().starts_with("line 10: una = "));
}

#[test]
fn a_trace_of_more_work_than_a_replay_does_is_refused() {
    let whole = with_field("n", "1");
    let (mut text, row) = whole.rsplit_once('\n').map(|(above, row)| (above.to_string(), row)).unwrap();
    let at = |name: &str| text.lines().nth(1).unwrap().split(',').position(|column| column == name).unwrap();
    let mut fields: Vec<&str> = row.split(',').collect();
    (fields[at("n")], fields[at("dt_us")], fields[at("ev")]) = ("741534", "0", "sack");
    for _ in 0..30 {
        text += &format!("\n{}", fields.join(","));
    }
    let sentence = judge(&text).unwrap_err();
    assert!(sentence.ends_with("more than 20000000 ACKs so far; a replay takes a shorter trace"), "{sentence}");
}

/// Found by fuzzing: the next number to send went back, and a round trip of Compound ended before it began.
#[test]
fn a_next_number_that_goes_back_is_a_difference() {
    for name in ["compound", "vegas", "hstcp"] {
        let Some(trace) = TRACES.iter().find(|trace| trace.contains(&format!("cc={name} "))) else { continue };
        let nxt = trace.lines().nth(1).unwrap().split(',').position(|column| column == "nxt").unwrap();
        let raised = trace.lines().enumerate().map(|(at, line)| {
            let mut fields: Vec<&str> = line.split(',').collect();
            if at == 6 {
                fields[nxt] = "4000000000";
            }
            fields.join(",")
        });
        let (line, verdict) = judge(&raised.collect::<Vec<_>>().join("\n")).unwrap();
        assert_eq!(verdict, Some(Agreement::Off), "{line}");
    }
}
