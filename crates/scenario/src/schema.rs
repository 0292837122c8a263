//! The JSON Schema of scenario files, made from the same parameters that read them.

use lasthop_registry::{Entry, Field, Registry, Shape};
use serde_json::{Map, Value as Json, json};

use crate::json::json_of;
use crate::resolved::fields_of_today;

/// The JSON Schema (draft 2020-12) of a scenario file.
pub fn schema_json() -> String {
    let Json::Object(table) = table_schema(&fields_of_today(), None) else { unreachable!("a table is an object") };
    let mut schema = Map::new();
    schema.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".into(), json!("lasthop scenario"));
    schema.extend(table);
    serde_json::to_string_pretty(&Json::Object(schema)).expect("a schema is plain data")
}

fn table_schema(fields: &[Field], kind: Option<&str>) -> Json {
    let mut properties = Map::new();
    if let Some(kind) = kind {
        properties.insert("kind".into(), json!({ "const": kind }));
    }
    for field in fields {
        let Json::Object(mut schema) = shape_schema(&field.shape) else { unreachable!("a schema is an object") };
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

/// A default as written in TOML on one line, as JSON.
fn default_json(text: &str) -> Json {
    let document = crate::document::Document::parse(&format!("value = {text}"), "default");
    document.ok().and_then(|d| d.root.get("value").map(json_of)).unwrap_or_else(|| json!(text))
}

fn shape_schema(shape: &Shape) -> Json {
    match shape {
        Shape::Boolean => json!({ "type": "boolean" }),
        Shape::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Shape::Number { min, max } if *min > f64::MIN => json!({ "type": "number", "minimum": min, "maximum": max }),
        Shape::Number { .. } => json!({ "type": "number" }),
        Shape::Text => json!({ "type": "string" }),
        Shape::Quantity { what, example } => {
            json!({ "type": "string", "title": what, "examples": [example], "pattern": "^\\s*[-+]?[0-9.]" })
        }
        Shape::Words(words) => json!({ "enum": words }),
        Shape::Algorithm(registry) => algorithm_schema(registry),
        Shape::Table(fields) if fields.is_empty() => json!({ "type": "object" }),
        Shape::Table(fields) => table_schema(fields, None),
        Shape::List(item) => json!({ "type": "array", "items": shape_schema(item) }),
        Shape::AnyOf(shapes) => json!({ "anyOf": shapes.iter().map(shape_schema).collect::<Vec<_>>() }),
    }
}

fn algorithm_schema(registry: &Registry) -> Json {
    let names: Vec<&str> =
        registry.entries.iter().map(|e| e.name).chain(registry.aliases.iter().map(|(alias, _)| *alias)).collect();
    let tables = registry.entries.iter().map(|e| table_schema(&(e.fields)(), Some(e.name)));
    let mut any = vec![json!({ "enum": names })];
    any.extend(tables);
    any.extend(registry.code.iter().map(code_schema));
    json!({ "anyOf": any })
}

/// Code of a scenario's own: what it is found by, and parameters that only it knows.
fn code_schema(entry: &Entry) -> Json {
    let fields = (entry.fields)();
    let mut schema = table_schema(&fields, Some(entry.name));
    schema["required"] = std::iter::once("kind").chain(fields.iter().map(|field| field.name)).collect();
    schema["additionalProperties"] = json!({ "type": ["number", "string", "boolean"] });
    schema
}

/// What a parameter may be, in words.
pub(crate) fn form(shape: &Shape) -> String {
    match shape {
        Shape::Boolean => "true or false".into(),
        Shape::Integer { .. } => "a whole number".into(),
        Shape::Number { .. } => "a number".into(),
        Shape::Text => "a string".into(),
        Shape::Quantity { what, example } => format!("{what}, e.g. \"{example}\""),
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

    #[test]
    fn the_schema_knows_every_section_default_and_algorithm() {
        let schema: Json = serde_json::from_str(&schema_json()).unwrap();
        let properties = &schema["properties"];
        for section in ["name", "duration", "channel", "bss", "station", "wired", "tcp", "flow", "sweep"] {
            assert!(properties[section].is_object(), "{section}");
        }
        assert_eq!(properties["duration"]["default"], json!("60 s"));
        assert_eq!(properties["tcp"]["properties"]["profile"]["default"], json!("linux"));
        let text = properties["bss"].to_string();
        assert!(text.contains("aarf") && text.contains("success_threshold"), "{text}");
    }
}
