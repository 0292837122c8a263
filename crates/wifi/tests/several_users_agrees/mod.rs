//! PPDUs of several users: the medium, which jumps, against its plain twin, which goes slot by slot.
//!
//! Both draw from the same streams, and both leave the choice of stations to the same dice. The tests compare start, end, sender,
//! receiver, kind, reservation, unit and number of MPDUs of every part of every PPDU, and the time at which every packet was passed
//! on, to the nanosecond.

mod case;

use std::collections::BTreeMap;

use crate::cell::{Seen, run_load};
use crate::twin::{self, Kind, Outcome, Part, Source};
use case::Case;
use lasthop_engine::Stream;
use lasthop_observe::detail::{Detail, PpduKind};
use lasthop_units::Duration;
use lasthop_wifi::phy::{ChannelWidth, GuardInterval};
use lasthop_wifi::{AccessCategory, Acknowledge, EdcaParameters, MuEdca};

const BE: usize = 2;

/// PPDUs that have ended by `end_ns`, part by part.
fn parts(seen: &Seen, end_ns: u64) -> Vec<Part> {
    let of = |kind, several| match (kind, several) {
        (PpduKind::Ampdu, None) => Kind::Data,
        (PpduKind::Ampdu, Some(true)) => Kind::Mu,
        (PpduKind::Ampdu, Some(false)) => Kind::TbData,
        (PpduKind::BlockAck, None) => Kind::BlockAck,
        (PpduKind::BlockAck, Some(_)) => Kind::TbAck,
        (PpduKind::BlockAckReq, _) => Kind::BlockAckReq,
        (PpduKind::MuBar, _) => Kind::MuBar,
        (PpduKind::Bsrp, _) => Kind::Bsrp,
        (PpduKind::Trigger, _) => Kind::Trigger,
        (PpduKind::MultiStaBlockAck, _) => Kind::MultiAck,
        (PpduKind::QosNull, _) => Kind::TbNull,
        (other, _) => panic!("{other:?} has no place in these cells"),
    };
    let start = |(at, detail): &(lasthop_units::Time, Detail)| match detail {
        Detail::PpduStarts(p) if (*at + p.airtime).as_nanos() <= end_ns => {
            let kind = of(p.kind, p.unit.map(|_| p.node.0 == 0));
            let data = matches!(kind, Kind::Data | Kind::Mu | Kind::TbData);
            Some((
                at.as_nanos(),
                (*at + p.airtime).as_nanos(),
                p.node.0,
                p.to.filter(|_| !p.kind.is_for_several()).map(|to| to.0),
                kind,
                p.reserves_until.as_nanos(),
                p.unit.map(|unit| (unit.tones, unit.place)),
                if data { p.mpdus } else { 0 },
            ))
        }
        _ => None,
    };
    let mut all: Vec<Part> = seen.details.iter().filter_map(start).collect();
    all.sort_unstable();
    all
}

/// Entries that are shown before the first that differs.
const SHOWN: usize = 8;

/// Holds that two lists are equal, and shows where they part.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, ours: &[T], theirs: &[T]) {
    let same = ours.iter().zip(theirs).take_while(|(a, b)| a == b).count();
    let around = |of: &[T]| {
        let shown = &of[same.saturating_sub(SHOWN).min(of.len())..(same + 4).min(of.len())];
        shown.iter().map(|one| format!("\n    {one:?}")).collect::<String>()
    };
    let (a, b) = (around(ours), around(theirs));
    assert!(same == ours.len() && same == theirs.len(), "{what}: after {same}\n medium {a}\n twin   {b}");
}

fn agree_under(case: &Case, seed: u64) -> Outcome {
    let end_ns = case.ms * 1_000_000;
    let what = |of: &str| format!("{} under seed {seed}: {of}", case.name);
    let ours = run_load(case.for_medium(seed), &case.load(), Duration::from_nanos(end_ns + 1));
    let mut theirs = twin::run(&case.for_twin(), seed, end_ns);
    for part in &mut theirs.parts {
        // Frames for several have no unit of their own.
        if matches!(part.4, Kind::MuBar | Kind::Bsrp | Kind::Trigger | Kind::MultiAck) {
            part.6 = None;
        }
    }
    theirs.parts.sort_unstable();
    same(&what("PPDUs"), &parts(&ours, end_ns), &theirs.parts);
    let mut arrived = ours.arrived.clone();
    arrived.sort_unstable();
    theirs.arrived.sort_unstable();
    same(&what("passed on"), &arrived, &theirs.arrived);
    theirs
}

/// A random BSS; with each number more of the model.
fn random_case(which: u64) -> Case {
    let mut dice = Stream::new(which, "several users", 0);
    let bit = |n: u64| which >> n & 1 == 1;
    let stations = 1 + dice.up_to(8) as usize;
    let width = [ChannelWidth::Mhz20, ChannelWidth::Mhz40, ChannelWidth::Mhz80][dice.up_to(2) as usize];
    let guard = [GuardInterval::Us0_8, GuardInterval::Us1_6, GuardInterval::Us3_2][dice.up_to(2) as usize];
    let uplink = bit(0);
    // Triggers are sent by the function of best effort.
    let category = if bit(3) && !uplink { dice.up_to(3) as usize } else { BE };
    let txops = bit(1) && dice.chance(0.8);
    let edca = (0..=stations)
        .map(|node| {
            let mut of = EdcaParameters::default_of(AccessCategory::ALL[category], 15, 1023);
            // A PPDU of several users has room for an MPDU of each.
            let least = if node == 0 { 130 } else { 0 };
            let limit = Duration::from_micros(32 * u64::from(least + dice.up_to(200)));
            of.txop_limit = if txops { limit } else { Duration::ZERO };
            if dice.chance(0.3) {
                of.aifsn = (2 + dice.up_to(7)) as u8;
                (of.cw_min, of.cw_max) = ((1 << dice.up_to(5)) - 1, (1 << (5 + dice.up_to(5))) - 1);
            }
            of
        })
        .collect();
    let mu_edca = (uplink && bit(2)).then(|| MuEdca {
        aifsn: [0, 0, 2, 5, 10][dice.up_to(4) as usize],
        cw_min: (1 << (2 + dice.up_to(4))) - 1,
        cw_max: (1 << (6 + dice.up_to(4))) - 1,
        timer: Duration::from_nanos(8_192_000 * u64::from(1 + dice.up_to(3))),
    });
    let busy = [0.3, 0.6, 0.9][dice.up_to(2) as usize];
    let mut sources = vec![Source::Silent; stations + 1];
    let mut some = |least: u32, most: u32| u64::from(least + dice.up_to(most - least));
    sources[0] = Source::Periodic { first_ns: some(1, 9_000_000), interval_ns: some(5_000, 800_000) };
    for source in &mut sources[1..] {
        if (some(0, 100) as f64) < 100.0 * busy {
            *source = match some(0, 2) {
                0 => Source::Periodic { first_ns: some(1, 9_000_000), interval_ns: some(20_000, 5_000_000) },
                _ => Source::Saturated,
            };
        }
    }
    Case {
        name: format!("random cell {which}"),
        ms: 50,
        stations,
        width,
        guard,
        mcs: 4 + dice.up_to(7) as u8,
        packet_bytes: u64::from(40 + dice.up_to(1460)),
        max_mpdus: [64, 256][dice.up_to(1) as usize],
        longest: Duration::from_micros(5484),
        category,
        edca,
        max_users: 2 + dice.up_to(8),
        acknowledge: [Acknowledge::MuBar, Acknowledge::Bar, Acknowledge::Aggregated][dice.up_to(2) as usize],
        uplink,
        bsrp: uplink && dice.chance(0.7),
        access_request: dice.chance(0.7).then(|| Duration::from_micros(u64::from(500 + dice.up_to(9500)))),
        mu_edca,
        sources,
    }
}

/// A cell that fails is run by itself with `LASTHOP_CELL=n cargo test -p lasthop-wifi --test all several_users_agrees`.
#[test]
fn random_cells() {
    let alone = std::env::var("LASTHOP_CELL").ok().map(|n| n.parse().expect("the number of a cell"));
    let mut found: BTreeMap<Kind, usize> = BTreeMap::new();
    for which in alone.map_or(1..=500, |n| n..=n) {
        if alone.is_some() {
            println!("{:?}", random_case(which));
        }
        let outcome = agree_under(&random_case(which), which);
        outcome.parts.iter().for_each(|part| *found.entry(part.4).or_default() += 1);
    }
    let all = [
        Kind::Data,
        Kind::Mu,
        Kind::BlockAck,
        Kind::BlockAckReq,
        Kind::MuBar,
        Kind::Bsrp,
        Kind::Trigger,
        Kind::TbAck,
        Kind::TbNull,
        Kind::TbData,
        Kind::MultiAck,
    ];
    assert!(alone.is_some() || all.iter().all(|kind| found.get(kind).is_some_and(|n| *n > 500)), "{found:?}");
}
