//! A recording of loss recovery: a sentence or a verdict.
#![no_main]

use lasthop_conformance::recovery::{Trace, replay};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Trace::parse(text) {
        Ok(trace) => drop((replay(&trace).line(), replay(&trace).side_by_side())),
        Err(sentence) => assert!(!sentence.contains('\n'), "{sentence}"),
    }
});
