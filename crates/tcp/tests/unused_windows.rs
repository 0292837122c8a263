//! The fate of an unused window: over pauses, with little to send, and at a loss meanwhile.

use crate::world::{self, End, World};
use lasthop_registry::Switch;
use lasthop_tcp::congestion_control::{Algorithm, newreno};
use lasthop_tcp::{Config, Profile, WindowValidation};
use lasthop_units::{Duration, Time};

const MSS: u64 = 1448;

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn rfc7661() -> Config {
    let congestion_control = Algorithm::Newreno(newreno::Params::default());
    let window_validation = WindowValidation::Rfc7661;
    Config { congestion_control, window_validation, slow_start_after_idle: false, ..Profile::Linux612.config() }
}

fn linux(slow_start_after_idle: bool) -> Config {
    Config { window_validation: WindowValidation::Linux, slow_start_after_idle, ..rfc7661() }
}

/// A connection that has sent 300 segments, and the window that it has reached. RTT 100 ms.
fn after_a_transfer(config: &Config) -> (World, f64) {
    let mut world = World::alike(config);
    world.open(300 * MSS);
    world.run_for(seconds(5));
    let window = world.client.cwnd_segments();
    assert!(window > 100.0, "{window}");
    (world, window)
}

fn write(world: &mut World, segments: u64) {
    world.client.write(segments * MSS);
    world.transmit(End::Client);
}

#[test]
fn linux_halves_the_window_for_each_rto_of_a_pause() {
    // srtt 100 ms and min_rto 200 ms: an RTO of 300 ms or a little more.
    for (pause_ms, halvings) in [(200, 0), (500, 1), (800, 2), (20_000, 5)] {
        let mut world = World::alike(&linux(true));
        world.open(300 * MSS);
        while world.client.acked_bytes() < 300 * MSS {
            world.step(Time::NEVER);
        }
        let window = world.client.cwnd_segments();
        assert!((300_000..320_000).contains(&world.client.info(world.now).rto_us));
        let last = world.log.iter().rfind(|sent| sent.from == End::Client && sent.segment.payload > 0).unwrap().at;
        world.run_until(last + Duration::from_millis(pause_ms));
        write(&mut world, 1);
        let expected = (0..halvings).fold(window, |window, _| (window / 2.0).floor()).max(10.0);
        assert_eq!(world.client.cwnd_segments(), expected, "{pause_ms} ms, from {window}");
    }
}

#[test]
fn without_slow_start_after_idle_a_pause_changes_nothing() {
    for config in [linux(false), rfc7661()] {
        let (mut world, window) = after_a_transfer(&config);
        world.run_for(seconds(240));
        write(&mut world, 1);
        assert_eq!(world.client.cwnd_segments(), window);
    }
}

#[test]
fn rfc_7661_halves_the_window_after_five_minutes_not_below_the_initial_one() {
    // [RFC 7661 §4.4.3]
    let (mut world, window) = after_a_transfer(&rfc7661());
    world.run_for(seconds(310));
    write(&mut world, 1);
    assert_eq!((world.client.cwnd_segments(), world.client.ssthresh_segments()), (window / 2.0, f64::INFINITY));
    world.run_for(seconds(3600));
    write(&mut world, 1);
    assert_eq!(world.client.cwnd_segments(), 10.0);
}

/// Sends so many segments every RTT, for so many round trips.
fn trickle(world: &mut World, segments: u64, rounds: u32) {
    for _ in 0..rounds {
        write(world, segments);
        world.run_for(Duration::from_millis(100));
    }
}

#[test]
fn less_than_half_the_window_in_use_keeps_it_as_it_is() {
    // [RFC 7661 §4.3]
    let (mut world, window) = after_a_transfer(&rfc7661());
    trickle(&mut world, 20, 100);
    assert_eq!(world.client.cwnd_segments(), window);
    let more = window as u64 * 3 / 4;
    trickle(&mut world, more, 20);
    assert!(world.client.cwnd_segments() > window, "half of it and more validates it");
}

#[test]
fn in_avoidance_a_full_flight_lets_the_window_grow_for_its_round_trip_only() {
    let config = Config { initial_ssthresh: Switch::On(60), ..linux(false) };
    let mut world = World::alike(&config);
    world.open(400 * MSS);
    world.run_for(seconds(5));
    let window = world.client.cwnd_segments();
    assert!((61.0..80.0).contains(&window), "{window}");
    let most_of_it = window as u64 * 3 / 4;
    trickle(&mut world, most_of_it, 30);
    assert_eq!(world.client.cwnd_segments(), window, "never full");
    // Two flights fill it: a segment for each [RFC 5681 §3.1], and for the round trip in which the last of it is sent.
    write(&mut world, 2 * window as u64);
    world.run_for(seconds(1));
    let grown = world.client.cwnd_segments();
    assert!((1.0..=3.0).contains(&(grown - window)), "{window} to {grown}");
    trickle(&mut world, most_of_it, 30);
    assert_eq!(world.client.cwnd_segments(), grown, "never full again");
}

/// The window and ssthresh after one of ten segments of a round trip was lost, under a window of 100 and more.
fn after_a_loss(config: &Config) -> (f64, f64) {
    let (mut world, _) = after_a_transfer(config);
    trickle(&mut world, 10, 30);
    let sent = world.log.iter().filter(|sent| sent.from == End::Client).count() as u64;
    world.path =
        Box::new(
            move |packet, number| {
                if packet.from == End::Client && number == sent + 2 { world::Fate::Drop } else { world::Fate::Pass }
            },
        );
    trickle(&mut world, 10, 1);
    world.run_for(Duration::from_millis(500));
    let counters = world.client.counters();
    assert_eq!((counters.fast_retransmits, counters.timeouts), (1, 0));
    (world.client.cwnd_segments(), world.client.ssthresh_segments())
}

#[test]
fn loss_with_little_in_use_reduces_the_flight_in_rfc_7661() {
    // [RFC 7661 §4.4.1]: ten in flight, one retransmitted: (10 - 1) / 2; the ACK that ends recovery grows it to that.
    let (window, ssthresh) = after_a_loss(&rfc7661());
    assert_eq!(ssthresh, 5.0);
    assert!((4.5..6.0).contains(&window), "{window}");
    let (window, ssthresh) = after_a_loss(&linux(false));
    assert!(ssthresh > 50.0 && window >= ssthresh, "{window} {ssthresh}");
}
