//! `lasthop list` and `lasthop show`: all algorithms, their parameters, and all quantities.

use lasthop_link::{LossKind, QueueDisciplineKind, VaryingRate};
use lasthop_quic::StackControl;
use lasthop_registry::{Entry, Field, Kind, Parameters, Registry};
use lasthop_tcp::congestion_control::Algorithm;
use lasthop_tcp::{Config, Profile};
use lasthop_wifi::multi_user::scheduler::SchedulerKind;
use lasthop_wifi::phy::Standard;
use lasthop_wifi::phy::error_model::ErrorModelKind;
use lasthop_wifi::phy::fading::FadingKind;
use lasthop_wifi::phy::path_loss::PathLossKind;
use lasthop_wifi::rate_control::RateControlKind;
use serde_json::{Value as Json, json};

use crate::application::ApplicationKind;
use crate::description::paths::without_indices;
use crate::policy::PolicyKind;
use crate::quantities::{self, called, quantities, quantity_json};
use crate::traffic::TrafficKind;
use crate::{Diagnostic, knob};

mod keys;
mod parameters;
mod tcp_profiles;
mod texts;

use parameters::parameters_json;
pub use texts::texts;

fn registries() -> [&'static Registry; 14] {
    [
        Algorithm::REGISTRY,
        StackControl::REGISTRY,
        QueueDisciplineKind::REGISTRY,
        RateControlKind::REGISTRY,
        SchedulerKind::REGISTRY,
        Standard::REGISTRY,
        ErrorModelKind::REGISTRY,
        PolicyKind::REGISTRY,
        PathLossKind::REGISTRY,
        FadingKind::REGISTRY,
        LossKind::REGISTRY,
        VaryingRate::REGISTRY,
        TrafficKind::REGISTRY,
        ApplicationKind::REGISTRY,
    ]
}

fn entry_json(kind: &str, entry: &Entry) -> Json {
    let (summary, source, status) = (entry.summary.trim(), entry.source, entry.status);
    let mut shown = json!({ "kind": kind, "name": entry.name, "summary": summary, "source": source, "status": status });
    if kind == Algorithm::REGISTRY.kind {
        shown["over"] = json!(transports_of(entry));
    }
    shown
}

/// The name by which users know a kind: the stack's own controllers are congestion controls.
fn kind_of(registry: &Registry) -> &'static str {
    if registry.kind == StackControl::REGISTRY.kind { Algorithm::REGISTRY.kind } else { registry.kind }
}

/// The transports over which a congestion control works.
fn transports_of(entry: &Entry) -> &'static str {
    if StackControl::REGISTRY.find(entry.name).is_ok() {
        return "QUIC";
    }
    let built_in = Algorithm::all().into_iter().find(|algorithm| algorithm.name() == entry.name);
    match built_in.is_none_or(|algorithm| lasthop_quic::why_not(&algorithm).is_none()) {
        true => "TCP, QUIC",
        false => "TCP",
    }
}

fn profile_json(&(profile, summary): &(Profile, &str)) -> Json {
    json!({ "kind": "tcp.profile", "name": profile.word(), "summary": summary, "source": "see docs/model/tcp.md", "status": "unit tests" })
}

/// All algorithms, or those of one kind, as JSON: kind, name, summary, source, status. Quantities are listed only if
/// requested by their kind.
///
/// # Errors
/// An unknown kind.
pub fn list_json(kind: Option<&str>) -> Result<String, Diagnostic> {
    let others = ["tcp.profile", quantities::KIND, knob::KIND];
    let mut kinds: Vec<&str> = registries().into_iter().map(kind_of).chain(others).collect();
    kinds.dedup();
    if let Some(kind) = kind
        && !kinds.contains(&kind)
    {
        let known = kinds.iter().map(|kind| kind.to_string()).collect();
        return Err(Diagnostic::without_place(Kind::UnknownName { of: "kind".into(), name: kind.into(), known }));
    }
    if kind == Some(quantities::KIND) {
        return Ok(quantities().into_iter().map(quantity_json).collect::<Json>().to_string());
    }
    if kind == Some(knob::KIND) {
        return Ok(knob::KNOBS.iter().map(knob::Knob::to_json).collect::<Json>().to_string());
    }
    let wanted = |k: &str| kind.is_none_or(|kind| kind == k);
    let mut rows: Vec<Json> = Vec::new();
    for registry in registries().into_iter().filter(|r| wanted(kind_of(r))) {
        rows.extend(registry.all_entries().map(|e| entry_json(kind_of(registry), e)));
    }
    if wanted("tcp.profile") {
        rows.extend(Profile::ALL.iter().map(profile_json));
    }
    Ok(Json::Array(rows).to_string())
}

/// An algorithm (`aarf`), a profile (`tcp.profile.ns2`), a section or key of the scenario file (`bss`, `station.queue`)
/// or the quantities of a name (`goodput_bps`, `flows.*.rtt_p95_s`), as JSON: name, kind, summary, source, status,
/// parameters with help, default and form.
///
/// # Errors
/// An unknown name.
pub fn show_json(name: &str) -> Result<String, Diagnostic> {
    let short = name.rsplit('.').next().unwrap_or(name);
    for registry in registries() {
        let qualified = format!("{}.{}", kind_of(registry), short);
        let (name, short) = (registry.meant(name), registry.meant(short));
        // Names of standards contain a dot.
        let found = registry.all_entries().find(|e| e.name == name || (name == qualified && e.name == short));
        if let Some(entry) = found {
            let mut shown = entry_json(kind_of(registry), entry);
            shown["parameters"] = match registry.kind {
                "congestion_control" => tcp_profiles::of_controller(entry),
                _ => parameters_json(&(entry.fields)()),
            };
            return Ok(shown.to_string());
        }
    }
    let profile = name.split_once("profile.").map_or(name, |(_, profile)| profile);
    if let Some(row) = Profile::ALL.iter().find(|(p, _)| p.word() == profile) {
        let mut shown = profile_json(row);
        shown["parameters"] = profile_parameters(row.0);
        return Ok(shown.to_string());
    }
    if let Some(shown) = keys::shown(name) {
        return Ok(shown.to_string());
    }
    if let Some(knob) = knob::called(name) {
        return Ok(knob.to_json().to_string());
    }
    let measured = called(name);
    if !measured.is_empty() {
        let entries: Vec<Json> = measured.into_iter().map(quantity_json).collect();
        return Ok(json!({ "kind": quantities::KIND, "name": name, "quantities": entries }).to_string());
    }
    if registries().iter().any(|registry| registry.kind == name) {
        let several = format!("\"{name}\" has several to choose from");
        return Err(Diagnostic::without_place((several, format!("`lasthop list {name}` shows them"))));
    }
    Err(unknown(name))
}

/// An unknown name with the nearest ones: keys that end in it, else the one that looks most like it.
fn unknown(name: &str) -> Diagnostic {
    let (keys, path) = (keys::paths(), without_indices(name));
    let ending: Vec<String> =
        keys.iter().filter(|key| key.ends_with(&format!(".{path}"))).map(|key| format!("\"{key}\"")).collect();
    let names = registries().into_iter().flat_map(|r| r.all_entries().map(|e| e.name));
    let profiles: Vec<String> = Profile::ALL.iter().map(|(p, _)| format!("tcp.profile.{}", p.word())).collect();
    let measured = quantities().into_iter().map(|quantity| quantity.name);
    let measured = measured.chain(knob::KNOBS.iter().map(|knob| knob.name));
    let all = names.chain(measured).chain(keys.iter().chain(&profiles).map(String::as_str));
    let hint = match ending.is_empty() {
        true => lasthop_registry::suggestion(&path, all),
        false => format!("did you mean {}? ", ending.join(" or ")),
    };
    Diagnostic::without_place((format!("unknown name \"{name}\""), format!("{hint}`lasthop list` shows all names")))
}

/// The keys of `[tcp]` with the values of a profile as defaults.
fn profile_parameters(profile: Profile) -> Json {
    let values = profile.config().values();
    let of_profile = |mut field: Field| {
        field.default = values.iter().find(|(k, _)| k == field.name).map(|(_, v)| v.to_string());
        field
    };
    parameters_json(&Config::fields().into_iter().map(of_profile).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_tcp_shows_the_default_of_the_profile_that_counts() {
        let parameter = |name: &str, key: &str| {
            let shown: Json = serde_json::from_str(&show_json(name).unwrap()).unwrap();
            shown["parameters"].as_array().unwrap().iter().find(|p| p["name"] == key).unwrap().clone()
        };
        let control = parameter("tcp", "congestion_control");
        assert_eq!(control["default"], json!("\"cubic\""));
        assert_eq!(control["default_with_profile"]["ns2"], json!("\"newreno\""));
        assert_eq!(parameter("tcp", "max_backoff")["default_with_profile"], json!({ "ns2": "64" }));
        assert!(parameter("tcp", "packet_size").get("default_with_profile").is_none());
        // CUBIC of a current kernel, the default of the default profile.
        assert_eq!(parameter("cubic", "era")["default"], json!("\"linux\""));
        assert_eq!(parameter("cubic", "era")["default_with_profile"]["linux-2.6"], json!("\"linux-2.6\""));
        assert_eq!(parameter("cubic", "hystart")["default"], json!("\"classic\""));
        assert!(show_json("reno").unwrap().contains("\"newreno\""));
    }

    #[test]
    fn every_listed_name_can_be_shown() {
        let rows: Json = serde_json::from_str(&list_json(None).unwrap()).unwrap();
        for row in rows.as_array().unwrap() {
            let (kind, name) = (row["kind"].as_str().unwrap(), row["name"].as_str().unwrap());
            let shown = if kind == "tcp.profile" { format!("{kind}.{name}") } else { name.to_string() };
            assert!(show_json(&shown).is_ok(), "{shown}");
        }
        assert!(show_json("bss.ap").unwrap().contains("driver_queue"));
    }

    #[test]
    fn the_ns2_profile_shows_its_own_values() {
        let shown: Json = serde_json::from_str(&show_json("tcp.profile.ns2").unwrap()).unwrap();
        let of = |name: &str| {
            let rows = shown["parameters"].as_array().unwrap();
            rows.iter().find(|p| p["name"] == name).unwrap()["default"].as_str().unwrap().to_string()
        };
        assert_eq!((of("sack").as_str(), of("initial_window").as_str()), ("false", "2"));
    }

    #[test]
    fn unknown_names_are_answered_with_the_nearest() {
        assert!(list_json(Some("queue")).unwrap_err().to_string().contains("queue_discipline"));
        assert!(show_json("aarrf").unwrap_err().to_string().contains("did you mean \"aarf\"?"));
        assert!(show_json("station.0.quue").unwrap_err().to_string().contains("did you mean \"station.queue\"?"));
        let several = "did you mean \"bss.ap.queue\" or \"station.queue\" or \"wired.queue\"?";
        assert!(show_json("queue").unwrap_err().to_string().contains(several), "{}", show_json("queue").unwrap_err());
    }
}
