//! `replay FILE.json…` prints a line for each recording; `replay -v FILE.json…` both lists side by side.
use lasthop_conformance::recovery::{Trace, replay};

fn main() {
    let mut verbose = false;
    for path in std::env::args().skip(1) {
        if path == "-v" {
            verbose = true;
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let trace = Trace::parse(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        let report = replay(&trace);
        if verbose {
            print!("{}", report.side_by_side());
        }
        println!("{}: {}", trace.name, report.line());
    }
}
