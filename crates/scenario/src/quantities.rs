//! Every quantity that a run measures: those of the metrics, of the hosts, of the queues and of the simulator.
//!
//! `lasthop list quantity`, `lasthop show`, the tables of the manual, the schema of result files and the names, units
//! and labels of the front end all come from this list.

use lasthop_observe::{Definition, Form, Scope, metric};
use serde_json::{Map, Value as Json, json};

pub use crate::hosts::driver::{
    PAGE_LOAD_TIME_MEAN, PAGE_LOAD_TIME_P50, PAGE_LOAD_TIME_P95, PAGES, PAGES_ABANDONED, STALL_TIME, STALLS,
    STARTUP_DELAY, VIDEO_BITRATE_MEAN, VIDEO_BITRATE_SWITCHES, VIDEO_SEGMENTS,
};
pub use crate::hosts::quic_flow::PACKETS_DECLARED_LOST;
pub use crate::hosts::reception::{DELAY_P50, DELAY_P95, DELAY_P99, DELAY_QUANTILES, JITTER, LOSS, REORDERED};
pub use crate::hosts::udp_flow::{LATE, MOS, MOUTH_TO_EAR, R_FACTOR};
pub use crate::queues::{PACKETS, WAIT_MEAN, WIRE_BUSY, WIRE_PACKETS, WIRE_WAIT_MAX, WIRE_WAIT_MEAN, WIRE_WAIT_P95};
pub use crate::run::{EVENTS, WALL_TIME};

use crate::hosts::{driver, quic_flow, reception, udp_flow};
use crate::{certificate, queues, run};

/// Their kind in `lasthop list`.
pub(crate) const KIND: &str = "quantity";

/// Every quantity, by scope in the order of [`Scope::ALL`]; names are unique within a scope.
pub fn quantities() -> Vec<&'static Definition> {
    let beside_metrics = [
        reception::QUANTITIES,
        udp_flow::QUANTITIES,
        driver::QUANTITIES,
        quic_flow::QUANTITIES,
        queues::QUANTITIES,
        run::QUANTITIES,
    ];
    let lists = metric::QUANTITIES.iter().chain(&beside_metrics);
    let mut all: Vec<&Definition> = lists.flat_map(|list| list.iter().copied()).collect();
    all.sort_by_key(|quantity| quantity.scope);
    all
}

/// The columns of a scope's table that are not quantities: name and meaning.
pub const fn identifying_columns(scope: Scope) -> &'static [(&'static str, &'static str)] {
    const NAME: (&str, &str) = ("name", "The name of the node.");
    const KIND: (&str, &str) = ("kind", "The queue discipline.");
    const LIMIT: (&str, &str) = ("limit", "The limit of the queue as the scenario writes it.");
    match scope {
        Scope::Flow => &[
            ("id", "The name of the flow, unique in a run."),
            ("station", "The name of its station."),
            ("direction", "`up` from the station to the server, `down` the other way."),
            ("transport", "`tcp`, `udp` or `quic`."),
            ("traffic", "The traffic of its application."),
            ("dscp", "Its code point."),
            ("congestion_control", "The congestion control of a TCP or QUIC flow."),
            ("congestion_control_validation", "The validation of the congestion control."),
        ],
        Scope::Node => &[NAME],
        Scope::Link => &[("node", "The name of the sender."), ("peer", "The name of the receiver.")],
        Scope::Queue => &[NAME, KIND, LIMIT],
        Scope::Wire => &[
            ("name", "The AP and the direction."),
            ("ap", "The name of the AP."),
            ("direction", "`up` to the server, `down` from it."),
            KIND,
            LIMIT,
        ],
        Scope::Totals | Scope::Medium | Scope::Simulator => &[],
    }
}

/// A quantity in the form of `list` and `show`.
pub(crate) fn quantity_json(quantity: &Definition) -> Json {
    let shown = quantity.shown();
    let places = [("summary", quantity.presence.in_summary()), ("series", quantity.presence.in_series())];
    let places: Vec<&str> = places.into_iter().filter_map(|(place, is_there)| is_there.then_some(place)).collect();
    json!({
        "kind": KIND,
        "name": quantity.path().unwrap_or_else(|| quantity.name.to_string()),
        "key": quantity.name,
        "scope": quantity.scope.word(),
        "table": quantity.scope.table(),
        "entity": quantity.scope.entity(),
        "type": quantity.kind.word(),
        "unit": quantity.unit.word(),
        "label": quantity.label,
        "shown": { "unit": shown.unit, "scale": shown.scale, "decimals": shown.decimals },
        "bound": quantity.kind.bound(),
        "in": places,
        "rare": quantity.presence.is_rare(),
        "only": quantity.only,
        "summary": first_sentence(quantity.meaning),
        "meaning": quantity.meaning,
    })
}

fn first_sentence(text: &str) -> &str {
    text.find(". ").map_or(text, |end| &text[..=end])
}

/// The quantities called `name`: a key in any scope, or a dotted name with any entity.
pub(crate) fn called(name: &str) -> Vec<&'static Definition> {
    let (table, key) = match (name.split_once('.'), name.rsplit_once('.')) {
        (Some((table, _)), Some((_, key))) => (Some(table), key),
        _ => (None, name),
    };
    let fits = |quantity: &&Definition| quantity.name == key && table.is_none_or(|t| quantity.scope.table() == t);
    quantities().into_iter().filter(fits).collect()
}

/// The JSON Schema (draft 2020-12) of a result file.
pub fn result_schema_json() -> String {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "lasthop result",
        "type": "object",
        "properties": {
            "format": { "const": 1, "description": "The version of this format: keys may be added, none is removed." },
            "lasthop": { "type": "string", "description": "The version that made it." },
            "scenario": { "type": "object", "description": "The scenario with every default filled in." },
            "warnings": texts("Warnings for readers of the results."),
            "defaults": {
                "type": "array",
                "description": "Defaults of keys left out of the file that depend on the rest of the scenario.",
                "items": record(["key", "value", "because"].map(|name| (name, json!({ "type": "string" })))),
            },
            "until": { "type": "object", "description": "The outcome of adding seeds with --until." },
            "interrupted": { "type": "boolean", "description": "Whether seeds were left out after Ctrl-C." },
            "failed": {
                "type": "array",
                "description": "Seeds that stopped.",
                "items": record([("seed", json!({ "type": "integer" })), ("error", json!({ "type": "string" }))]),
            },
            "code": {
                "type": "array",
                "description": "The files of code that the scenario brings: place of the key, file, and digest of what ran.",
                "items": record([
                    ("key", json!({ "type": "string" })),
                    ("file", json!({ "type": "string" })),
                    ("sha256", json!({ "type": "string", "pattern": "^[0-9a-f]{64}$" })),
                ]),
            },
            "runs": { "type": "array", "items": run_schema() },
            "summary": {
                "type": "object",
                "description": "Mean and 95 % confidence interval over the seeds, by the dotted name of the quantity.",
                "additionalProperties": estimate(),
            },
        },
        "required": ["format", "lasthop", "scenario", "warnings", "runs", "summary"],
    });
    serde_json::to_string_pretty(&schema).expect("a schema is plain data")
}

fn texts(description: &str) -> Json {
    json!({ "type": "array", "description": description, "items": { "type": "string" } })
}

/// An object all of whose keys are required.
fn record<const N: usize>(properties: [(&str, Json); N]) -> Json {
    let names = properties.each_ref().map(|(name, _)| name.to_string());
    let properties: Map<String, Json> = properties.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
    json!({ "type": "object", "properties": properties, "required": names.to_vec() })
}

fn estimate() -> Json {
    let number = json!({ "type": "number" });
    let end = json!({ "type": ["number", "null"], "description": "`null` with a single seed." });
    let seeds = json!({ "type": "integer", "minimum": 1, "description": "How many seeds have it." });
    record([("mean", number), ("ci95_low", end.clone()), ("ci95_high", end), ("n", seeds)])
}

fn run_schema() -> Json {
    let seed = json!({ "type": "integer", "minimum": 0 });
    let probability = json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 });
    let mut properties = Map::from_iter([("seed".to_string(), seed)]);
    properties.extend(Scope::ALL.map(|scope| (scope.table().to_string(), table_schema(scope))));
    let simulator = &mut properties["simulator"]["properties"];
    certificate::schema().into_iter().for_each(|(name, value)| simulator[name] = value);
    properties.insert(
        "quantile_probabilities".to_string(),
        json!({ "type": "array", "description": "The probabilities of all lists of quantiles.", "items": probability }),
    );
    let required: Vec<&String> = properties.keys().collect();
    let required = json!(required);
    properties.insert(
        "account".to_string(),
        json!({ "type": "object", "description": "Where the time of each flow and channel went, with --explain." }),
    );
    json!({ "type": "object", "properties": properties, "required": required })
}

/// The row of a scope, or the list of its rows.
fn table_schema(scope: Scope) -> Json {
    let columns = identifying_columns(scope);
    let measured: Vec<_> = quantities().into_iter().filter(|q| q.scope == scope && q.presence.in_summary()).collect();
    let names = columns.iter().map(|(name, meaning)| (name.to_string(), column_schema(meaning)));
    let values = measured.iter().map(|quantity| (quantity.name.to_string(), value_schema(quantity)));
    let properties: Map<String, Json> = names.chain(values).collect();
    let always = measured
        .iter()
        .filter(|quantity| quantity.only.is_none() && quantity.presence.in_every_row())
        .map(|quantity| quantity.name);
    let required: Vec<&str> = columns.iter().map(|(name, _)| *name).chain(always).collect();
    let row = json!({ "type": "object", "properties": properties, "required": required });
    if scope.entity().is_some() { json!({ "type": "array", "items": row }) } else { row }
}

fn column_schema(meaning: &str) -> Json {
    json!({ "type": ["string", "integer", "null"], "description": meaning })
}

/// A value, or `null` if there is none. No quantity is negative.
fn value_schema(quantity: &Definition) -> Json {
    let number = || json!({ "type": "number", "minimum": 0 });
    let mut schema = match quantity.form {
        Form::Count => json!({ "type": ["integer", "null"], "minimum": 0 }),
        Form::Number => json!({ "type": ["number", "null"], "minimum": 0 }),
        Form::List => json!({ "type": ["array", "null"], "items": number() }),
    };
    if let Some(bound) = quantity.kind.bound() {
        schema["maximum"] = json!(bound);
    }
    let unit = quantity.unit.word();
    let unit = if unit.is_empty() { String::new() } else { format!(" Unit: {unit}.") };
    let only = quantity.only.map_or(String::new(), |only| format!(" Only {only}."));
    schema["title"] = json!(quantity.label);
    schema["description"] = json!(format!("{}{unit}{only}", quantity.meaning));
    schema
}
