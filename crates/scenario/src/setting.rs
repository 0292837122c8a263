//! Settings over a scenario file: the places that a path leads to, and the values put there.
//!
//! A step into a list is an index from 0, the name of an entry, or a pattern of names. An entry's name is its `name`; an
//! entry without one is called by its `station`, as written there.

use std::borrow::Cow;

use lasthop_registry::{Fault, Kind, Value, suggestion};

use crate::diagnostic::{Diagnostic, Origin};
use crate::document::parse_value;
use crate::glob;

/// A step that stands for every entry.
const EVERY: &str = "*";
/// Sections that may occur once or several times; a single one is a list of one.
const ONE_OR_MANY: [&str; 3] = ["bss", "station", "flow"];

/// Applies a setting to `root`; the value is TOML if it parses as such, else a string. Returns the places that it
/// reached, as in errors.
///
/// # Errors
/// A path without an entry.
pub(crate) fn apply(root: &mut Value, path: &str, text: &str) -> Result<Vec<String>, Diagnostic> {
    let at = |value: Option<&str>| Origin::Setting { path: path.into(), value: value.map(String::from) };
    let steps: Vec<&str> = path.split('.').map(str::trim).collect();
    if steps.iter().any(|s| s.is_empty()) {
        let fault = no_place("write a path like station.0.count or tcp.congestion_control", &[]);
        return Err(Diagnostic::new(at(None), "", fault));
    }
    let wrong = |fault: Fault| Diagnostic::new(at(Some(text)), "", fault);
    let value = parse_value(text).map_err(wrong)?;
    let mut places = Vec::new();
    for steps in every_place(root, &steps).map_err(wrong)? {
        let steps: Vec<&str> = steps.iter().map(AsRef::as_ref).collect();
        put(root, &steps, value.clone(), &mut Vec::new()).map_err(wrong)?;
        places.push(bracketed(&steps));
    }
    Ok(places)
}

/// A path with an index for each step into a list, and the value there.
type Place<'v, 'p> = (Option<&'v Value>, Vec<Cow<'p, str>>);

/// The paths that match one with names or patterns in place of indices.
fn every_place<'p>(root: &Value, steps: &[&'p str]) -> Result<Vec<Vec<Cow<'p, str>>>, Fault> {
    let mut places: Vec<Place<'_, 'p>> = vec![(Some(root), Vec::with_capacity(steps.len()))];
    for passed in 0..steps.len() {
        places = step_into(&places, &steps[..passed], steps[passed], &steps[passed..])?;
    }
    Ok(places.into_iter().map(|(_, path)| path).collect())
}

/// The places one `step` further than `places`; `rest` begins with it.
fn step_into<'v, 'p>(
    places: &[Place<'v, 'p>],
    passed: &[&str],
    step: &'p str,
    rest: &[&str],
) -> Result<Vec<Place<'v, 'p>>, Fault> {
    let mut further = Vec::new();
    for (at, path) in places {
        let entries = match at {
            Some(at) => entries_at(at, passed, step)?,
            None if step == EVERY => Some(Vec::new()),
            None => None,
        };
        match entries {
            Some(entries) => further.extend(
                entries
                    .into_iter()
                    .map(|(index, entry)| (Some(entry), [path.as_slice(), &[Cow::Owned(index.to_string())]].concat())),
            ),
            None => {
                further.push((at.and_then(|at| entry(at, step)), [path.as_slice(), &[Cow::Borrowed(step)]].concat()))
            }
        }
    }
    if further.is_empty() { Err(no_entry(places, passed, step, rest)) } else { Ok(further) }
}

/// The entries of the list `at` that `step` selects, with their indices; `None` if it selects none by its name, but is an
/// index or a key.
fn entries_at<'v>(at: &'v Value, passed: &[&str], step: &str) -> Result<Option<Vec<(usize, &'v Value)>>, Fault> {
    let selected = |name: &&str| *name == step || glob::matches(step, name);
    Ok(match at {
        Value::List(items) if step == EVERY => Some(items.iter().enumerate().collect()),
        Value::List(_) if step.parse::<usize>().is_ok() => None,
        Value::List(items) => {
            let named = items.iter().enumerate().filter(|(_, item)| names_of(item).iter().any(selected));
            Some(named.collect())
        }
        // A single table stands for a list of one.
        Value::Table(_) if step == EVERY && !passed.is_empty() => Some(vec![(0, at)]),
        Value::Table(_) if matches!(passed, [section] if ONE_OR_MANY.contains(section)) => {
            let is_name = at.get(step).is_none() && names_of(at).iter().any(selected);
            is_name.then(|| vec![(0, at)])
        }
        _ if step == EVERY && passed.is_empty() => Some(Vec::new()),
        _ if step == EVERY => {
            let list = passed.join(".");
            return Err((format!("{list} is {at}, no list"), "* stands for its entries").into());
        }
        _ => None,
    })
}

/// The names of a table: its own one, else its stations as written.
fn names_of(entry: &Value) -> Vec<&str> {
    match entry.get("name").or_else(|| entry.get("station")) {
        Some(Value::Text(name)) => vec![name],
        Some(Value::List(names)) => {
            names.iter().filter_map(|n| if let Value::Text(n) = n { Some(&**n) } else { None }).collect()
        }
        _ => Vec::new(),
    }
}

/// The mistake of a step that no entry has.
fn no_entry(places: &[Place<'_, '_>], passed: &[&str], step: &str, rest: &[&str]) -> Fault {
    if step == EVERY {
        let what = if passed.is_empty() { "* stands" } else { "* stands for every entry, and there is none of" };
        let place =
            if passed.is_empty() { "behind a section, as in flow.*.direction".into() } else { passed.join(".") };
        return no_place(&format!("{what} {place}"), &[]);
    }
    let items = places.iter().find_map(|(at, _)| if let Some(Value::List(items)) = at { Some(items) } else { None });
    index_is_missing(items.map_or(&[], Vec::as_slice), passed, rest)
}

/// The mistake of a path that continues behind a list with neither an index nor a name.
fn index_is_missing(items: &[Value], passed: &[&str], steps: &[&str]) -> Fault {
    let (list, step, length) = (passed.join("."), steps[0], items.len());
    let mut names: Vec<&str> = items.iter().flat_map(names_of).collect();
    names.dedup();
    let hint = suggestion(step, names.iter().copied());
    // A key behind which the rest may follow; a word such as -1, or like a name, is in place of the index.
    let is_key = step.starts_with(|c: char| c.is_alphabetic()) && (hint.is_empty() || steps.len() == 1);
    let rest = if is_key { steps } else { &steps[1..] }.join(".");
    let every = if length > 1 { format!(", or {list}.*.{rest} for all") } else { String::new() };
    let range = if length > 1 { format!("; entries 0 to {} are there", length - 1) } else { String::new() };
    let write = format!("write {list}.0.{rest}{every}{range}");
    let (or_a_name, named) = match names.as_slice() {
        [] => ("", String::new()),
        _ => (" or a name", format!("{hint}names: {}; ", names.join(", "))),
    };
    no_place(&format!("expected an index from 0{or_a_name}, found \"{step}\""), &names)
        .with_remedy(format!("{named}{write}"))
}

fn no_place(what: &str, known: &[&str]) -> Fault {
    let known = known.iter().map(|name| name.to_string()).collect();
    Kind::NoSuchPlace { what: what.into(), known }.into()
}

/// The value that a step leads to, as in `put`: in a single table that stands for a list of one, 0 is the table itself.
fn entry<'v>(at: &'v Value, step: &str) -> Option<&'v Value> {
    match at {
        Value::Table(entries) => {
            let found = entries.iter().find(|(key, _)| key == step).map(|(_, value)| value);
            found.or_else(|| (step == "0").then_some(at))
        }
        Value::List(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    }
}

/// `station.0.count` in the form of error paths: `station[0].count`.
fn bracketed(steps: &[&str]) -> String {
    let mut path = String::new();
    for step in steps {
        if step.parse::<usize>().is_ok() {
            path.push_str(&format!("[{step}]"));
        } else {
            path.push_str(if path.is_empty() { "" } else { "." });
            path.push_str(step);
        }
    }
    path
}

/// Puts `value` at `steps`. A name where a table is needed becomes a table with that `kind`. `passed` has the steps
/// before.
fn put<'a>(at: &mut Value, steps: &[&'a str], value: Value, passed: &mut Vec<&'a str>) -> Result<(), Fault> {
    let [step, rest @ ..] = steps else {
        *at = value;
        return Ok(());
    };
    if let Value::Text(kind) = at {
        *at = Value::Table(vec![("kind".into(), Value::Text(std::mem::take(kind)))]);
    }
    match at {
        Value::Table(entries) => {
            if *step == "0" && !entries.iter().any(|(k, _)| k == step) {
                // A single table stands for a list of one: bss.0 is bss.
                return put(at, rest, value, passed);
            }
            passed.push(step);
            if let Some((_, next)) = entries.iter_mut().find(|(key, _)| key == step) {
                return put(next, rest, value, passed);
            }
            entries.push((step.to_string(), Value::Table(Vec::new())));
            put(&mut entries.last_mut().expect("just pushed").1, rest, value, passed)
        }
        Value::List(items) => {
            let length = items.len();
            let index: usize = step.parse().map_err(|_| index_is_missing(items, passed, steps))?;
            let next = items.get_mut(index).ok_or_else(|| {
                no_place(&format!("there is no entry {index}"), &[]).with_remedy(format!("{length} are there"))
            })?;
            passed.push(step);
            put(next, rest, value, passed)
        }
        other => Err(no_place(&format!("there is {other} where a table is needed for \"{step}\""), &[])),
    }
}
