//! Hardware that holds packets and makes A-MPDUs when it wins the medium: throughput by its limit and its completion time,
//! against times by hand and a small Monte-Carlo; the same for single frames.
//!
//! 802.11n as in `hardware`. By hand: n * 1544 - 2 bytes, 22 bits of service and tail, 260 bits a symbol of 4 us.

use crate::ampdu::{Question, aggregating, ampdus, is_data, packets};
use crate::cell::{self, Load, MediumConfig, run_load};
use lasthop_engine::Stream;
use lasthop_link::queue_discipline::fifo;
use lasthop_link::{Below, Held, QueueDisciplineKind, Serving};
use lasthop_observe::{NodeId, Record, Step};
use lasthop_registry::Amount;
use lasthop_units::{Bytes, DataRate, Duration, Time};
use lasthop_wifi::{Driver, Queues};

const ANSWER_US: f64 = 16.0 + 32.0;

/// Time of a PPDU with this many packets of 1500 B.
fn ppdu_us(mpdus: u32) -> f64 {
    let bits = f64::from((mpdus * 1544 - 2) * 8 + 22);
    36.0 + (bits / 260.0).ceil() * 4.0
}

/// Unlimited FIFOs above hardware.
fn hardware_queues(packets: u32, serving: Serving) -> Queues<NodeId> {
    let fifo = QueueDisciplineKind::Fifo(fifo::Params::limited(Amount::Unlimited));
    let held = Some(Held { packets, serving });
    Box::new(move |_, random| fifo.build_above(Below { held, ..Below::IDEAL }, random))
}

fn with_hardware(
    mut config: MediumConfig,
    (packets, serving): (u32, Serving),
    completion_us: u64,
    batched: bool,
) -> MediumConfig {
    config.queues = hardware_queues(packets, serving);
    let completion = Duration::from_micros(completion_us);
    for node in &mut config.nodes {
        node.driver = Some(Driver { aggregates: None, completion, batched });
    }
    config
}

/// Packets a second of a station that always has some, for 20 s.
fn rate(config: MediumConfig) -> f64 {
    let load = Load { saturated: vec![(NodeId(1), 0)], packet_bytes: 1500, ..Load::default() };
    run_load(config, &load, Duration::from_secs(20)).delivered[1] as f64 / 20.0
}

fn firmware_rate(packets: u32, completion_us: u64, batched: bool) -> f64 {
    rate(with_hardware(aggregating(8, |_| true), (packets, Serving::Turns), completion_us, batched))
}

fn is_near(value: f64, expected: f64) -> bool {
    (value / expected - 1.0).abs() < 0.003
}

/// Packets a second, if each turn of `turn_us` sends `mpdus`.
fn expected(mpdus: u32, turn_us: f64) -> f64 {
    f64::from(mpdus) * 1e6 / turn_us
}

/// AIFS and mean backoff.
const CONTENTION_US: f64 = 43.0 + 67.5;

#[test]
fn an_a_mpdu_has_no_more_packets_than_the_hardware() {
    for (held, mpdus) in [(1, 1), (4, 4), (8, 8), (64, 8)] {
        let by_hand = expected(mpdus, CONTENTION_US + ppdu_us(mpdus) + ANSWER_US);
        let found = firmware_rate(held, 0, false);
        assert!(is_near(found, by_hand), "{held}: {found} for {by_hand}");
    }
}

#[test]
fn a_late_completion_costs_time_unless_other_packets_are_held() {
    let exchange = ppdu_us(8) + ANSWER_US;
    // The backoff ends before the completion, after which the next A-MPDU is sent at once.
    let one = firmware_rate(8, 500, false);
    assert!(is_near(one, expected(8, 500.0 + exchange)), "{one}");
    let two = firmware_rate(16, 500, false);
    assert!(is_near(two, expected(8, CONTENTION_US + exchange)), "{two}");
    for batched in [false, true] {
        let late = firmware_rate(16, 10_000, batched);
        assert!(is_near(late, expected(16, 10_000.0 + exchange)), "{late}");
    }
}

/// Packets a second by a Monte-Carlo of the same: it knows packets held, completions and backoffs.
fn monte_carlo(held: u32, most: u32, completion_us: f64, batched: bool) -> f64 {
    let mut random = Stream::new(7, "monte carlo", 0);
    // Packets, and the time from which they may be sent again.
    let (mut free, mut back, mut now, mut sent) = (held, Vec::<(f64, u32)>::new(), 0.0, 0_u64);
    while now < 20e6 {
        let backoff_ends = now + 43.0 + 9.0 * f64::from(random.up_to(15));
        let due = |back: &[(f64, u32)]| back.iter().map(|(at, _)| *at).fold(f64::INFINITY, f64::min);
        let start = if free > 0 || due(&back) <= backoff_ends { backoff_ends } else { due(&back) };
        free += back.iter().filter(|(at, _)| *at <= start).map(|(_, packets)| packets).sum::<u32>();
        back.retain(|(at, _)| *at > start);
        let mpdus = free.min(most);
        now = start + ppdu_us(mpdus) + ANSWER_US;
        let waits = due(&back);
        let joins = batched && waits.is_finite() && waits > now;
        back.push((if joins { waits } else { now + completion_us }, mpdus));
        free -= mpdus;
        sent += u64::from(mpdus);
    }
    sent as f64 * 1e6 / now
}

#[test]
fn limits_and_completions_of_all_sizes_give_the_rates_of_a_monte_carlo() {
    for (held, completion_us) in [(3, 80), (11, 300), (11, 2_000), (20, 900), (25, 2_048), (40, 5_000)] {
        for batched in [false, true] {
            let by_hand = monte_carlo(held, 8, completion_us as f64, batched);
            let found = firmware_rate(held, completion_us, batched);
            let near = (found / by_hand - 1.0).abs() < 0.01;
            assert!(near, "{held} packets, {completion_us} us, {batched}: {found:.0} for {by_hand:.0}");
        }
    }
}

#[test]
fn an_a_mpdu_is_chosen_when_the_medium_is_won() {
    // All come while the first waits for its AIFS; the hardware makes A-MPDUs of as many as it holds.
    let config = |held| with_hardware(aggregating(4, |_| true), (held, Serving::Turns), 0, false);
    assert_eq!(ampdus(&packets(config(64), 10)), [(4, 4), (4, 4), (2, 2)]);
    assert_eq!(ampdus(&packets(config(3), 10)), [(3, 3), (3, 3), (3, 3), (1, 1)]);
    // The first A-MPDU is lost, and sent again at once: firmware knows the loss, however late the driver learns.
    let lose_first = |q: Question| !is_data(q) || q.ppdu != 0;
    let late = with_hardware(aggregating(4, lose_first), (64, Serving::Turns), 10_000, false);
    assert_eq!(ampdus(&packets(late, 10)), [(4, 0), (4, 4), (4, 4), (2, 2)]);
}

/// Times in us at which the driver learned of packets.
fn completions(batched: bool) -> Vec<u64> {
    let config = with_hardware(aggregating(4, |_| true), (64, Serving::Turns), 5_000, batched);
    let seen = packets(config, 9);
    let of = |(at, record): &(Time, Record)| match record {
        Record::Step(Step::Leaves { node: NodeId(1), .. }) => Some(at.as_nanos() / 1000),
        _ => None,
    };
    seen.records.iter().filter_map(of).collect()
}

#[test]
fn completions_come_late_one_by_one_or_in_batches() {
    let (each, batched) = (completions(false), completions(true));
    assert_eq!((each.len(), batched.len()), (9, 9));
    // A-MPDUs of 4, 4 and 1 packets; all end within 5 ms of the first.
    assert!(each[0] == each[3] && each[3] < each[4] && each[4] == each[7] && each[7] < each[8], "{each:?}");
    assert_eq!(batched, [each[0]; 9]);
    // AIFS, a PPDU of four packets of 500 B (4 * 544 - 2 B, 67 symbols), BlockAck, 5 ms.
    assert_eq!(each[0], 43 + 36 + 4 * 67 + 48 + 5_000);
}

/// Records of an AP and its stations, which all send.
fn records(config: MediumConfig) -> Vec<String> {
    let stations = config.nodes.len() - 1;
    let arrival = |index: u64| {
        let node = NodeId((index % (stations as u64 + 1)) as u32);
        (Time::ZERO + Duration::from_micros(10 + 137 * (index / 7)), node, 0)
    };
    let arrivals = (0..4_000).map(arrival).collect();
    let load = Load { arrivals, packet_bytes: 700, keep_records: true, ..Load::default() };
    run_load(config, &load, Duration::from_secs(2)).records.iter().map(|record| format!("{record:?}")).collect()
}

fn lossy() -> MediumConfig {
    aggregating(8, |q| !(5 * q.ppdu + 7 * q.place).is_multiple_of(12))
}

/// Those of the air: a MAC that asks for the turn of a station takes its next packet later, and sends the same.
fn on_air(records: &[String]) -> Vec<&String> {
    let is_of_queue = |record: &&String| ["Taken", "Queue", "FrameDelivered"].iter().any(|word| record.contains(word));
    records.iter().filter(|record| !is_of_queue(record)).collect()
}

#[test]
fn instant_hardware_without_a_limit_is_ideal() {
    let single = || {
        let mut config = lossy();
        config.bss[0].aggregation = None;
        config
    };
    let makers: [&dyn Fn() -> MediumConfig; 2] = [&lossy, &single];
    for make in makers {
        let ideal = records(make());
        assert!(ideal.len() > 10_000);
        assert!(records(with_hardware(make(), (65_536, Serving::Fifo), 0, false)) == ideal);
        for serving in [Serving::Turns, Serving::EachInTurn] {
            let same = records(with_hardware(make(), (65_536, serving), 0, false));
            let first = on_air(&same).into_iter().zip(on_air(&ideal)).find(|(one, other)| one != other);
            assert_eq!(first, None, "{serving:?}");
        }
    }
    // In the order of arrival it is ideal for several receivers as well.
    let several = || {
        let mut config = cell::config(cell::phy("802.11a", &[]), 3);
        config.queues = cell::fifos(Amount::Unlimited);
        config
    };
    assert!(records(several()) == records(with_hardware(several(), (65_536, Serving::Fifo), 0, false)));
}

#[test]
fn single_frames_are_limited_as_a_mpdus_are() {
    let phy = cell::phy("802.11a", &[]);
    let rate_54 = phy.mode_of_rate(DataRate::from_bps(54_000_000)).expect("802.11a has it");
    let us = |duration: Duration| duration.as_secs_f64() * 1e6;
    let frame = us(phy.ppdu_duration(rate_54, Bytes(1536))) + us(phy.sifs()) + us(phy.ack_duration(rate_54));
    let single = |held, completion_us| {
        let config = cell::config(cell::phy("802.11a", &[]), 1);
        rate(with_hardware(config, (held, Serving::Fifo), completion_us, false))
    };
    for (held, completion_us, turn_us, frames) in [
        (1, 0, 34.0 + 67.5 + frame, 1),
        (8, 0, 34.0 + 67.5 + frame, 1),
        (1, 500, 500.0 + frame, 1),
        (4, 500, 34.0 + 67.5 + frame, 1),
        (4, 10_000, 10_000.0 + frame, 4),
    ] {
        let (found, by_hand) = (single(held, completion_us), expected(frames, turn_us));
        assert!(is_near(found, by_hand), "{held} frames, {completion_us} us: {found} for {by_hand}");
    }
}

#[test]
fn packets_arrive_once_and_in_order_whatever_is_lost() {
    for (held, serving) in [(1, Serving::Fifo), (3, Serving::Turns), (20, Serving::EachInTurn), (200, Serving::Turns)] {
        for (completion_us, batched) in [(0, false), (300, false), (2_048, true)] {
            for amsdu in [None, Some(3_839)] {
                let mut config = with_hardware(lossy(), (held, serving), completion_us, batched);
                config.bss[0].aggregation.as_mut().expect("it makes A-MPDUs").max_amsdu = amsdu;
                config.nodes.iter_mut().for_each(|node| node.retry_limit = None);
                let saturated = vec![(NodeId(0), 0), (NodeId(1), 0)];
                let load = Load { saturated, packet_bytes: 1500, keep_records: true, ..Load::default() };
                // Also asserts that no packet is lost between the queue and the far end.
                let seen = run_load(config, &load, Duration::from_secs(1));
                assert!(seen.delivered.iter().all(|packets| *packets > 100), "{:?}", seen.delivered);
            }
        }
    }
}
