//! Defaults of `[tcp]` and of its controllers: those of the default profile, and of the others where they differ.

use lasthop_registry::{Entry, Field, Parameter, Parameters, Value};
use lasthop_tcp::Profile;
use lasthop_tcp::congestion_control::Algorithm;
use serde_json::{Map, Value as Json, json};

use super::parameters::parameters_json;

/// The profile of a scenario that names none.
const USUAL: Profile = Profile::Linux;

/// The keys of `[tcp]`.
pub(super) fn of_section(fields: &[Field]) -> Json {
    with_profiles(fields, |profile| profile.config().values())
}

/// The parameters of a congestion control, whose era depends on the profile.
pub(super) fn of_controller(entry: &Entry) -> Json {
    with_profiles(&(entry.fields)(), |profile| {
        let chosen = profile.with_own_defaults(&Value::text(entry.name));
        match Algorithm::parse(&chosen, "").ok().and_then(|algorithm| algorithm.to_value()) {
            Some(Value::Table(values)) => values,
            _ => Vec::new(),
        }
    })
}

fn with_profiles(fields: &[Field], values: impl Fn(Profile) -> Vec<(String, Value)>) -> Json {
    let of = |profile: Profile| (profile, values(profile));
    let (usual, others) = (values(USUAL), Profile::ALL.map(|(profile, _)| of(profile)));
    let Json::Array(mut shown) = parameters_json(fields) else { unreachable!("parameters are a list") };
    for (field, shown) in fields.iter().zip(&mut shown) {
        // The profile is a key of [tcp] that has no value within one.
        let Some(default) = written(&usual, field.name) else { continue };
        let differs = |(profile, values): &(Profile, Vec<(String, Value)>)| {
            let other = written(values, field.name).filter(|other| *other != default)?;
            Some((profile.word().to_string(), json!(other)))
        };
        let differing: Map<String, Json> = others.iter().filter_map(differs).collect();
        shown["default"] = json!(default);
        if !differing.is_empty() {
            shown["default_with_profile"] = Json::Object(differing);
        }
    }
    Json::Array(shown)
}

/// A value as TOML; the name of an algorithm.
fn written(values: &[(String, Value)], key: &str) -> Option<String> {
    let (_, value) = values.iter().find(|(name, _)| name == key)?;
    Some(value.get("kind").unwrap_or(value).to_string())
}
