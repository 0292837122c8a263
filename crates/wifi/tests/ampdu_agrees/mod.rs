//! A-MPDUs under Block Ack: the medium, which jumps, against its plain twin, which goes slot by slot.
//!
//! Both draw from the same streams. The tests compare start, end, sender, kind and reservation of every PPDU, the MPDUs of
//! every A-MPDU and which of them arrived, the number that each BlockAck acknowledged, and the time at which every packet
//! was passed on, to the nanosecond.

mod case;
mod seen;

use std::collections::BTreeMap;

use crate::cell::run_load;
use crate::edca_agrees::{self, saturated};
use crate::twin::{self, Kind, Outcome, Source};
use case::Case;
use lasthop_engine::Stream;
use lasthop_units::Duration;
use seen::{acknowledged, ampdus, kinds};

const BE: usize = 2;

/// Holds that two lists are equal, and shows where they part.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, ours: &[T], theirs: &[T]) {
    let same = ours.iter().zip(theirs).take_while(|(a, b)| a == b).count();
    let around = |of: &[T]| format!("{:?}", &of[same.saturating_sub(4)..(same + 3).min(of.len())]);
    let (a, b) = (around(ours), around(theirs));
    assert!(same == ours.len() && same == theirs.len(), "{what}: after {same}\n medium {a}\n twin   {b}");
}

fn agree_under(case: &Case, seed: u64) -> Outcome {
    let end_ns = case.edca.ms * 1_000_000;
    let what = |of: &str| format!("{} under seed {seed}: {of}", case.edca.name);
    let ours = run_load(case.for_medium(seed), &case.load(), Duration::from_nanos(end_ns + 1));
    let mut theirs = twin::run(&case.for_twin(), seed, end_ns);
    theirs.kinds.sort_unstable();
    theirs.ppdus.sort_unstable();
    theirs.ampdus.sort_unstable();
    same(&what("PPDUs"), &kinds(&ours, end_ns), &theirs.kinds);
    same(&what("times"), &ours.ppdus(), &theirs.ppdus);
    same(&what("MPDUs"), &ampdus(&ours), &theirs.ampdus);
    for node in 0..case.edca.nodes() {
        // The medium reports a failure at the end of the frame, the twin after the timeout.
        let mut counted = acknowledged(&ours, node);
        if counted.len() == theirs.acknowledged[node].len() {
            assert_eq!(ours.drops[node], theirs.drops[node], "{}", what("MPDUs given up"));
        }
        counted.truncate(theirs.acknowledged[node].len().max(counted.len() - usize::from(!counted.is_empty())));
        same(&what(&format!("acknowledged of {node}")), &counted, &theirs.acknowledged[node]);
    }
    let mut arrived = ours.arrived.clone();
    arrived.sort_unstable();
    theirs.arrived.sort_unstable();
    same(&what("passed on"), &arrived, &theirs.arrived);
    assert_eq!(ours.internal_collisions, theirs.internal_collisions, "{}", what("internal collisions"));
    theirs
}

fn agree(case: &Case) {
    for seed in crate::cell::seeds() {
        let outcome = agree_under(case, seed);
        assert!(outcome.ppdus.len() > 10, "{}: nothing happens", case.edca.name);
    }
}

#[test]
fn one_station_aggregates() {
    for max_mpdus in [1, 7, 64] {
        agree(&Case { max_mpdus, ..Case::new(&format!("{max_mpdus} MPDUs"), &[(0, 1)], vec![saturated(1, BE)]) });
    }
}

#[test]
fn two_stations_in_hearing() {
    agree(&Case::new("two", &[(0, 2)], vec![saturated(1, BE), saturated(2, BE)]));
}

#[test]
fn gaps_and_requests_are_given_up_in_time() {
    // A recipient waits 100 ms for an MPDU, a BlockAckReq is repeated for 512 ms.
    for which in [1, 3, 9, 11] {
        let mut case = random_case(which);
        (case.edca.ms, case.edca.retry_limit) = (700, 0);
        agree_under(&case, 2);
    }
}

/// The parts of the model that a random cell may have.
#[derive(Clone, Copy, Debug)]
struct Parts {
    hidden: bool,
    rts: bool,
    txops: bool,
    categories: bool,
}

impl Parts {
    fn of(which: u64) -> Parts {
        let bit = |n: u64| which >> n & 1 == 1;
        Parts { hidden: bit(0), rts: bit(1), txops: bit(2), categories: bit(3) }
    }
}

fn random_case(which: u64) -> Case {
    let (mut dice, parts) = (Stream::new(which, "ampdu cell", 0), Parts::of(which));
    let bss: Vec<(u32, usize)> = (0..1 + dice.up_to(1)).map(|_| (0, 1 + dice.up_to(2) as usize)).collect();
    let mut case = Case::new(&format!("random cell {which}, {parts:?}"), &bss, Vec::new());
    case.edca.ms = 60;
    (case.mcs, case.max_mpdus) = (dice.up_to(7) as u8, 1 + dice.up_to(63));
    case.packet_bytes = u64::from(40 + dice.up_to(1460));
    let busy = [0.3, 0.6, 0.9][dice.up_to(2) as usize];
    for node in 0..case.edca.nodes() {
        for category in if parts.categories { 0..4 } else { BE..BE + 1 } {
            if dice.chance(busy) {
                let mut some = |least: u32, most: u32| u64::from(least + dice.up_to(most - least));
                let source = match some(0, 2) {
                    0 => Source::Periodic { first_ns: some(1, 9_000_000), interval_ns: some(20_000, 5_000_000) },
                    _ => Source::Saturated,
                };
                case.edca.traffic.push(edca_agrees::Traffic { node, category, source });
            }
            let edca = &mut case.edca.edca[node][category];
            if parts.categories && dice.chance(0.3) {
                edca.aifsn = (1 + dice.up_to(7)) as u8;
                (edca.cw_min, edca.cw_max) = ((1 << dice.up_to(5)) - 1, (1 << (5 + dice.up_to(5))) - 1);
            }
            if parts.txops && dice.chance(0.8) {
                edca.txop_limit = Duration::from_micros(32 * u64::from(dice.up_to(200)));
            }
        }
    }
    if case.edca.traffic.is_empty() {
        case.edca.traffic.push(saturated(1, BE));
    }
    let share_hidden = if parts.hidden { 0.25 + 0.25 * f64::from(dice.up_to(2)) } else { 0.0 };
    let pairs = (0..case.edca.nodes()).flat_map(|a| (0..a).map(move |b| (a, b)));
    case.edca.hidden = pairs.filter(|_| dice.chance(share_hidden)).collect();
    case.edca.rts = parts.rts;
    case.rts_over = if parts.txops { 0 } else { [0, 3000, 10_000][dice.up_to(2) as usize] };
    case.edca.retry_limit = [0, 1, 2, 7][dice.up_to(3) as usize];
    case.multiple_protection = parts.txops && dice.chance(0.5);
    case.edca.matrix = case.multiple_protection || dice.chance(0.5);
    case
}

/// A cell that fails is run by itself with `LASTHOP_CELL=n cargo test -p lasthop-wifi --test all ampdu_agrees::random`.
#[test]
fn random_cells() {
    let alone = std::env::var("LASTHOP_CELL").ok().map(|n| n.parse().expect("the number of a cell"));
    let mut found: BTreeMap<Kind, usize> = BTreeMap::new();
    let (mut in_part, mut given_up) = (0, 0);
    for which in alone.map_or(1..=500, |n| n..=n) {
        let outcome = agree_under(&random_case(which), 1);
        outcome.kinds.iter().for_each(|(_, _, kind, _)| *found.entry(*kind).or_default() += 1);
        let is_mixed = |mpdus: &[(u64, bool)]| mpdus.iter().any(|m| m.1) && mpdus.iter().any(|m| !m.1);
        in_part += outcome.ampdus.iter().filter(|(_, _, mpdus)| is_mixed(mpdus)).count();
        given_up += outcome.drops.iter().sum::<u64>();
    }
    let all = [Kind::Rts, Kind::Cts, Kind::Data, Kind::BlockAck, Kind::BlockAckReq, Kind::CfEnd];
    let each_is_found = all.iter().all(|kind| found.get(kind).is_some_and(|n| *n > 1000));
    assert!(alone.is_some() || each_is_found && in_part > 100 && given_up > 1000, "{found:?}, {in_part}, {given_up}");
}
