//! A-MPDUs that a driver prepares: their contents, the wait that they add, and the time that a late completion costs.
//!
//! 802.11n at 65 Mbit/s, A-MPDUs of up to eight packets of 1500 B. By hand: 8 * 1544 - 2 bytes, 22 bits of service and
//! tail, 260 bits a symbol: 381 symbols of 4 us, and 36 us of preambles; AIFS 43 us, mean backoff 67.5 us, SIFS 16 us,
//! BlockAck 32 us.

use crate::ampdu::{Question, aggregating, ampdus, is_data, packets};
use crate::cell::{Load, MediumConfig, Seen, run_load};
use lasthop_observe::NodeId;
use lasthop_units::Duration;
use lasthop_wifi::{ChannelAccess, Driver};

const PPDU_US: f64 = 36.0 + 381.0 * 4.0;
const ANSWER_US: f64 = 16.0 + 32.0;
/// Time from one A-MPDU to the next, if the sender always has another.
const CYCLE_US: f64 = 43.0 + 67.5 + PPDU_US + ANSWER_US;

fn with_driver(mut config: MediumConfig, aggregates: u32, completion_us: u64) -> MediumConfig {
    config.nodes[1].driver =
        Some(Driver { aggregates: Some(aggregates), completion: Duration::from_micros(completion_us), batched: false });
    config
}

/// Twenty seconds of a station that always has packets.
fn saturated(config: MediumConfig) -> Seen {
    let load = Load { saturated: vec![(NodeId(1), 0)], packet_bytes: 1500, ..Load::default() };
    run_load(config, &load, Duration::from_secs(20))
}

fn mean_delay_us(seen: &Seen) -> f64 {
    let delays = &seen.delays[1];
    delays.iter().map(|delay| delay.as_secs_f64() * 1e6).sum::<f64>() / delays.len() as f64
}

/// Mean time of an A-MPDU.
fn cycle_us(seen: &Seen) -> f64 {
    20e6 * 8.0 / seen.delivered[1] as f64
}

fn is_near(value: f64, expected: f64) -> bool {
    (value / expected - 1.0).abs() < 0.003
}

#[test]
fn each_prepared_a_mpdu_adds_the_time_of_one_to_the_wait() {
    let without = saturated(aggregating(8, |_| true));
    assert!(is_near(mean_delay_us(&without), PPDU_US), "{}", mean_delay_us(&without));
    for aggregates in [1, 2, 3, 4] {
        let seen = saturated(with_driver(aggregating(8, |_| true), aggregates, 0));
        // It is built when the BlockAck of an earlier one has ended, and arrives before its own.
        let expected = f64::from(aggregates) * CYCLE_US - ANSWER_US;
        assert!(is_near(mean_delay_us(&seen), expected), "{aggregates}: {} for {expected}", mean_delay_us(&seen));
        assert!(is_near(cycle_us(&seen), CYCLE_US), "{aggregates}: {}", cycle_us(&seen));
    }
    assert!(is_near(cycle_us(&without), CYCLE_US), "{}", cycle_us(&without));
}

#[test]
fn a_late_completion_costs_time_unless_another_a_mpdu_is_ready() {
    // With one, the air is silent for the 500 us, in which the backoff ends; the next A-MPDU is then sent at once.
    let one = saturated(with_driver(aggregating(8, |_| true), 1, 500));
    assert!(is_near(cycle_us(&one), 500.0 + PPDU_US + ANSWER_US), "{}", cycle_us(&one));
    let two = saturated(with_driver(aggregating(8, |_| true), 2, 500));
    assert!(is_near(cycle_us(&two), CYCLE_US), "{}", cycle_us(&two));
    // With two, each A-MPDU waits for the completion of the one before the last: two in a completion and two PPDUs.
    let late = saturated(with_driver(aggregating(8, |_| true), 2, 10_000));
    let expected = (10_000.0 + PPDU_US + ANSWER_US) / 2.0;
    assert!(is_near(cycle_us(&late), expected), "{} for {expected}", cycle_us(&late));
}

#[test]
fn packets_wait_in_the_hardware_in_the_a_mpdus_in_which_they_were_built() {
    // The first two packets fill the hardware, each alone; the rest is built as A-MPDUs are completed.
    let seen = packets(with_driver(aggregating(4, |_| true), 2, 0), 10);
    assert_eq!(ampdus(&seen), [(1, 1), (1, 1), (4, 4), (4, 4)]);
}

#[test]
fn lost_mpdus_go_first_into_the_next_a_mpdu_that_is_built() {
    // Packet 0 is lost. Packet 1 is ready already, and goes next; 0 is in the third A-MPDU, with 2, 3 and 4.
    let lose_first = |q: Question| !is_data(q) || q.ppdu != 0;
    let seen = packets(with_driver(aggregating(4, lose_first), 2, 0), 10);
    assert_eq!(ampdus(&seen), [(1, 0), (1, 1), (4, 4), (4, 4), (1, 1)]);
    assert_eq!((seen.delivered[1], seen.drops[1]), (10, 0));
}

#[test]
fn what_is_lost_for_good_is_announced_and_the_rest_arrives() {
    // Every attempt at the first MPDU of an A-MPDU is lost for a while, so packets are given up between prepared A-MPDUs.
    for (aggregates, completion_us) in [(1, 0), (2, 0), (2, 300), (4, 2_000)] {
        let lose = |q: Question| !is_data(q) || q.place > 0 || q.ppdu % 50 > 30;
        let seen = packets(with_driver(aggregating(4, lose), aggregates, completion_us), 400);
        assert_eq!(seen.delivered[1] + seen.drops[1], 400, "{aggregates}, {completion_us} us");
        assert!(seen.drops[1] > 0);
    }
}

/// Both ends always have packets, so A-MPDUs collide, and a twelfth of the MPDUs and of the BlockAcks is lost to noise.
fn busy(aggregates: u32, completion_us: u64, txop_limit_us: u64, saturated: &[u32]) -> Seen {
    let arrives = |q: Question| !(5 * q.ppdu + 7 * q.place).is_multiple_of(12);
    let mut config = with_driver(aggregating(8, arrives), aggregates, completion_us);
    config.nodes[0].driver = config.nodes[1].driver;
    for node in &mut config.nodes {
        node.retry_limit = None;
        let ChannelAccess::Edca(categories) = &mut node.access else { continue };
        categories.iter_mut().for_each(|of| of.txop_limit = Duration::from_micros(txop_limit_us));
    }
    let saturated = saturated.iter().map(|node| (NodeId(*node), 0)).collect();
    run_load(
        config,
        &Load { saturated, packet_bytes: 1500, keep_records: true, ..Load::default() },
        Duration::from_secs(3),
    )
}

#[test]
fn packets_arrive_once_and_in_order_whatever_is_lost() {
    for (aggregates, completion_us) in [(1, 0), (2, 0), (2, 300), (3, 1_500), (8, 4_000)] {
        for txop_limit_us in [0, 2_528, 6_016] {
            // Also asserts that no packet is lost between the queue and the far end.
            let both = busy(aggregates, completion_us, txop_limit_us, &[0, 1]);
            assert!(both.delivered.iter().all(|packets| *packets > 1_000), "{:?}", both.delivered);
            let one = busy(aggregates, completion_us, txop_limit_us, &[1]);
            let numbers: Vec<u32> = one.arrived.iter().map(|(_, number)| *number).collect();
            let expected: Vec<u32> = (0..numbers.len() as u32).collect();
            assert!(numbers == expected && numbers.len() > 5_000, "{aggregates}, {completion_us}, {txop_limit_us}");
        }
    }
}
