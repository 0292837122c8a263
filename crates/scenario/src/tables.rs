//! The tables of a result: the rows of a report as JSON, each with what tells whose it is.

use lasthop_observe::{Cell, Report, Row};
use lasthop_registry::{Parameter, Value};
use serde_json::{Value as Json, json};

use crate::ResolvedScenario;
use crate::description::{NodeQueue, TransportWord};
use crate::json::json_of;
use crate::text::Text;

type Column = (&'static str, Json);

/// "flows", "totals", "nodes", "links" and "medium" of a run.
pub(crate) fn write_metrics(text: &mut Text, scenario: &ResolvedScenario, report: &Report) {
    write_rows(text.key("flows"), &report.flows, |index| flow(scenario, index));
    write_row(text.key("totals"), [], &report.totals);
    write_rows(text.key("nodes"), &report.nodes, |index| node(scenario, index));
    write_rows(text.key("links"), &report.links, |index| link(scenario, index));
    write_row(text.key("medium"), [], &report.medium);
}

/// "queues" of a run.
pub(crate) fn write_queues(text: &mut Text, scenario: &ResolvedScenario, report: &Report) {
    write_rows(text.key("queues"), &report.queues, |index| queue(scenario, index));
}

/// "wires" of a run: of each AP up, then down.
pub(crate) fn write_wires(text: &mut Text, scenario: &ResolvedScenario, report: &Report) {
    text.key("wires").list(|text| {
        for (ap, rows) in report.wires.iter().enumerate() {
            for (way, row) in ["up", "down"].into_iter().zip(rows) {
                write_row(text, wire(scenario, ap, way), row);
            }
        }
    });
}

fn write_rows<S, const N: usize>(text: &mut Text, rows: &[Row<S>], columns: impl Fn(usize) -> [Column; N]) {
    text.list(|text| rows.iter().enumerate().for_each(|(index, row)| write_row(text, columns(index), row)));
}

/// A row behind the columns that tell whose it is.
pub(crate) fn write_row<S, const N: usize>(text: &mut Text, columns: [Column; N], row: &Row<S>) {
    text.table(|text| {
        columns.iter().for_each(|(name, value)| text.key(name).value(value));
        row.values().for_each(|(quantity, cell)| write_cell(text.key(quantity.name), cell));
    });
}

fn write_cell(text: &mut Text, cell: &Cell) {
    match cell {
        Cell::Count(count) => text.count(*count),
        Cell::Number(number) => text.number(*number),
        Cell::List(numbers) => text.list(|text| numbers.iter().for_each(|number| text.number(*number))),
        Cell::Absent => text.value(&Json::Null),
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
