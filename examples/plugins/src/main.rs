//! `cargo run --release -- FILE [SEED]`: runs a scenario that may name the algorithms of this crate.

use std::process::ExitCode;
use std::sync::Arc;

use lasthop_observe::metric::goodput::GOODPUT;
use lasthop_plugins_example::Mine;
use lasthop_scenario::{Simulation, resolve_with};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next() else {
        eprintln!("usage: cargo run --release -- FILE [SEED]");
        return ExitCode::from(2);
    };
    let seed = arguments.next().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    match report(&file, seed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn report(file: &str, seed: u64) -> Result<(), Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let scenario = Arc::new(resolve_with(&text, file, &[], &Mine)?);
    let finished = Simulation::new(Arc::clone(&scenario), seed).finish()?;
    for row in &finished.report.flows {
        println!("{:.2} Mbit/s", row.get(GOODPUT).unwrap_or(0.0) / 1e6);
    }
    Ok(())
}
