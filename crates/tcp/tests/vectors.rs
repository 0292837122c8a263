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

/// What no trace covers: constants, and the text that they were compared with.
const TAIL: &str = "
## Constants against their texts

What no trace covers was compared with a text. `text`: the document itself; `quotation`: what public implementations
under other licences quote of it, by section; `not read`: it rests on what the last column says.

| constants | document | read | result |
|---|---|---|---|
| `bbr3`: gains 2.77, 0.5, 0.9, 1.25 of pacing and 2, 2.25, 0.5 of the window; margin 1 %; threshold 2 %, beta 0.7, headroom 0.15, least window 4; growth 1.25 over 3 round trips; 6 losses; 62 or 63 round trips, 2 to 3 s; 10 s, 5 s, 200 ms; 2 cycles; 30 doublings; quantum 1 ms | draft-ietf-ccwg-bbr, working copy of August 2026 | text | agree |
| `bbr3`: ACK aggregation over 1 round trip in Startup, 10 later; C.InitialCwnd | the same, Estimating extra_acked, SetCwnd | text | were 10 and 10 segments; corrected |
| `bbr3`: Drain for three round trips at most, precautionary probing | the same | text | not modelled: newer than -02, which is what `bbr3` follows |
| `bbr3`: Drain at 0.347 (1000/2885), Down at 0.91 | the authors' Linux code | not read | known to differ from the draft; `bbr3` follows the draft |
| HyStart++: 4 ms, 16 ms, 8, 8, 4, 5, L = 8 | RFC 9406 §4.3 | quotation | agree |
| LEDBAT++: target 60 ms; gain 1/min(16, ceil(2 target/base)); at most half a window down; slow start to 3/4 of the target; slowdowns of two segments for two round trips, a tenth of the time | draft-irtf-iccrg-ledbat-plus-plus-01 §4.1 to §4.5 | quotation | the target was 100 ms; corrected; the others agree |
| LEDBAT: 100 ms, gain 1, allowed increase 1, 10 minutes | RFC 6817 §2.5 | quotation of gain, allowed increase and history | agree |
| HSTCP: table of windows | RFC 3649, appendix B | not read | traces of two kernels agree, `highspeed` above, and the formulas of §5 |
| Prague: 25 ms, 1/16, 250 us | draft-briscoe-iccrg-prague-congestion-control-04 | not read | unit tests of its sections |
| window validation: 5 minutes, 1 s, halves | RFC 7661 §4 | quotation of the 5 minutes | they agree; the others rest on unit tests of its sections |
| ABE: 0.8, 0.85 | RFC 8511 §3 | quotation of 0.85 | it agrees; 0.8 rests on unit tests |
| HTCP, BIC, CUBIC, Westwood+, Illinois, Veno, YeAH, Hybla, Vegas, CDG, BBR of Linux | the kernels | not opened | the traces above |
| the clock of the controllers of Linux: 1/32 s, 1 s, rounding up at other ticks than 1 ms | the kernels | not opened | the traces have 1000 Hz; one recording of CUBIC at 250 Hz depends on it, `chance_1069` |
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
    table + TAIL
}
