//! Replays recorded traces: `replay_vectors FILE.csv…` prints the agreement, and the first and worst difference.

use lasthop_conformance::cc::replay::{Trace, replay};

fn main() {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let trace = Trace::parse(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        let Some((algorithm, tolerance)) = trace.subject() else {
            println!("{path}: no controller here is called {}", trace.name);
            continue;
        };
        let report = replay(&trace, &algorithm, tolerance);
        let verdict = report.verdict();
        println!("{path}: {verdict:?} rows {} exact {} within {}", report.rows, report.exact, report.within);
        if let (Some(first), Some(worst)) = (&report.first, &report.worst) {
            println!("    first {first:?}\n    worst {worst:?}");
        }
    }
}
