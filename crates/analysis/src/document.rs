//! The tables of a capture: those of a run, and `capture`, which a run does not have.

use lasthop_observe::metric::frames::LINK_DATA_RATE_MEAN;
use lasthop_observe::{Cell, Definition, LinkId, PROBABILITIES, Report, Row, Scope, Series};
use lasthop_units::{Duration, Time};
use serde_json::{Map, Value as Json, json};

use crate::air::AirTally;
use crate::flows::{FlowTally, load_bps};
use crate::frame::FileSeen;
use crate::input::Damage;
use crate::ppdu::Kind;
use crate::site::{Flow, Site};
use crate::tcp::{Reason, StallTally};

/// What captures told.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// The run, as result files have it, with `capture` beside its tables.
    pub run: serde_json::Value,
    /// Time series.
    pub series: Vec<Table>,
    /// What who reads the tables should know: a sentence each.
    pub notes: Vec<String>,
}

/// One quantity of several things over time.
#[derive(Clone, Debug)]
pub struct Table {
    /// Which.
    pub quantity: &'static Definition,
    /// Ids of flows, names of nodes, or "sender->receiver" of links.
    pub entities: Vec<String>,
    /// The time of the first row in seconds.
    pub start_s: f64,
    /// The time between rows in seconds.
    pub interval_s: f64,
    /// Row-major: times by entities; NaN where there is no value.
    pub values: Vec<f64>,
}

/// What the second pass has measured.
pub(crate) struct Measured {
    pub window: (Time, Time),
    pub report: Report,
    pub series: Option<Series>,
    pub air: AirTally,
    pub flows: Vec<FlowTally>,
    pub files: Vec<FileSeen>,
}

/// Damage of each file, by its name.
type Damages = Vec<(String, Damage)>;

pub(crate) fn write(site: &Site, measured: &Measured, damages: Damages, interval: Option<Duration>) -> Analysis {
    let Measured { window, report, series, .. } = measured;
    let has_air = site.air.is_some();
    let medium = if has_air { row(&report.medium) } else { absent(row(&report.medium)) };
    let notes = notes(site, measured, &damages);
    let run = json!({
        "seed": 0,
        "flows": site.flows.iter().zip(&report.flows).map(|(flow, own)| flow_row(flow, own)).collect::<Vec<_>>(),
        "totals": row(&report.totals),
        "nodes": site.nodes.iter().zip(&report.nodes).map(|(node, own)| {
            behind([("name", json!(node.name))], row(own))
        }).collect::<Vec<_>>(),
        "links": site.link_ends.iter().zip(&report.links).map(|(ends, own)| behind(ends_of(site, *ends), row(own)))
            .collect::<Vec<_>>(),
        "medium": medium,
        "queues": [],
        "wires": [],
        "quantile_probabilities": PROBABILITIES,
        "simulator": {"kind": "capture", "sniffer_loss": measured.air.missed.fraction().map(|f| f.0)},
        "capture": capture(site, measured, &damages),
    });
    let table = |series: &Series| tables(site, series, window.0, interval.unwrap_or(Duration::ZERO));
    Analysis { run: Json::Object(map_of(run)), series: series.as_ref().map(table).unwrap_or_default(), notes }
}

fn map_of(value: Json) -> Map<String, Json> {
    if let Json::Object(map) = value { map } else { Map::new() }
}

/// A row of a report.
fn row<S>(row: &Row<S>) -> Map<String, Json> {
    let cell = |cell: &Cell| match cell {
        Cell::Count(count) => json!(count),
        Cell::Number(number) => json!(number),
        Cell::List(numbers) => json!(numbers),
        Cell::Absent => Json::Null,
    };
    row.values().map(|(quantity, value)| (quantity.name.to_string(), cell(value))).collect()
}

fn absent(row: Map<String, Json>) -> Map<String, Json> {
    row.into_iter().map(|(name, _)| (name, Json::Null)).collect()
}

/// A row behind what tells whose it is.
fn behind<const N: usize>(columns: [(&str, Json); N], row: Map<String, Json>) -> Json {
    let columns = columns.into_iter().map(|(name, value)| (name.to_string(), value));
    Json::Object(columns.chain(row).collect())
}

fn ends_of(site: &Site, (from, to): (u32, u32)) -> [(&'static str, Json); 2] {
    let name = |node: u32| json!(site.nodes[node as usize].name);
    [("node", name(from)), ("peer", name(to))]
}

fn flow_row(flow: &Flow, own: &Row<lasthop_observe::scope::Flow>) -> Json {
    let columns = [
        ("id", json!(flow.id)),
        ("station", json!(flow.station)),
        ("direction", json!(if flow.up { "up" } else { "down" })),
        ("transport", json!(if flow.is_tcp { "tcp" } else { "udp" })),
        ("traffic", Json::Null),
        ("dscp", Json::Null),
        ("congestion_control", Json::Null),
        ("congestion_control_validation", Json::Null),
    ];
    behind(columns, row(own))
}

/// A quotient; none where there is nothing to divide by.
fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

fn capture(site: &Site, measured: &Measured, damages: &Damages) -> Json {
    let Measured { window, report, air, .. } = measured;
    let files = measured.files.iter().zip(damages).map(|(file, (name, damage))| {
        json!({
            "name": name,
            "packets": file.packets,
            "frames_of_802_11": file.heard,
            "packets_of_a_wire": file.wired,
            "packets_unread": file.unread,
            "records_wrong": damage.records,
            "packets_out_of_order": damage.out_of_order,
        })
    });
    let told = site.link_ends.iter().zip(&air.links).zip(&report.links).enumerate();
    let links = told.map(|(link, ((ends, tally), own))| {
        let steps = air.steps.get(&LinkId(link as u32)).copied().unwrap_or_default();
        let attempts: u64 = tally.rates.values().map(|(attempts, _)| attempts).sum();
        let mean = own.get(LINK_DATA_RATE_MEAN).map(|mean| (mean, attempts as f64));
        let rates: Vec<_> =
            tally.rates.iter().map(|(rate, (attempts, mpdus))| json!([rate, attempts, mpdus])).collect();
        let sent = tally.modes.to_json();
        let tally = json!({
            "mpdus": tally.mpdus,
            "mpdus_retried": tally.mpdus_retried,
            "mpdus_protected": tally.mpdus_protected,
            "mpdus_protected_short": tally.mpdus_short,
            "rts_unanswered": tally.rts_unanswered,
            "rts_guessed": tally.rts_open.guessed,
            "rts_ambiguous": tally.rts_open.ambiguous,
            "mean_data_rate_low_bps": mean.map(|(mean, attempts)| mean - tally.rts_open.rates_below as f64 / attempts),
            "mean_data_rate_high_bps": mean.map(|(mean, attempts)| mean + tally.rts_open.rates_above as f64 / attempts),
            "rate_steps_up": steps.up,
            "rate_steps_down": steps.down,
            "rate_steps_down_after_retry": steps.down_after_retry,
            "rates": rates,
            "sent": sent,
        });
        behind(ends_of(site, *ends), map_of(tally))
    });
    let flows = site.flows.iter().zip(&measured.flows).map(|(flow, tally)| {
        let tcp = if flow.is_tcp { tcp_row(site, flow, tally, report, window.1.since(window.0)) } else { Map::new() };
        behind([("id", json!(flow.id)), ("load", tally.load.to_json(tally.mss))], tcp)
    });
    json!({
        "from_s": window.0.as_secs_f64(),
        "to_s": window.1.as_secs_f64(),
        "files": files.collect::<Vec<_>>(),
        "missed": missed(site, measured),
        "air": site.air.map(|_| air_row(air)),
        "aps": site.aps,
        "stations": stations(site),
        "channels_mhz": site.channels,
        "airtime": site.air.map_or_else(Vec::new, |_| airtime(site, air)),
        "links": links.collect::<Vec<_>>(),
        "hidden_pairs": hidden_pairs(site, air),
        "flows": flows.collect::<Vec<_>>(),
    })
}

/// Each station with its AP.
fn stations(site: &Site) -> Vec<Json> {
    let nodes = site.nodes.iter().skip(site.aps);
    nodes.map(|node| json!({ "name": node.name, "ap": site.nodes[node.ap as usize].name })).collect()
}

/// What the sniffer of the air missed.
fn missed(site: &Site, measured: &Measured) -> Json {
    let missed = &measured.air.missed;
    let fraction = missed.fraction();
    // Packets that were cut off were there, and were not seen.
    let is_told = site.air.is_some() && !measured.air.is_cut_off;
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

fn air_row(air: &AirTally) -> Json {
    json!({
        "frames": air.frames,
        "frames_retried": air.frames_retried,
        "frames_with_bad_fcs": air.bad_fcs,
        "frames_captured_twice": air.captured_twice,
        "ppdus": air.ppdus,
        "ppdus_of_unknown_duration": air.unknown_duration,
        "airtime_of_unknown_senders_s": air.airtime_of_others.as_secs_f64(),
    })
}

/// Who began to send while another was sending, and how often it might have.
fn hidden_pairs(site: &Site, air: &AirTally) -> Vec<Json> {
    let name = |node: u32| json!(site.nodes[node as usize].name);
    let of = |(&(sends, begins), &times): (&(u32, u32), &u64)| {
        let all = air.hidden.begun.get(&begins).copied().unwrap_or(0);
        json!({"node": name(begins), "unheard": name(sends), "ppdus_begun_during": times, "ppdus_begun": all})
    };
    air.hidden.pairs.iter().map(of).collect()
}

/// Seconds on the air of each node by kind of frame.
fn airtime(site: &Site, air: &AirTally) -> Vec<Json> {
    let of = |node: u32| {
        let kinds = Kind::ALL.iter().map(|(kind, name)| {
            let spent = air.airtime.get(&(node, *kind)).copied().unwrap_or_default();
            (name.to_string(), json!(spent.as_secs_f64()))
        });
        behind([("name", json!(site.nodes[node as usize].name))], kinds.collect())
    };
    (0..site.nodes.len() as u32).map(of).collect()
}

fn tcp_row(site: &Site, flow: &Flow, tally: &FlowTally, report: &Report, covered: Duration) -> Map<String, Json> {
    let flight_bytes = ratio(tally.flight, covered.as_nanos() as f64);
    let flight_segments = flight_bytes.and_then(|bytes| ratio(bytes, tally.mss.into()));
    let rtt_s = tally.rtt_beyond.mean_s();
    let load = flight_segments.zip(rtt_s).and_then(|(n, rtt)| load_bps(n, Duration::from_secs_f64(rtt)));
    let rate = flow.node.and_then(|node| {
        let ap = site.nodes[node as usize].ap;
        let link = if flow.up { site.link(node, ap) } else { site.link(ap, node) };
        report.links[link?.index()].get(LINK_DATA_RATE_MEAN)
    });
    let row = json!({
        "rtt_beyond_mean_s": rtt_s,
        "rtt_beyond_p95_s": tally.rtt_beyond.quantile_s(0.95),
        "rtt_by_timestamps_mean_s": tally.rtt_by_timestamps.mean_s(),
        "rtt_before_mean_s": tally.rtt_before.mean_s(),
        "rtt_before_min_s": tally.rtt_before_least.map(|least| least.as_secs_f64()),
        "segments_seen": tally.segments,
        "retransmissions_seen": tally.retransmissions,
        "acks": tally.acks,
        "ack_jumps": tally.ack_jumps,
        "duplicate_acks": tally.duplicate_acks,
        "segments_spurious": tally.spurious,
        "segments_spurious_by_timestamps": tally.spurious_by_timestamps,
        "segments_out_of_order": tally.out_of_order,
        "flight_mean_bytes": flight_bytes,
        "flight_mean_segments": flight_segments,
        "receive_window_min_bytes": tally.window.least,
        "receive_window_mean_bytes": tally.window.mean(),
        "receive_window_max_bytes": tally.window.least.map(|_| tally.window.most),
        "zero_windows": tally.window.zero,
        "windows_unscaled": tally.window.unscaled,
        "stalls": stalls(&tally.stalls),
        "load_bps": load,
        "load_over_mac_rate": load.zip(rate).and_then(|(load, rate)| ratio(load, rate)),
    });
    map_of(row)
}

/// How often and for how many seconds the sender sent nothing, by reason.
fn stalls(tally: &StallTally) -> Json {
    let of = |((_, name), (count, lasted)): (&(Reason, &str), &(u64, Duration))| {
        (name.to_string(), json!({"count": count, "total_s": lasted.as_secs_f64()}))
    };
    Json::Object(Reason::ALL.iter().zip(&tally.by_reason).map(of).collect())
}

fn tables(site: &Site, series: &Series, from: Time, interval: Duration) -> Vec<Table> {
    let name = |scope: Scope, place: usize| match scope {
        Scope::Flow => site.flows[place].id.clone(),
        Scope::Link => {
            let (from, to) = site.link_ends[place];
            format!("{}->{}", site.nodes[from as usize].name, site.nodes[to as usize].name)
        }
        _ => site.nodes[place].name.clone(),
    };
    let blocks = series.blocks.iter().filter(|block| !block.entities.is_empty());
    blocks
        .map(|block| Table {
            quantity: block.quantity,
            entities: block.entities.iter().map(|&place| name(block.quantity.scope, place as usize)).collect(),
            start_s: (from + interval).as_secs_f64(),
            interval_s: interval.as_secs_f64(),
            values: block.values.clone(),
        })
        .collect()
}

/// What who reads the tables should know.
fn notes(site: &Site, measured: &Measured, damages: &Damages) -> Vec<String> {
    let mut notes = Vec::new();
    for ((name, damage), (place, file)) in damages.iter().zip(measured.files.iter().enumerate()) {
        if let Some(first) = &damage.first {
            notes.push(format!("{name}: {} wrong records are left out, the first: {first}", damage.records));
        }
        if damage.out_of_order > 0 {
            notes.push(format!("{name}: {} packets are before those in front of them", damage.out_of_order));
        }
        if file.unread > 0 {
            notes.push(format!("{name}: {} of {} packets do not parse and are left out", file.unread, file.packets));
        }
        if file.heard > 0 && site.air != Some(place) {
            notes.push(format!("{name}: is left out: another capture of the air has more frames"));
        }
    }
    let air = &measured.air;
    if air.unknown_duration > 0 {
        let (unknown, all) = (air.unknown_duration, air.ppdus);
        notes.push(format!("radiotap does not say how long {unknown} of {all} PPDUs lasted; they are left out"));
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
