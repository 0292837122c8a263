//! Several BSSs on one medium: shared channels, hidden and exposed nodes.

use crate::cell::{Load, MediumConfig, Seen, phy, run_load, several_bss, with_rts};
use lasthop_observe::{NodeId, Outcome};
use lasthop_units::{Bytes, Dbm, Duration, Time};
use lasthop_wifi::{Channel, Matrix};

const SECONDS: u64 = 4;

/// Two BSSs with a station each: APs 0 and 1, stations 2 and 3; the second on `channel`.
fn two(channel: u32) -> MediumConfig {
    several_bss(phy("802.11a", &[]), &[(0, 1), (channel, 1)])
}

/// Runs with these nodes saturated.
fn saturated(config: MediumConfig, nodes: &[u32]) -> Seen {
    let saturated = nodes.iter().map(|&node| (NodeId(node), 0)).collect();
    let load = Load { saturated, packet_bytes: 1500, keep_records: true, ..Load::default() };
    run_load(config, &load, Duration::from_secs(SECONDS))
}

/// Only these pairs hear each other.
fn hearing(config: MediumConfig, pairs: &[(u32, u32)]) -> MediumConfig {
    let heard = |a: NodeId, b: NodeId| pairs.contains(&(a.0, b.0)) || pairs.contains(&(b.0, a.0));
    let power = |tx, rx| Dbm(if heard(tx, rx) { -50.0 } else { -200.0 });
    MediumConfig { channel: Channel::Matrix(Matrix::new(4, Dbm(-82.0), power)), ..config }
}

fn of_node(seen: &Seen, node: u32) -> Vec<(u64, u64, u32)> {
    seen.ppdus().into_iter().filter(|p| p.2 == node).collect()
}

/// Data frames of `a` that overlap one of `b`.
fn overlaps(seen: &Seen, a: u32, b: u32) -> usize {
    let (a, b) = (of_node(seen, a), of_node(seen, b));
    a.iter().filter(|x| b.iter().any(|y| x.0 < y.1 && y.0 < x.1)).count()
}

#[test]
fn two_bss_on_one_channel_in_range_halve_each_other() {
    let alone = saturated(two(0), &[2]).delivered[2] as f64;
    let both = saturated(two(0), &[2, 3]).delivered;
    for node in [2, 3] {
        let share = both[node] as f64 / alone;
        // Each of two contenders counts down in the time of one mean backoff: a little more than a half each.
        assert!((0.47..0.58).contains(&share), "{share}");
    }
    // The result is that of two stations of one BSS.
    let one_bss = saturated(several_bss(phy("802.11a", &[]), &[(0, 2)]), &[1, 2]).delivered;
    let ratio = (both[2] + both[3]) as f64 / (one_bss[1] + one_bss[2]) as f64;
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
}

#[test]
fn on_separate_channels_each_has_all() {
    let alone = saturated(two(1), &[2]);
    let both = saturated(two(1), &[2, 3]);
    assert_eq!(of_node(&alone, 2), of_node(&both, 2));
    assert_eq!(both.collided, [0; 4]);
    assert!(overlaps(&both, 2, 3) > 1_000);
}

#[test]
fn separate_channels_are_separate_in_a_matrix_too() {
    let shared = saturated(two(1), &[2, 3]);
    let each = saturated(hearing(two(1), &[(0, 2), (1, 3)]), &[2, 3]);
    assert_eq!(shared.ppdus(), each.ppdus());
}

/// AP 0 hears station 3, but station 2 does not: it is hidden to the first BSS.
fn hidden() -> MediumConfig {
    hearing(two(0), &[(0, 2), (1, 3), (0, 3)])
}

#[test]
fn a_hidden_sender_of_another_bss_interferes() {
    let outcome = |second: u64| {
        let mut config = hidden();
        config.nodes.iter_mut().for_each(|node| node.retry_limit = Some(0));
        let at = |ns: u64, node| (Time::from_nanos(ns), NodeId(node), 0);
        let arrivals = vec![at(1_000_000, 2), at(second, 3)];
        let load = Load { arrivals, packet_bytes: 1500, keep_records: true, ..Load::default() };
        let outcomes = run_load(config, &load, Duration::from_secs(1)).outcomes();
        outcomes.into_iter().find(|o| o.0 == 2).unwrap().1
    };
    // 802.11a: a slot is 9 us; the data frame of station 2 lasts 252 us.
    assert_eq!(outcome(1_008_999), Outcome::Collision);
    assert_eq!(outcome(1_009_000), Outcome::Interference);
    assert_eq!(outcome(1_247_999), Outcome::Interference);
    assert_eq!(outcome(1_400_000), Outcome::Success);
}

#[test]
fn a_saturated_hidden_sender_leaves_little_and_rts_gives_it_back() {
    let basic = saturated(hidden(), &[2, 3]);
    // Station 3 does not hear station 2, and is not disturbed by it.
    assert!(basic.interfered[2] as f64 > 0.5 * basic.attempts[2] as f64, "{basic:?}", basic = basic.interfered);
    assert_eq!(basic.collided[3], 0);
    // AP 0 hears station 3 and station 3 hears the CTS of AP 0: data of station 2 after that CTS is not disturbed.
    let rts = saturated(with_rts_everywhere(hidden()), &[2, 3]);
    assert!(rts.delivered[2] > 3 * basic.delivered[2], "{} and {}", rts.delivered[2], basic.delivered[2]);
}

fn with_rts_everywhere(config: MediumConfig) -> MediumConfig {
    let mut config = with_rts(config, Bytes(0));
    config.bss.iter_mut().for_each(|bss| bss.rts_threshold = Some(Bytes(0)));
    config
}

#[test]
fn an_exposed_sender_defers_although_it_would_do_no_harm() {
    // The APs hear each other, and each station hears only its own AP.
    let exposed = saturated(hearing(two(0), &[(0, 2), (1, 3), (0, 1)]), &[0, 1]);
    let apart = saturated(hearing(two(0), &[(0, 2), (1, 3)]), &[0, 1]);
    for ap in [0, 1] {
        let share = exposed.delivered[ap] as f64 / apart.delivered[ap] as f64;
        assert!((0.45..0.65).contains(&share), "{share}");
    }
    // Frames that start in the same slot overlap, and arrive undisturbed.
    assert_eq!(exposed.collided, [0; 4]);
    assert!(overlaps(&apart, 0, 1) > 5 * overlaps(&exposed, 0, 1));
}
