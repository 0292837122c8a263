//! Every key of a scenario file with values of its kind, including its limits, read from the
//! schema.

use lasthop_scenario::schema_json;
use serde_json::{Map, Value};

/// A key of a section, with values as written in TOML.
pub struct Key {
    pub section: String,
    pub name: String,
    pub values: Vec<String>,
}

/// All keys of all sections except those of the run itself.
pub fn vocabulary() -> Vec<Key> {
    let schema: Value = serde_json::from_str(&schema_json()).expect("a schema is JSON");
    let schema = expanded(&schema, &schema["$defs"]);
    let root = schema["properties"].as_object().expect("a table");
    let mut keys = Vec::new();
    for section in ["channel", "bss", "station", "wall", "wired", "tcp", "flow"] {
        keys_of(section, tables(&root[section]).first().expect("a section is a table"), &mut keys);
    }
    let ap = &tables(&root["bss"]).first().expect("a section")["ap"].clone();
    keys_of("bss.ap", tables(ap).first().expect("a section"), &mut keys);
    assert!(keys.len() > 150, "{} keys", keys.len());
    keys
}

/// A schema with its definitions at each place that refers to them.
fn expanded(schema: &Value, definitions: &Value) -> Value {
    match schema {
        Value::Object(entries) => {
            let mut all = Map::new();
            if let Some(reference) = entries.get("$ref").and_then(Value::as_str) {
                let name = reference.strip_prefix("#/$defs/").expect("a reference within the schema");
                all.extend(expanded(&definitions[name], definitions).as_object().expect("a schema").clone());
            }
            let own = entries.iter().filter(|(key, _)| !["$ref", "$defs"].contains(&key.as_str()));
            all.extend(own.map(|(key, value)| (key.clone(), expanded(value, definitions))));
            Value::Object(all)
        }
        Value::Array(items) => items.iter().map(|item| expanded(item, definitions)).collect(),
        _ => schema.clone(),
    }
}

fn keys_of(section: &str, properties: &Map<String, Value>, keys: &mut Vec<Key>) {
    for (name, schema) in properties {
        let mut values = values_of(schema);
        values.dedup();
        if !values.is_empty() {
            keys.push(Key { section: section.to_string(), name: name.clone(), values });
        }
    }
}

/// The properties of the tables that a value can be.
fn tables(schema: &Value) -> Vec<&Map<String, Value>> {
    if let Some(properties) = schema["properties"].as_object() {
        return vec![properties];
    }
    let of_items = tables_of(&schema["items"]);
    let any = schema["anyOf"].as_array().into_iter().flatten().flat_map(tables);
    of_items.into_iter().chain(any).collect()
}

fn tables_of(schema: &Value) -> Vec<&Map<String, Value>> {
    if schema.is_object() { tables(schema) } else { Vec::new() }
}

/// Values of a kind: its limits, usual ones, and ones just beyond the limits.
fn values_of(schema: &Value) -> Vec<String> {
    if let Some(any) = schema["anyOf"].as_array() {
        return any.iter().flat_map(values_of).collect();
    }
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().map(Value::to_string).collect();
    }
    let texts = |values: &[&str]| values.iter().map(|value| format!("{value:?}")).collect();
    match schema["type"].as_str().unwrap_or_default() {
        "boolean" => vec!["true".into(), "false".into()],
        "integer" => {
            let ends = [&schema["minimum"], &schema["maximum"]].map(Value::to_string);
            ends.into_iter().chain(["1", "2", "3", "10", "200"].map(String::from)).collect()
        }
        "number" => {
            ["0.0", "1e-300", "1e-6", "0.5", "1.0", "2.0", "100.0", "1e9", "1e308", "-1.0"].map(String::from).into()
        }
        "array" => {
            let items = values_of(&schema["items"]);
            let two = items.first().zip(items.last()).map(|(first, last)| format!("[{first}, {last}]"));
            items.iter().map(|item| format!("[{item}]")).chain(two).chain(["[]".to_string()]).collect()
        }
        "object" => tables_as_values(schema),
        _ => texts(quantities(schema["title"].as_str().unwrap_or_default())),
    }
}

/// A table without entries, and with each entry alone.
fn tables_as_values(schema: &Value) -> Vec<String> {
    let Some(properties) = schema["properties"].as_object() else { return vec!["{}".into()] };
    let kind = schema["properties"]["kind"]["const"].as_str().map(|kind| format!("kind = {kind:?}"));
    let mut values = vec![format!("{{ {} }}", kind.clone().unwrap_or_default())];
    for (name, entry) in properties.iter().filter(|(name, _)| *name != "kind") {
        for value in values_of(entry) {
            let entries: Vec<String> = kind.iter().cloned().chain([format!("{name} = {value}")]).collect();
            values.push(format!("{{ {} }}", entries.join(", ")));
        }
    }
    values
}

fn quantities(what: &str) -> &'static [&'static str] {
    match what {
        "a time" => &["0 s", "1 ns", "1 us", "32 us", "1 ms", "20 ms", "1 s", "1000 s", "1e6 s", "9e9 s"],
        "a size" => &["0 B", "1 B", "100 B", "1000 B", "64 KiB", "2 GB", "1e15 B", "9e18 B"],
        "a number of packets" => &["0 packets", "1 packet", "2 packets", "50 packets", "9e18 packets"],
        "a data rate" => &["0 bit/s", "1 bit/s", "1 kbit/s", "1 Mbit/s", "11 Mbit/s", "54 Mbit/s", "9e18 bit/s"],
        "a power" => &["-300 dBm", "-80 dBm", "0 dBm", "30 dBm", "300 dBm"],
        "a power ratio" => &["-100 dB", "0 dB", "3 dB", "30 dB", "1e9 dB"],
        "a distance" => &["0 m", "1e-9 m", "10 m", "100 m", "1e9 m"],
        "a frequency" => &["0 Hz", "1e-9 Hz", "6 Hz", "20 kHz"],
        "a speed" => &["0 m/s", "1.2 km/h", "1 m/s", "1000 m/s"],
        "a number of segments" => &["0 segments", "10 segments", "18446744073709551615 segments"],
        _ => &["", "x", "*", "sta1"],
    }
}
