//! Recorded traces of other people's controllers, replayed against ours.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use lasthop_conformance::cc::replay::{Agreement, Kernel, Report, Tolerance, Trace, judge, replay};

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

/// All files of available controllers, by name.
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
    fn is_cubic(&self) -> bool {
        self.name.starts_with("cubic")
    }

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
    // All except FAST, whose window is a real number, and CUBIC, with its exact cube root here.
    let exact = replay_all().into_iter().filter(|replayed| replayed.kernel != Kernel::Ns2Fast && !replayed.is_cubic());
    for replayed in exact {
        assert_eq!(replayed.report.verdict(), Agreement::Exact, "{}", replayed.describe());
    }
}

#[test]
fn an_exact_cube_root_changes_few_rows_of_cubic_by_one_segment() {
    let all: Vec<Replayed> = replay_all().into_iter().filter(Replayed::is_cubic).collect();
    assert_eq!(all.len(), 15);
    let (mut rows, mut differ) = (0, 0);
    for replayed in &all {
        let report = &replayed.report;
        assert_ne!(report.verdict(), Agreement::Off, "{}", replayed.describe());
        assert!(report.worst.as_ref().is_none_or(|worst| worst.error <= 1.0), "{}", replayed.describe());
        let here = report.rows - report.exact;
        // Most of them, 89 of 727, at large windows.
        assert!(here * 8 < report.rows, "{here} rows differ: {}", replayed.describe());
        (rows, differ) = (rows + report.rows, differ + here);
    }
    assert!(differ > 0 && differ * 100 < 4 * rows, "{differ} of {rows} rows differ");
}

#[test]
fn a_wrong_constant_is_found() {
    use lasthop_tcp::congestion_control::{Algorithm, bic};
    let trace = read(&root().join("tests/data/vectors/cc/linux612/bic.s1_const40.csv.gz"));
    let wrong = Algorithm::Bic(bic::Params { max_increment: 17, ..Default::default() });
    assert_eq!(replay(&trace, &wrong, Tolerance::EXACT).verdict(), Agreement::Off);
}

#[test]
fn a_controller_that_is_not_there_is_skipped() {
    let text = "# cc=lp scenario: end=1\ni,ev,t_us,n,k,dt_us,rtt_us,ce,flight0,una,nxt,state,cwnd,ssthresh,srtt8_us\n";
    let row = "0,init,1000000,0,0,0,-1,0,0,0,10,Open,10,2147483647,0\n";
    let (line, verdict) = judge(&format!("{text}{row}")).unwrap();
    assert_eq!((line.as_str(), verdict), ("lp of Linux 6.12: skipped, there is no such controller here", None));
}

#[test]
fn file_that_is_no_trace_is_refused() {
    assert!(Trace::parse("").is_err());
    let header = "# cc=reno scenario: end=1\ni,ev,t_us,n,k,dt_us,rtt_us,ce,flight0,una,nxt,state,cwnd,cwnd_cnt,ssthresh,srtt8_us\n";
    let error = Trace::parse(&format!("{header}0,nothing,0,0,0,0,0,0,0,0,0,Open,10,0,0,0\n")).unwrap_err();
    assert_eq!(error, "line 3: \"nothing\" is not an event of a trace");
}

#[test]
#[ignore = "writes docs/recorded/vectors.tsv"]
fn write_the_table() {
    std::fs::write(root().join(TABLE), table(&replay_all())).unwrap();
}

#[test]
fn the_written_table_is_up_to_date() {
    let written = std::fs::read_to_string(root().join(TABLE)).unwrap_or_default();
    assert_eq!(
        written,
        table(&replay_all()),
        "cargo test -p lasthop-conformance --test all write_the_table -- --ignored writes it again"
    );
}

/// The kept table, a row a trace.
const TABLE: &str = "docs/recorded/vectors.tsv";

fn table(all: &[Replayed]) -> String {
    let mut table = "recorded from\tcontroller\tsequence\trows\texact\twithin\ttolerance\tworst\n".to_string();
    for Replayed { name, sequence, kernel, tolerance, report } in all {
        let kernel = kernel.name();
        let worst = report.worst.as_ref().map_or(0.0, |worst| worst.error);
        let worst =
            if worst > 0.0 && worst < tolerance.segments { format!("below {tolerance}") } else { worst.to_string() };
        let Report { rows, exact, within, .. } = report;
        writeln!(table, "{kernel}\t{name}\t{sequence}\t{rows}\t{exact}\t{within}\t{tolerance}\t{worst}").unwrap();
    }
    table
}
