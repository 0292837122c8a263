//! A packet trace: an error of one line, or a run of 100 ms.
#![no_main]

use lasthop_scenario::{resolve, run};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let file = std::env::temp_dir().join(format!("lasthop-fuzz-{}.csv", std::process::id()));
    std::fs::write(&file, text).expect("the temporary folder can be written");
    let scenario = format!(
        "duration = \"100 ms\"\nwarmup = \"0 s\"\n[bss]\nstandard = \"802.11n\"\n[[station]]\n[[flow]]\n\
         traffic = {{ kind = \"trace\", file = '{}' }}\n",
        file.display()
    );
    match resolve(&scenario, "fuzzed.toml", &[]) {
        Ok(scenario) => drop(run(&scenario, 1, None).expect("what resolves, runs")),
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
    }
});
