//! A controller's promises on a plain wired bottleneck ([`LongRun`](lasthop_tcp::congestion_control::LongRun)).
//!
//! 20 Mbit/s, 40 ms, a FIFO of one product of bandwidth and RTT (67 packets), segments that wait up to one service time
//! at random, so that flows do not synchronise.

use std::ops::Range;

use lasthop_registry::Switch;
use lasthop_tcp::Config;
use lasthop_tcp::congestion_control::Convergence;
use lasthop_units::{Duration, Time};

use super::candidate::Candidate;
use super::dumbbell::{Bottleneck, Dumbbell, Pair, jain, seconds};
use crate::failure::Failure;

/// Rate of the bottleneck.
const RATE_BPS: f64 = 20e6;
/// RTT without a queue.
const RTT: Duration = Duration::from_millis(40);

fn wired(bdps: f64, seed: u64) -> Bottleneck {
    Bottleneck { seed, ..Bottleneck::wired(RATE_BPS, RTT, bdps) }
}

fn pair(candidate: &Candidate, config: &Config, n: u32, start: Time) -> Pair {
    Pair { sender: candidate.endpoint(config, 1000 + n), receiver: candidate.endpoint(config, 2000 + n), start }
}

fn alone(candidate: &Candidate, path: Bottleneck) -> Dumbbell {
    Dumbbell::of_pairs(path, vec![pair(candidate, &candidate.config(), 0, Time::ZERO)])
}

fn staggered(candidate: &Candidate, path: Bottleneck, flows: u32, apart: f64) -> Dumbbell {
    let config = candidate.config();
    let starts = (0..flows).map(|n| pair(candidate, &config, n, seconds(apart * f64::from(n))));
    Dumbbell::of_pairs(path, starts.collect())
}

/// Share of the bottleneck that one flow uses from 20 s to 60 s.
pub fn utilisation(candidate: &Candidate, seed: u64) -> f64 {
    let bytes = alone(candidate, wired(1.0, seed)).delivered_between(seconds(20.0), seconds(60.0))[0];
    let wire_bits = bytes as f64 * 8.0 * 1500.0 / f64::from(candidate.config().payload_bytes());
    wire_bits / (40.0 * RATE_BPS)
}

/// One flow uses the bottleneck as promised.
///
/// # Errors
/// The first failure.
pub fn one_flow_uses_the_bottleneck(candidate: &Candidate, seeds: Range<u64>) -> Result<(), Failure> {
    candidate.try_each("one_flow_uses_the_bottleneck", seeds, |trial| {
        let used = utilisation(candidate, trial.seed);
        // Repaired data counts when it is in order: a window of 134 packets, of 66667 in 40 s, may belong to the time
        // before.
        let promised = candidate.long_run.utilisation;
        trial.require(0, (promised..=1.002).contains(&used), || format!("it uses {used:.4}, promised: {promised}"))
    })
}

/// Shares of the window left by the first ten losses after 5 s: at random, then by a full queue.
pub fn kept_by_losses(candidate: &Candidate, seed: u64) -> Vec<f64> {
    let by_chance = Bottleneck { seed, loss: 0.001, ..Bottleneck::wired(50e6, RTT, 1.0) };
    [by_chance, wired(1.0, seed)].into_iter().flat_map(|path| kept(alone(candidate, path))).collect()
}

fn kept(mut world: Dumbbell) -> Vec<f64> {
    let (mut kept, mut now) = (Vec::new(), 5.0);
    while kept.len() < 10 && now < 60.0 {
        world.run_until(seconds(now));
        let sender = &world.flows[0].sender;
        let (losses, window) = (sender.counters().fast_retransmits, sender.cwnd_segments());
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

/// A loss leaves as much of the window as promised; a step is one of the losses.
///
/// # Errors
/// The first failure.
pub fn a_loss_leaves_its_share(candidate: &Candidate, seeds: Range<u64>) -> Result<(), Failure> {
    let Some((least, most)) = candidate.long_run.keeps else { return Ok(()) };
    candidate.try_each("a_loss_leaves_its_share", seeds, |trial| {
        let all = kept_by_losses(candidate, trial.seed);
        trial.require(0, all.len() >= 5, || format!("only {} losses were seen", all.len()))?;
        (0..).zip(&all).try_for_each(|(step, share)| {
            // Whole segments of windows above 30: a window may have changed by one within the millisecond, too.
            let holds = (least - 0.04..=most + 0.04).contains(share);
            trial.require(step, holds, || format!("a loss leaves {share:.3}, promised: {least} to {most}"))
        })
    })
}

/// Bytes of each of the flows, which start 10 s apart, from 100 s to 200 s.
pub fn shares(candidate: &Candidate, flows: u32, bdps: f64, seed: u64) -> Vec<u64> {
    staggered(candidate, wired(bdps, seed), flows, 10.0).delivered_between(seconds(100.0), seconds(200.0))
}

/// Two and four flows come to equal shares, where that is promised; a step is a number of flows.
///
/// # Errors
/// The first failure.
pub fn equal_flows_come_to_equal_shares(candidate: &Candidate, seeds: Range<u64>) -> Result<(), Failure> {
    if candidate.long_run.convergence != Convergence::Equal {
        return Ok(());
    }
    candidate.try_each("equal_flows_come_to_equal_shares", seeds, |trial| {
        [2, 4].into_iter().try_for_each(|flows| {
            let shares = shares(candidate, flows, candidate.long_run.buffer_bdps, trial.seed);
            let index = jain(&shares);
            trial.require(u64::from(flows), index > 0.95, || format!("Jain's index {index:.3} of {shares:?} bytes"))
        })
    })
}

/// The later of two flows gets a tenth more, where that is promised.
///
/// # Errors
/// The first failure.
pub fn late_comers_gain_where_it_is_said(candidate: &Candidate, seeds: Range<u64>) -> Result<(), Failure> {
    if candidate.long_run.convergence != Convergence::LateComersGain {
        return Ok(());
    }
    candidate.try_each("late_comers_gain_where_it_is_said", seeds, |trial| {
        let shares = shares(candidate, 2, 1.0, trial.seed);
        let gains = shares[1] as f64 > 1.1 * shares[0] as f64;
        trial.require(0, gains, || format!("{shares:?} bytes: the second flow was to have a tenth more"))
    })
}

/// The same seed gives the same result, and the next one another.
///
/// # Errors
/// The first failure.
pub fn the_same_seed_gives_the_same_result(candidate: &Candidate, seeds: Range<u64>) -> Result<(), Failure> {
    let result = |seed| {
        let mut world = staggered(candidate, Bottleneck { loss: 0.002, ..wired(1.0, seed) }, 2, 1.0);
        world.run_until(seconds(10.0));
        let ends = world.flows.iter().map(|flow| (flow.sender.info(world.now()), flow.receiver.info(world.now())));
        format!("{:?} {} {}", ends.collect::<Vec<_>>(), world.lost, world.overflowed)
    };
    candidate.try_each("the_same_seed_gives_the_same_result", seeds, |trial| {
        let (once, again, next) = (result(trial.seed), result(trial.seed), result(trial.seed + 1));
        trial.require(0, once == again, || format!("two runs differ: {}", first_difference(&once, &again)))?;
        trial.require(1, once != next, || "the next seed changes nothing".into())
    })
}

/// The first value that differs in two reports of one form, with its name.
fn first_difference(one: &str, other: &str) -> String {
    let differing = one.split(", ").zip(other.split(", ")).find(|(one, other)| one != other);
    differing.map_or_else(String::new, |(one, other)| {
        let value = other.rsplit(": ").next().unwrap_or(other);
        format!("{}, and {value}", one.trim_start_matches(['[', '(']))
    })
}

/// With five segments in each RTT a window of twenty grows no further than promised.
///
/// # Errors
/// The first failure.
pub fn no_window_grows_that_is_not_used(candidate: &Candidate, seeds: Range<u64>) -> Result<(), Failure> {
    candidate.try_each("no_window_grows_that_is_not_used", seeds, |trial| {
        let config = Config { initial_window: 20, initial_ssthresh: Switch::On(20), ..candidate.config() };
        let mut world = Dumbbell::idle(wired(1.0, trial.seed), vec![pair(candidate, &config, 0, Time::ZERO)]);
        let most = 20.0 * candidate.promise.unused_growth;
        (0..500).try_for_each(|step| {
            world.write(0, 5 * u64::from(config.payload_bytes()));
            world.run_until(seconds(0.1 + 0.04 * step as f64));
            let window = world.flows[0].sender.cwnd_segments();
            trial.require(step, window <= most, || format!("a window of {window} segments, at most {most}"))
        })
    })
}
