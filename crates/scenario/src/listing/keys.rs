//! Sections and keys of scenario files by their paths: `station`, `station.queue`, `station.0.queue`.

use lasthop_registry::{Field, Shape};
use serde_json::{Value as Json, json};

use super::parameters::parameters_json;
use super::tcp_profiles;
use crate::description::paths::{TOP, add_paths, table_at, without_indices};
use crate::resolved::fields_of_today;

/// The section whose keys a flow may override.
const TCP: &str = "tcp";
/// Another such section, for flows over QUIC.
const QUIC: &str = "quic";
const FLOW: &str = "flow";

/// A section or a key as JSON, if there is one. A table of `[tcp]` may be named by its last step.
pub(super) fn shown(path: &str) -> Option<Json> {
    let path = without_indices(path);
    let in_tcp = format!("{TCP}.{path}");
    section(&path).or_else(|| section(&in_tcp)).or_else(|| key(&path))
}

/// Every section and key.
pub(super) fn paths() -> Vec<String> {
    let mut found = vec![TOP.to_string()];
    add_paths(&mut found, "", fields_of_today());
    found
}

/// A section with its keys. A flow's own keys come without the keys of transports, whose sections `keys_of` names.
fn section(path: &str) -> Option<Json> {
    let fields = fields_of(path)?;
    let parameters = match path {
        TCP => tcp_profiles::of_section(&fields),
        FLOW => parameters_json(&fields.into_iter().filter(|field| sections_of(field).is_empty()).collect::<Vec<_>>()),
        _ => parameters_json(&fields),
    };
    let mut shown = json!({ "kind": "section", "name": path, "summary": "A section of the scenario file.", "source": "", "status": "",
                            "parameters": parameters });
    if path == FLOW {
        shown["keys_of"] = json!([TCP, QUIC]);
    }
    Some(shown)
}

/// A key as its section's only parameter.
fn key(path: &str) -> Option<Json> {
    let (section, name) = path.rsplit_once('.').unwrap_or((TOP, path));
    let field = fields_of(section)?.into_iter().find(|field| field.name == name)?;
    let inherited = if section == FLOW { sections_of(&field) } else { Vec::new() };
    let own = std::slice::from_ref(&field);
    let depends_on_profile = section == TCP || inherited.contains(&TCP);
    let parameters = if depends_on_profile { tcp_profiles::of_section(own) } else { parameters_json(own) };
    let mut shown = json!({ "kind": "key", "name": path, "summary": field.help, "source": "", "status": "",
                            "parameters": parameters });
    if !inherited.is_empty() {
        shown["keys_of"] = json!(inherited);
    }
    if let Some(kind) = kind_of(&field.shape) {
        shown["choices"] = json!(kind);
    }
    Some(shown)
}

/// The sections of transports that have a key of this name.
fn sections_of(field: &Field) -> Vec<&'static str> {
    let has = |section: &&str| fields_of(section).is_some_and(|fields| fields.iter().any(|of| of.name == field.name));
    [TCP, QUIC].into_iter().filter(has).collect()
}

fn fields_of(path: &str) -> Option<Vec<Field>> {
    table_at(fields_of_today(), path)
}

/// The kind of the algorithms that a value may name.
fn kind_of(shape: &Shape) -> Option<&'static str> {
    match shape {
        Shape::Algorithm(registry) => Some(registry.kind),
        Shape::AnyOf(shapes) => shapes.iter().find_map(kind_of),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_no_part_of_a_key() {
        let queue = shown("station.queue").unwrap();
        assert_eq!((&queue["kind"], &queue["choices"]), (&json!("key"), &json!("queue_discipline")));
        assert_eq!(shown("station.0.queue"), Some(queue));
        assert_eq!(shown("station.3"), shown("station"));
        assert_eq!(shown("bss.1.ap.queue"), shown("bss.ap.queue"));
    }

    #[test]
    fn a_flow_shows_its_own_keys_and_refers_to_those_of_its_transport() {
        let flow = shown("flow").unwrap();
        let names: Vec<_> =
            flow["parameters"].as_array().unwrap().iter().map(|key| key["name"].as_str().unwrap()).collect();
        assert!(names.contains(&"direction") && !names.contains(&"congestion_control"), "{names:?}");
        assert_eq!(flow["keys_of"], json!(["tcp", "quic"]));
        assert!(!names.contains(&"datagram"), "{names:?}");
    }

    #[test]
    fn a_key_that_a_flow_inherits_has_the_defaults_of_the_profiles() {
        let of_flow = shown("flow.congestion_control").unwrap();
        assert_eq!(of_flow["keys_of"], json!(["tcp", "quic"]));
        assert_eq!(shown("flow.sack").unwrap()["keys_of"], json!(["tcp"]));
        assert_eq!(shown("flow.datagram").unwrap()["keys_of"], json!(["quic"]));
        assert_eq!(of_flow["parameters"][0]["default"], json!("\"cubic\""));
        assert_eq!(of_flow["parameters"][0]["default_with_profile"], json!({ "ns2": "\"newreno\"" }));
        let (flow, tcp) = (&of_flow["parameters"][0], &shown("tcp.congestion_control").unwrap()["parameters"][0]);
        assert_eq!(flow["default_with_profile"], tcp["default_with_profile"]);
        // A flow over QUIC may have a controller of the stack's own.
        assert_eq!(flow["form"], "a congestion control, or a stack control");
        assert_eq!(shown("ack_loss"), shown("tcp.ack_loss"));
        assert_eq!(shown("congestion_control"), None);
    }

    #[test]
    fn every_path_is_shown_under_its_own_name() {
        for path in paths() {
            assert_eq!(shown(&path).expect(&path)["name"], json!(path));
        }
    }
}
