//! The tables of a result: the rows of a report as JSON, each with what tells whose it is.

use lasthop_observe::{Cell, Report, Row};
use lasthop_registry::{Parameter, Value};
use serde_json::{Map, Value as Json, json};

use crate::ResolvedScenario;
use crate::description::{NodeQueue, TransportWord};
use crate::json::json_of;

type Column = (&'static str, Json);

/// "flows", "totals", "nodes", "links" and "medium" of a run.
pub(crate) fn metrics(scenario: &ResolvedScenario, report: &Report) -> Map<String, Json> {
    let rows = [
        ("flows", report.flows.iter().enumerate().map(|(i, row)| row_with(flow(scenario, i), row)).collect()),
        ("totals", row_with([], &report.totals)),
        ("nodes", report.nodes.iter().enumerate().map(|(i, row)| row_with(node(scenario, i), row)).collect()),
        ("links", report.links.iter().enumerate().map(|(i, row)| row_with(link(scenario, i), row)).collect()),
        ("medium", row_with([], &report.medium)),
    ];
    rows.map(|(name, rows)| (name.to_string(), rows)).into_iter().collect()
}

/// "queues" of a run.
pub(crate) fn queues(scenario: &ResolvedScenario, report: &Report) -> Json {
    report.queues.iter().enumerate().map(|(i, row)| row_with(queue(scenario, i), row)).collect()
}

/// "wires" of a run: of each AP up, then down.
pub(crate) fn wires(scenario: &ResolvedScenario, report: &Report) -> Json {
    let both = |(ap, rows)| ["up", "down"].into_iter().zip(rows).map(move |(way, row)| (ap, way, row));
    let wires = report.wires.iter().enumerate().flat_map(both);
    wires.map(|(ap, way, row)| row_with(wire(scenario, ap, way), row)).collect()
}

/// A row behind the columns that tell whose it is.
pub(crate) fn row_with<S, const N: usize>(columns: [Column; N], row: &Row<S>) -> Json {
    let columns = columns.into_iter().map(|(name, value)| (name.to_string(), value));
    let values = row.values().map(|(quantity, cell)| (quantity.name.to_string(), cell_json(cell)));
    Json::Object(columns.chain(values).collect())
}

fn cell_json(cell: &Cell) -> Json {
    match cell {
        Cell::Count(count) => json!(count),
        Cell::Number(number) => json!(number),
        Cell::List(numbers) => json!(numbers),
        Cell::Absent => Json::Null,
    }
}

fn flow(scenario: &ResolvedScenario, index: usize) -> [Column; 8] {
    let spec = &scenario.flows[index];
    let section = &spec.section;
    let control = &spec.tcp.config.congestion_control;
    let tcp = section.transport == TransportWord::Tcp;
    [
        ("id", json!(spec.id)),
        ("station", json!(scenario.nodes[spec.station.index()].name)),
        ("direction", json!(if spec.up { "up" } else { "down" })),
        ("transport", json!(section.transport.word())),
        ("traffic", json!(section.traffic.name())),
        ("dscp", section.dscp.to_value().map_or(Json::Null, |value| json_of(&value))),
        ("congestion_control", if tcp { json!(control.name()) } else { Json::Null }),
        ("congestion_control_validation", if tcp { json!(control.validation()) } else { Json::Null }),
    ]
}

fn node(scenario: &ResolvedScenario, index: usize) -> [Column; 1] {
    [("name", json!(scenario.nodes[index].name))]
}

fn link(scenario: &ResolvedScenario, index: usize) -> [Column; 2] {
    let (sender, receiver) = scenario.link_ends(index);
    [("node", json!(sender)), ("peer", json!(receiver))]
}

fn queue(scenario: &ResolvedScenario, index: usize) -> [Column; 3] {
    let node = &scenario.nodes[index];
    let (kind, limit) = match &node.queue {
        NodeQueue::Discipline(kind) => (json!(kind.name()), limit_of(kind.to_value())),
        NodeQueue::Backpressure => (json!("backpressure"), Json::Null),
    };
    [("name", json!(node.name)), ("kind", kind), ("limit", limit)]
}

fn wire(scenario: &ResolvedScenario, ap: usize, direction: &str) -> [Column; 5] {
    let discipline = scenario.description.wired.queue.to_value();
    let kind = discipline.as_ref().and_then(|value| value.get("kind"));
    let ap = &scenario.nodes[ap].name;
    [
        ("name", json!(format!("{ap}.{direction}"))),
        ("ap", json!(ap)),
        ("direction", json!(direction)),
        ("kind", kind.map_or(Json::Null, json_of)),
        ("limit", limit_of(discipline)),
    ]
}

/// The limit of a queue discipline as a scenario writes it.
fn limit_of(discipline: Option<Value>) -> Json {
    discipline.and_then(|value| value.get("limit").map(json_of)).unwrap_or(Json::Null)
}
