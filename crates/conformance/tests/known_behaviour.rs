//! Formulas for controllers, measured on a path that has their assumptions: SACK, an ACK for each segment, a constant
//! RTT, no queue, losses the only limit.
//!
//! The formulas are good for 15 %: they leave out the round trip of recovery and count losses, not congestion events.
//! Means are over so many losses that chance leaves about 3 %. The rarest losses, which take longest, are for
//! `LASTHOP_ALL`, as `make validation` sets it.

use lasthop_conformance::cc::dumbbell::{Bottleneck, Dumbbell, Random, seconds};
use lasthop_registry::{Parameter, Switch, Value};
use lasthop_tcp::congestion_control::{Algorithm, cubic, hstcp, newreno};
use lasthop_tcp::{AckPolicy, Config, Growth, GrowthMode, Profile};
use lasthop_units::Duration;

const RTT: Duration = Duration::from_millis(100);

fn with(congestion_control: Algorithm) -> Config {
    // Segments leave one by one: short bursts, held back for the next ACK, would form queues themselves. Each is acknowledged.
    let ack = AckPolicy::EverySegment;
    Config { congestion_control, ack, compressed_acks: 0, tso_deferral: false, ..Profile::Linux.config() }
}

fn named(name: &str) -> Config {
    with(Algorithm::parse(&Value::text(name), "").unwrap())
}

/// The last of `cases` takes as long as all others.
fn but_the_longest<T>(cases: &[T]) -> &[T] {
    &cases[..cases.len() - usize::from(std::env::var_os("LASTHOP_ALL").is_none())]
}

fn at_random(p: f64) -> Bottleneck {
    Bottleneck::lossy(p, RTT)
}

fn in_turn(p: f64) -> Bottleneck {
    Bottleneck { loses_each: (1.0 / p).round() as u64, ..Bottleneck::lossy(0.0, RTT) }
}

/// Mean window in segments over about `losses` losses, a tenth more for a start; and the number of timeouts.
fn mean_window(config: &Config, path: Bottleneck, about: f64, losses: f64) -> (f64, u64) {
    let rtt = path.rtt.as_secs_f64();
    let p = if path.loses_each > 0 { 1.0 / path.loses_each as f64 } else { path.loss };
    // 1 / p segments between losses, `about` segments in an RTT
    let cycle = rtt / (p * about);
    let (from, to) = (0.1 * losses * cycle, 1.1 * losses * cycle);
    let mut world = Dumbbell::single(path, config);
    let bytes = world.delivered_between(seconds(from), seconds(to))[0];
    let segments = bytes as f64 / f64::from(config.payload_bytes());
    (segments * rtt / (to - from), world.flows[0].sender.counters().timeouts)
}

fn assert_near(what: &str, got: f64, want: f64, tolerance: f64) {
    println!("{what}: {got:.2} segments, the formula has {want:.2}: {:+.1} %", 100.0 * (got / want - 1.0));
    assert!((got / want - 1.0).abs() <= tolerance, "{what}: {got} segments, the formula has {want}");
}

/// W = 1.22 / sqrt(p). [Mathis 1997]
fn mathis(p: f64) -> f64 {
    1.22 / p.sqrt()
}

/// W = 0.12 / p^0.835, and Reno above p = 1e-3. [RFC 3649 §5]
fn highspeed(p: f64) -> f64 {
    if p > 1e-3 { mathis(p) } else { 0.12 / libm::pow(p, 0.835) }
}

/// W = 1.054 RTT^0.75 / p^0.75. [RFC 9438 §5.1]
fn cubic_average(p: f64, rtt: Duration) -> f64 {
    1.054 * libm::pow(rtt.as_secs_f64() / p, 0.75)
}

#[test]
fn newreno_follows_mathis() {
    for &(p, losses) in but_the_longest(&[(1e-2, 2000.0), (1e-3, 1000.0), (1e-4, 500.0)]) {
        let (window, timeouts) = mean_window(&named("newreno"), at_random(p), mathis(p), losses);
        // A retransmission lost as well may cause one: not more than one for a hundred losses.
        assert!(timeouts as f64 <= losses / 100.0, "{timeouts} timeouts");
        assert_near(&format!("newreno at {p}"), window, mathis(p), 0.15);
    }
}

#[test]
fn highspeed_tcp_by_its_formulas_follows_its_table() {
    let rfc = with(Algorithm::Hstcp(hstcp::Params { era: hstcp::HstcpEra::Rfc3649 }));
    // RFC 3649 table 1: 12 segments at 1e-2, 38 at 1e-3, 263 at 1e-4
    for &(p, table, losses) in but_the_longest(&[(1e-2, 12.0, 2000.0), (1e-3, 38.0, 1000.0), (1e-4, 263.0, 500.0)]) {
        assert!((highspeed(p) / table - 1.0).abs() < 0.02);
        let (window, _) = mean_window(&rfc, at_random(p), table, losses);
        assert_near(&format!("hstcp at {p}"), window, table, 0.15);
    }
}

#[test]
fn linux_rounds_highspeed_tcp_up() {
    // a(w) is 2 from 39 segments on, where the formula has 1 at 38 and 2 at 118: at 1e-3 it has half as much again.
    let (window, _) = mean_window(&named("hstcp"), at_random(1e-3), 57.0, 500.0);
    assert!((50.0..65.0).contains(&window), "{window}");
}

/// Windows every 10 ms for a minute of avoidance that stays below 38 segments.
fn small_windows(control: Algorithm) -> Vec<f64> {
    let growth = Growth { slow_start: GrowthMode::PerAck, avoidance: GrowthMode::PerAck };
    let config = Config { initial_ssthresh: Switch::On(20), growth, ..with(control) };
    let mut world = Dumbbell::single(in_turn(1.0 / 400.0), &config);
    let window = |step| {
        world.run_until(seconds(f64::from(step) * 0.01));
        world.flows[0].sender.cwnd_segments()
    };
    (0..6000).map(window).collect()
}

#[test]
fn highspeed_tcp_is_newreno_below_38_segments() {
    let reno = small_windows(Algorithm::Newreno(newreno::Params::default()));
    let highest = reno.iter().fold(0.0, |a: f64, b| a.max(*b));
    assert!((28.0..=38.0).contains(&highest), "{highest}");
    assert!(
        reno == small_windows(Algorithm::Hstcp(hstcp::Params { era: hstcp::HstcpEra::Rfc3649 })),
        "the windows differ"
    );
}

#[test]
fn linux_rounds_half_of_an_odd_window_up_in_one_and_down_in_the_other() {
    // w - w 128/256 against w / 2: their only difference below 38 segments
    let reno =
        small_windows(Algorithm::Newreno(newreno::Params { era: newreno::NewrenoEra::Linux, ..Default::default() }));
    let bold = small_windows(Algorithm::Hstcp(hstcp::Params::default()));
    let mean = |windows: &[f64]| windows.iter().sum::<f64>() / windows.len() as f64;
    let (reno, bold) = (mean(&reno), mean(&bold));
    assert!((reno..reno + 1.0).contains(&bold), "{reno} {bold}");
}

fn cubic_without(fast_convergence: bool) -> Config {
    with(Algorithm::Cubic(cubic::Params { fast_convergence, ..Default::default() }))
}

#[test]
fn cubic_follows_its_average_where_its_losses_are_regular() {
    // RFC 9438 §5.1 assumes a loss every 1/p segments, and no fast convergence; Reno has 122 and 70 segments here.
    for &(p, losses) in but_the_longest(&[(3e-4, 600.0), (1e-4, 300.0)]) {
        for fast in [false, true] {
            let want = cubic_average(p, RTT);
            let (window, _) = mean_window(&cubic_without(fast), in_turn(p), want, losses);
            assert_near(&format!("cubic at one in {:.0}, fast convergence {fast}", 1.0 / p), window, want, 0.15);
        }
    }
}

#[test]
fn cubic_follows_its_equations_where_its_losses_are_random() {
    // The mean of so curved a function depends on the spread of losses: random ones give 1.2 times the formula's.
    for &(p, losses) in but_the_longest(&[(3e-4, 1500.0), (1e-4, 700.0)]) {
        let (window, _) = mean_window(&cubic_without(true), at_random(p), 1.17 * cubic_average(p, RTT), losses);
        assert_near(&format!("cubic at random {p}, equations"), window, fluid_cubic(p, 30_000), 0.05);
    }
}

#[test]
fn cubic_is_as_fast_as_reno_where_reno_is_faster() {
    let rtt = Duration::from_millis(20);
    for (p, losses) in [(1e-2, 2000.0), (1e-3, 1000.0)] {
        assert!(cubic_average(p, rtt) < 0.3 * mathis(p));
        let (window, _) = mean_window(&named("cubic"), Bottleneck { rtt, ..in_turn(p) }, mathis(p), losses);
        assert_near(&format!("cubic at one in {:.0}, 20 ms", 1.0 / p), window, mathis(p), 0.15);
    }
}

/// CUBIC as a fluid: the equations of RFC 9438 §4 in steps of an RTT/20, with random losses at p W / RTT, which are
/// found an RTT later, and take another RTT to repair.
fn fluid_cubic(p: f64, losses: u64) -> f64 {
    const STEPS: u64 = 20;
    let (c, beta, alpha) = (0.4, 0.7, 3.0 * 0.3 / 1.7);
    let rtt = RTT.as_secs_f64();
    let dt = rtt / STEPS as f64;
    let mut random = Random(7);
    let (mut w_max, mut start, mut w) = (0.0f64, 100.0f64, 100.0f64);
    let (mut origin, mut t, mut counted, mut steps, mut sum) = (100.0, 0.0, 0, 0u64, 0.0);
    let mut found_in = None;
    let mut repair = 0;
    while counted < losses {
        sum += w;
        steps += 1;
        if repair > 0 {
            repair -= 1;
            continue;
        }
        let k = libm::cbrt((origin - start) / c);
        t += dt;
        w = (c * (t - k).powi(3) + origin).max(start + alpha * t / rtt);
        if found_in.is_none() && random.unit() < p * w / STEPS as f64 {
            found_in = Some(STEPS);
        }
        if let Some(left) = found_in.as_mut() {
            *left -= 1;
            if *left == 0 {
                counted += 1;
                w_max = if w < w_max { w * (1.0 + beta) / 2.0 } else { w };
                (origin, start, t, repair, found_in) = (w_max, beta * w, 0.0, STEPS, None);
                w = start;
            }
        }
    }
    sum / steps as f64
}

/// Mean number of segments that wait at the bottleneck. The one in service does not wait: it is part of the least RTT.
fn queued(name: &str, rate_bps: f64) -> f64 {
    let path = Bottleneck { jitter: Duration::ZERO, ..Bottleneck::wired(rate_bps, RTT, 4.0) };
    let mut world = Dumbbell::single(path, &named(name));
    // Linux' slow start overshoots by the bandwidth and RTT, and takes that back by one segment per RTT.
    world.run_until(seconds(300.0));
    let before = world.queue_integral;
    world.run_until(seconds(360.0));
    (world.queue_integral - before) / 60.0 - 1.0
}

#[test]
fn vegas_keeps_alpha_to_beta_segments_queued() {
    for rate_bps in [2e6, 10e6, 50e6] {
        let queued = queued("vegas", rate_bps);
        println!("vegas at {rate_bps} bit/s: {queued:.2} segments");
        // alpha 2, beta 4; the estimate is cut to whole segments, so that it is above beta from beta + 1 on
        assert!((2.0..5.0).contains(&queued), "{queued} segments at {rate_bps} bit/s");
    }
}

#[test]
fn bbr_keeps_the_rate_of_a_lossy_long_fat_path() {
    // 1 Gbit/s, 100 ms: 8333 packets; Mathis has 12 at a loss of 1 %.
    let path = Bottleneck { loss: 0.01, ..Bottleneck::wired(1e9, RTT, 1.0) };
    let config = named("bbr");
    let bytes = Dumbbell::single(path, &config).delivered_between(seconds(3.0), seconds(13.0))[0];
    let used = bytes as f64 * 8.0 * 1500.0 / f64::from(config.payload_bytes()) / 10.0 / 1e9;
    println!("bbr at 1 Gbit/s, 100 ms, 1 % lost: {used:.3} of the rate");
    assert!(used > 0.9, "{used}");
}
