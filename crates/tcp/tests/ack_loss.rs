//! A sender that reacts to lost ACKs, seen from outside. One-way delay 50 ms; a segment takes 2 ms, so that about 50
//! fill the path.

use crate::world::{self, End, Fate, World};
use lasthop_registry::Switch;
use lasthop_tcp::congestion_control::{Algorithm, newreno};
use lasthop_tcp::{AckLoss, AckLossMode, AckPolicy, Config, Flags, Profile, State};
use lasthop_units::{Bytes, Duration, Time};

fn config(ack_loss: Switch<AckLoss>, ack: AckPolicy) -> Config {
    Config { mss: Some(Bytes(1000)), initial_ssthresh: Switch::On(30), ack_loss, ack, ..Profile::Ns2.config() }
}

fn paper() -> Switch<AckLoss> {
    Switch::On(AckLoss::default())
}

fn general() -> Switch<AckLoss> {
    Switch::On(AckLoss { mode: AckLossMode::General, ..AckLoss::default() })
}

/// A world in which the ACKs with these numbers (from 0, the SYN's not counted) are lost.
fn losing_acks(config: &Config, numbers: &'static [u64]) -> World {
    let mut world = World::alike(config);
    world.service = Duration::from_millis(2);
    let mut acks = 0;
    world.path = Box::new(move |sent, _| {
        if sent.from == End::Client || sent.segment.flags.contains(Flags::SYN) {
            return Fate::Pass;
        }
        acks += 1;
        if numbers.contains(&(acks - 1)) { Fate::Drop } else { Fate::Pass }
    });
    world.open(10_000_000);
    world
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// The largest fall of the window from one event to the next, as a factor, and its time.
fn deepest_cut(world: &mut World, until: Time) -> (f64, Time) {
    let (mut least, mut at) = (1.0, Time::ZERO);
    let mut before = world.client.cwnd_segments();
    while world.step(until) {
        let now = world.client.cwnd_segments();
        if now / before < least {
            (least, at) = (now / before, world.now);
        }
        before = now;
    }
    (least, at)
}

#[test]
fn two_lost_acks_halve_the_window_one_rtt_later() {
    let mut world = losing_acks(&config(paper(), AckPolicy::EverySegment), &[300, 301]);
    let (factor, at) = deepest_cut(&mut world, Time::ZERO + ms(4000));
    assert!((factor - 0.5).abs() < 0.01, "{factor}");
    assert_eq!(world.client.counters().ack_losses_detected, 2);
    // The ACK after the two that were lost.
    let acks: Vec<Time> = world.since(0, End::Server).iter().skip(1).map(|sent| sent.at).collect();
    let seen = acks[302] + ms(50);
    let rtt = at.since(seen);
    assert!(rtt >= ms(100) && rtt <= ms(190), "{rtt}");
    assert_eq!(world.client.counters().segments_retransmitted, 0);
}

#[test]
fn one_lost_ack_is_allowed_and_without_the_key_none_counts() {
    let mut world = losing_acks(&config(paper(), AckPolicy::EverySegment), &[300]);
    assert_eq!(deepest_cut(&mut world, Time::ZERO + ms(4000)).0, 1.0);
    assert_eq!(world.client.counters().ack_losses_detected, 1);
    let mut world = losing_acks(&config(Switch::Off, AckPolicy::EverySegment), &[300, 301, 302]);
    assert_eq!(deepest_cut(&mut world, Time::ZERO + ms(4000)).0, 1.0);
    assert_eq!(world.client.counters().ack_losses_detected, 0);
}

#[test]
fn delayed_acks_are_learned_by_the_general_mode() {
    let mut world = losing_acks(&config(general(), AckPolicy::Delayed), &[]);
    assert_eq!(deepest_cut(&mut world, Time::ZERO + ms(6000)).0, 1.0);
    let mut world = losing_acks(&config(general(), AckPolicy::Delayed), &[300, 301]);
    let (factor, _) = deepest_cut(&mut world, Time::ZERO + ms(6000));
    assert!((factor - 0.5).abs() < 0.01, "{factor}");
    // The paper's mode takes each delayed ACK for a lost one.
    let mut world = losing_acks(&config(paper(), AckPolicy::Delayed), &[]);
    assert!(deepest_cut(&mut world, Time::ZERO + ms(6000)).0 < 0.6);
}

#[test]
fn a_data_loss_is_answered_once() {
    // Data segment 400 is lost; the recovery's jump is no loss of ACKs.
    for ack_loss in [paper(), general()] {
        let mut world = World::alike(&config(ack_loss, AckPolicy::EverySegment));
        world.service = Duration::from_millis(2);
        world.path = world::drop_data(&[400]);
        world.open(10_000_000);
        world.run_until(Time::ZERO + ms(6000));
        assert_eq!(world.client.counters().fast_retransmits, 1);
        assert_eq!(world.client.counters().ack_losses_detected, 0, "{:?}", world.client.counters());
    }
}

#[test]
fn it_goes_around_every_controller_with_a_window() {
    use lasthop_tcp::congestion_control::LossAnswer;
    for algorithm in Algorithm::all() {
        if algorithm.promise().loss != LossAnswer::Reduces {
            continue;
        }
        let base = Profile::Linux612.config();
        let config = Config {
            congestion_control: algorithm.clone(),
            ack_loss: paper(),
            ack: AckPolicy::EverySegment,
            initial_ssthresh: Switch::On(30),
            ..base
        };
        let mut world = losing_acks(&config, &[300, 301]);
        let (factor, _) = deepest_cut(&mut world, Time::ZERO + ms(4000));
        assert!(factor < 0.56, "{algorithm:?}: {factor}");
        assert_eq!(world.client.state(), State::Established);
    }
}

/// The outcome of many random losses: ACKs lost, ACKs found, and the estimate of the number lost.
fn found_of_many(service: Duration, share: f64, policy: AckPolicy) -> (f64, f64, f64) {
    let never = Switch::On(AckLoss { mode: AckLossMode::General, threshold: 1_000_000, ..AckLoss::default() });
    // More than the path holds, so that ACKs come as the bottleneck serves, and data goes out as they come.
    let ssthresh = Switch::On(400);
    let config = Config {
        mss: Some(Bytes(1000)),
        initial_ssthresh: ssthresh,
        congestion_control: Algorithm::Newreno(newreno::Params::default()),
        ack_loss: never,
        ack: policy,
        tso_deferral: false,
        ..Profile::Linux612.config()
    };
    let mut world = World::alike(&config);
    world.service = service;
    let mut random = world::Random(7);
    let mut sent_acks = 0;
    world.path = Box::new(move |sent, _| {
        sent_acks += u64::from(sent.from == End::Server);
        // The first hundred teach the normal jump.
        if sent.from == End::Server && sent_acks > 100 && random.unit() < share { Fate::Drop } else { Fate::Pass }
    });
    world.open(1_000_000_000);
    world.run_until(Time::ZERO + Duration::from_secs(60));
    let counters = world.client.counters();
    assert_eq!(counters.segments_retransmitted, 0);
    let lost = world.log.iter().filter(|sent| sent.dropped).count() as f64;
    let found = counters.ack_losses_detected as f64;
    (lost, found, found * counters.acks_watched as f64 / counters.acks_that_would_show as f64)
}

/// ACKs come every T. Each echoes the tick, of length c, in which the first segment that it covers was sent, and these
/// were sent every T as well. The ACK after a lost one shows the loss if both of these fall into different ticks, which
/// for phases without preference has the probability min(1, T / c). Measured shares lie within 5 % of it, and estimates
/// of the number lost within 5 % of the number: of 2 % of 60 s / T ACKs at least 900 are lost, so that chance alone
/// makes 2.6 % of 0.6.
#[test]
fn the_share_of_lost_acks_that_is_found_is_that_of_acks_in_different_ticks() {
    let tick_ms = 1.0;
    for (service_us, segments, policy) in [
        (297, 2.0, AckPolicy::Delayed),
        (413, 2.0, AckPolicy::Delayed),
        (613, 2.0, AckPolicy::Delayed),
        (613, 1.0, AckPolicy::EverySegment),
        (1213, 1.0, AckPolicy::EverySegment),
    ] {
        let findable = (service_us as f64 / 1000.0 * segments / tick_ms).min(1.0);
        let (lost, found, estimate) = found_of_many(Duration::from_micros(service_us), 0.02, policy);
        assert!(lost > 900.0, "{lost}");
        assert!((found / lost / findable - 1.0).abs() < 0.05, "{service_us}: {} of {findable}", found / lost);
        assert!((estimate / lost - 1.0).abs() < 0.05, "{service_us}: {estimate} of {lost}");
    }
}
