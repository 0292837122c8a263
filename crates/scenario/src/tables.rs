//! The tables of a result: the rows of a report, each with columns that identify its entity.

use lasthop_observe::{Cell as Measured, Report, Row};
use lasthop_registry::{Parameter, Value};
use serde_json::{Value as Json, json};

use crate::ResolvedScenario;
use crate::description::NodeQueue;
use crate::json::json_of;
use crate::resolved::queue_of;
use crate::run_tables::{Cell, NewRow, RunTables, Table};

/// A column that identifies the entity of a row.
pub(crate) type Column<'a> = (&'static str, Told<'a>);

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

/// Adds "flows", "totals", "nodes", "links" and "medium" of a run.
pub(crate) fn put_metrics(run: &mut RunTables, scenario: &ResolvedScenario, report: &Report) {
    run.put_rows("flows", table_of(&report.flows, |index| flow(scenario, index)));
    put_row(run, "totals", &[], &report.totals);
    run.put_rows("nodes", table_of(&report.nodes, |index| node(scenario, index)));
    run.put_rows("links", table_of(&report.links, |index| link(scenario, index)));
    put_row(run, "medium", &[], &report.medium);
}

/// Adds "queues" of a run.
pub(crate) fn put_queues(run: &mut RunTables, scenario: &ResolvedScenario, report: &Report) {
    run.put_rows("queues", table_of(&report.queues, |index| queue(scenario, index)));
}

/// Adds "wires" of a run: for each AP up, then down.
pub(crate) fn put_wires(run: &mut RunTables, scenario: &ResolvedScenario, report: &Report) {
    let mut table = Table::default();
    for (ap, rows) in report.wires.iter().enumerate() {
        for (direction, row) in ["up", "down"].into_iter().zip(rows) {
            table.push(|new| write_row(new, &wire(scenario, ap, direction), row));
        }
    }
    run.put_rows("wires", table);
}

/// Adds a single row, after the columns that identify it.
pub(crate) fn put_row<S>(run: &mut RunTables, key: &str, columns: &[Column<'_>], row: &Row<S>) {
    run.put_row(key, |new| write_row(new, columns, row));
}

fn table_of<'a, S, const N: usize>(rows: &[Row<S>], columns: impl Fn(usize) -> [Column<'a>; N]) -> Table {
    let mut table = Table::of_rows(rows.len());
    rows.iter().enumerate().for_each(|(index, row)| table.push(|new| write_row(new, &columns(index), row)));
    table
}

fn write_row<S>(new: &mut NewRow<'_>, columns: &[Column<'_>], row: &Row<S>) {
    columns.iter().for_each(|(name, told)| match told {
        Told::Text(word) => new.put(name, Cell::Text(word)),
        Told::Value(value) => new.put_json(name, value),
        Told::Nothing => new.put(name, Cell::Null),
    });
    row.values().for_each(|(quantity, measured)| put_measured(new, quantity.name, measured));
}

fn put_measured(new: &mut NewRow<'_>, name: &str, measured: &Measured) {
    match measured {
        Measured::Count(count) => match i64::try_from(*count) {
            Ok(count) => new.put(name, Cell::Whole(count)),
            Err(_) => new.put_json(name, &json!(count)),
        },
        Measured::Number(number) => new.put(name, Cell::Real(*number)),
        Measured::List(numbers) => new.put(name, Cell::List(numbers)),
        Measured::Absent => new.put(name, Cell::Null),
    }
}

fn flow(scenario: &ResolvedScenario, index: usize) -> [Column<'_>; 8] {
    let spec = &scenario.flows[index];
    let section = &spec.section;
    let control = spec.congestion_control();
    [
        ("id", Told::Text(&spec.id)),
        ("station", Told::Text(&scenario.nodes[spec.station.index()].name)),
        ("direction", Told::Text(if spec.up { "up" } else { "down" })),
        ("transport", Told::Text(section.transport.word())),
        ("traffic", Told::Text(section.traffic.name())),
        ("dscp", section.dscp.to_value().map_or(Told::Nothing, |value| Told::Value(json_of(&value)))),
        ("congestion_control", control.map(|(name, _)| name).into()),
        ("congestion_control_validation", control.map(|(_, validation)| validation).into()),
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
    let discipline = queue_of(&scenario.description.wired, direction == "up").to_value();
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

#[cfg(test)]
mod tests {
    use lasthop_observe::scope;

    use super::*;

    lasthop_observe::quantities! {
        /// Always there.
        BYTES: Medium, u64, Summary => "bytes", Count, Bytes, "bytes";
        /// There if the feature is on.
        SAVED: Medium, f64, Feature => "saved_s", Amount, Seconds, "time saved";
    }

    #[test]
    fn a_key_of_a_feature_that_is_off_is_absent_and_one_without_a_value_is_null() {
        let json = |is_on: bool, saved: Option<f64>| {
            let mut row: Row<scope::Medium> = Row::default();
            row.put(BYTES, 3);
            if is_on {
                row.put_of_feature(SAVED, saved);
            }
            let mut run = RunTables::default();
            put_row(&mut run, "medium", &[], &row);
            run.json()
        };
        assert_eq!(json(false, None), r#"{"medium":{"bytes":3}}"#);
        assert_eq!(json(true, None), r#"{"medium":{"bytes":3,"saved_s":null}}"#);
        assert_eq!(json(true, Some(0.5)), r#"{"medium":{"bytes":3,"saved_s":0.5}}"#);
        let of_all = QUANTITIES.iter().map(|quantity| quantity.presence.in_every_row());
        assert!(of_all.eq([true, false]) && QUANTITIES.iter().all(|quantity| quantity.presence.in_summary()));
    }
}
