//! Any content of a packet trace gives an error with its line, or a run; never a panic.

#[path = "../../conformance/tests/mutated/mutation.rs"]
mod mutation;

use lasthop_scenario::{resolve, run};
use mutation::{cases, mutated, mutations, soon};
use proptest::prelude::*;

const TRACE: &str = "time_s,bytes\n0, 100\n\n0.0015;200 # two\n0.0015 300\n0.01\t1448\n0.02,70000\n0.0201,1\n";

fn an_error_or_a_run(file: &std::path::Path, trace: &str, transport: &str) {
    std::fs::write(file, trace).unwrap();
    let scenario = format!(
        "duration = \"60 ms\"\nwarmup = \"0 s\"\n[bss]\nstandard = \"802.11g\"\n[[station]]\n[[flow]]\n\
         transport = \"{transport}\"\ntraffic = {{ kind = \"trace\", file = '{}' }}\n",
        file.display()
    );
    match soon(|| resolve(&scenario, "scenario.toml", &[])) {
        Err(error) => {
            let sentence = error.to_string();
            let names_the_place = sentence.contains(file.to_str().unwrap()) || sentence.contains("traffic.file");
            assert!(names_the_place && !sentence.contains('\n'), "{sentence}");
        }
        Ok(scenario) => drop(soon(|| run(&scenario, 1, None)).expect("what resolves, runs")),
    }
}

#[test]
fn mutated_packet_traces_give_an_error_or_a_run() {
    let file = std::env::temp_dir().join(format!("lasthop-packet-trace-{}.csv", std::process::id()));
    proptest!(cases(1000), |(changes in mutations(4), is_udp in any::<bool>())| {
        an_error_or_a_run(&file, &mutated(TRACE, &changes), if is_udp { "udp" } else { "tcp" });
    });
    std::fs::remove_file(file).unwrap();
}
