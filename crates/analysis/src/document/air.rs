//! Parts of the table `capture` about the air and its sniffer.

use lasthop_units::Duration;
use serde_json::{Map, Value as Json, json};

use super::measured::{Measured, behind};
use crate::cause::Cause;
use crate::ppdu::Kind;
use crate::site::Site;
use crate::stamps::{Mark, Stamps};
use crate::tally::AirTally;

/// Frames that the sniffer of the air missed.
pub(super) fn missed(site: &Site, measured: &Measured) -> Json {
    let missed = &measured.air.missed;
    let fraction = measured.missed_fraction();
    // Packets cut off by the snap length existed without being seen.
    let has_tcp = site.flows.iter().any(|flow| flow.is_tcp);
    let is_told = site.air.is_some() && has_tcp && !measured.air.is_cut_off;
    let bytes: u64 = measured.flows.iter().map(|flow| flow.never_seen_bytes).sum();
    json!({
        "fraction": fraction.map(|f| f.0),
        "fraction_low": fraction.map(|f| f.1),
        "fraction_high": fraction.map(|f| f.2),
        "mpdus_acknowledged": missed.acknowledged,
        "mpdus_acknowledged_unheard": missed.unheard,
        "sequence_numbers": missed.numbers,
        "sequence_numbers_never_heard": missed.numbers_never_heard,
        "tcp_bytes_never_seen": is_told.then_some(bytes),
    })
}

pub(super) fn air_row(measured: &Measured) -> Json {
    let Measured { air, stamps, is_fcs_doubted, .. } = measured;
    let causes = Cause::ALL.iter().filter_map(|(cause, name)| Some((*name, *air.causes.get(cause)?)));
    let (flag_without_fcs, fcs_without_flag) = is_fcs_doubted.unwrap_or_default();
    json!({
        "frames": air.frames,
        "bytes": air.bytes,
        "frames_retried": air.frames_retried,
        "frames_with_bad_fcs": air.bad_fcs,
        "frames_captured_twice": air.captured_twice,
        "ppdus": air.lasting.all,
        "ppdus_of_unknown_duration": air.lasting.unknown,
        "ppdus_of_known_duration_fraction": air.lasting.fraction(),
        "attempts_of_known_rate_fraction": air.rated().fraction(),
        "ppdus_of_unknown_mode": causes.map(|(name, count)| (name.to_string(), json!(count))).collect::<Map<_, _>>(),
        "airtime_of_unknown_senders_s": air.lasting.suffices().then(|| air.airtime_of_others.as_secs_f64()),
        "fcs_flag_without_fcs": flag_without_fcs,
        "fcs_without_flag": fcs_without_flag,
        "stamps": stamps_row(stamps),
    })
}

/// The clock of the sniffer.
fn stamps_row(stamps: &Stamps) -> Json {
    let mark = stamps.mark.map(|mark| if mark == Mark::Begin { "begin" } else { "end" });
    json!({
        "mark": mark,
        "step_s": stamps.step.map(Duration::as_secs_f64),
        "jitter_s": stamps.jitter.map(Duration::as_secs_f64),
        "exchanges": stamps.exchanges,
        "is_coarse": stamps.is_coarse(),
        "is_disordered": stamps.is_disordered,
    })
}

/// Pairs of nodes of which one began to send while the other was sending, with counts.
pub(super) fn hidden_pairs(site: &Site, air: &AirTally) -> Vec<Json> {
    let name = |node: u32| json!(site.nodes[node as usize].name);
    let of = |(&(sends, begins), &times): (&(u32, u32), &u64)| {
        let all = air.hidden.begun.get(&begins).copied().unwrap_or(0);
        json!({"node": name(begins), "unheard": name(sends), "ppdus_begun_during": times, "ppdus_begun": all})
    };
    air.hidden.pairs.iter().map(of).collect()
}

/// Seconds on the air of each node by kind of frame.
pub(super) fn airtime(site: &Site, air: &AirTally) -> Vec<Json> {
    let of = |node: u32| {
        let kinds = Kind::ALL.iter().map(|(kind, name)| {
            let spent = air.spent.get(&(node, *kind)).copied().unwrap_or_default();
            (name.to_string(), json!(spent.lasting.suffices().then(|| spent.time.as_secs_f64())))
        });
        behind([("name", json!(site.nodes[node as usize].name))], kinds.collect())
    };
    (0..site.nodes.len() as u32).map(of).collect()
}
