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
        "cargo test -p lasthop-conformance --test vectors -- --ignored write_the_table writes it again"
    );
}

const HEAD: &str = "\
# Congestion control against recorded traces

Written by `cargo test -p lasthop-conformance --test vectors -- --ignored write_the_table`; the tests fail when it is out of date.

The traces under `tests/data/vectors/cc` were recorded from the controllers of Linux 6.12 and of Linux 2.6.22 (as
TCP-Linux for ns-2 carries it), compiled unmodified and driven by synthetic events: a constant RTT of 40 ms (s1), an RTT
that swings about 60 ms with delayed ACKs (s2), a queue (s3), small windows with timeouts (s4), large windows at 100 ms
(s5), congestion marks (s6). The replay takes every event from the file and compares cwnd and ssthresh after every row,
and una, nxt and srtt as its own sender has them; the window under test is never set to a recorded one.

For BBR 14 columns of its state are compared: windows, pacing rate, mode, place in the cycle, gains, bandwidth, least
RTT, round trips, flags and the excess of ACKs.

`exact`: rows that are the same. `within`: rows inside the tolerance. That is 0 for all that count whole segments but
CUBIC. The recorded kernels take an approximate cube root for its K, up to 0.15 % off; here the root is exact, and some
rows differ by one segment: a test holds them to less than 4 % of all and an eighth of each file, and una and srtt to
none. The window of FAST is a real number, of which the traces have six digits. `worst`: the largest difference in segments.

| recorded from | controller | sequence | rows | exact | within | tolerance | worst |
|---|---|---|---|---|---|---|---|
";

/// Parts without a trace: constants, and the text with which they were compared.
const TAIL: &str = "
## Constants against their texts

Constants that no trace covers were compared with a text. `text`: the document itself; `quotation`: what public implementations
under other licences quote of it, by section; `not read` and `not compared`: it rests on what the last column says. RFCs up to 9331 were read
in the copy of January 2023 that Debian distributes, RFC 9438 as the last state of draft-ietf-tcpm-rfc8312bis in its
repository, RFC 9768 as its draft.

| constants | document | read | result |
|---|---|---|---|
| `bbr3`: gains 2.77, 0.5, 0.9, 1.25 of pacing and 2, 2.25, 0.5 of the window; margin 1 %; threshold 2 %, beta 0.7, headroom 0.15, least window 4; growth 1.25 over 3 round trips; 6 losses; 62 or 63 round trips, 2 to 3 s; 10 s, 5 s, 200 ms; 2 cycles; 30 doublings; quantum 1 ms | draft-ietf-ccwg-bbr, working copy of August 2026 | text | agree |
| `bbr3`: ACK aggregation over 1 round trip in Startup, 10 later; C.InitialCwnd | the same, Estimating extra_acked, SetCwnd | text | were 10 and 10 segments; corrected |
| `bbr3`: Drain for three round trips at most, precautionary probing | the same | text | not modelled: newer than -02, which is what `bbr3` follows |
| `bbr3`: Drain at 0.347 (1000/2885), Down at 0.91 | the authors' Linux code | not read | known to differ from the draft; `bbr3` follows the draft |
| HyStart++: 4 ms, 16 ms, 8, 8, 4, 5, L = 8 | RFC 9406 §4.3 | quotation | agree |
| LEDBAT++: target 60 ms; gain 1/min(16, ceil(2 target/base)); at most half a window down; slow start to 3/4 of the target; slowdowns of two segments for two round trips, a tenth of the time | draft-irtf-iccrg-ledbat-plus-plus-01 §4.1 to §4.5 | quotation | the target was 100 ms; corrected; the others agree |
| LEDBAT: 100 ms, gain 1, allowed increase 1, 10 minutes, 4 samples, least window 2 | RFC 6817 §2.4.2, §2.5 | text | agree; samples older than a round trip counted, and a pause of minutes as one minute: corrected; the first window is the sender's, where the text has 2 |
| HSTCP: table of windows; 38, 83000, 0.1; 0.078/w^1.2 | RFC 3649 §5, appendix B | text | all 73 rows agree, and b(w) to the two digits printed |
| Prague: 25 ms, 1/16 | draft-briscoe-iccrg-prague-congestion-control-04 §2.4.2, §2.4.4 | quotation | agree; the wait of 500 round trips before RTT independence is left out, as the module says |
| Prague: pacing at twice the rate in slow start, 250 us | the same, §2.4.5 | not read | unit tests |
| window validation: 5 minutes, max(3 RTT, 1 s), half of cwnd, max(pipeACK, LossFlightSize)/2, less R, 3/4, max(cwnd/2, IW), least window 1 | RFC 7661 §4.2 to §4.4.3 | text | agree; four periods and the open one, where §4.5.1 says \"several (e.g., five)\"; no growth in the non-validated phase, where §4.4 allows it to a sender that is limited by cwnd |
| ABE: 0.8, 0.85, least ssthresh 2 | RFC 8511 §3 | text | agree |
| `cubic`, `era = \"rfc9438\"`: beta 0.7, C 0.4, alpha 3 (1 - beta)/(1 + beta), then 1 from cwnd_prior on; K; 1.5 windows; (1 + beta)/2; K = 0 after a timeout; pauses left out of t | RFC 9438 §4.2 to §4.8, §5.1 | text | agree |
| `cubic`: least window of 2 after a mark; W_max from the flight size with `decrease_from = \"flight_size\"` | RFC 9438 §4.6, §4.7 | text | differ: the text has 1 after a mark, and W_max from cwnd; kept, since both recovery machines end a reduction at ssthresh, of which 2 is the least, and since a controller is told one window |
| RTO: K = 4, 1/8, 1/4, R/2, 1 s, doubling, 3 s after a lost SYN, at most 120 s | RFC 6298 §2, §5 | text | agree (§2.5: at least 60 s); the least RTO is 200 ms by default, as in Linux, where §2.4 says 1 s |
| RACK: least RTT/4, at most SRTT, one step for a round trip with DSACK, 16 recoveries | RFC 8985 §6.2 | text | agree |
| RACK after a timeout: lost is what was sent RACK.rtt ago | RFC 8985 §6.3 | text | differs: the text adds the reordering window; kept, `recovery = \"linux\"` follows Linux |
| TLP: 2 SRTT, 1 s without SRTT, at most the RTO, one probe at a time | RFC 8985 §7.2, §7.3 | text | agree; 200 ms for a delayed ACK is left to the implementation; 2 ms more otherwise, and a probe without a new RTT sample since the last, are Linux' |
| PRR: CEIL(delivered ssthresh/RecoverFS), slow-start bound | RFC 6937 §3 | text | agree; RecoverFS is cwnd, as in Linux, where the text has the flight size: the same for a full window |
| PRR: a segment more only for an ACK that advances without new losses, one segment first | RFC 9937 | not read | the replayed recordings of Linux |
| F-RTO: steps 1 to 3, with SACK and without | RFC 5682 §2.1, §3.1 | text | agree; the window of at most 3 MSS in step 3a is Linux' instead |
| undo: the window and ssthresh from before | RFC 4015 §3.2 | text | differ, as Linux: the text has FlightSize + min(acknowledged, IW) and max(FlightSize, ssthresh), and adapts SRTT |
| NewReno: least ssthresh 2, loss window 1, restart window min(IW, cwnd), 3 duplicates; 2 in limited transmit | RFC 5681 §3.1, §3.2, §4.1; RFC 3042 §2 | text | agree |
| initial window of 10 | RFC 6928 §2 | text | agrees up to an MSS of 1460 B; the bound of 14600 B for larger ones is the user's to set |
| byte counting: a segment for each window acknowledged | RFC 3465 §2.1 | text | agrees; L of §2.3 (at most 2, after a timeout 1) is left out, as the module says |
| challenge ACKs: one in 500 ms | RFC 5961 §7 | text | an example there, 10 in 5 s: the same rate; the range of ACKs of §5.2 agrees |
| delayed ACKs: 500 ms at most | RFC 9293 §3.8.6.3 | text | agrees |
| giving up: 15 retransmissions (924.6 s), 6 SYNs (127 s) | RFC 9293 §3.8.3 | text | 15 agrees (at least 100 s); 6 does not, as in Linux: the text has 3 minutes |
| timestamps of 1 ms, windows to 65535 * 2^14, 3 SACK blocks beside timestamps | RFC 7323 §2.3, §5.4; RFC 2018 §3 | text | agree |
| DCTCP: 1/16, alpha of 1 at first | RFC 8257 §3.3, §4.2 | text | agree; shares are of segments, as the traces have them, where the text has bytes |
| accurate ECN: counters from 5, codes of the handshake, 2 marks unreported | RFC 9768 §3.2.1, §3.2.2.1, §3.2.2.5.1 | text | agree; only the first onset of marks was told at once: corrected |
| CoDel: 5 ms, 100 ms, interval/sqrt(count), 16 intervals, one MTU | RFC 8289 §5.3 to §5.6 | text | agree |
| FQ-CoDel: 10240 packets, 1024 queues, 1514 B, 5 ms, 100 ms, at most 64 and half of the queue | RFC 8290 §4.1, §5.2 | text | agree; half is of bytes, where the text has packets |
| PIE: 15 ms, 15 ms, 1/8, 5/4, 150 ms, 0.1; steps of the tuning; 0.98; 0.2; 0.85, 8.5; 0.02; 2^14 B, 1/4; a third | RFC 8033 §4, §5, appendix B | text | agree; where §4.2 and appendix B differ (decay at a delay of 0, or below half the target) §4.2 holds, and for switching off appendix B |
| E-model: Ro 94.7688, Is 1.4136, Idte, Idle, Idd, Ie,eff, MOS | G.107 §7, annex B | quotation: results of an implementation under Apache 2.0 at 0, 100, 150 and 250 ms | agree to 0.0001 |
| RED: adapted each 0.5 s by 0.01 or 1/4 and by 0.9, middle fifth | Floyd, Gummadi, Shenker 2001 | not read | unit tests |
| FAST: min(3/w, 1/4), 0.5, doubling at most | Jin, Wei, Low 2004 | not read | traces of its module for ns-2 above; `era = \"paper\"`: unit tests |
| Compound: 1/8, 0.75, 30 | Tan et al. 2006 | not read | the traces above |
| `adaptive_reno`: 0.85, 10, 10 Mb/s | Shimonishi et al. 2006 | not read | nothing but descriptions by others, as the module says |
| Minstrel, Minstrel-HT: 100 ms, 50 ms, 20 ms, 3/4, 10 %, 95 %, 6 ms | mac80211 | not compared | unit tests |
| HTCP, BIC, CUBIC, Westwood+, Illinois, Veno, YeAH, Hybla, Vegas, Scalable, CDG, BBR of Linux | the papers behind them, known through others; the kernels | not compared | the traces above; what each rests on: [provenance.md](provenance.md) |
| the clock of the controllers of Linux: 1/32 s, 1 s, rounding up at other ticks than 1 ms | the kernels | not compared | the traces have 1000 Hz; one recording of CUBIC at 250 Hz depends on it, `chance_1069` |
";

fn table(all: &[Replayed]) -> String {
    let mut table = HEAD.to_string();
    for Replayed { name, sequence, kernel, tolerance, report } in all {
        let kernel = kernel.name();
        let worst = report.worst.as_ref().map_or(0.0, |worst| worst.error);
        let worst =
            if worst > 0.0 && worst < tolerance.segments { format!("below {tolerance}") } else { worst.to_string() };
        let Report { rows, exact, within, .. } = report;
        writeln!(table, "| {kernel} | {name} | {sequence} | {rows} | {exact} | {within} | {tolerance} | {worst} |")
            .unwrap();
    }
    table + TAIL
}
