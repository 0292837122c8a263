//! Notes for a reader of the tables, a sentence each.

use super::measured::{Damages, Measured};
use crate::input::Damage;
use crate::site::Site;
use crate::tally::AirTally;
use lasthop_units::Duration;

/// A silence at an end of the measured time that is a longer part of it is told of.
const SILENCE: f64 = 0.02;
/// A shorter pause is common.
const SHORTEST_PAUSE: Duration = Duration::from_secs(10);

/// All notes.
pub(super) fn notes(site: &Site, measured: &Measured, damages: &Damages) -> Vec<String> {
    let mut notes = Vec::new();
    for ((name, damage), (place, file)) in damages.iter().zip(measured.files.iter().enumerate()) {
        if let Some(first) = &damage.first {
            notes.push(format!("{name}: {} wrong records are left out, the first: {first}", damage.records));
        }
        if let Some((byte, length)) = damage.stopped {
            let unread = 100.0 * (length - byte) as f64 / length.max(1) as f64;
            notes.push(format!(
                "{name}: reading stopped at byte {byte} of {length}, as nothing tells where the next record begins: the \
                 last {unread:.0} % of the file are not read"
            ));
        }
        notes.extend(of_clock(name, damage));
        if damage.dropped > 0 {
            notes.push(format!(
                "{name}: {} packets were lost while capturing, by the file's own count: they look like losses of the network",
                damage.dropped
            ));
        }
        if damage.out_of_order > 0 {
            notes.push(format!("{name}: {} packets are before those in front of them", damage.out_of_order));
        }
        if file.foreign > 0 {
            let (foreign, all) = (file.foreign, file.packets);
            notes.push(format!(
                "{name}: {foreign} of {all} packets are of link types that are not read, and are left out"
            ));
        }
        if file.unread > 0 {
            notes.push(format!("{name}: {} of {} packets do not parse and are left out", file.unread, file.packets));
        }
        if file.heard > 0 && site.air != Some(place) {
            notes.push(format!("{name}: is left out: another capture of the air has more frames"));
        }
    }
    notes.extend(silences(measured));
    notes.extend(pause(measured));
    if measured.unknown.instant {
        notes.push("all packets have the same time: rates are unknown".into());
    }
    notes.extend(without_links(&measured.air));
    if measured.unknown.channels {
        notes.push(format!(
            "the sniffer heard {} channels in turn: busy and idle time are unknown, and airtime and goodput are of what it heard",
            site.channels.len()
        ));
    }
    notes.extend(without_goodput(site));
    notes.extend(without_round_trips(site));
    if site.guessed > 0 && !site.flows.is_empty() {
        let (guessed, all) = (site.guessed, site.dialogues.len());
        let why = match site.air {
            None => "without a capture of the air".into(),
            Some(_) => format!("the air does not show the stations of {guessed} of {all} connections"),
        };
        let joint = if site.air.is_none() { "," } else { ":" };
        notes.push(format!(
            "{why}{joint} the end that opened a connection, else the one with the higher port, counts as the station: \
             \"up\" is what it sends"
        ));
    }
    notes.extend(measured.bounds.notes());
    let air = &measured.air;
    if air.lasting.unknown > 0 {
        let (unknown, all) = (air.lasting.unknown, air.lasting.all);
        notes.push(format!(
            "the durations of {unknown} of {all} PPDUs are unknown: their frames count, and their airtime does not"
        ));
    }
    if air.links.iter().any(|link| link.mpdus_protected > 0) {
        notes.push("some frames are encrypted: they are counted by length, and no flow is read from them".into());
    }
    if air.is_cut_off {
        notes.push(
            "packets behind the first of an A-MSDU were cut off by the snap length: their flows are read from the \
             acknowledgements"
                .into(),
        );
    }
    notes
}

/// A clock that was set.
fn of_clock(name: &str, damage: &Damage) -> Option<String> {
    let (times, first_ns) = (damage.sets.0, damage.sets.1.filter(|_| damage.sets.0 > 0)?);
    Some(format!(
        "{name}: its clock was set {times} times, first by {:.3} s; times go on without these jumps, so that the measured time \
         is too short by the pauses at them",
        first_ns as f64 / 1e9
    ))
}

/// Flows whose goodput is unknown, and connections that are no flows.
fn without_goodput(site: &Site) -> impl Iterator<Item = String> {
    let unknown: Vec<&str> =
        site.flows.iter().filter(|flow| !flow.has_goodput()).map(|flow| flow.id.as_str()).collect();
    let all = site.dialogues.iter().filter(|(connection, _)| connection.2);
    let (empty, count) =
        all.fold((0, 0), |(empty, count), (_, dialogue)| (empty + usize::from(!dialogue.has_data), count + 1));
    let one_way = (!unknown.is_empty()).then(|| {
        let (flows, first) = (unknown.len(), unknown.first().copied().unwrap_or_default());
        let others = if flows > 1 { format!(" and {} others", flows - 1) } else { String::new() };
        format!(
            "{first}{others}: the goodput is unknown, as one direction of the connections was captured and so no \
             acknowledgement; bytes_seen counts the captured bytes"
        )
    });
    let without_data = (empty == count && count > 0)
        .then(|| format!("TCP connections without data: {count}; their segments are counted, and they are no flows"));
    one_way.into_iter().chain(without_data)
}

/// Echoes whose requests are alike, so that an answer may belong to either of two.
fn without_round_trips(site: &Site) -> Option<String> {
    let echoes = site.dialogues.values().filter_map(|dialogue| dialogue.echo);
    let (unknown, all) =
        echoes.fold((0, 0), |(unknown, all), echo| (unknown + usize::from(!echo.has_round_trips), all + 1));
    (unknown > 0).then(|| {
        format!(
            "round trips of {unknown} of {all} echo flows are unknown: two requests with the same content awaited their \
             answers at once"
        )
    })
}

/// Parts of the measured time before the first packet and behind the last, if they are long.
fn silences(measured: &Measured) -> impl Iterator<Item = String> {
    let (from, to) = measured.window;
    let (first, last) = measured.span;
    let long = to.since(from).as_secs_f64() * SILENCE;
    let before = first.since(from).as_secs_f64();
    let after = to.since(last).as_secs_f64();
    let early = (before > long).then(|| {
        format!(
            "--from: no packet was captured in the first {before:.3} s, which count as silence; the first is at {} s",
            first.as_secs_f64()
        )
    });
    let late = (after > long).then(|| {
        format!(
            "--to: no packet was captured in the last {after:.3} s, which count as silence; the last is at {} s",
            last.as_secs_f64()
        )
    });
    early.into_iter().chain(late)
}

/// The longest time without a packet, if it is most of the measured time.
fn pause(measured: &Measured) -> Option<String> {
    let (window, (at, pause)) = (measured.window, measured.pause);
    let is_most = pause.saturating_mul(2) > window.1.since(window.0) && pause > SHORTEST_PAUSE;
    is_most.then(|| {
        format!(
            "no packet was captured for {:.3} s after {:.3} s, most of the measured time: rates are over all of it, and --from \
             and --to measure a part",
            pause.as_secs_f64(),
            at.since(window.0).as_secs_f64()
        )
    })
}

/// Frames of the air that are of no link, or no flow, and answers that are not understood.
fn without_links(air: &AirTally) -> impl Iterator<Item = String> {
    let told = [
        (
            air.unread_answers,
            "BlockAcks are for several stations or for groups, whose numbers are unknown: what they acknowledge is unknown, and the attempts \
          before them do not count",
        ),
        (
            air.direct,
            "data frames have four addresses, between access points or in a mesh: they count as frames, and neither as \
          links nor as flows",
        ),
        (air.to_groups, "data frames are for groups of stations: they count as frames, and not as flows"),
    ];
    told.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"))
}
