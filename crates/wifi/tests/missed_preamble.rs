//! A station that sends while a long PPDU begins, and notices the rest of it or not; results by hand arithmetic.
//!
//! ```text
//! AP         |            2072 us at 6 Mbit/s, for station 1            |SIFS|ACK|
//! station 2  | 248 us |timeout|k slots| again, if it does not notice the PPDU under way
//!            0       248     293                                       2072
//! ```
//!
//! 802.11a: a slot of 9 us, SIFS 16, DIFS 34, ACK timeout 45 us. The stations do not hear each other.

use crate::cell::{Arrivals, MediumConfig, config, fixed_rate, phy, run};
use lasthop_observe::{NodeId, Record, Step};
use lasthop_units::{Bytes, DataRate, Dbm, Duration, Time};
use lasthop_wifi::{CcaLevels, Channel, Matrix};

const START: u64 = 1_000_000;

/// Station 2 hears the AP at `heard` dBm, and recognises a PPDU under way from `level` on.
fn cell_of_three(heard: f64, level: Option<f64>) -> MediumConfig {
    let phy = phy("802.11a", &[]);
    let power = |tx: NodeId, rx: NodeId| match (tx.0.min(rx.0), tx.0.max(rx.0)) {
        (0, 2) => Dbm(heard),
        (1, 2) => Dbm(-200.0),
        _ => Dbm(-50.0),
    };
    let cca = CcaLevels { preamble: Dbm(-82.0), energy: Dbm(-62.0) };
    let mut config = config(phy.clone(), 2);
    config.channel = Channel::Matrix(Matrix::new(3, cca, power));
    // The link from the AP to station 1, the first of its stations.
    config.rate_controls[1] = fixed_rate(&phy, Some(DataRate::from_bps(6_000_000)));
    config.nodes[2].mid_packet_detection = level.map(Dbm);
    config
}

/// Times at which station 2 sends, in microseconds after both begin.
fn starts(config: MediumConfig) -> Vec<f64> {
    let arrivals: Arrivals = [0, 2].map(|node| (Time::from_nanos(START), NodeId(node))).to_vec();
    let seen = run(config, &[], Duration::from_millis(20), &arrivals);
    seen.starts(2).into_iter().map(|at| (at as f64 - START as f64) / 1e3).collect()
}

#[test]
fn missed_preamble_leads_to_overlap_unless_energy_or_guard_intervals_are_noticed() {
    // Below -62 dBm it sends again k slots after the first boundary from 248 + 45 us on, which is 248 + 34 + 2 * 9.
    let alone = starts(cell_of_three(-65.0, None));
    let slots = (alone[1] - 300.0) / 9.0;
    assert!((0.0..=31.0).contains(&slots) && slots.fract() == 0.0, "{alone:?}");
    // A station that notices the AP to the end of its frame counts the same slots from DIFS after 2072 us on.
    let after = 2072.0 + 34.0 + 9.0 * slots;
    for (heard, level, second) in [
        (-62.0, None, after),
        (-62.1, None, alone[1]),
        (-65.0, Some(-65.0), after),
        (-65.1, Some(-65.0), alone[1]),
        (-72.0, Some(-72.0), after),
        (-81.0, None, alone[1]),
    ] {
        let found = starts(cell_of_three(heard, level));
        assert_eq!((found[0], found[1]), (0.0, second), "{heard} dBm, known from {level:?} on");
    }
}

#[test]
fn steps_name_overlaps_of_missed_ppdus_and_recognition() {
    let arrivals: Arrivals = [0, 2].map(|node| (Time::from_nanos(START), NodeId(node))).to_vec();
    let told = |level: Option<f64>| {
        let seen = run(cell_of_three(-65.0, level), &[], Duration::from_millis(20), &arrivals);
        let (mut overlaps_missed, mut recognised) = (Vec::new(), Vec::new());
        for (at, record) in &seen.records {
            match record {
                Record::Step(Step::Start(start)) if start.node == NodeId(2) => {
                    overlaps_missed.push(start.overlaps_missed)
                }
                Record::Step(Step::Recognised { initiator, by }) => {
                    recognised.push((at.as_nanos() - START, initiator.0, by.0));
                }
                _ => {}
            }
        }
        (overlaps_missed[..2].to_vec(), recognised)
    };
    assert_eq!(told(None), (vec![false, true], vec![]));
    // It recognises the PPDU 25 us after it has stopped sending.
    assert_eq!(told(Some(-72.0)), (vec![false, false], vec![(248_000 + 25_000, 0, 2)]));
}

#[test]
fn ppdus_of_802_11b_have_no_guard_intervals() {
    let plain = cell_of_three(-65.0, Some(-72.0));
    let b = |level: Option<f64>| {
        let phy = phy("802.11b", &[]);
        let mut cell = config(phy.clone(), 2);
        cell.channel = plain.channel.clone();
        cell.rate_controls[1] = fixed_rate(&phy, Some(DataRate::from_bps(1_000_000)));
        cell.nodes[2].mid_packet_detection = level.map(Dbm);
        starts(cell)
    };
    assert_eq!(b(Some(-72.0)), b(None));
}

#[test]
fn rts_precedes_a_ppdu_that_takes_as_long_as_the_threshold() {
    // 2072 + 16 us, and an ACK of 14 bytes at 6 Mbit/s, 44 us: 2132 us.
    let begins_with = |threshold_us: u64| {
        let mut config = cell_of_three(-65.0, None);
        config.bss[0].txop_duration_rts_threshold = Some(Duration::from_micros(threshold_us));
        let seen = run(config, &[], Duration::from_millis(20), &vec![(Time::from_nanos(START), NodeId(0))]);
        let (start, end, _) = seen.ppdus()[0];
        end - start
    };
    let phy = phy("802.11a", &[]);
    let mode = phy.mode_of_rate(DataRate::from_bps(6_000_000)).unwrap();
    // An RTS of 20 bytes at 6 Mbit/s: 20 us and eight symbols of 24 bits for 182 bits.
    assert_eq!(phy.ppdu_duration(mode, Bytes(20)), Duration::from_micros(52));
    assert_eq!([2132, 2133].map(begins_with), [52_000, 2_072_000]);
}
