//! The cost of a controller in C beside the built-in one: nanoseconds of a run for each data segment sent, both ends
//! and a bottleneck included.
//!
//! `make -C examples/controllers/c && cargo run --release -p lasthop-native --example controller_cost`, in the root of
//! the project. Both run in turns, and the fastest of each counts: other work of the machine only adds to time on the
//! clock.
#![allow(clippy::disallowed_methods, reason = "it reads a clock")]

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use lasthop_conformance::cc::dumbbell::{Bottleneck, Dumbbell, Pair, seconds};
use lasthop_native::{Error, Library, Setting};
use lasthop_registry::{Parameter, Value};
use lasthop_tcp::congestion_control::{Algorithm, CongestionControl, Context};
use lasthop_tcp::{Config, Endpoint, Profile};
use lasthop_units::Duration;

const TURNS: usize = 15;

fn main() -> ExitCode {
    for (kind, era) in [("newreno", "rfc5681"), ("newreno", "linux"), ("cubic", "rfc9438"), ("cubic", "linux")] {
        match compare(kind, era) {
            Ok(line) => println!("{line}"),
            Err(error) => {
                eprintln!("{error}; `make -C examples/controllers/c` builds it");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

fn compare(kind: &str, era: &str) -> Result<String, Error> {
    let table = [("kind", kind), ("era", era)].map(|(key, word)| (key.to_string(), Value::text(word)));
    let built_in = Algorithm::parse(&Value::Table(table.into()), "").expect("an era of the registry");
    let library = Arc::new(Library::open(&Path::new("examples/controllers/c").join(format!("{kind}.so")))?);
    let settings = [("era".to_string(), Setting::Text(era.to_string()))];
    let config = Profile::Linux.config();
    let context = Context::new(&config, 1000);
    let (mut ours, mut theirs) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..TURNS {
        ours = ours.min(ns_per_segment(&config, built_in.build(&context)));
        theirs = theirs.min(ns_per_segment(&config, library.controller(&context, &settings)?));
    }
    let factor = theirs / ours;
    Ok(format!("{kind} {era}: {ours:.1} ns built in, {theirs:.1} ns from the library, {factor:.3} times"))
}

/// A transfer through a bottleneck of 100 Mbit/s.
fn ns_per_segment(config: &Config, control: Box<dyn CongestionControl>) -> f64 {
    let sender = Endpoint::with_control(config, 1000, control);
    let pair = Pair { sender, receiver: Endpoint::new(config, 2000), start: seconds(0.0) };
    let mut world = Dumbbell::of_pairs(Bottleneck::wired(100e6, Duration::from_millis(20), 1.0), vec![pair]);
    let begun = Instant::now();
    world.run_until(seconds(20.0));
    let segments = world.flows[0].receiver.delivered_bytes() / u64::from(config.payload_bytes());
    begun.elapsed().as_nanos() as f64 / segments as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_takes_some_time() {
        let config = Profile::Linux.config();
        let control = Algorithm::all()[0].build(&Context::new(&config, 1));
        assert!(ns_per_segment(&config, control) > 1.0);
    }
}
