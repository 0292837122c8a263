//! The tables of a capture: those of a run, and `capture`, which runs do not have.

mod air;
mod capture;
mod measured;
mod notes;

use lasthop_observe::{Cell, Definition, PROBABILITIES, Row, Scope, Series};
use lasthop_units::{Duration, Time};
use serde_json::{Map, Value as Json, json};

pub(crate) use self::measured::Measured;
use self::measured::{Damages, behind, ends_of, map_of};
use crate::site::{Flow, Site};

/// The analysis of captures.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// The run in the form of result files, with `capture` beside its tables.
    pub run: serde_json::Value,
    /// Time series.
    pub series: Vec<Table>,
    /// Notes for a reader of the tables: a sentence each.
    pub notes: Vec<String>,
}

/// One quantity of several entities over time.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its definition.
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

pub(crate) fn write(site: &Site, measured: &Measured, damages: Damages, interval: Option<Duration>) -> Analysis {
    let Measured { window, report, series, .. } = measured;
    let has_air = site.air.is_some();
    let medium = if has_air { row(&report.medium) } else { absent(row(&report.medium)) };
    let notes = notes::notes(site, measured, &damages);
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
        "simulator": {"kind": "capture", "sniffer_loss": measured.missed_fraction().map(|fraction| fraction.0)},
        "capture": capture::capture(site, measured, &damages),
    });
    let table = |series: &Series| tables(site, series, window.0, interval.unwrap_or(Duration::ZERO));
    Analysis { run: Json::Object(map_of(run)), series: series.as_ref().map(table).unwrap_or_default(), notes }
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

fn flow_row(flow: &Flow, own: &Row<lasthop_observe::scope::Flow>) -> Json {
    let columns = [
        ("id", json!(flow.id)),
        ("station", json!(flow.station)),
        ("direction", json!(if flow.up { "up" } else { "down" })),
        ("transport", json!(if flow.is_tcp { "tcp" } else { "udp" })),
        ("traffic", if flow.is_echo { json!("ping") } else { Json::Null }),
        ("dscp", Json::Null),
        ("congestion_control", Json::Null),
        ("congestion_control_validation", Json::Null),
    ];
    behind(columns, row(own))
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
