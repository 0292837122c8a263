//! Frames lost to noise, the reaction of the sender, and the reports to observers.

use std::sync::{Arc, Mutex};

use crate::cell::{Arrivals, MediumConfig, Seen, config, phy, run, with_beacons, with_rts};
use lasthop_observe::{NodeId, Outcome, Record};
use lasthop_registry::Switch;
use lasthop_units::{Bytes, DataRate, Db, Dbm, Duration, Probability, Time};
use lasthop_wifi::phy::ModeId;
use lasthop_wifi::phy::error_model::{ErrorModelKind, fixed, gilbert_elliott, nist, yans};
use lasthop_wifi::rate_control::{FrameInfo, RateChain, RateControl, TxStatus};
use lasthop_wifi::{Capture, Channel, LateCapture, Matrix};

fn seconds(s: u64) -> Duration {
    Duration::from_secs(s)
}

/// 802.11b, all nodes heard at `dbm` above -100 dBm of noise.
fn heard_at(dbm: f64, stations: usize, model: ErrorModelKind) -> MediumConfig {
    let channel = Channel::Matrix(Matrix::new(stations + 1, Dbm(-120.0), |_, _| Dbm(dbm)));
    MediumConfig { channel, error_model: model.build(1), ..config(phy("802.11b", &[1]), stations) }
}

fn none() -> fixed::Params {
    fixed::Params::default()
}

fn fixed(params: fixed::Params) -> ErrorModelKind {
    ErrorModelKind::Fixed(params)
}

fn loss(rate: f64) -> Option<Probability> {
    Probability::new(rate)
}

/// Runs one station that always has another frame, with this many retransmissions.
fn lone(mut config: MediumConfig, retry_limit: Option<u32>) -> Seen {
    config.nodes[1].retry_limit = retry_limit;
    run(config, &[1], seconds(20), &Vec::new())
}

/// Runs a packet from station 1 at 1 ms.
fn one_packet(config: MediumConfig) -> Seen {
    run(config, &[], seconds(2), &vec![(Time::from_nanos(1_000_000), NodeId(1))])
}

#[test]
fn with_a_tenth_of_frames_lost_both_ways_an_exchange_succeeds_with_81_percent() {
    let model = fixed(fixed::Params { frame_error_rate: loss(0.1), ..none() });
    let seen = lone(heard_at(-40.0, 1, model), Some(0));
    let succeeded = 1.0 - seen.noisy[1] as f64 / seen.attempts[1] as f64;
    // Some 10,000 attempts: four deviations are 0.016.
    assert!(seen.attempts[1] > 9_000);
    assert!((succeeded - 0.81).abs() < 0.016, "{succeeded}");
    // Data arrives with 0.9, whatever the fate of its ACK.
    assert!((seen.delivered[1] as f64 / seen.attempts[1] as f64 - 0.9).abs() < 0.012);
    let counts = seen.counts.unwrap();
    assert_eq!(counts.dropped_by_mac + counts.unacknowledged, seen.drops[1]);
}

#[test]
fn losses_by_direction_and_by_kind_are_those_that_were_asked_for() {
    let shares = |params| {
        let seen = lone(heard_at(-40.0, 1, fixed(params)), Some(0));
        let share = |n: u64| n as f64 / seen.attempts[1] as f64;
        (share(seen.delivered[1]), share(seen.attempts[1] - seen.noisy[1]))
    };
    let near = |found: (f64, f64), delivered: f64, acknowledged: f64| {
        assert!((found.0 - delivered).abs() < 0.02 && (found.1 - acknowledged).abs() < 0.02, "{found:?}");
    };
    near(shares(fixed::Params { up: loss(0.3), ..none() }), 0.7, 0.7);
    near(shares(fixed::Params { down: loss(0.3), ..none() }), 1.0, 0.7);
    near(shares(fixed::Params { data: loss(0.2), ack: loss(0.5), ..none() }), 0.8, 0.4);
}

#[test]
fn frame_with_lost_ack_is_repeated_and_delivered_once() {
    let model = fixed(fixed::Params { ack: loss(1.0), ..none() });
    let mut config = heard_at(-40.0, 1, model);
    config.nodes[1].retry_limit = Some(2);
    let seen = one_packet(config);
    assert_eq!((seen.attempts[1], seen.delivered[1], seen.drops[1]), (3, 1, 1));
    // Each of the three was acknowledged.
    assert_eq!(seen.starts(0).len(), 3);
    let counts = seen.counts.unwrap();
    assert_eq!((counts.delivered, counts.dropped_by_mac, counts.unacknowledged), (1, 0, 1));
}

#[test]
fn an_rts_or_cts_that_is_lost_alone_is_lost_to_noise() {
    let lossy = |params| heard_at(-40.0, 1, fixed(params));
    let (up, down) = (fixed::Params { up: loss(1.0), ..none() }, fixed::Params { down: loss(1.0), ..none() });
    // A signal that is too weak to be noticed.
    let channel = Channel::Matrix(Matrix::new(2, Dbm(-82.0), |_, _| Dbm(-90.0)));
    for config in [lossy(up), lossy(down), MediumConfig { channel, ..config_of_11b(1) }] {
        let mut config = with_rts(config, Bytes(0));
        config.nodes[1].retry_limit = Some(0);
        assert_eq!(one_packet(config).outcomes(), [(1, Outcome::Noise)]);
    }
}

#[test]
fn an_rts_that_meets_another_is_lost_to_a_collision() {
    let everybody = || Channel::Matrix(Matrix::new(3, Dbm(-82.0), |_, _| Dbm(-40.0)));
    for channel in [Channel::uniform(3), everybody()] {
        let mut config = with_rts(MediumConfig { channel, ..config_of_11b(2) }, Bytes(0));
        config.nodes.iter_mut().for_each(|node| node.retry_limit = Some(0));
        let arrivals: Arrivals = [1, 2].map(|node| (Time::from_nanos(10_000), NodeId(node))).to_vec();
        let seen = run(config, &[], seconds(1), &arrivals);
        assert_eq!(seen.outcomes(), [(1, Outcome::Collision), (2, Outcome::Collision)]);
    }
}

#[test]
fn frame_spoiled_only_with_an_overlap_is_lost_to_a_collision() {
    // One signal is 4 dB above the other: enough for this threshold, too little for 11 Mbit/s.
    let power = |tx: NodeId, _| Dbm(if tx.0 == 1 { -50.0 } else { -54.0 });
    let channel = Channel::Matrix(Matrix::new(3, Dbm(-82.0), power));
    let model = ErrorModelKind::Yans(yans::Params {});
    let capture = Switch::On(Capture { threshold: Db(3.0), late: LateCapture::Off });
    let mut config = MediumConfig { channel, error_model: model.build(1), capture, ..config_of_11b(2) };
    config.nodes.iter_mut().for_each(|node| node.retry_limit = Some(0));
    let arrivals: Arrivals = [1, 2].map(|node| (Time::from_nanos(10_000), NodeId(node))).to_vec();
    assert_eq!(run(config, &[], seconds(1), &arrivals).outcomes(), [(1, Outcome::Collision), (2, Outcome::Collision)]);
}

fn config_of_11b(stations: usize) -> MediumConfig {
    config(phy("802.11b", &[1]), stations)
}

#[test]
fn models_of_bit_errors_lose_everything_at_low_snr_and_nothing_at_high() {
    for model in [ErrorModelKind::Nist(nist::Params {}), ErrorModelKind::Yans(yans::Params {})] {
        let weak = lone(heard_at(-105.0, 1, model.clone()), Some(7));
        assert_eq!(weak.delivered[1], 0);
        assert!(weak.drops[1] > 0 && weak.collided[1] == 0);
        let strong = lone(heard_at(-70.0, 1, model), Some(7));
        assert!(strong.delivered[1] > 9_000 && strong.noisy[1] == 0);
    }
}

#[test]
fn a_link_that_is_bad_for_a_third_of_the_time_loses_frames_in_bursts() {
    let params = gilbert_elliott::Params { bad_duration: Duration::from_millis(500), ..Default::default() };
    let seen = lone(heard_at(-40.0, 1, ErrorModelKind::GilbertElliott(params)), Some(0));
    // Each direction is bad for 0.5 s in every 1.5 s, independently: 4/9 of exchanges pass. There are only some 13
    // spells.
    let passed = 1.0 - seen.noisy[1] as f64 / seen.attempts[1] as f64;
    assert!((0.2..0.75).contains(&passed), "{passed}");
}

#[derive(Default)]
struct Log {
    asked: Vec<u32>,
    told: Vec<(ModeId, bool)>,
}

/// Chooses 11 Mbit/s once and then 1 Mbit/s twice, and records all calls.
struct Noting(Arc<Mutex<Log>>);

const FAST: ModeId = ModeId(3);
const SLOW: ModeId = ModeId(0);

impl RateControl for Noting {
    fn rates_for(&mut self, frame: &FrameInfo) -> RateChain {
        self.0.lock().expect("one thread").asked.push(frame.retry);
        RateChain::single(FAST, 1).then(SLOW, 2)
    }
    fn on_tx_status(&mut self, status: &TxStatus) {
        self.0.lock().expect("one thread").told.push((status.mode, status.success));
    }
}

fn noted(mut config: MediumConfig) -> (Seen, Log) {
    let log = Arc::new(Mutex::new(Log::default()));
    config.rate_controls[0] = Box::new(Noting(log.clone()));
    let seen = one_packet(config);
    let log = std::mem::take(&mut *log.lock().expect("one thread"));
    (seen, log)
}

#[test]
fn rate_control_learns_every_attempt_once_and_its_chain_is_followed() {
    let all = fixed::Params { data: loss(1.0), ..none() };
    let mut config = heard_at(-40.0, 1, fixed(all));
    config.nodes[1].retry_limit = Some(4);
    let (seen, log) = noted(config);
    let lost = [FAST, SLOW, SLOW, FAST, SLOW].map(|mode| (mode, false));
    assert_eq!((seen.attempts[1], log.told.as_slice()), (5, lost.as_slice()));
    // Called before the first attempt, and when the chain was used up.
    assert_eq!(log.asked, [0, 3]);
    let (_, log) = noted(config_of_11b(1));
    assert_eq!(log.told, [(FAST, true)]);
}

#[test]
fn rate_control_never_hears_of_a_lost_rts_or_cts() {
    let control = fixed::Params { control: loss(1.0), ..none() };
    let mut config = heard_at(-40.0, 1, fixed(control));
    (config.bss[0].rts_threshold, config.nodes[1].retry_limit) = (Some(Bytes(0)), Some(4));
    let (seen, log) = noted(config);
    assert_eq!((seen.noisy[1], seen.drops[1]), (5, 1));
    assert_eq!(log.told, []);
}

#[test]
fn beacons_keep_their_period_and_leave_the_rest_to_data() {
    // 120 bytes at 1 Mbit/s: 192 + 960 us, every 102.4 ms.
    let interval = Duration::from_micros(102_400);
    let never = vec![(Time::from_nanos(999_000_000), NodeId(1))];
    let seen = run(with_beacons(config_of_11b(1), interval), &[], seconds(1), &never);
    let beacons: Vec<(u64, u64, u32)> = (1..=9).map(|k| (k * 102_400_000, k * 102_400_000 + 1_152_000, 0)).collect();
    assert_eq!(seen.ppdus()[..9], beacons);
    let plain = run(config_of_11b(1), &[1], seconds(20), &Vec::new());
    let busy = run(with_beacons(config_of_11b(1), interval), &[1], seconds(20), &Vec::new());
    // Beacons take 1152 + 50 us and a little of 102400: 1.2 %, and collisions with data cost about as much again.
    let share = busy.delivered[1] as f64 / plain.delivered[1] as f64;
    assert!((0.97..0.99).contains(&share), "{share}");
    assert_eq!((busy.attempts[0], busy.noisy[1]), (0, 0));
}

#[test]
fn rate_control_does_not_hear_of_beacons() {
    let (_, log) = noted(with_beacons(config_of_11b(1), Duration::from_micros(102_400)));
    assert_eq!(log.told.len(), 1);
}

/// A crowded cell with everything: hidden nodes, noise, RTS, beacons, an AP that sends.
fn crowded() -> (MediumConfig, Arrivals) {
    let hears = |tx: NodeId, rx: NodeId| tx.0 == 0 || rx.0 == 0 || !(tx.0 + rx.0).is_multiple_of(3);
    let power = |tx, rx| Dbm(if hears(tx, rx) { -60.0 } else { -200.0 });
    let channel = Channel::Matrix(Matrix::new(6, Dbm(-82.0), power));
    let model = fixed(fixed::Params { frame_error_rate: loss(0.1), ..none() });
    let config = MediumConfig { channel, error_model: model.build(1), ..config_of_11b(5) };
    let config = with_beacons(with_rts(config, Bytes(1000)), Duration::from_micros(102_400));
    let arrivals = (0..3000).map(|k| (Time::from_nanos(k * 3_000_017), NodeId((k % 6) as u32))).collect();
    (config, arrivals)
}

#[test]
fn records_add_up() {
    for shared in [false, true] {
        let (config, arrivals) = crowded();
        let plain = config_of_11b(5);
        let seen = run(if shared { plain } else { config }, &[], seconds(10), &arrivals);
        let (mut airtime, mut integral, mut count, mut since) = (0, 0, 0, Time::ZERO);
        let mut contenders = 0;
        for &(at, ref record) in &seen.records {
            match *record {
                Record::Airtime { duration, .. } => airtime += duration.as_nanos(),
                Record::OnAir { count: now, .. } => {
                    assert_eq!(u32::abs_diff(now, count), 1, "PPDUs come and go one by one");
                    integral += u64::from(count) * at.since(since).as_nanos();
                    (count, since) = (now, at);
                }
                Record::Contenders { count: now } => {
                    assert!(u32::abs_diff(now, contenders) == 1 && now <= 6);
                    contenders = now;
                }
                _ => {}
            }
        }
        assert_eq!((count, airtime), (0, integral), "time on the air is that of the PPDUs");
        let counts = seen.counts.unwrap();
        let outcomes = seen.outcomes();
        let successes = outcomes.iter().filter(|o| o.1 == Outcome::Success).count() as u64;
        let lost: u64 = seen.collided.iter().chain(&seen.noisy).sum();
        assert_eq!(seen.attempts.iter().sum::<u64>(), successes + lost);
        // Delivered frames were acknowledged, given up afterwards, or are being retransmitted.
        assert!((0..=6).contains(&(counts.delivered - successes - counts.unacknowledged)));
        assert_eq!(seen.drops.iter().sum::<u64>(), counts.dropped_by_mac + counts.unacknowledged);
        assert_eq!(seen.delivered.iter().sum::<u64>(), counts.delivered);
        assert!(shared || seen.noisy.iter().sum::<u64>() > 100);
        assert!(counts.delivered > 1000);
    }
}

#[test]
fn the_rate_of_an_attempt_is_that_of_its_data() {
    let (seen, _) = noted(config_of_11b(1));
    let rates: Vec<DataRate> = seen
        .records
        .iter()
        .filter_map(|r| match r.1 {
            Record::Attempt { rate, .. } => Some(rate),
            _ => None,
        })
        .collect();
    assert_eq!(rates, [DataRate::from_bps(11_000_000)]);
}
