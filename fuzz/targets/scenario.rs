//! A scenario file: an error of one line, or a run of 50 ms.
#![no_main]

use lasthop_scenario::{resolve, run};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let settings = [("duration".to_string(), "50 ms".to_string()), ("warmup".to_string(), "0 s".to_string())];
    match resolve(text, "fuzzed.toml", &settings) {
        Ok(scenario) => drop(run(&scenario, 1, None).expect("what resolves, runs")),
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
    }
});
