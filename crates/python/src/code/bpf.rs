//! Congestion controls that are BPF objects.

use std::sync::Arc;

use lasthop_bpf::Object;
use lasthop_registry::Value;
use lasthop_scenario::Code;
use lasthop_tcp::Config;
use lasthop_tcp::congestion_control::{Context, ControlMaker};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::json;

use super::refused;

/// The key that selects a controller of an object that has several.
const OPS: &str = "ops";

/// Loads `code.file`, sets its constants, and reports missing parts.
pub(super) fn congestion_control(code: &Code) -> Result<Arc<ControlMaker>, String> {
    let mut object = Object::read(code.content()?, &code.name).map_err(|error| error.to_string())?;
    for (key, value) in &code.parameters {
        match (key.as_str(), value) {
            (OPS, Value::Text(name)) => object.choose(name),
            (_, Value::Integer(number)) => object.with(key, *number),
            (_, Value::Bool(truth)) => object.with(key, i64::from(*truth)),
            _ => return Err(format!("{}: {key} = {value}; a constant of an object is a whole number", code.name)),
        }
        .map_err(|error| error.to_string())?;
    }
    let object = Arc::new(object);
    object.controller(&Context::new(&Config::default(), 0)).map_err(|error| error.to_string())?;
    Ok(Arc::new(move |context: &Context| {
        object.controller(context).unwrap_or_else(|error| refused(context, error.to_string()))
    }))
}

/// The contents of the object in `bytes`, its uses and its missing parts: as text, and as JSON.
#[pyfunction]
pub(crate) fn describe_object(bytes: &[u8], name: &str) -> PyResult<(String, String)> {
    let object = Object::read(bytes, name).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let it = object.describe();
    let told = json!({
        "object": it.object,
        "name": it.name,
        "others": it.others,
        "licence": it.licence,
        "hooks": it.hooks.iter().map(|(name, length)| (name.clone(), json!(length))).collect::<serde_json::Map<_, _>>(),
        "not_called": it.not_called,
        "needs_ecn": it.needs_ecn,
        "reads": it.reads,
        "writes": it.writes,
        "kfuncs": it.kfuncs,
        "helpers": it.helpers,
        "maps": it.maps.iter().map(|(name, what)| (name.clone(), json!(what))).collect::<serde_json::Map<_, _>>(),
        "settings": it.settings.iter().map(|(name, value)| (name.clone(), json!(value))).collect::<serde_json::Map<_, _>>(),
        "instructions": it.instructions,
        "missing": it.missing,
    });
    Ok((it.to_string(), told.to_string()))
}
