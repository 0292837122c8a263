//! Congestion controls that are libraries in C.

use std::sync::Arc;

use lasthop_native::{Library, Setting};
use lasthop_registry::Value;
use lasthop_scenario::{ADDRESS, Code};
use lasthop_tcp::Config;
use lasthop_tcp::congestion_control::{Context, ControlMaker};

use super::refused;

/// Loads `code.file`, and makes one controller of it, so that wrong parameters are found at once.
pub(super) fn congestion_control(code: &Code) -> Result<Arc<ControlMaker>, String> {
    let library = match code.name.strip_prefix(ADDRESS) {
        None => open(code)?,
        Some(_) if !code.is_set => {
            return Err(format!("{}: an address is of one process; a setting may give it, and no file", code.name));
        }
        Some(number) => {
            at(number).ok_or_else(|| format!("{}: no address follows; e.g. {ADDRESS}0x7f00", code.name))??
        }
    };
    let library = Arc::new(library);
    let settings: Vec<(String, Setting)> =
        code.parameters.iter().map(|(key, value)| (key.clone(), setting(value))).collect();
    library.controller(&Context::new(&Config::default(), 0), &settings).map_err(|error| error.to_string())?;
    Ok(Arc::new(move |context: &Context| {
        library.controller(context, &settings).unwrap_or_else(|error| refused(context, error.to_string()))
    }))
}

/// The library in a file, of the content whose hash the result will have.
fn open(code: &Code) -> Result<Library, String> {
    Library::of_content(&code.file, code.content()?).map_err(|error| error.to_string())
}

/// The table of functions compiled in this process, at an address in decimal or with `0x`.
fn at(number: &str) -> Option<Result<Library, String>> {
    let address = match number.strip_prefix("0x") {
        Some(digits) => usize::from_str_radix(digits, 16).ok()?,
        None => number.parse().ok()?,
    };
    #[allow(unsafe_code, reason = "a table that stands at an address")]
    // SAFETY: the author of the address vouches for the table there, just as a file's name vouches for its code.
    Some(unsafe { Library::at(address) }.map_err(|error| error.to_string()))
}

fn setting(value: &Value) -> Setting {
    match value {
        Value::Bool(truth) => Setting::Number(f64::from(u8::from(*truth))),
        Value::Integer(number) => Setting::Number(*number as f64),
        Value::Float(number) => Setting::Number(*number),
        Value::Text(text) => Setting::Text(text.clone()),
        other => Setting::Text(other.to_string()),
    }
}
