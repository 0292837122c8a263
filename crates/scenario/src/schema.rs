//! The JSON Schema of scenario files, made from the same parameters that read them.

use lasthop_registry::{Entry, Field, Registry, Shape};
use lasthop_units::Unit;
use serde_json::{Map, Value as Json, json};

use crate::json::json_of;
use crate::resolved::fields_of_today;

/// The identifier of the schema, independent of its location.
const ID: &str = concat!("urn:lasthop:scenario:", env!("CARGO_PKG_VERSION"));

/// The JSON Schema (draft 2020-12) of a scenario file. Parts used in several places, such as algorithms, quantities and
/// tables that may be lists, are written once, in `$defs`.
/// may be lists do, is written once, in `$defs`.
pub fn schema_json() -> String {
    let mut definitions = Definitions::default();
    let Json::Object(table) = definitions.table(&fields_of_today(), None) else { unreachable!("a table is an object") };
    let mut schema = Map::new();
    schema.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("$id".into(), json!(ID));
    schema.insert("title".into(), json!("lasthop scenario"));
    schema.extend(table);
    schema.insert("$defs".into(), Json::Object(definitions.0));
    serde_json::to_string(&Json::Object(schema)).expect("a schema is plain data")
}

/// Definitions referred to from several places, by name.
#[derive(Default)]
struct Definitions(Map<String, Json>);

impl Definitions {
    fn table(&mut self, fields: &[Field], kind: Option<&str>) -> Json {
        let mut properties = Map::new();
        if let Some(kind) = kind {
            properties.insert("kind".into(), json!({ "const": kind, "description": "Name of the algorithm." }));
        }
        for field in fields {
            let Json::Object(mut schema) = self.value(&field.shape, field.name) else {
                unreachable!("a schema is an object")
            };
            schema.insert("description".into(), json!(field.help));
            if let Some(default) = &field.default {
                schema.insert("default".into(), default_json(default));
            }
            properties.insert(field.name.into(), Json::Object(schema));
        }
        let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
        if kind.is_some() {
            schema["required"] = json!(["kind"]);
        }
        schema
    }

    /// The schema of the value of a key.
    fn value(&mut self, shape: &Shape, key: &str) -> Json {
        match shape {
            Shape::Boolean => json!({ "type": "boolean" }),
            Shape::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
            Shape::Number { min, max } if *min > f64::MIN => {
                json!({ "type": "number", "minimum": min, "maximum": max })
            }
            Shape::Number { .. } => json!({ "type": "number" }),
            Shape::Text(_) => json!({ "type": "string" }),
            Shape::Quantity { what, example, units } => self.quantity(what, example, units),
            Shape::Words(words) => json!({ "enum": words }),
            Shape::Algorithm(registry) => self.algorithm(registry),
            Shape::Table(fields) if fields.is_empty() => json!({ "type": "object" }),
            Shape::Table(fields) => self.table(fields, None),
            Shape::List(item) => json!({ "type": "array", "items": self.value(item, key) }),
            Shape::AnyOf(shapes) => json!({ "anyOf": self.choices(shapes, key) }),
        }
    }

    /// The alternatives for a key; a table that may also be a list of tables is one definition for both.
    fn choices(&mut self, shapes: &[Shape], key: &str) -> Vec<Json> {
        let mut all: Vec<Json> = shapes.iter().map(|shape| self.value(shape, key)).collect();
        if let Some(table) = all.iter().find(|schema| schema["properties"].is_object()).cloned()
            && all.iter().any(|schema| schema["items"] == table)
        {
            let reference = self.refer(key, table.clone());
            for schema in &mut all {
                if *schema == table {
                    *schema = reference.clone();
                } else if schema["items"] == table {
                    schema["items"] = reference.clone();
                }
            }
        }
        all
    }

    /// A reference to a definition of this name. If the name is taken by another one, it gets a number.
    fn refer(&mut self, name: &str, schema: Json) -> Json {
        let numbered = (1..).map(|n| if n == 1 { name.to_string() } else { format!("{name}_{n}") });
        let free = |name: &String| self.0.get(name).is_none_or(|found| *found == schema);
        let name = numbered.into_iter().find(free).expect("numbers do not end");
        let reference = json!({ "$ref": format!("#/$defs/{name}") });
        self.0.insert(name, schema);
        reference
    }

    fn quantity(&mut self, what: &str, example: &str, units: &[Unit]) -> Json {
        let units: Vec<&str> = units.iter().map(|(unit, _)| *unit).collect();
        let number = r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?";
        let pattern = format!(r"^\s*{number}\s*({})\s*$", units.join("|"));
        let schema = json!({ "type": "string", "title": what, "examples": [example], "pattern": pattern });
        let name = what.trim_start_matches("a ").trim_start_matches("number of ").replace(' ', "_");
        self.refer(&name, schema)
    }

    fn algorithm(&mut self, registry: &Registry) -> Json {
        let names: Vec<&str> =
            registry.entries.iter().map(|e| e.name).chain(registry.aliases.iter().map(|(alias, _)| *alias)).collect();
        let mut any = vec![json!({ "enum": names })];
        for entry in registry.entries {
            any.push(self.table(&(entry.fields)(), Some(entry.name)));
        }
        for entry in registry.code {
            any.push(self.code(entry));
        }
        self.refer(registry.kind, json!({ "anyOf": any }))
    }

    /// Code that a scenario brings: the keys that locate it, and parameters that only it knows.
    fn code(&mut self, entry: &Entry) -> Json {
        let fields = (entry.fields)();
        let mut schema = self.table(&fields, Some(entry.name));
        schema["required"] = std::iter::once("kind").chain(fields.iter().map(|field| field.name)).collect();
        schema["additionalProperties"] = json!({ "type": ["number", "string", "boolean"] });
        schema
    }
}

/// A default as written in TOML on one line, as JSON.
fn default_json(text: &str) -> Json {
    crate::document::parse_value(text).map_or_else(|_| json!(text), |value| json_of(&value))
}

/// The form of a parameter, in words.
pub(crate) fn form(shape: &Shape) -> String {
    match shape {
        Shape::Boolean => "true or false".into(),
        Shape::Integer { .. } => "a whole number".into(),
        Shape::Number { .. } => "a number".into(),
        Shape::Text(_) => "a string".into(),
        Shape::Quantity { what, example, .. } => format!("{what}, e.g. \"{example}\""),
        Shape::Words(words) if words.is_empty() => "not there yet".into(),
        Shape::Words(words) => words.iter().map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(" | "),
        Shape::Algorithm(registry) => {
            let article = if registry.kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
            format!("{article} {}", registry.kind.replace('_', " "))
        }
        Shape::Table(_) => "a table".into(),
        Shape::List(item) => format!("a list of: {}", form(item)),
        Shape::AnyOf(shapes) => shapes.iter().map(form).collect::<Vec<_>>().join(", or "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Json {
        serde_json::from_str(&schema_json()).unwrap()
    }

    #[test]
    fn the_schema_knows_every_section_default_and_algorithm() {
        let schema = schema();
        let properties = &schema["properties"];
        for section in ["name", "duration", "channel", "bss", "station", "wired", "tcp", "flow", "sweep"] {
            assert!(properties[section].is_object(), "{section}");
        }
        assert_eq!(properties["duration"]["default"], json!("60 s"));
        assert_eq!(properties["tcp"]["properties"]["profile"]["default"], json!("linux"));
        let text = schema["$defs"]["rate_control"].to_string();
        assert!(text.contains("aarf") && text.contains("success_threshold"), "{text}");
    }

    #[test]
    fn every_key_is_described_and_every_reference_leads_somewhere() {
        fn check(at: &str, value: &Json, definitions: &Json) {
            if let Some(reference) = value["$ref"].as_str() {
                let name = reference.strip_prefix("#/$defs/").expect("within the file");
                assert!(definitions[name].is_object(), "{at}: {reference}");
            }
            for (key, property) in value["properties"].as_object().into_iter().flatten() {
                assert!(property["description"].as_str().is_some_and(|text| !text.is_empty()), "{at}.{key}");
            }
            match value {
                Json::Object(entries) => {
                    entries.iter().for_each(|(key, each)| check(&format!("{at}.{key}"), each, definitions))
                }
                Json::Array(items) => items.iter().for_each(|each| check(at, each, definitions)),
                _ => {}
            }
        }
        let schema = schema();
        check("", &schema, &schema["$defs"]);
    }

    #[test]
    fn the_schema_is_small_enough_for_an_editor() {
        assert!(schema_json().len() < 150_000, "{} bytes", schema_json().len());
    }
}
