//! Recordings of Linux, replayed against the `linux` profile.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use lasthop_recovery::{Happening, Report, Row, Trace, Verdict, replay};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/vectors/recovery")
}

fn text(name: &str) -> String {
    let file = std::fs::File::open(folder().join(format!("{name}.json.gz"))).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    text
}

fn trace(name: &str) -> Trace {
    Trace::parse(&text(name)).unwrap_or_else(|what| panic!("{name}: {what}"))
}

fn names() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).unwrap();
    let file_name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = entries.map(|entry| file_name(entry).replace(".json.gz", "")).collect();
    names.sort();
    names
}

/// Recordings that the `linux` profile does not follow yet.
const NOT_FOLLOWED: [&str; 2] = ["s_spurious_rto_eifel", "s_spurious_rto_ts"];

/// Recordings that ask for what is not there yet.
const SKIPPED: [&str; 2] = ["k_cubic_ece", "k_reno_ece"];

#[test]
fn every_recording_is_followed_but_those_listed() {
    assert_eq!(names().len(), 30);
    for name in names() {
        let report = replay(&trace(&name));
        let listed = NOT_FOLLOWED.contains(&name.as_str());
        assert_eq!(report.verdict == Verdict::Fail, listed, "{name}: {}", report.line());
        let skipped = matches!(report.verdict, Verdict::Skip(_));
        assert_eq!(skipped, SKIPPED.contains(&name.as_str()), "{name}: {}", report.line());
    }
}

/// The rows up to the first difference, as a recording of their own.
fn followed_part(name: &str) -> Trace {
    let mut trace = trace(name);
    let report = replay(&trace);
    trace.rows.truncate(report.same);
    trace
}

fn difference_after(change: impl Fn(&mut Trace)) -> Option<(usize, String)> {
    let mut trace = followed_part("s_reno_loss1");
    change(&mut trace);
    let report = replay(&trace);
    // The cut-off end of the recording is a difference by itself.
    report.first().filter(|found| found.recorded.is_some()).map(|found| (found.row, found.what.clone()))
}

fn first(rows: &mut [Row], wanted: impl Fn(&Happening) -> bool) -> usize {
    rows.iter().position(|row| wanted(&row.happening)).unwrap()
}

#[test]
fn what_is_followed_shows_no_difference() {
    assert_eq!(difference_after(|_| {}), None);
}

#[test]
fn one_changed_number_is_found() {
    let is_ack = |happening: &Happening| matches!(happening, Happening::Ack(ack) if ack.number == 4);
    // Row 12 is the first ACK, rows 13 to 15 what follows from it; four rows for each ACK.
    let time = |trace: &mut Trace| {
        let at = first(&mut trace.rows, is_ack);
        trace.rows[at].t_ms += 9.0;
    };
    assert_eq!(difference_after(time), Some((24, "its time".to_string())));
    let cumulative = |trace: &mut Trace| {
        let at = first(&mut trace.rows, is_ack);
        let Happening::Ack(ack) = &mut trace.rows[at].happening else { unreachable!() };
        ack.cumulative += 1;
    };
    assert_eq!(difference_after(cumulative), Some((24, "what is acknowledged".to_string())));
    let segment = |trace: &mut Trace| {
        let at = first(&mut trace.rows, is_ack) + 1;
        let Happening::Out(out) = &mut trace.rows[at].happening else { unreachable!() };
        out.segment += 1;
    };
    assert_eq!(difference_after(segment), Some((25, "what is sent".to_string())));
    let cwnd = |trace: &mut Trace| {
        let at = first(&mut trace.rows, is_ack) + 3;
        let Happening::Info(info) = &mut trace.rows[at].happening else { unreachable!() };
        info.cwnd += 1;
    };
    assert_eq!(difference_after(cwnd), Some((27, "cwnd".to_string())));
}

#[test]
fn a_different_path_is_found() {
    let text = text("s_reno_loss1").replace("\"gap_ms\": 1.0", "\"gap_ms\": 2.0");
    let report: Report = replay(&Trace::parse(&text).unwrap());
    assert_eq!(report.verdict, Verdict::Fail);
    assert!(report.first().unwrap().row <= 20, "{}", report.line());
}

#[test]
fn a_kernel_that_differs_from_itself_proves_nothing() {
    let text = text("s_reno_loss1").replace("\"gap_ms\": 1.0", "\"gap_ms\": 2.0").replace("3/3", "1/3");
    let report = replay(&Trace::parse(&text).unwrap());
    assert_eq!(report.verdict, Verdict::Skip("the kernel's own runs were alike in 1 of 3 only".to_string()));
}

#[test]
fn what_is_not_known_is_skipped_with_a_reason() {
    let with = |cc: &str| text("s_reno_loss1").replace("\"cc\": \"reno\"", cc);
    let verdict = |text: &str| replay(&Trace::parse(text).unwrap()).verdict;
    assert_eq!(
        verdict(&with("\"cc\": \"lp\"")),
        Verdict::Skip("the congestion control \"lp\" is not known".to_string())
    );
    assert_eq!(
        verdict(&with("\"cc\": \"reno\", \"policer\": 3")),
        Verdict::Skip("the scenario key \"policer\" is not known".to_string())
    );
}

#[test]
fn what_is_no_recording_is_refused() {
    assert!(Trace::parse("1,2,3").unwrap_err().starts_with("no JSON"));
    assert_eq!(Trace::parse("{}").unwrap_err(), "\"events\" is missing");
    let text = text("s_reno_loss1").replace("[\"out\",0.01,0,1,\"write\"]", "[\"out\",0.01,0,1,\"whim\"]");
    assert_eq!(Trace::parse(&text).unwrap_err(), "event 0 is not readable: [\"out\",0.01,0,1,\"whim\"]");
}
