//! Timelines of EDCA, to the nanosecond: start times of categories, contents of a TXOP, internal collisions.
//!
//! 802.11a, 1500-byte packets at 54 Mbit/s in QoS data frames of 1538 bytes: data lasts 20 + 58*4 us, an Ack at
//! 24 Mbit/s 20 + 2*4 us.

use crate::cell::{Change, Load, MediumConfig, Seen, config, phy, run_load};
use lasthop_engine::Stream;
use lasthop_observe::NodeId;
use lasthop_units::{Duration, Time};
use lasthop_wifi::{AccessCategory, Channel, ChannelAccess, EdcaParameters};

const DATA: u64 = 252_000;
const ACK: u64 = 28_000;
const SLOT: u64 = 9_000;
const SIFS: u64 = 16_000;
const EXCHANGE: u64 = DATA + SIFS + ACK;
/// SIFS + aSlotTime + aRxPHYStartDelay [802.11-2020 §10.3.2.11].
const ACK_TIMEOUT: u64 = SIFS + SLOT + 20_000;
const AIFS_VO: u64 = SIFS + 2 * SLOT;
const AIFS_BE: u64 = SIFS + 3 * SLOT;
/// A TID of each category.
const VO: u8 = 6;
const VI: u8 = 5;
const BE: u8 = 0;
const BK: u8 = 1;

fn edca(stations: usize) -> MediumConfig {
    let mut config = config(phy("802.11a", &[]), stations);
    let defaults = AccessCategory::ALL.map(|c| EdcaParameters::default_of(c, 15, 1023));
    config.nodes.iter_mut().for_each(|node| node.access = ChannelAccess::Edca(defaults));
    config
}

/// Changes the parameters of a category of a node.
fn with(mut config: MediumConfig, node: usize, tid: u8, change: impl Fn(&mut EdcaParameters)) -> MediumConfig {
    let ChannelAccess::Edca(all) = &mut config.nodes[node].access else { panic!("it has EDCA") };
    change(&mut all[AccessCategory::of_tid(tid).index()]);
    config
}

/// Runs packets at these nanoseconds, from these nodes, of these TIDs; returns the results of one second.
fn timeline(config: MediumConfig, packets: &[(u64, u32, u8)]) -> Seen {
    let mut arrivals: Vec<_> =
        packets.iter().map(|&(ns, node, tid)| (Time::from_nanos(ns), NodeId(node), tid)).collect();
    arrivals.sort();
    let load = Load { arrivals, packet_bytes: 1500, keep_records: true, ..Load::default() };
    run_load(config, &load, Duration::from_secs(1))
}

/// Times at which a node began to send data.
fn data_starts(seen: &Seen, node: u32) -> Vec<u64> {
    seen.ppdus().iter().filter(|p| p.2 == node && p.1 - p.0 == DATA).map(|p| p.0).collect()
}

/// The backoffs that best effort of a node draws under seed 1 from windows in this order.
fn draws(node: u32, windows: &[u32]) -> Vec<u64> {
    let mut stream = Stream::named(1, "backoff", &format!("node{node}"));
    windows.iter().map(|cw| u64::from(stream.up_to(*cw))).collect()
}

#[test]
fn a_category_waits_for_sifs_and_aifsn_slots() {
    for (tid, aifsn) in [(VO, 2), (VI, 2), (BE, 3), (BK, 7)] {
        assert_eq!(timeline(edca(1), &[(10_000, 1, tid)]).starts(1), [SIFS + aifsn * SLOT], "TID {tid}");
    }
}

#[test]
fn an_access_point_with_an_aifsn_of_one_waits_for_pifs() {
    let config = with(edca(1), 0, BE, |of| of.aifsn = 1);
    assert_eq!(timeline(config, &[(10_000, 0, BE)]).starts(0), [SIFS + SLOT]);
}

#[test]
fn a_frame_on_an_idle_medium_waits_for_the_next_boundary_of_slots() {
    // 43 + 107*9 = 1006 us is the first boundary after 1000 us.
    assert_eq!(timeline(edca(1), &[(1_000_000, 1, BE)]).starts(1), [1_006_000]);
    assert_eq!(timeline(edca(1), &[(1_006_000, 1, BE)]).starts(1), [1_006_000]);
    assert_eq!(timeline(edca(1), &[(1_006_001, 1, BE)]).starts(1), [1_015_000]);
}

#[test]
fn no_backoff_is_drawn_where_aifs_is_interrupted() {
    // Voice starts at 34 us; best effort, which came to an idle medium, starts at the end of the AIFS after that.
    let seen = timeline(edca(2), &[(5_000, 1, VO), (6_000, 2, BE)]);
    assert_eq!(seen.starts(1), [AIFS_VO]);
    assert_eq!(seen.starts(2), [AIFS_VO + EXCHANGE + AIFS_BE]);
}

#[test]
fn the_slot_in_which_the_medium_turns_busy_is_counted() {
    // Stations 1 and 2 draw while the AP sends; the later one has counted one slot more than those that passed.
    let [one, two] = [1, 2].map(|node| draws(node, &[15])[0]);
    let (early, late, gap) = if one < two { (1, 2, two - one) } else { (2, 1, one - two) };
    assert!(gap > 0);
    let seen = timeline(edca(2), &[(10_000, 0, BE), (100_000, 1, BE), (100_000, 2, BE)]);
    let first = AIFS_BE + EXCHANGE + AIFS_BE + one.min(two) * SLOT;
    assert_eq!(data_starts(&seen, early)[0], first);
    assert_eq!(data_starts(&seen, late)[0], first + EXCHANGE + AIFS_BE + (gap - 1) * SLOT);
}

#[test]
fn a_txop_holds_as_many_exchanges_as_end_within_its_limit() {
    // n exchanges last n*296 + (n - 1)*16 us: 13 are 4040, 14 are 4352.
    let packets: Vec<_> = (0..20).map(|_| (10_000, 1, VI)).collect();
    let starts = timeline(edca(1), &packets).starts(1);
    let burst = starts.windows(2).take_while(|s| s[1] - s[0] == EXCHANGE + SIFS).count() + 1;
    assert_eq!(burst, 13);
    assert!(starts[13] - starts[12] >= EXCHANGE + AIFS_VO);
}

#[test]
fn a_txop_ends_in_time_to_the_microsecond() {
    for (limit_us, burst) in [(0, 1), (607, 1), (608, 2), (919, 2), (920, 3)] {
        let config = with(edca(1), 1, VI, |of| of.txop_limit = Duration::from_micros(limit_us));
        let packets: Vec<_> = (0..4).map(|_| (10_000, 1, VI)).collect();
        let starts = timeline(config, &packets).starts(1);
        let found = starts.windows(2).take_while(|s| s[1] - s[0] == EXCHANGE + SIFS).count() + 1;
        assert_eq!(found, burst, "{limit_us} us");
    }
}

#[test]
fn a_frame_longer_than_the_txop_limit_goes_alone() {
    let config = with(edca(1), 1, VI, |of| of.txop_limit = Duration::from_micros(32));
    assert_eq!(timeline(config, &[(10_000, 1, VI), (10_000, 1, VI)]).delivered, [0, 2]);
}

#[test]
fn of_two_categories_of_a_node_the_higher_sends_and_the_other_does_as_after_a_collision() {
    let config = with(edca(1), 1, BE, |of| of.aifsn = 2);
    let seen = timeline(config, &[(10_000, 1, VO), (10_000, 1, BE)]);
    let backoff = draws(1, &[31])[0];
    assert_eq!(seen.starts(1), [AIFS_VO, AIFS_VO + EXCHANGE + AIFS_VO + backoff * SLOT]);
    assert_eq!((seen.internal_collisions[1], seen.attempts[1], seen.collided[1]), (1, 2, 0));
}

#[test]
fn an_internal_collision_is_an_attempt() {
    let mut config = with(edca(1), 1, BE, |of| of.aifsn = 2);
    config.nodes[1].retry_limit = Some(0);
    let seen = timeline(config, &[(10_000, 1, VO), (10_000, 1, BE)]);
    assert_eq!((seen.delivered[1], seen.drops[1], seen.starts(1).len()), (1, 1, 1));
}

#[test]
fn the_other_functions_of_a_node_wait_for_an_aifs_after_its_ack_timeout() {
    // Voice of both stations collides; best effort of station 1, which came to an idle medium, follows at the first
    // boundary 43 us after the timeout of 45 us: 43 + 5*9 us after the collision. Voice is given up.
    let run = |channel| {
        let mut config = MediumConfig { channel, ..edca(2) };
        config.nodes.iter_mut().for_each(|node| node.retry_limit = Some(0));
        timeline(config, &[(10_000, 1, VO), (10_000, 2, VO), (11_000, 1, BE)])
    };
    assert_eq!(ACK_TIMEOUT.div_ceil(SLOT), 5);
    let all_hear = |_: NodeId, _: NodeId| lasthop_units::Dbm(-50.0);
    let each = Channel::Matrix(lasthop_wifi::Matrix::new(3, lasthop_units::Dbm(-82.0), all_hear));
    for channel in [Channel::uniform(3), each] {
        assert_eq!(run(channel).starts(1), [AIFS_VO, AIFS_VO + DATA + AIFS_BE + 5 * SLOT]);
    }
}

#[test]
fn voice_gets_through_where_best_effort_is_saturated() {
    // Ten stations of best effort with TXOPs of 2.5 ms, and one more with a packet each 20 ms: its mean delay in us.
    let run = |tid: u8| {
        let saturated = (1..=10).map(|node| (NodeId(node), BE)).collect();
        let arrivals = (0..100).map(|k| (Time::from_nanos(1 + k * 20_000_000), NodeId(11), tid)).collect();
        let load = Load { saturated, arrivals, packet_bytes: 1500, keep_records: true, ..Load::default() };
        let seen = run_load(edca(11), &load, Duration::from_secs(4));
        seen.delays[11].iter().map(|d| d.as_nanos() / 1_000).sum::<u64>() / seen.delays[11].len() as u64
    };
    let [voice, best_effort, background] = [VO, BE, BK].map(run);
    // Voice waits for the rest of a TXOP, and seldom for another.
    assert!(voice < 2_528 + EXCHANGE / 1_000 + 500, "{voice}");
    assert!(4 * voice < best_effort && best_effort < background, "{voice}, {best_effort}, {background}");
}

/// Ten saturated stations of best effort, with changes; all records of half a second.
fn saturated(config: MediumConfig, changes: Vec<(Time, Change)>) -> Seen {
    let saturated = (1..=10).map(|node| (NodeId(node), BE)).collect();
    let load = Load { saturated, packet_bytes: 1500, keep_records: true, changes, ..Load::default() };
    run_load(config, &load, Duration::from_millis(500))
}

#[test]
fn parameters_that_change_at_the_start_act_as_configured_ones() {
    let other = EdcaParameters { aifsn: 5, cw_min: 63, cw_max: 255, txop_limit: Duration::from_micros(1504) };
    let changes = (1..=10).map(|node| (Time::ZERO, Change::Edca(NodeId(node), AccessCategory::Be, other))).collect();
    let configured = (1..=10).fold(edca(10), |config, node| with(config, node, BE, |of| *of = other));
    let (changed, configured) = (saturated(edca(10), changes), saturated(configured, Vec::new()));
    assert_eq!(changed.ppdus(), configured.ppdus());
    assert_eq!((changed.delivered, changed.collided), (configured.delivered, configured.collided));
}

#[test]
fn parameters_that_change_back_and_forth_within_an_instant_change_nothing() {
    let default = EdcaParameters::default_of(AccessCategory::Be, 15, 1023);
    let other = EdcaParameters { aifsn: 9, ..default };
    let at = |ms: u64, to| {
        (Time::ZERO + Duration::from_micros(ms * 1000 + 7), Change::Edca(NodeId(1), AccessCategory::Be, to))
    };
    let changes = (1..400).flat_map(|ms| [at(ms, other), at(ms, default)]).collect();
    assert_eq!(saturated(edca(10), changes).ppdus(), saturated(edca(10), Vec::new()).ppdus());
}

#[test]
fn a_larger_window_from_then_on_shows_in_the_collisions() {
    // Bianchi's fixed point for ten stations and windows that do not grow: 2 / (W + 1) chances to send a slot each.
    let (cw_min, cw_max, txop_limit) = (511, 511, Duration::ZERO);
    let wide =
        EdcaParameters { cw_min, cw_max, txop_limit, ..EdcaParameters::default_of(AccessCategory::Be, 15, 1023) };
    let half = Time::ZERO + Duration::from_millis(250);
    let changes = (1..=10).map(|node| (half, Change::Edca(NodeId(node), AccessCategory::Be, wide))).collect();
    let share = |seen: &Seen, from: Time, to: Time| {
        let outcomes = seen.records.iter().filter_map(|(at, record)| match record {
            lasthop_observe::Record::Attempt { outcome, .. } if (from..to).contains(at) => Some(*outcome),
            _ => None,
        });
        let outcomes: Vec<_> = outcomes.collect();
        let lost = outcomes.iter().filter(|of| **of == lasthop_observe::Outcome::Collision).count();
        lost as f64 / outcomes.len() as f64
    };
    let single = |of: &mut EdcaParameters| of.txop_limit = Duration::ZERO;
    let seen = saturated((1..=10).fold(edca(10), |config, node| with(config, node, BE, single)), changes);
    let before = share(&seen, Time::ZERO, half);
    let after = share(&seen, half + Duration::from_millis(20), Time::NEVER);
    assert!(before > 0.2 && after < 0.08, "{before}, {after}");
}

#[test]
fn a_node_that_is_held_keeps_its_backoff_and_the_others_go_on() {
    // Station 1 draws while the AP sends, and is held after three of its slots; it needs the rest later.
    let backoff = draws(1, &[15])[0];
    assert!(backoff > 3, "the seed gives {backoff}");
    let held_from = Time::from_nanos(AIFS_BE + EXCHANGE + AIFS_BE + 3 * SLOT);
    let until = Time::from_nanos(2_000_000);
    let load = Load {
        arrivals: [(10_000, 0), (100_000, 1), (1_000_000, 2)]
            .map(|(ns, node)| (Time::from_nanos(ns), NodeId(node), BE))
            .into(),
        packet_bytes: 1500,
        keep_records: true,
        changes: vec![(held_from, Change::Hold(NodeId(1), until))],
        ..Load::default()
    };
    let seen = run_load(edca(2), &load, Duration::from_millis(10));
    assert!(data_starts(&seen, 2)[0] < 1_100_000, "the other station does not wait");
    // It goes on at the first boundary from then on, which has been counted when it counts its next slot.
    let grid = |at: u64| at.div_ceil(SLOT) * SLOT;
    let other_ends = data_starts(&seen, 2)[0] + EXCHANGE + AIFS_BE;
    let first = other_ends + grid(2_000_000 - other_ends);
    let found = data_starts(&seen, 1)[0];
    assert!(
        (found as i64 - (first + (backoff - 3) * SLOT) as i64).unsigned_abs() <= SLOT,
        "{found}, {first}, {backoff}"
    );
}
