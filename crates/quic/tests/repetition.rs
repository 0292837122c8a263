//! The same seed gives the same bytes in every process.

use std::process::Command;

use lasthop_quic::{Settings, Way};
use lasthop_units::{Duration, Time};

use super::world::World;

/// The variable with the number of connections for a process of the test.
const CONNECTIONS: &str = "LASTHOP_QUIC_CONNECTIONS";
const PROCESSES: usize = 20;

/// A second with so many connections that lose each 23rd datagram.
fn digest_of(connections: u32, seed: u64) -> (usize, u64) {
    let mut world = World::new(&Settings::default(), seed);
    world.loses = Box::new(|_, place| place % 23 == 22);
    for _ in 0..connections {
        let number = world.pair.open(Time::ZERO);
        world.pair.write_stream(number, Way::One, Some(30_000));
    }
    world.run_until(Time::ZERO + Duration::from_secs(1));
    (world.log.len(), world.digest())
}

#[test]
fn digest_of_this_process() {
    let Some(connections) = std::env::var(CONNECTIONS).ok().and_then(|text| text.parse().ok()) else { return };
    println!("digest {:?}", digest_of(connections, 7));
}

fn in_another_process(connections: u32) -> String {
    let program = std::env::current_exe().expect("a test has a program");
    let run = Command::new(program)
        .args(["--exact", "repetition::digest_of_this_process", "--nocapture"])
        .env(CONNECTIONS, connections.to_string())
        .output()
        .expect("it starts");
    let text = String::from_utf8(run.stdout).expect("it prints text");
    let line = text.lines().find_map(|line| line.find("digest (").map(|at| line[at..].to_string()));
    line.unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn twenty_processes_give_one_digest() {
    for connections in [1, 50] {
        let first = format!("digest {:?}", digest_of(connections, 7));
        for _ in 0..PROCESSES {
            assert_eq!(in_another_process(connections), first);
        }
    }
}

#[test]
fn seed_and_number_of_connections_change_the_bytes() {
    let (datagrams, digest) = digest_of(1, 7);
    assert!(datagrams > 30);
    assert_ne!(digest_of(1, 8).1, digest);
    assert!(digest_of(50, 7).0 > 50 * 30);
}
