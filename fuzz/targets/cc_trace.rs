//! A trace of congestion control: a sentence or a verdict.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(sentence) = lasthop_conformance::cc::replay::judge(text) {
        assert!(!sentence.contains('\n'), "{sentence}");
    }
});
