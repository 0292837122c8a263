//! Controllers under congestion marks, through a bottleneck that marks above a number of packets.

use lasthop_conformance::cc::dumbbell::{Bottleneck, Dumbbell, Sent, jain, seconds};
use lasthop_registry::{Parameter, Value};
use lasthop_tcp::congestion_control::{Algorithm, LossAnswer};
use lasthop_tcp::{CaState, Config, EcnUse, Flags, Profile, RecoveryMachine};
use lasthop_units::{Duration, Ecn, Time};

const RATE_BPS: f64 = 100e6;
const RTT: Duration = Duration::from_millis(10);
/// Packets in the queue above which it marks; bandwidth times RTT are 83.
const K: usize = 20;

fn config(kind: &str, ecn: EcnUse) -> Config {
    let choice = Profile::Linux.with_own_defaults(&Value::text(kind));
    let congestion_control = Algorithm::parse(&choice, "congestion_control").unwrap();
    Config { congestion_control, ecn, ..Profile::Linux612.config() }
}

fn path() -> Bottleneck {
    Bottleneck::marking(RATE_BPS, RTT, K)
}

/// The use of the bottleneck by one flow, or several, from one time to another.
struct Outcome {
    utilisation: f64,
    /// mean, in packets
    queue: f64,
    /// share of packets that were marked
    marks: f64,
    shares: Vec<u64>,
    world: Dumbbell,
}

fn run(path: Bottleneck, flows: &[(Config, Time)], from_s: f64, to_s: f64) -> Outcome {
    let payload = f64::from(flows[0].0.payload_bytes());
    let rate_bps = path.rate_bps;
    let mut world = Dumbbell::new(path, flows);
    world.run_until(seconds(from_s));
    let (queue, marked) = (world.queue_integral, world.marked);
    let shares = world.delivered_between(seconds(from_s), seconds(to_s));
    let length = to_s - from_s;
    let packets = shares.iter().sum::<u64>() as f64 / payload;
    Outcome {
        utilisation: packets * 1500.0 * 8.0 / (length * rate_bps),
        queue: (world.queue_integral - queue) / length,
        marks: (world.marked - marked) as f64 / packets,
        shares,
        world,
    }
}

fn alone(kind: &str, ecn: EcnUse) -> Outcome {
    run(path(), &[(config(kind, ecn), Time::ZERO)], 5.0, 25.0)
}

/// A single flow from its start, with all segments that its ends send.
fn logged(config: &Config, time_s: f64) -> Dumbbell {
    let mut world = Dumbbell::single(path(), config);
    world.keep_log();
    world.run_until(seconds(time_s));
    world
}

fn of_sender(world: &Dumbbell) -> impl Iterator<Item = &Sent> {
    world.log.as_ref().unwrap().iter().filter(|sent| sent.from_sender)
}

#[test]
fn marks_alone_keep_a_flow_from_losing_anything() {
    for kind in ["newreno", "cubic"] {
        let marked = alone(kind, EcnUse::On);
        let counters = marked.world.flows[0].sender.counters();
        assert_eq!((counters.segments_retransmitted, marked.world.overflowed), (0, 0), "{kind}");
        assert!(marked.marks > 0.0 && marked.utilisation > 0.8, "{kind}: {} {}", marked.marks, marked.utilisation);
        let by_the_letter = Config { recovery: RecoveryMachine::Rfc, ..config(kind, EcnUse::On) };
        let other = run(path(), &[(by_the_letter, Time::ZERO)], 5.0, 25.0);
        assert_eq!((other.world.flows[0].sender.counters().segments_retransmitted, other.world.overflowed), (0, 0));
        assert!(other.marks > 0.0 && other.utilisation > 0.8, "{kind}: {} {}", other.marks, other.utilisation);
        let unmarked = alone(kind, EcnUse::Off);
        assert!(unmarked.world.overflowed > 0 && unmarked.world.marked == 0, "{kind}");
        assert!(unmarked.queue > 2.0 * marked.queue, "{kind}: {} {}", unmarked.queue, marked.queue);
    }
}

#[test]
fn controller_that_answers_losses_answers_marks() {
    for algorithm in Algorithm::all().into_iter().filter(|a| a.promise().loss == LossAnswer::Reduces) {
        let config = Config { congestion_control: algorithm.clone(), ecn: EcnUse::On, ..Profile::Linux612.config() };
        let outcome = run(path(), &[(config, Time::ZERO)], 5.0, 25.0);
        let name = algorithm.name();
        println!(
            "{name}: queue {:.1}, utilisation {:.3}, marks {:.4}",
            outcome.queue, outcome.utilisation, outcome.marks
        );
        assert_eq!(outcome.world.flows[0].sender.counters().segments_retransmitted, 0, "{name}");
        assert!(outcome.queue < K as f64, "{name}: {}", outcome.queue);
        // Half the window at the mark is 0.62 of the path's capacity, and grows again. Westwood takes its rate on a
        // short queue for that of the path.
        let least = match name {
            "westwood" => 0.6,
            _ => 0.8,
        };
        assert!(outcome.utilisation > least, "{name}: {}", outcome.utilisation);
    }
}

/// Times at which a single flow begins to reduce its window for a mark, and the shares that it keeps.
fn falls(config: &Config, until_s: f64) -> (Vec<(f64, f64)>, Dumbbell) {
    let mut world = Dumbbell::single(path(), config);
    world.keep_log();
    let (mut falls, mut now, mut before) = (Vec::new(), 0.0, (CaState::Open, 10.0, f64::INFINITY));
    while now < until_s {
        now += 0.000_1;
        world.run_until(seconds(now));
        let sender = &world.flows[0].sender;
        let state = sender.info(world.now()).ca_state;
        let ssthresh = sender.ssthresh_segments();
        // One reduction may follow the other within 0.1 ms.
        if state == CaState::Cwr && (before.0 != CaState::Cwr || ssthresh != before.2) {
            falls.push((now, ssthresh / before.1));
        }
        before = (state, sender.cwnd_segments(), ssthresh);
    }
    (falls, world)
}

fn announces(sent: &Sent) -> bool {
    sent.segment.payload > 0 && sent.segment.flags.contains(Flags::CWR)
}

#[test]
fn window_falls_once_a_round_trip_with_cwr_each_time() {
    // [RFC 3168 §6.1.2]
    for (kind, abe, kept) in
        [("newreno", false, 0.5), ("cubic", false, 0.7), ("newreno", true, 0.8), ("cubic", true, 0.85)]
    {
        let (falls, world) = falls(&Config { abe, ..config(kind, EcnUse::On) }, 10.0);
        assert!(falls.len() > 5, "{kind}: {falls:?}");
        for pair in falls.windows(2) {
            assert!(pair[1].0 - pair[0].0 > RTT.as_secs_f64(), "{kind}: {pair:?}");
        }
        // Whole segments of windows of 50 and more; the window may have grown by one in the 0.1 ms before.
        assert!(falls.iter().all(|fall| (fall.1 - kept).abs() < 0.03), "{kind} {abe}: {falls:?}");
        assert_eq!(of_sender(&world).filter(|sent| announces(sent)).count(), falls.len(), "{kind}");
    }
}

#[test]
fn a_mark_that_takes_less_leaves_more_of_the_bottleneck_used() {
    // [RFC 8511 §3]: half of the 104 segments at the mark are less than the path's capacity of 83; 0.8 are as many.
    let used =
        |abe| run(path(), &[(Config { abe, ..config("newreno", EcnUse::On) }, Time::ZERO)], 5.0, 25.0).utilisation;
    let (without, with) = (used(false), used(true));
    println!("newreno: {without:.3}, with ABE {with:.3}");
    assert!(without < 0.9 && with > 0.97, "{without} {with}");
}

#[test]
fn a_loss_takes_as_much_as_ever_beside_abe() {
    let config = Config { abe: true, ..config("newreno", EcnUse::On) };
    let mut world = Dumbbell::single(Bottleneck { loses_each: 700, ..Bottleneck::wired(RATE_BPS, RTT, 2.0) }, &config);
    let mut now = 0.0;
    while world.flows[0].sender.counters().fast_retransmits == 0 {
        now += 0.000_1;
        world.run_until(seconds(now));
    }
    let sender = &world.flows[0].sender;
    let prior = f64::from(sender.info(world.now()).unacked);
    assert!((sender.ssthresh_segments() / prior - 0.5).abs() < 0.03, "{} of {prior}", sender.ssthresh_segments());
}

#[test]
fn cwr_stops_the_echo() {
    // [RFC 3168 §6.1.3]: the ACK of the segment with CWR is the first without ECE, as the queue is short by then.
    let world = logged(&config("newreno", EcnUse::On), 5.0);
    let log = world.log.as_ref().unwrap();
    let mut stops = 0;
    for said in of_sender(&world).filter(|sent| announces(sent) && sent.at > seconds(1.0)) {
        let end = said.segment.seq.0.wrapping_add(said.segment.payload);
        let acknowledges = |s: &&Sent| !s.from_sender && s.at > said.at && s.segment.ack.0.wrapping_sub(end) < 1 << 30;
        let Some(place) = log.iter().position(|sent| acknowledges(&sent)) else { continue };
        let before = log[..place].iter().rfind(|sent| !sent.from_sender).unwrap();
        assert!(!log[place].segment.flags.contains(Flags::ECE), "{:?}", log[place]);
        assert!(before.segment.flags.contains(Flags::ECE), "{before:?}");
        stops += 1;
    }
    assert!(stops > 3);
}

#[test]
fn retransmissions_are_ecn_capable_only_for_dctcp_and_prague() {
    // [RFC 3168 §6.1.4, §6.1.5], RFC 9331 §4.1 for ECT(1); dctcp and prague as in Linux.
    for (kind, ecn, codepoint) in [
        ("cubic", EcnUse::On, Ecn::Ect0),
        ("newreno", EcnUse::Accurate, Ecn::Ect0),
        ("dctcp", EcnUse::On, Ecn::Ect0),
        ("prague", EcnUse::Accurate, Ecn::Ect1),
    ] {
        let of_old = if matches!(kind, "dctcp" | "prague") { codepoint } else { Ecn::NotEct };
        let lossy = Bottleneck { loses_each: 199, ..path() };
        let mut world = Dumbbell::single(lossy, &config(kind, ecn));
        world.keep_log();
        world.run_until(seconds(3.0));
        let (mut highest, mut again) = (0, 0);
        for sent in world.log.as_ref().unwrap() {
            let start = sent.segment.seq.0;
            let is_data = sent.from_sender && sent.segment.payload > 0;
            let is_new = is_data && start > highest;
            let expected = match (is_new, is_data) {
                (true, _) => codepoint,
                (false, true) => of_old,
                (false, false) => Ecn::NotEct,
            };
            assert_eq!(sent.segment.ecn, expected, "{kind}: {sent:?}");
            again += u32::from(is_data && !is_new);
            highest = highest.max(if is_new { start } else { 0 });
        }
        assert!(again > 10 && world.lost > 10, "{kind}: {again}");
    }
}

#[test]
fn a_probe_of_the_tail_may_not_be_marked() {
    // The last segment of a write is lost; two round trips later it is retransmitted as a probe. [RFC 8985 §7.3]
    let config = config("cubic", EcnUse::On);
    let mut world = Dumbbell::single_idle(Bottleneck { loses_each: 5, ..path() }, &config);
    world.keep_log();
    world.run_until(seconds(0.1));
    world.write(0, 5 * u64::from(config.payload_bytes()));
    world.run_until(seconds(0.5));
    let data: Vec<&Sent> = of_sender(&world).filter(|s| s.segment.payload > 0).collect();
    assert_eq!(data.len(), 6, "five, and the last again");
    assert_eq!(data[5].segment.seq, data[4].segment.seq);
    assert_eq!((data[4].segment.ecn, data[5].segment.ecn), (Ecn::Ect0, Ecn::NotEct));
    assert_eq!(world.flows[0].sender.counters().timeouts, 0);
}

/// A sender that requests ECN, and a receiver with the setting `ecn`.
fn meeting(ecn: EcnUse) -> Dumbbell {
    let mut world = Dumbbell::single(path(), &config("cubic", EcnUse::On));
    world.flows[0].receiver = lasthop_tcp::Endpoint::new(&config("cubic", ecn), 2000);
    world.flows[0].receiver.listen();
    world.run_until(seconds(10.0));
    world
}

#[test]
fn a_passive_receiver_agrees_and_one_without_declines() {
    for ecn in [EcnUse::Passive, EcnUse::On] {
        let world = meeting(ecn);
        assert!(world.marked > 0 && world.overflowed == 0, "{ecn:?}");
    }
    let world = meeting(EcnUse::Off);
    assert!(world.marked == 0 && world.overflowed > 0);
}

#[test]
fn dctcp_keeps_the_queue_at_the_threshold() {
    // [RFC 8257 §3]: it swings about K by the few packets of alpha/2 of the window: Alizadeh et al. 2010, §3.3, D =
    // sqrt(2 (C RTT + K)) / 2 = 7 here, and the marks come an RTT late.
    let dctcp = alone("dctcp", EcnUse::On);
    println!("dctcp: queue {:.1}, utilisation {:.4}, marks {:.4}", dctcp.queue, dctcp.utilisation, dctcp.marks);
    assert!(dctcp.utilisation > 0.99, "{}", dctcp.utilisation);
    assert!((K as f64 - 8.0..K as f64 + 2.0).contains(&dctcp.queue), "{}", dctcp.queue);
    // alpha = sqrt(2 / window) = 0.14; the window of one RTT in each period of ten is marked.
    assert!((0.005..0.05).contains(&dctcp.marks), "{}", dctcp.marks);
    assert_eq!(dctcp.world.flows[0].sender.counters().segments_retransmitted, 0);
    let newreno = alone("newreno", EcnUse::On);
    println!("newreno: queue {:.1}, utilisation {:.4}", newreno.queue, newreno.utilisation);
    assert!(newreno.utilisation < dctcp.utilisation);
}

#[test]
fn dctcp_flows_share_alike() {
    // Without deferral: with it the larger of two windows leaves in the larger bursts, of which no more are marked than
    // of short ones.
    let alike = Config { tso_deferral: false, ..config("dctcp", EcnUse::On) };
    for count in [2, 4] {
        let flows: Vec<_> = (0..count).map(|n| (alike.clone(), seconds(f64::from(n)))).collect();
        let outcome = run(path(), &flows, 10.0, 40.0);
        let index = jain(&outcome.shares);
        println!("{count} dctcp: Jain {index:.3}, queue {:.1}, utilisation {:.4}", outcome.queue, outcome.utilisation);
        assert!(index > 0.95 && outcome.utilisation > 0.99, "{index} {}", outcome.utilisation);
        assert!(outcome.queue < K as f64 + 2.0, "{}", outcome.queue);
        assert_eq!(outcome.world.overflowed, 0);
    }
}

/// A step of 1 ms [RFC 9332 §4.1]: eight packets.
const STEP: usize = 8;

fn prague(count: u32) -> Outcome {
    let flows: Vec<_> = (0..count).map(|n| (config("prague", EcnUse::Accurate), seconds(f64::from(n)))).collect();
    run(Bottleneck::marking(RATE_BPS, RTT, STEP), &flows, 10.0, 40.0)
}

#[test]
fn prague_flows_keep_the_queue_at_the_step_and_share_alike() {
    for count in [1, 2, 4] {
        let outcome = prague(count);
        let index = jain(&outcome.shares);
        println!("{count} prague: Jain {index:.3}, queue {:.1}, utilisation {:.4}", outcome.queue, outcome.utilisation);
        assert!(outcome.utilisation > 0.99 && index > 0.95, "{} {index}", outcome.utilisation);
        assert!(outcome.queue < STEP as f64, "{}", outcome.queue);
        let losses = outcome.world.flows.iter().map(|flow| flow.sender.counters().segments_retransmitted);
        assert_eq!(losses.sum::<u64>(), 0);
    }
}

#[test]
fn ace_counter_counts_every_mark() {
    // [RFC 9768 §3.2.2]; some are still on the way.
    for kind in ["prague", "newreno"] {
        let mut world = Dumbbell::single(path(), &config(kind, EcnUse::Accurate));
        world.run_until(seconds(10.0));
        let told = u64::from(world.flows[0].sender.info(world.now()).delivered_ce);
        assert!(world.marked > 50 && told <= world.marked && world.marked - told < 30, "{told} of {}", world.marked);
    }
}

/// The ratio of the shares of a flow with an RTT of 5 ms and one with 25 ms.
fn advantage(config: &Config) -> f64 {
    let flows = [(config.clone(), Time::ZERO), (config.clone(), Time::ZERO)];
    let mut world = Dumbbell::new(Bottleneck::marking(RATE_BPS, Duration::from_millis(5), STEP), &flows);
    world.flows[1].longer_way = Duration::from_millis(20);
    let shares = world.delivered_between(seconds(10.0), seconds(70.0));
    shares[0] as f64 / shares[1] as f64
}

#[test]
fn rtts_below_25_ms_matter_less_to_prague() {
    // [§2.4.4]
    let dctcp = advantage(&Config { tso_deferral: false, ..config("dctcp", EcnUse::On) });
    let prague = advantage(&config("prague", EcnUse::Accurate));
    println!("5 ms against 25 ms: dctcp {dctcp:.2}, prague {prague:.2}");
    assert!(dctcp > 3.0, "{dctcp}");
    assert!((0.8..1.25).contains(&prague), "{prague}");
}
