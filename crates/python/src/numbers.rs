//! Every number of runs by its dotted name, such as `flows.sta1.up.goodput_bps`.

use lasthop_scenario::{Cell, Part, Row, RunTables};
use pyo3::prelude::*;
use serde_json::Value as Json;

/// The part without metrics: the account of time, whose seconds have names elsewhere.
const NO_NUMBERS: &str = "account";

/// A finite number.
#[derive(Clone, Copy, IntoPyObject)]
pub(crate) enum Number {
    Whole(i64),
    Count(u64),
    Real(f64),
}

/// Calls `take` with the name of each number of `run`; `None` for a value that is null. `parts`: the keys whose numbers
/// are wanted, if not all.
pub(crate) fn named(run: &RunTables, parts: Option<&[String]>, take: &mut dyn FnMut(&str, Option<Number>)) {
    let is_wanted = |key: &str| key != NO_NUMBERS && parts.is_none_or(|parts| parts.iter().any(|part| part == key));
    let mut name = String::new();
    for (key, part) in run.parts().filter(|(key, _)| is_wanted(key)) {
        name.clear();
        name.push_str(key);
        match part {
            Part::Value(value) => in_json(&mut name, value, take),
            Part::Row(table) => in_row(&mut name, table.row(0), take),
            Part::Rows(table) => {
                for row in table.rows() {
                    let length = name.len();
                    if push_entity(&mut name, |key| row.get(key).and_then(text_of_cell)) {
                        in_row(&mut name, row, take);
                    }
                    name.truncate(length);
                }
            }
        }
    }
}

fn in_row(name: &mut String, row: Row<'_>, take: &mut dyn FnMut(&str, Option<Number>)) {
    let length = name.len();
    for (key, cell) in row.cells() {
        name.push('.');
        name.push_str(key);
        match cell {
            Cell::Null => take(name, None),
            Cell::Whole(whole) => take(name, Some(Number::Whole(whole))),
            Cell::Real(real) => take(name, Some(Number::Real(real))),
            Cell::Text(_) | Cell::List(_) => {}
            Cell::Json(value) => in_json(name, value, take),
        }
        name.truncate(length);
    }
}

fn in_json(name: &mut String, value: &Json, take: &mut dyn FnMut(&str, Option<Number>)) {
    let length = name.len();
    match value {
        Json::Null => take(name, None),
        Json::Bool(_) | Json::String(_) => {}
        Json::Number(number) => {
            let whole = number.as_i64().map(Number::Whole).or(number.as_u64().map(Number::Count));
            take(name, whole.or(number.as_f64().map(Number::Real)));
        }
        Json::Array(items) => {
            for item in items.iter().filter(|item| item.is_object()) {
                if push_entity(name, |key| item.get(key).and_then(text_of_json)) {
                    in_json(name, item, take);
                }
                name.truncate(length);
            }
        }
        Json::Object(entries) => {
            for (key, value) in entries {
                name.push('.');
                name.push_str(key);
                in_json(name, value, take);
                name.truncate(length);
            }
        }
    }
}

/// Adds the name of a row; false if it has none, such as pairs of nodes in results of captures.
fn push_entity(name: &mut String, get: impl Fn(&str) -> Option<String>) -> bool {
    let entity = get("id").or_else(|| match (get("node"), get("peer")) {
        (Some(node), Some(peer)) => Some(format!("{node}.{peer}")),
        _ => get("name"),
    });
    let Some(entity) = entity else { return false };
    name.push('.');
    name.push_str(&entity);
    true
}

fn text_of_cell(cell: Cell<'_>) -> Option<String> {
    match cell {
        Cell::Text(text) => Some(text.to_string()),
        other => text_of_json(&other.to_json()),
    }
}

fn text_of_json(value: &Json) -> Option<String> {
    match value {
        Json::Null => None,
        Json::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}
