//! Timelines of the DCF, to the nanosecond: sending times, and their consequences.
//!
//! By default 802.11b with the long preamble and a basic rate of 1 Mbit/s, 1500-byte packets at 11 Mbit/s: data lasts
//! 192 + 1536*8/11 us, an ACK or CTS 192 + 14*8, an RTS 192 + 20*8 us.

use crate::cell::{self, Arrivals, MediumConfig, Seen, config, phy, run};
use lasthop_engine::Stream;
use lasthop_observe::NodeId;
use lasthop_registry::Switch;
use lasthop_units::{Bytes, Db, Dbm, Duration, Time};
use lasthop_wifi::{Access, AfterLoss, Capture, Channel, ChannelAccess, LateCapture, Matrix, Protection};

const DATA: u64 = 1_309_091;
const ACK: u64 = 304_000;
const RTS: u64 = 352_000;
const CTS: u64 = ACK;
const SLOT: u64 = 20_000;
const SIFS: u64 = 10_000;
const DIFS: u64 = 50_000;
/// A data frame and its ACK.
const EXCHANGE: u64 = DATA + SIFS + ACK;

fn dot11b(stations: usize) -> MediumConfig {
    config(phy("802.11b", &[1]), stations)
}

/// Runs one packet at each of these nanoseconds from these nodes; returns the results of one second.
fn timeline(config: MediumConfig, packets: &[(u64, u32)]) -> Seen {
    let mut arrivals: Arrivals = packets.iter().map(|&(ns, node)| (Time::from_nanos(ns), NodeId(node))).collect();
    arrivals.sort();
    run(config, &[], Duration::from_secs(1), &arrivals)
}

/// The backoffs that a node draws under seed 1 from windows in this order.
fn draws(node: u32, windows: &[u32]) -> Vec<u64> {
    let mut stream = Stream::named(1, "backoff", &format!("node{node}"));
    windows.iter().map(|cw| u64::from(stream.up_to(*cw))).collect()
}

/// The two nodes, the one with the larger first draw first.
fn by_first_draw() -> (u32, u32) {
    if draws(1, &[31]) > draws(2, &[31]) { (1, 2) } else { (2, 1) }
}

/// Powers in dBm of one node's signal at another; pairs that are not named are heard at -50 dBm.
fn powers(stations: usize, named: &[(u32, u32, f64)]) -> Channel {
    let power = |tx: NodeId, rx: NodeId| named.iter().find(|n| (n.0, n.1) == (tx.0, rx.0)).map_or(-50.0, |n| n.2);
    Channel::Matrix(Matrix::new(stations + 1, Dbm(-82.0), |tx, rx| Dbm(power(tx, rx))))
}

/// A channel on which two nodes are 1 dB too weak to notice each other.
fn hidden(stations: usize, a: u32, b: u32) -> Channel {
    powers(stations, &[(a, b, -83.0), (b, a, -83.0)])
}

#[test]
fn a_lone_frame_on_an_idle_medium_is_sent_at_once_and_answered_after_sifs() {
    let seen = timeline(dot11b(1), &[(1_000_000, 1)]);
    let data_ends = 1_000_000 + DATA;
    assert_eq!(seen.ppdus(), [(1_000_000, data_ends, 1), (data_ends + SIFS, data_ends + SIFS + ACK, 0)]);
}

#[test]
fn an_ack_has_the_highest_basic_rate_not_above_that_of_the_data() {
    // 192 + 14*8/r us, rounded up to nanoseconds.
    for (basic, ack) in [(&[1][..], 304_000), (&[1, 2], 248_000), (&[1, 2, 11], 202_182)] {
        let seen = timeline(config(phy("802.11b", basic), 1), &[(1_000_000, 1)]);
        let (start, end, _) = seen.ppdus()[1];
        assert_eq!(end - start, ack);
    }
}

#[test]
fn a_frame_that_arrives_within_difs_is_sent_at_its_end() {
    assert_eq!(timeline(dot11b(1), &[(30_000, 1)]).starts(1), [DIFS]);
    assert_eq!(timeline(dot11b(1), &[(DIFS, 1)]).starts(1), [DIFS]);
}

#[test]
fn a_frame_that_arrives_while_the_medium_is_busy_waits_for_a_backoff() {
    let backoff = draws(2, &[31])[0];
    assert!(backoff > 0);
    let seen = timeline(dot11b(2), &[(1_000_000, 1), (1_500_000, 2)]);
    assert_eq!(seen.starts(2), [1_000_000 + EXCHANGE + DIFS + backoff * SLOT]);
}

#[test]
fn a_frame_that_arrives_during_the_post_backoff_waits_for_its_end() {
    let (late, _) = by_first_draw();
    let over = 1_000_000 + EXCHANGE + DIFS + draws(late, &[31])[0] * SLOT;
    let at = |second: u64| timeline(dot11b(2), &[(1_000_000, late), (second, late)]).starts(late)[1];
    assert_eq!(at(1_000_000 + EXCHANGE + DIFS + 5_000), over);
    assert_eq!(at(over + 7_000), over + 7_000);
}

#[test]
fn a_frame_that_waits_for_difs_draws_a_backoff_if_it_is_interrupted() {
    // The AP, with PIFS, sends at 30 us; without the interruption station 1 would have sent at 50 us.
    let mut config = dot11b(1);
    config.nodes[0].access = ChannelAccess::Dcf(Access::Pifs);
    let backoff = draws(1, &[31])[0];
    let seen = timeline(config, &[(5_000, 0), (6_000, 1)]);
    assert_eq!(seen.starts(0)[0], 30_000);
    assert_eq!(seen.starts(1)[1], 30_000 + EXCHANGE + DIFS + backoff * SLOT);
}

#[test]
fn the_access_point_with_pifs_sends_one_slot_before_difs() {
    let mut config = dot11b(1);
    config.nodes[0].access = ChannelAccess::Dcf(Access::Pifs);
    assert_eq!(timeline(config, &[(10_000, 0)]).starts(0), [SIFS + SLOT]);
    assert_eq!(timeline(dot11b(1), &[(10_000, 0)]).starts(0), [SIFS + 2 * SLOT]);
}

#[test]
fn a_half_duplex_pair_in_one_slot_times_out_and_neither_waits_eifs() {
    // The ACK timeout of 10 + 20 + 192 us ends before the boundary at 50 + 9*20 us; EIFS, 364, would mean 50 + 16*20.
    // The first draw of each node applied if its DIFS was interrupted.
    for channel in [Channel::uniform(2), powers(1, &[])] {
        let seen = timeline(MediumConfig { channel, ..dot11b(1) }, &[(10_000, 0), (20_000, 1)]);
        assert_eq!(seen.ppdus()[..2], [(DIFS, DIFS + DATA, 0), (DIFS, DIFS + DATA, 1)]);
        let again = draws(0, &[31, 63])[1].min(draws(1, &[31, 63])[1]);
        assert_eq!(seen.ppdus()[2].0, DIFS + DATA + DIFS + 9 * SLOT + again * SLOT);
    }
}

#[test]
fn bystanders_of_a_collision_wait_eifs() {
    // 10 + 304 + 50 us: the boundary after that is at 50 + 16*20 us.
    for channel in [Channel::uniform(4), powers(3, &[])] {
        let mut config = MediumConfig { channel, ..dot11b(3) };
        config.nodes.iter_mut().for_each(|node| node.retry_limit = Some(0));
        let seen = timeline(config, &[(10_000, 1), (20_000, 2), (500_000, 3)]);
        assert_eq!(seen.starts(3)[0], DIFS + DATA + DIFS + 16 * SLOT + draws(3, &[31])[0] * SLOT);
    }
}

#[test]
fn a_station_that_has_given_up_its_frame_still_waits_for_no_more_than_its_ack_timeout() {
    for channel in [Channel::uniform(3), powers(2, &[])] {
        let mut config = MediumConfig { channel, ..dot11b(2) };
        config.nodes.iter_mut().for_each(|node| node.retry_limit = Some(0));
        let (late, early) = if draws(1, &[31, 31])[1] > draws(2, &[31, 31])[1] { (1, 2) } else { (2, 1) };
        // The second frame of the late node comes 100 us after the collision.
        let second = DIFS + DATA + 100_000;
        let seen = timeline(config, &[(10_000, early), (20_000, late), (second, late)]);
        let post_backoff = draws(late, &[31, 31])[1];
        assert_eq!(seen.starts(late)[1], DIFS + DATA + DIFS + 9 * SLOT + post_backoff * SLOT);
    }
}

#[test]
fn without_eifs_all_wait_difs() {
    let config = MediumConfig { after_loss: AfterLoss::DifsForAll, ..dot11b(3) };
    let seen = timeline(config, &[(10_000, 1), (20_000, 2), (500_000, 3)]);
    let first = draws(1, &[31, 63])[1].min(draws(2, &[31, 63])[1]).min(draws(3, &[31])[0]);
    assert_eq!(seen.ppdus()[2].0, DIFS + DATA + DIFS + first * SLOT);
}

#[test]
fn as_in_ns3_a_collider_waits_difs_after_its_ack_timeout() {
    // ns-3.44 with CWmin = CWmax = 0 and no answer: 272.9 us from the end of a frame to the start of the next.
    let config = MediumConfig { after_loss: AfterLoss::NoEifs, ..dot11b(2) };
    let seen = timeline(config, &[(10_000, 1), (20_000, 2)]);
    let first = draws(1, &[31, 63])[1].min(draws(2, &[31, 63])[1]);
    // ACK timeout and DIFS, 222 + 50 us, end before the boundary at 50 + 12 * 20 us.
    assert_eq!(seen.ppdus()[2].0, DIFS + DATA + DIFS + 12 * SLOT + first * SLOT);
}

/// Share of runs in which two of `n` nodes that make a new draw, during the frame of another, collide.
fn same_slot(n: u32) -> f64 {
    let runs = 4_000;
    let meets = |seed: u64| {
        let mut config = MediumConfig { seed, ..dot11b(n as usize) };
        config.nodes.iter_mut().for_each(|node| node.retry_limit = Some(0));
        // The AP, half duplex like any other, is one of the n.
        let mut packets = vec![(1_000_000, n)];
        packets.extend((0..n).map(|node| (1_500_000, node)));
        timeline(config, &packets).collided.iter().sum::<u64>() > 0
    };
    (0..runs).filter(|seed| meets(*seed)).count() as f64 / runs as f64
}

#[test]
fn fresh_draws_from_32_slots_meet_as_often_as_gopal2005_computes() {
    // Eq. (1): 1 - 31/32 and 1 - 31*30*29/32^3. Four deviations of 4,000 runs are 0.011 and 0.024.
    assert!((same_slot(2) - 0.03125).abs() < 0.011, "{}", same_slot(2));
    assert!((same_slot(4) - 0.17694).abs() < 0.024, "{}", same_slot(4));
}

#[test]
fn a_retry_limit_of_zero_is_one_attempt() {
    let mut config = dot11b(2);
    config.nodes.iter_mut().for_each(|node| node.retry_limit = Some(0));
    let seen = timeline(config, &[(10_000, 1), (20_000, 2)]);
    assert_eq!((seen.attempts, seen.drops), (vec![0, 1, 1], vec![0, 1, 1]));
}

#[test]
fn the_window_doubles_up_to_its_bound_and_is_reset_after_the_last_attempt() {
    // The AP never hears station 1: 1 + 7 attempts, then the next frame.
    let channel = powers(1, &[(1, 0, -200.0)]);
    let seen = timeline(MediumConfig { channel, ..dot11b(1) }, &[(1_000_000, 1), (1_000_001, 1)]);
    let windows = [63, 127, 255, 511, 1023, 1023, 1023, 31, 63];
    let backoffs = draws(1, &windows);
    let starts = seen.starts(1);
    let expected = backoffs.iter().map(|backoff| DATA + DIFS + 9 * SLOT + backoff * SLOT);
    assert!(starts.windows(2).map(|s| s[1] - s[0]).zip(expected).all(|(gap, expected)| gap == expected));
    assert_eq!(starts.len(), 16);
}

#[test]
fn rts_precedes_frames_above_the_threshold_only() {
    let starts = |threshold| {
        let rts_threshold = Some(Bytes(threshold));
        let mut config = dot11b(1);
        config.bss[0].rts_threshold = rts_threshold;
        timeline(config, &[(1_000_000, 1)]).ppdus()
    };
    // The MPDU has 1536 bytes.
    assert_eq!(starts(1536).len(), 2);
    let lengths: Vec<u64> = starts(1535).iter().map(|p| p.1 - p.0).collect();
    assert_eq!(lengths, [RTS, CTS, DATA, ACK]);
    assert!(starts(1535).windows(2).all(|p| p[1].0 - p[0].1 == SIFS));
}

fn with_rts(stations: usize, channel: Channel) -> MediumConfig {
    cell::with_rts(MediumConfig { channel, ..dot11b(stations) }, Bytes(0))
}

#[test]
fn node_that_hears_only_the_rts_or_the_cts_keeps_silent_until_the_end() {
    let end = 1_000_000 + RTS + SIFS + CTS + SIFS + EXCHANGE;
    let backoff = draws(2, &[31])[0];
    // Station 2 does not hear the AP, or does not hear station 1.
    for channel in [powers(2, &[(0, 2, -200.0)]), hidden(2, 1, 2)] {
        let seen = timeline(with_rts(2, channel), &[(1_000_000, 1), (2_000_000, 2)]);
        assert_eq!(seen.starts(2)[0], end + DIFS + backoff * SLOT);
    }
}

#[test]
fn a_nav_that_no_cts_follows_is_taken_back() {
    // The AP does not hear station 1, station 2 does: 2*10 + 304 + 192 + 2*20 us after the RTS.
    let channel = powers(2, &[(1, 0, -200.0)]);
    let mut config = with_rts(2, channel);
    config.nodes[1].retry_limit = Some(0);
    let seen = timeline(config, &[(1_000_000, 1), (1_400_000, 2)]);
    assert_eq!(seen.starts(2)[0], 1_000_000 + RTS + 556_000 + DIFS + draws(2, &[31])[0] * SLOT);
}

#[test]
fn an_ofdm_frame_is_protected_at_a_dsss_rate() {
    // CTS 192 + 14*8/11 us, RTS 192 + 20*8/11; data 20 + 4*57 + 6 us at 54 Mbit/s, its ACK at the highest
    // OFDM rate that is mandatory, 24 Mbit/s: 20 + 4*2 + 6.
    let (cts, rts, data, ack) = (202_182, 206_546, 254_000, 34_000);
    let cases = [
        (Protection::None, vec![data, ack]),
        (Protection::CtsToSelf, vec![cts, data, ack]),
        (Protection::RtsCts, vec![rts, cts, data, ack]),
    ];
    for (protection, expected) in cases {
        let mut config = config(phy("802.11g", &[1, 2, 11]), 1);
        config.bss[0].protection = protection;
        let seen = timeline(config, &[(1_000_000, 1)]);
        let lengths: Vec<u64> = seen.ppdus().iter().map(|p| p.1 - p.0).collect();
        assert_eq!(lengths, expected, "{protection:?}");
    }
}

#[test]
fn nodes_below_the_sense_threshold_do_not_defer_to_one_another() {
    for (power, second) in [(-83.0, 1_500_000), (-81.0, 1_000_000 + EXCHANGE + DIFS + draws(2, &[31])[0] * SLOT)] {
        let channel = powers(2, &[(1, 2, power), (2, 1, power)]);
        let seen = timeline(MediumConfig { channel, ..dot11b(2) }, &[(1_000_000, 1), (1_500_000, 2)]);
        assert_eq!(seen.starts(2)[0], second);
    }
}

/// Runs frames from station 1 at `first` and station 2 at `second`, which are hidden from each other; the AP hears
/// station 1 this many dB above station 2. Returns the successes at the first attempt.
fn captured(above: f64, first: u64, second: u64) -> Vec<u64> {
    let channel = powers(2, &[(1, 2, -200.0), (2, 1, -200.0), (1, 0, -50.0 + above)]);
    let mut config = MediumConfig {
        channel,
        capture: Switch::On(Capture { threshold: Db(10.0), late: LateCapture::Off }),
        ..dot11b(2)
    };
    config.nodes.iter_mut().for_each(|node| node.retry_limit = Some(0));
    timeline(config, &[(first, 1), (second, 2)]).delivered
}

#[test]
fn the_stronger_of_two_frames_is_captured_from_the_threshold_on() {
    assert_eq!(captured(10.1, 1_000_000, 1_000_000), [0, 1, 0]);
    assert_eq!(captured(9.9, 1_000_000, 1_000_000), [0, 0, 0]);
}

#[test]
fn a_receiver_stays_with_the_frame_that_came_first() {
    assert_eq!(captured(20.0, 1_000_000, 1_500_000), [0, 1, 0]);
    assert_eq!(captured(20.0, 1_500_000, 1_000_000), [0, 0, 0]);
}
