//! Every registered controller through a plain wired bottleneck: what holds for all, and what each promises
//! ([`Algorithm::long_run`]).
//!
//! 20 Mbit/s, 40 ms, a FIFO of one product of bandwidth and RTT (67 packets), segments that wait up to one service time
//! at random, so that nobody falls into step.

mod dumbbell;

use dumbbell::{Bottleneck, Dumbbell, jain, seconds};
use lasthop_registry::Switch;
use lasthop_tcp::congestion_control::{Algorithm, Convergence};
use lasthop_tcp::{Config, Profile};
use lasthop_units::{Duration, Time};

const RATE_BPS: f64 = 20e6;
const RTT: Duration = Duration::from_millis(40);

fn config(algorithm: &Algorithm) -> Config {
    Config { congestion_control: algorithm.clone(), ..Profile::Linux.config() }
}

fn wired(bdps: f64) -> Bottleneck {
    Bottleneck::wired(RATE_BPS, RTT, bdps)
}

fn wire_bits(payload_bytes: u64, config: &Config) -> f64 {
    payload_bytes as f64 * 8.0 * 1500.0 / f64::from(config.payload_bytes())
}

#[test]
fn one_flow_uses_the_bottleneck_as_promised() {
    for algorithm in Algorithm::all() {
        let config = config(&algorithm);
        let bytes = Dumbbell::single(wired(1.0), &config).delivered_between(seconds(20.0), seconds(60.0))[0];
        let used = wire_bits(bytes, &config) / (40.0 * RATE_BPS);
        println!("{}: {used:.3} of the bottleneck", algorithm.name());
        // What was repaired counts when it is in order: a window of 134 packets, of 66667 in 40 s, may belong to the time
        // before.
        let promised = algorithm.long_run().utilisation;
        assert!((promised..=1.002).contains(&used), "{} uses {used}", algorithm.name());
    }
}

/// Shares that the first ten losses after 5 s leave of the window.
fn kept(path: Bottleneck, config: &Config) -> Vec<f64> {
    let mut world = Dumbbell::single(path, config);
    let mut kept = Vec::new();
    let mut now = 5.0;
    while kept.len() < 10 && now < 60.0 {
        world.run_until(seconds(now));
        let (losses, window) =
            (world.flows[0].sender.counters().fast_retransmits, world.flows[0].sender.cwnd_segments());
        now += 0.001;
        world.run_until(seconds(now));
        let sender = &world.flows[0].sender;
        if sender.counters().fast_retransmits > losses {
            kept.push(sender.ssthresh_segments() / window);
            now += 1.0;
        }
    }
    kept
}

#[test]
fn a_loss_leaves_as_much_of_the_window_as_promised() {
    for algorithm in Algorithm::all() {
        let Some((least, most)) = algorithm.long_run().keeps else { continue };
        let by_chance = Bottleneck { loss: 0.001, ..Bottleneck::wired(50e6, RTT, 1.0) };
        let mut all = kept(by_chance, &config(&algorithm));
        assert!(all.len() >= 5, "{}: {} losses", algorithm.name(), all.len());
        all.extend(kept(wired(1.0), &config(&algorithm)));
        let (low, high) = all.iter().fold((f64::MAX, 0.0), |(low, high): (f64, f64), k| (low.min(*k), high.max(*k)));
        println!("{}: a loss leaves {low:.2} to {high:.2}", algorithm.name());
        // Whole segments of windows above 30: a window may have changed by one within the millisecond, too.
        assert!(low >= least - 0.04 && high <= most + 0.04, "{}: {all:?}", algorithm.name());
    }
}

fn share_of_each(algorithm: &Algorithm, flows: u32, bdps: f64) -> Vec<u64> {
    let flows: Vec<_> = (0..flows).map(|n| (config(algorithm), seconds(10.0 * f64::from(n)))).collect();
    Dumbbell::new(wired(bdps), &flows).delivered_between(seconds(100.0), seconds(200.0))
}

#[test]
fn equal_flows_come_to_equal_shares_where_promised() {
    for algorithm in Algorithm::all() {
        let long_run = algorithm.long_run();
        for flows in [2, 4] {
            let shares = share_of_each(&algorithm, flows, long_run.buffer_bdps);
            let index = jain(&shares);
            println!("{}, {flows} flows: Jain's index {index:.3}, {:?}", algorithm.name(), long_run.convergence);
            if long_run.convergence == Convergence::Equal {
                assert!(index > 0.95, "{}: {index} of {shares:?}", algorithm.name());
            }
        }
    }
}

#[test]
fn late_comers_gain_where_it_is_said() {
    for algorithm in Algorithm::all().iter().filter(|a| a.long_run().convergence == Convergence::LateComersGain) {
        let shares = share_of_each(algorithm, 2, 1.0);
        assert!(shares[1] as f64 > 1.1 * shares[0] as f64, "{}: {shares:?}", algorithm.name());
    }
}

#[test]
fn the_same_seed_gives_the_same_result() {
    let result = |algorithm: &Algorithm, seed| {
        let flows = [(config(algorithm), Time::ZERO), (config(algorithm), seconds(1.0))];
        let mut world = Dumbbell::new(Bottleneck { seed, loss: 0.002, ..wired(1.0) }, &flows);
        world.run_until(seconds(10.0));
        let ends = world.flows.iter().map(|flow| (flow.sender.info(world.now), flow.receiver.info(world.now)));
        format!("{:?} {} {}", ends.collect::<Vec<_>>(), world.lost, world.overflowed)
    };
    for algorithm in Algorithm::all() {
        assert!(result(&algorithm, 5) == result(&algorithm, 5), "{}", algorithm.name());
        assert!(result(&algorithm, 5) != result(&algorithm, 6), "{}: the seed changes nothing", algorithm.name());
    }
}

#[test]
fn no_window_grows_that_is_not_used() {
    for algorithm in Algorithm::all() {
        // Five segments every RTT, in avoidance, with a window of 20.
        let config = Config { initial_window: 20, initial_ssthresh: Switch::On(20), ..config(&algorithm) };
        let mut world = Dumbbell::single_idle(wired(1.0), &config);
        for step in 0..500 {
            world.write(0, 5 * u64::from(config.payload_bytes()));
            world.run_until(seconds(0.1 + 0.04 * f64::from(step)));
        }
        let window = world.flows[0].sender.cwnd_segments();
        let most = 20.0 * algorithm.promise().unused_growth;
        assert!(window <= most, "{}: {window}", algorithm.name());
    }
}
