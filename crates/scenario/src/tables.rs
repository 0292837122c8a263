//! The tables of a result: the rows of a report as JSON, each with columns that identify its
//! entity.

use lasthop_observe::{Cell, Report, Row};
use lasthop_registry::{Parameter, Value};
use serde_json::{Value as Json, json};

use crate::ResolvedScenario;
use crate::description::{NodeQueue, TransportWord};
use crate::json::json_of;
use crate::text::Text;

/// A column that identifies the entity of a row.
type Column<'a> = (&'static str, Told<'a>);

pub(crate) enum Told<'a> {
    Text(&'a str),
    Value(Json),
    Nothing,
}

impl<'a> From<Option<&'a str>> for Told<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Told::Nothing, Told::Text)
    }
}

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

/// "wires" of a run: for each AP up, then down.
pub(crate) fn write_wires(text: &mut Text, scenario: &ResolvedScenario, report: &Report) {
    text.key("wires").list(|text| {
        for (ap, rows) in report.wires.iter().enumerate() {
            for (way, row) in ["up", "down"].into_iter().zip(rows) {
                write_row(text, wire(scenario, ap, way), row);
            }
        }
    });
}

fn write_rows<'a, S, const N: usize>(text: &mut Text, rows: &[Row<S>], columns: impl Fn(usize) -> [Column<'a>; N]) {
    text.list(|text| rows.iter().enumerate().for_each(|(index, row)| write_row(text, columns(index), row)));
}

/// Writes a row after the columns that identify its entity.
pub(crate) fn write_row<S, const N: usize>(text: &mut Text, columns: [Column<'_>; N], row: &Row<S>) {
    text.table(|text| {
        columns.iter().for_each(|(name, told)| match told {
            Told::Text(word) => text.name(name).text(word),
            Told::Value(value) => text.name(name).value(value),
            Told::Nothing => text.name(name).null(),
        });
        row.values().for_each(|(quantity, cell)| write_cell(text.name(quantity.name), cell));
    });
}

fn write_cell(text: &mut Text, cell: &Cell) {
    match cell {
        Cell::Count(count) => text.count(*count),
        Cell::Number(number) => text.number(*number),
        Cell::List(numbers) => text.list(|text| numbers.iter().for_each(|number| text.number(*number))),
        Cell::Absent => text.null(),
    }
}

fn flow(scenario: &ResolvedScenario, index: usize) -> [Column<'_>; 8] {
    let spec = &scenario.flows[index];
    let section = &spec.section;
    let control = &spec.tcp.config.congestion_control;
    let tcp = section.transport == TransportWord::Tcp;
    [
        ("id", Told::Text(&spec.id)),
        ("station", Told::Text(&scenario.nodes[spec.station.index()].name)),
        ("direction", Told::Text(if spec.up { "up" } else { "down" })),
        ("transport", Told::Text(section.transport.word())),
        ("traffic", Told::Text(section.traffic.name())),
        ("dscp", section.dscp.to_value().map_or(Told::Nothing, |value| Told::Value(json_of(&value)))),
        ("congestion_control", tcp.then(|| control.name()).into()),
        ("congestion_control_validation", tcp.then(|| control.validation()).into()),
    ]
}

fn node(scenario: &ResolvedScenario, index: usize) -> [Column<'_>; 1] {
    [("name", Told::Text(&scenario.nodes[index].name))]
}

fn link(scenario: &ResolvedScenario, index: usize) -> [Column<'_>; 2] {
    let (sender, receiver) = scenario.link_ends(index);
    [("node", Told::Text(sender)), ("peer", Told::Text(receiver))]
}

fn queue(scenario: &ResolvedScenario, index: usize) -> [Column<'_>; 3] {
    let node = &scenario.nodes[index];
    let (kind, limit) = match &node.queue {
        NodeQueue::Discipline(kind) => (kind.name(), limit_of(kind.to_value())),
        NodeQueue::Backpressure => ("backpressure", Told::Nothing),
    };
    [("name", Told::Text(&node.name)), ("kind", Told::Text(kind)), ("limit", limit)]
}

fn wire<'a>(scenario: &'a ResolvedScenario, ap: usize, direction: &'a str) -> [Column<'a>; 5] {
    let discipline = scenario.description.wired.queue.to_value();
    let kind = discipline.as_ref().and_then(|value| value.get("kind"));
    let ap = &scenario.nodes[ap].name;
    [
        ("name", Told::Value(json!(format!("{ap}.{direction}")))),
        ("ap", Told::Text(ap)),
        ("direction", Told::Text(direction)),
        ("kind", kind.map_or(Told::Nothing, |kind| Told::Value(json_of(kind)))),
        ("limit", limit_of(discipline)),
    ]
}

/// The limit of a queue discipline as written in a scenario.
fn limit_of(discipline: Option<Value>) -> Told<'static> {
    discipline.and_then(|value| value.get("limit").map(json_of)).map_or(Told::Nothing, Told::Value)
}
