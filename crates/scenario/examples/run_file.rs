//! Runs a scenario file without the front end, for profilers: `run_file FILE [path=value]...`

use lasthop_scenario::{resolve, run};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().expect("usage: run_file FILE [path=value]...");
    let text = std::fs::read_to_string(&file).expect("the file can be read");
    let settings: Vec<(String, String)> = arguments
        .map(|a| a.split_once('=').map(|(p, v)| (p.into(), v.into())).expect("settings look like path=value"))
        .collect();
    let scenario = resolve(&text, &file, &settings).unwrap_or_else(|error| panic!("{error}"));
    let result = run(&scenario, 1, None).unwrap_or_else(|error| panic!("{error}"));
    println!("{}", result.json());
}
