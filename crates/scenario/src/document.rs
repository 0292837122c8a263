//! A scenario file as a tree of values, with the line of each, and settings applied on top.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use lasthop_registry::{ParamError, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// An index that stands for every entry.
const EVERY: &str = "*";

/// An error in an input, in one message with place and remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError(String);

impl InputError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        InputError(message.into())
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // One line, whatever the quoted text.
        for c in self.0.chars() {
            if c.is_control() { write!(f, "{}", c.escape_default())? } else { write!(f, "{c}")? }
        }
        Ok(())
    }
}
impl std::error::Error for InputError {}

/// A parsed file.
pub(crate) struct Document {
    file_name: String,
    pub(crate) root: Value,
    /// Line of each path that the file itself has.
    lines: BTreeMap<String, usize>,
    /// Places set from outside, and the setting of each.
    settings: Vec<(String, String)>,
}

/// A place in a form to compare: a single table stands for a list of one.
fn comparable(path: &str) -> String {
    path.replace("[0]", "")
}

impl Document {
    /// Parses TOML.
    pub(crate) fn parse(text: &str, file_name: &str) -> Result<Document, InputError> {
        let mut reader = Reader { text, lines: BTreeMap::new() };
        let table = DeTable::parse(text).map_err(|error| {
            let line = error.span().map_or(1, |span| reader.line(span.start));
            let said = unquoted(text.lines().nth(line - 1).unwrap_or_default());
            InputError(format!("{file_name}:{line}: {}", said.unwrap_or_else(|| error.message().to_string())))
        })?;
        let root = reader.table(table.get_ref(), "").map_err(|e| InputError(format!("{file_name}: {e}")))?;
        Ok(Document { file_name: file_name.to_string(), root, lines: reader.lines, settings: Vec::new() })
    }

    /// The message for an error in this file, with the line of its place if the file has one, or with the setting of
    /// its value.
    pub(crate) fn locate(&self, error: ParamError) -> InputError {
        InputError(format!("{}: {error}", self.origin(&error.path)))
    }

    /// The file and line of the value at `path`, or the setting that put it there.
    pub(crate) fn origin(&self, path: &str) -> String {
        if let Some(setting) = self.setting(path) {
            return setting.to_string();
        }
        let mut place = path;
        while !place.is_empty() {
            if let Some(line) = self.lines.get(place) {
                return format!("{}:{line}", self.file_name);
            }
            place = place.rfind(['.', '[']).map_or("", |end| &place[..end]);
        }
        self.file_name.clone()
    }

    /// The setting that put the value at `path` there, if any.
    pub(crate) fn setting(&self, path: &str) -> Option<&str> {
        let at = comparable(path);
        let reaches = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        // A setting below a place that the file lacks has created that place.
        let made = |place: &str| reaches(place, &at) && !self.lines.contains_key(path);
        let to_blame = |(place, _): &&(String, String)| reaches(&at, place) || made(place);
        self.settings.iter().rev().find(to_blame).map(|(_, setting)| setting.as_str())
    }

    /// Applies `--set path=value`; the value is TOML if it parses as such, else a string. A `*` in place of an index stands
    /// for every entry of a list.
    pub(crate) fn set(&mut self, path: &str, text: &str) -> Result<(), InputError> {
        let steps: Vec<&str> = path.split('.').map(str::trim).collect();
        if steps.iter().any(|s| s.is_empty()) {
            return Err(InputError(format!(
                "--set {path}: write a path like station.0.count or tcp.congestion_control"
            )));
        }
        let value = parse_value(text).map_err(|message| InputError(format!("--set {path}: {message}")))?;
        let wrong = |message| InputError(format!("--set {path}={text}: {message}"));
        for steps in each_entry(&self.root, &steps).map_err(wrong)? {
            let steps: Vec<&str> = steps.iter().map(AsRef::as_ref).collect();
            put(&mut self.root, &steps, value.clone(), &mut Vec::new()).map_err(wrong)?;
            self.settings.push((comparable(&bracketed(&steps)), format!("--set {path}={text}")));
        }
        Ok(())
    }
}

/// The paths that match one with `*` in place of indices: one for each entry of the lists in `root`.
fn each_entry<'a>(root: &Value, steps: &[&'a str]) -> Result<Vec<Vec<Cow<'a, str>>>, String> {
    let mut found = vec![(Some(root), Vec::with_capacity(steps.len()))];
    for (passed, step) in steps.iter().enumerate() {
        if *step != EVERY {
            for (at, path) in &mut found {
                *at = at.and_then(|at| entry(at, step));
                path.push(Cow::Borrowed(*step));
            }
            continue;
        }
        let list = steps[..passed].join(".");
        let mut further = Vec::new();
        for (at, path) in found {
            let entries: Vec<&Value> = match at {
                Some(Value::List(items)) => items.iter().collect(),
                // A single table stands for a list of one.
                Some(table @ Value::Table(_)) if passed > 0 => vec![table],
                Some(other) if passed > 0 => {
                    return Err(format!("{list} is {other}, no list; * stands for its entries"));
                }
                _ => Vec::new(),
            };
            for (index, entry) in entries.into_iter().enumerate() {
                let mut path = path.clone();
                path.push(Cow::Owned(index.to_string()));
                further.push((Some(entry), path));
            }
        }
        if further.is_empty() {
            let place = if list.is_empty() { "behind a section, as in flow.*.direction".into() } else { list };
            let what = if passed == 0 { "* stands" } else { "* stands for every entry, and there is none of" };
            return Err(format!("{what} {place}"));
        }
        found = further;
    }
    Ok(found.into_iter().map(|(_, path)| path).collect())
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

/// The hint for a line whose value is a word without quotes, such as `standard = 802.11n`.
fn unquoted(line: &str) -> Option<String> {
    let (key, value) = line.split_once('=')?;
    let (key, value) = (key.trim(), value.split('#').next().unwrap_or_default().trim());
    let bare_key = |key: &str| !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    let bare_word = |value: &str| {
        value.starts_with(|c: char| c.is_alphanumeric() || "-+.".contains(c))
            && !value.contains(['"', '\'', '[', '{', '='])
    };
    let wrong = DeTable::parse(&format!("value = {value}")).is_err();
    (bare_key(key) && bare_word(value) && wrong)
        .then(|| format!("{key}: {value} needs quotes; write {key} = \"{value}\""))
}

fn parse_value(text: &str) -> Result<Value, String> {
    let document = format!("value = {text}");
    match DeTable::parse(&document) {
        Ok(table) if table.get_ref().len() == 1 => {
            let mut reader = Reader { text: &document, lines: BTreeMap::new() };
            match reader.table(table.get_ref(), "")? {
                Value::Table(mut entries) => Ok(entries.remove(0).1),
                _ => unreachable!("a document is a table"),
            }
        }
        _ => Ok(Value::text(text.trim())),
    }
}

/// Puts `value` at `steps`. A name where a table is needed becomes a table with that `kind`. `passed` has the steps
/// before.
fn put<'a>(at: &mut Value, steps: &[&'a str], value: Value, passed: &mut Vec<&'a str>) -> Result<(), String> {
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
            let index: usize = step.parse().map_err(|_| index_is_missing(passed, steps, length))?;
            let next = items.get_mut(index).ok_or_else(|| format!("there is no entry {index}; {length} are there"))?;
            passed.push(step);
            put(next, rest, value, passed)
        }
        other => Err(format!("there is {other} where a table is needed for \"{step}\"")),
    }
}

/// The message for a path that continues behind a list without an index.
fn index_is_missing(passed: &[&str], steps: &[&str], length: usize) -> String {
    let (list, rest) = (passed.join("."), steps.join("."));
    let range = if length > 1 { format!("; entries 0 to {} are there", length - 1) } else { String::new() };
    // A word such as -1 stands for the number itself.
    let is_name = steps[0].starts_with(|c: char| c.is_alphabetic());
    let rest = if is_name { rest } else { steps[1..].join(".") };
    let every = if length > 1 { format!(", or {list}.*.{rest} for all") } else { String::new() };
    format!("expected an index from 0, found \"{}\"; write {list}.0.{rest}{every}{range}", steps[0])
}

/// Turns parsed TOML into values and notes the line of each.
struct Reader<'a> {
    text: &'a str,
    lines: BTreeMap<String, usize>,
}

impl Reader<'_> {
    fn line(&self, offset: usize) -> usize {
        self.text.as_bytes()[..offset.min(self.text.len())].iter().filter(|b| **b == b'\n').count() + 1
    }

    fn table(&mut self, table: &DeTable<'_>, path: &str) -> Result<Value, String> {
        let mut entries = Vec::with_capacity(table.len());
        for (key, value) in table {
            let name = key.get_ref().to_string();
            let place = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let line = self.line(key.span().start);
            self.lines.insert(place.clone(), line);
            entries.push((name, self.value(value, &place)?));
        }
        Ok(Value::Table(entries))
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, path: &str) -> Result<Value, String> {
        let line = self.line(value.span().start);
        self.lines.entry(path.to_string()).or_insert(line);
        Ok(match value.get_ref() {
            DeValue::String(text) => Value::text(text),
            DeValue::Boolean(b) => Value::Bool(*b),
            DeValue::Integer(i) => Value::Integer(
                i64::from_str_radix(i.as_str(), i.radix()).map_err(|_| format!("{path}: {i} is too large a number"))?,
            ),
            DeValue::Float(x) => Value::Float(x.as_str().parse().map_err(|_| format!("{path}: {x} is not a number"))?),
            DeValue::Array(items) => Value::List(
                items
                    .iter()
                    .enumerate()
                    .map(|(i, item)| self.value(item, &format!("{path}[{i}]")))
                    .collect::<Result<_, _>>()?,
            ),
            DeValue::Table(table) => self.table(table, path)?,
            DeValue::Datetime(date) => return Err(format!("{path}: {date} is a date; no key takes one")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name = \"x\"\n[bss]\nqueue = \"fifo\"\n[[station]]\ncount = 2\n";

    fn with(path: &str, value: &str) -> Result<String, String> {
        let mut document = Document::parse(TEXT, "x.toml").unwrap();
        document.set(path, value).map_err(|e| e.to_string())?;
        Ok(document.root.to_string())
    }

    #[test]
    fn settings_reach_into_lists_tables_and_names() {
        assert!(with("station.0.count", "5").unwrap().contains("count = 5"));
        assert!(
            with("bss.queue.limit", "9 packets")
                .unwrap()
                .contains("queue = { kind = \"fifo\", limit = \"9 packets\" }")
        );
        assert!(with("bss.0.rate", "[\"1 Mbit/s\"]").unwrap().contains("rate = [\"1 Mbit/s\"]"));
        assert!(with("wired.delay", "50 ms").unwrap().contains("wired = { delay = \"50 ms\" }"));
        assert!(with("tcp.sack", "true").unwrap().contains("sack = true"));
    }

    #[test]
    fn settings_of_missing_entries_are_errors() {
        assert_eq!(
            with("station.7.count", "1").unwrap_err(),
            "--set station.7.count=1: there is no entry 7; 1 are there"
        );
        assert!(with("station..count", "1").unwrap_err().contains("write a path"));
    }

    #[test]
    fn a_list_without_a_number_is_answered_with_the_path_that_has_one() {
        let said = with("station.count", "3").unwrap_err();
        let needed = "--set station.count=3: expected an index from 0, found \"count\"; write station.0.count";
        assert_eq!(said, needed);
    }

    #[test]
    fn a_star_stands_for_every_entry_of_a_list() {
        let text = "[bss]\n[[station]]\nname = \"a\"\n[[station]]\nname = \"b\"\nqueue = \"fifo\"\n";
        let mut document = Document::parse(text, "x.toml").unwrap();
        document.set("station.*.queue.limit", "9 packets").unwrap();
        document.set("bss.*.channel", "6").unwrap();
        document.set("station.1.queue.limit", "7 packets").unwrap();
        let seen = document.root.to_string();
        assert!(seen.contains("{ name = \"a\", queue = { limit = \"9 packets\" } }"), "{seen}");
        assert!(seen.contains("{ name = \"b\", queue = { kind = \"fifo\", limit = \"7 packets\" } }"), "{seen}");
        assert!(seen.contains("bss = { channel = 6 }"), "{seen}");
        let said = |path: &str| document.locate(ParamError::new(path, "no")).to_string();
        assert!(said("station[0].queue.limit").starts_with("--set station.*.queue.limit=9 packets: station[0]"));
        assert!(said("station[1].queue.limit").starts_with("--set station.1.queue.limit=7 packets: station[1]"));
    }

    #[test]
    fn a_star_that_stands_for_nothing_is_refused() {
        let none = "--set flow.*.size=1 MB: * stands for every entry, and there is none of flow";
        assert_eq!(with("flow.*.size", "1 MB").unwrap_err(), none);
        let word = "--set bss.queue.*.x=1: bss.queue is \"fifo\", no list; * stands for its entries";
        assert_eq!(with("bss.queue.*.x", "1").unwrap_err(), word);
        assert_eq!(with("*.x", "1").unwrap_err(), "--set *.x=1: * stands behind a section, as in flow.*.direction");
        assert_eq!(
            with("station.*.queue.*.limit", "1").unwrap_err(),
            "--set station.*.queue.*.limit=1: * stands for every entry, and there is none of station.*.queue"
        );
    }

    #[test]
    fn where_a_list_has_several_entries_the_path_for_all_is_shown_too() {
        let mut document = Document::parse("[[flow]]\n[[flow]]\n", "x.toml").unwrap();
        let said = document.set("flow.size", "1 MB").unwrap_err().to_string();
        assert!(said.ends_with("write flow.0.size, or flow.*.size for all; entries 0 to 1 are there"), "{said}");
    }

    #[test]
    fn a_word_without_quotes_is_shown_with_them() {
        let said = |line: &str| Document::parse(&format!("[bss]\n{line}\n"), "x.toml").err().unwrap().to_string();
        let needed = "x.toml:2: standard: 802.11n needs quotes; write standard = \"802.11n\"";
        assert_eq!(said("standard = 802.11n"), needed);
        assert_eq!(said("standard = 802.11n # today"), needed);
        assert!(said("duration = 5 s").ends_with("duration: 5 s needs quotes; write duration = \"5 s\""));
        assert!(!said("a = = 2").contains("quotes") && !said("a = [1").contains("quotes"));
        assert!(!said("a = \"b").contains("quotes") && !said("a b = 1").contains("quotes"));
    }

    #[test]
    fn errors_carry_the_line_of_the_nearest_place() {
        let document = Document::parse(TEXT, "x.toml").unwrap();
        let at = |path: &str| document.locate(ParamError::new(path, "no")).to_string();
        assert_eq!(at("station[0].count"), "x.toml:5: station[0].count: no");
        assert_eq!(at("station[0].queue.limit"), "x.toml:4: station[0].queue.limit: no");
        assert_eq!(at("flow"), "x.toml: flow: no");
    }

    #[test]
    fn errors_of_a_setting_name_the_setting() {
        let mut document = Document::parse(TEXT, "x.toml").unwrap();
        document.set("bss.0.queue.kind", "fif").unwrap();
        let error = document.locate(ParamError::new("bss.queue.kind", "no")).to_string();
        assert_eq!(error, "--set bss.0.queue.kind=fif: bss.queue.kind: no");
        let other = document.locate(ParamError::new("bss.queueing", "no")).to_string();
        assert_eq!(other, "x.toml:2: bss.queueing: no");
    }

    #[test]
    fn broken_toml_names_the_line() {
        let error = Document::parse("a = 1\nb = = 2\n", "x.toml").err().unwrap().to_string();
        assert!(error.starts_with("x.toml:2: "), "{error}");
    }
}
