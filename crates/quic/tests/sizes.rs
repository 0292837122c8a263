//! Sizes of datagrams: batches, and probes of the path's MTU.

use lasthop_quic::{Role, Settings, Way};
use lasthop_units::{Duration, Time};

use super::world::World;

/// Sizes of the client's datagrams in a second of bulk data, in order.
fn sizes(settings: &Settings) -> Vec<(Time, usize)> {
    let mut world = World::new(settings, 5);
    let connection = world.pair.open(Time::ZERO);
    world.pair.write_stream(connection, Way::One, None);
    world.run_until(Time::ZERO + Duration::from_secs(1));
    world.sent_by(Role::Client, Time::ZERO).iter().map(|sent| (sent.at, sent.payload.len())).collect()
}

#[test]
fn probes_find_the_largest_datagram() {
    let sizes = sizes(&Settings { path_mtu_probes: true, ..Settings::default() });
    let first_large = sizes.iter().position(|(_, size)| *size > 1200).expect("a probe is sent");
    // The handshake is over after 100 ms; then the first probe leaves, and its answer takes as long.
    assert!(sizes[first_large].0 >= Time::ZERO + Duration::from_millis(100));
    let largest = sizes.iter().map(|(_, size)| *size).max();
    // The search ends within 20 B of the bound.
    assert!((1433..=1452).contains(&largest.unwrap_or(0)), "{largest:?}");
    let full = |from: usize| sizes[from..].iter().filter(|(_, size)| *size == largest.unwrap_or(0)).count();
    assert!(full(sizes.len() / 2) > sizes.len() / 3);
}

#[test]
fn datagrams_of_a_batch_have_one_size_and_are_announced() {
    let mut world = World::new(&Settings { batch: 4, ..Settings::default() }, 5);
    let connection = world.pair.open(Time::ZERO);
    world.pair.write_stream(connection, Way::One, None);
    let mut batches = Vec::new();
    while world.now < Time::ZERO + Duration::from_millis(500) {
        let mut batch = Vec::new();
        while let Some(datagram) = world.pair.poll_transmit(world.now, Role::Client) {
            batch.push(datagram.payload.len());
            world.pair.handle(world.now, Role::Server, datagram);
            if !world.pair.is_within_batch(Role::Client) {
                batches.push(std::mem::take(&mut batch));
            }
        }
        world.now += Duration::from_millis(10);
        while let Some(datagram) = world.pair.poll_transmit(world.now, Role::Server) {
            world.pair.handle(world.now, Role::Client, datagram);
        }
    }
    assert!(batches.iter().all(|batch| batch.len() <= 4));
    // All but the last of a batch are full. [quinn-proto, Connection::poll_transmit]
    let is_even = |batch: &Vec<usize>| batch[..batch.len() - 1].iter().all(|size| *size == batch[0]);
    assert!(batches.iter().all(is_even) && batches.iter().filter(|batch| batch.len() == 4).count() > 5);
}
