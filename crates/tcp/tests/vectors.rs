//! Recorded traces of other people's controllers, replayed against ours.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use lasthop_tcp::replay::{Kernel, Report, Tolerance, Trace, Verdict, judge, replay};

/// From the crate to the repository's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> Trace {
    let file = std::fs::File::open(path).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    Trace::parse(&text).unwrap_or_else(|what| panic!("{}: {what}", path.display()))
}

/// One replayed file.
struct Replayed {
    name: String,
    sequence: String,
    kernel: Kernel,
    tolerance: Tolerance,
    report: Report,
}

/// All files of controllers that there are, by name.
fn replay_all() -> Vec<Replayed> {
    let mut paths: Vec<PathBuf> = ["linux612", "linux2622", "ns2fast"]
        .iter()
        .filter_map(|kernel| std::fs::read_dir(root().join("tests/data/vectors/cc").join(kernel)).ok())
        .flat_map(|folder| folder.map(|entry| entry.unwrap().path()))
        .collect();
    paths.sort();
    paths.iter().filter_map(|path| replay_one(path)).collect()
}

fn replay_one(path: &Path) -> Option<Replayed> {
    let trace = read(path);
    let (algorithm, tolerance) = trace.subject()?;
    let report = replay(&trace, &algorithm, tolerance);
    let file = path.file_name().unwrap().to_str().unwrap();
    let sequence = file.split('.').nth(1).unwrap().to_string();
    Some(Replayed { name: trace.name, sequence, kernel: trace.kernel, tolerance, report })
}

impl Replayed {
    fn describe(&self) -> String {
        format!("{:?} {} {}: {:?}", self.kernel, self.name, self.sequence, self.report)
    }
}

#[test]
fn every_trace_is_followed_within_its_tolerance() {
    let all = replay_all();
    assert!(all.len() >= 140, "{} files", all.len());
    for replayed in all {
        let Report { rows, within, .. } = replayed.report;
        assert!(rows > 500, "{}", replayed.describe());
        assert_eq!(rows, within, "{}", replayed.describe());
    }
}

#[test]
fn whole_segments_are_followed_exactly() {
    // All but FAST, whose window is a real number.
    for replayed in replay_all().iter().filter(|replayed| replayed.kernel != Kernel::Ns2Fast) {
        assert_eq!(replayed.report.verdict(), Verdict::Exact, "{}", replayed.describe());
    }
}

#[test]
fn a_wrong_constant_is_found() {
    use lasthop_tcp::congestion_control::{Algorithm, bic};
    let trace = read(&root().join("tests/data/vectors/cc/linux612/bic.s1_const40.csv.gz"));
    let wrong = Algorithm::Bic(bic::Params { max_increment: 17, ..Default::default() });
    assert_eq!(replay(&trace, &wrong, Tolerance::EXACT).verdict(), Verdict::Off);
}

#[test]
fn a_controller_that_is_not_there_is_skipped() {
    let text = "# cc=lp scenario: end=1\ni,ev,t_us,n,k,dt_us,rtt_us,ce,flight0,una,nxt,state,cwnd,ssthresh,srtt8_us\n";
    let row = "0,init,1000000,0,0,0,-1,0,0,0,10,Open,10,2147483647,0\n";
    let (line, verdict) = judge(&format!("{text}{row}")).unwrap();
    assert_eq!((line.as_str(), verdict), ("lp of Linux 6.12: skipped, there is no such controller here", None));
}

#[test]
fn what_is_no_trace_is_refused() {
    assert!(Trace::parse("").is_err());
    let header = "# cc=reno scenario: end=1\ni,ev,t_us,n,k,dt_us,rtt_us,ce,flight0,una,nxt,state,cwnd,cwnd_cnt,ssthresh,srtt8_us\n";
    let error = Trace::parse(&format!("{header}0,nothing,0,0,0,0,0,0,0,0,0,Open,10,0,0,0\n")).unwrap_err();
    assert_eq!(error, "line 3: \"nothing\" is no event of a trace");
}

#[test]
#[ignore = "writes docs/vectors.md"]
fn write_the_table() {
    std::fs::write(root().join("docs/vectors.md"), table(&replay_all())).unwrap();
}

#[test]
fn the_written_table_is_up_to_date() {
    let written = std::fs::read_to_string(root().join("docs/vectors.md")).unwrap_or_default();
    assert_eq!(
        written,
        table(&replay_all()),
        "cargo test -p lasthop-tcp --test vectors -- --ignored write_the_table writes it anew"
    );
}

const HEAD: &str = "\
# Congestion control against recorded traces

Written by `cargo test -p lasthop-tcp --test vectors -- --ignored write_the_table`; the tests fail when it is out of date.

The traces under `tests/data/vectors/cc` were recorded from the controllers of Linux 6.12 and of Linux 2.6.22 (as
TCP-Linux for ns-2 carries it), compiled unmodified and driven by synthetic events: a constant RTT of 40 ms (s1), an RTT
that swings about 60 ms with delayed ACKs (s2), a queue (s3), small windows with timeouts (s4), large windows at 100 ms
(s5), congestion marks (s6). The replay takes every event from the file and compares cwnd and ssthresh after every row,
and una, nxt and srtt as its own sender has them; the window under test is never set to a recorded one.

For BBR 14 columns of its state are compared: windows, pacing rate, mode, place in the cycle, gains, bandwidth, least
RTT, round trips, flags and the excess of ACKs.

`exact`: rows that are the same. `within`: rows inside the tolerance. That is 0 for all that count whole segments; the
window of FAST is a real number, of which the traces have six digits. `worst`: the largest difference in segments.

| recorded from | controller | sequence | rows | exact | within | tolerance | worst |
|---|---|---|---|---|---|---|---|
";

fn table(all: &[Replayed]) -> String {
    let mut table = HEAD.to_string();
    for Replayed { name, sequence, kernel, tolerance, report } in all {
        let kernel = kernel.name();
        let worst = report.worst.as_ref().map_or(0.0, |worst| worst.error);
        let worst = if worst < tolerance.segments { format!("below {tolerance}") } else { worst.to_string() };
        let Report { rows, exact, within, .. } = report;
        writeln!(table, "| {kernel} | {name} | {sequence} | {rows} | {exact} | {within} | {tolerance} | {worst} |")
            .unwrap();
    }
    table
}
