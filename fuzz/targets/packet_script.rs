//! A packet script: a verdict with its line.
#![no_main]

use lasthop_conformance::packetdrill::{Ending, run};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ending::Failed { line, why } | Ending::Skipped { line, why } = run(text, &[]).ending {
        assert!((1..=text.lines().count().max(1)).contains(&line), "line {line}: {why}");
    }
});
