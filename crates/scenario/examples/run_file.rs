//! Runs a scenario file without the front end, for profilers: `run_file FILE [--account] [path=value]...`

use lasthop_scenario::{resolve, run, run_with_account};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().expect("usage: run_file FILE [--account] [path=value]...");
    let text = std::fs::read_to_string(&file).expect("the file can be read");
    let (options, arguments): (Vec<String>, Vec<String>) = arguments.partition(|a| a == "--account");
    let settings: Vec<(String, String)> = arguments
        .iter()
        .map(|a| a.split_once('=').map(|(p, v)| (p.into(), v.into())).expect("settings look like path=value"))
        .collect();
    let scenario = resolve(&text, &file, &settings).unwrap_or_else(|error| panic!("{error}"));
    let result = if options.is_empty() { run(&scenario, 1, None) } else { run_with_account(&scenario, 1) };
    let result = result.unwrap_or_else(|error| panic!("{error}"));
    println!("{}", result.json());
}
