//! Recorded traces of other people's controllers, replayed against ours.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use lasthop_tcp::replay::{Kernel, Report, Tolerance, Trace, Verdict, replay};

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
    /// Rows that are known to lie outside the tolerance: a defect that stands, not one that is allowed for.
    fn known_misses(&self) -> usize {
        // Two segments in place of one.
        let old_cubic_in_a_queue =
            self.kernel == Kernel::Linux26 && self.name == "cubic" && self.sequence == "s3_queue20";
        if old_cubic_in_a_queue { 5 } else { 0 }
    }

    fn describe(&self) -> String {
        format!("{:?} {} {}: {:?}", self.kernel, self.name, self.sequence, self.report)
    }
}

#[test]
fn every_trace_is_followed_within_its_tolerance() {
    let all = replay_all();
    assert!(all.len() >= 130, "{} files", all.len());
    for replayed in all.iter().filter(|replayed| replayed.kernel != Kernel::Ns2Fast) {
        let Report { rows, within, .. } = replayed.report;
        assert!(rows > 500, "{}", replayed.describe());
        assert_eq!(rows - within, replayed.known_misses(), "{}", replayed.describe());
    }
}

#[test]
fn fast_for_ns2_is_followed_until_a_loss() {
    // 3 % in 99 % of the rows; what its module does after a loss is not modelled, and two thirds must do.
    for replayed in replay_all().iter().filter(|replayed| replayed.kernel == Kernel::Ns2Fast) {
        let least = if replayed.sequence == "s1_queue50" { 0.99 } else { 0.66 };
        let share = replayed.report.within as f64 / replayed.report.rows as f64;
        assert!(share >= least, "{}", replayed.describe());
    }
}

#[test]
fn whole_segments_are_followed_exactly() {
    for replayed in replay_all().iter().filter(|replayed| replayed.tolerance == Tolerance::EXACT) {
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
(s5), congestion marks (s6). The replay takes every event from the file and compares cwnd and ssthresh after every row.
At a loss or a timeout it first sets the window to the recorded one.

`exact`: rows that are the same. `within`: rows inside the tolerance, which is 0 for a controller that counts whole
segments as the kernel does, and 1 segment or 0.5 % for CUBIC: K comes from a real cube root where the kernels use an
approximation, and the older era has a real clock. Five rows of cubic s3 from Linux 2.6.22 are outside, by a segment.
FAST as its module for ns-2 has it is not within its tolerance throughout: what the module does after a loss is not
modelled. It counts as unverified; the rows say how far off it is. `worst`: the largest difference in segments.

| recorded from | controller | sequence | rows | exact | within | tolerance | worst |
|---|---|---|---|---|---|---|---|
";

fn table(all: &[Replayed]) -> String {
    let mut table = HEAD.to_string();
    for Replayed { name, sequence, kernel, tolerance, report } in all {
        let kernel = match kernel {
            Kernel::Linux => "Linux 6.12",
            Kernel::Linux26 => "Linux 2.6.22",
            Kernel::Ns2Fast => "ns-2 FAST",
        };
        let tolerance = if *tolerance == Tolerance::EXACT {
            "0".to_string()
        } else {
            format!("{} or {} %", tolerance.segments, 100.0 * tolerance.share)
        };
        let worst = report.worst.as_ref().map_or(0.0, |worst| worst.error);
        let Report { rows, exact, within, .. } = report;
        writeln!(table, "| {kernel} | {name} | {sequence} | {rows} | {exact} | {within} | {tolerance} | {worst} |")
            .unwrap();
    }
    table
}
