//! A scenario file as a tree of values, with the place of each, and settings applied on top.

use std::collections::BTreeMap;
use std::ops::Range;

use lasthop_registry::{Fault, Kind, ParamError, Value, suggestion};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::description::paths::elsewhere;
use crate::diagnostic::{Diagnostic, Origin, Span};
use crate::json::json_of;
use crate::setting;

/// A parsed file.
pub(crate) struct Document<'t> {
    text: &'t str,
    file_name: String,
    pub(crate) root: Value,
    /// The bytes of each path that the file itself has.
    places: BTreeMap<String, Bytes>,
    /// Places set from outside, and the setting of each: path and value.
    settings: Vec<(String, (String, String))>,
}

/// The same fault; an unknown key that resembles none of its section and is one of another names that one.
fn with_its_section(fault: Fault, path: &str) -> Fault {
    let Kind::UnknownKey { key, known } = &fault.kind else { return fault };
    if !suggestion(key, known.iter().map(String::as_str)).is_empty() {
        return fault;
    }
    let keys: Vec<String> = elsewhere(path).iter().map(|key| format!("\"{key}\"")).collect();
    if keys.is_empty() {
        return fault;
    }
    let remedy = format!("did you mean {}? one of: {}", keys.join(" or "), known.join(", "));
    fault.with_remedy(remedy)
}

/// The bytes of an entry in a file.
struct Bytes {
    key: Option<Range<usize>>,
    value: Range<usize>,
}

impl Bytes {
    fn begin(&self) -> usize {
        self.key.as_ref().unwrap_or(&self.value).start
    }

    /// The key, or the value. The header of a table is both.
    fn of(&self, is_about_key: bool) -> &Range<usize> {
        match &self.key {
            Some(key) if is_about_key && key.start < self.value.start => key,
            _ => &self.value,
        }
    }
}

/// A place in a form to compare: a single table stands for a list of one.
fn comparable(path: &str) -> String {
    path.replace("[0]", "")
}

impl<'t> Document<'t> {
    /// Parses TOML.
    pub(crate) fn parse(text: &'t str, file_name: &str) -> Result<Document<'t>, Diagnostic> {
        let (root, places) = (Value::Table(Vec::new()), BTreeMap::new());
        let mut document = Document { text, file_name: file_name.into(), root, places, settings: Vec::new() };
        let table = DeTable::parse(text).map_err(|error| document.broken(&error))?;
        let mut reader = Reader { places: BTreeMap::new() };
        let root = reader.table(table.get_ref(), "");
        document.places = reader.places;
        document.root = root.map_err(|error| document.locate(error))?;
        Ok(document)
    }

    /// The error about text that is not TOML.
    fn broken(&self, error: &toml::de::Error) -> Diagnostic {
        let bytes = error.span().unwrap_or(0..0);
        let line = line_of(self.text, bytes.start);
        let (key, fault) = unquoted(self.text.lines().nth(line - 1).unwrap_or_default())
            .unwrap_or_else(|| (String::new(), Kind::Syntax(error.message().into()).into()));
        let origin = Origin::File { name: self.file_name.clone(), line: Some(line), span: self.span(&bytes) };
        Diagnostic::new(origin, key, fault)
    }

    /// An error in this file, with the line of its place if the file has one, or with the setting of its value.
    pub(crate) fn locate(&self, error: ParamError) -> Diagnostic {
        let origin = self.origin_of(&error.path, error.fault.kind.is_about_key());
        let fault = with_its_section(*error.fault, &error.path);
        Diagnostic::new(origin, error.path, fault)
    }

    /// The file and line of the value at `path`, or the setting that put it there.
    pub(crate) fn origin(&self, path: &str) -> Origin {
        self.origin_of(path, false)
    }

    fn origin_of(&self, path: &str, is_about_key: bool) -> Origin {
        if let Some((path, value)) = self.setting(path) {
            return Origin::Setting { path: path.clone(), value: Some(value.clone()) };
        }
        let name = self.file_name.clone();
        let mut place = path;
        while !place.is_empty() {
            if let Some(bytes) = self.places.get(place) {
                let span = self.span(bytes.of(is_about_key && place == path));
                return Origin::File { name, line: Some(line_of(self.text, bytes.begin())), span };
            }
            place = place.rfind(['.', '[']).map_or("", |end| &place[..end]);
        }
        Origin::File { name, line: None, span: None }
    }

    /// These bytes in characters, if they are within one line.
    fn span(&self, bytes: &Range<usize>) -> Option<Span> {
        let (before, within) = (self.text.get(..bytes.start)?, self.text.get(bytes.clone())?);
        let begin = before.chars().count();
        let line = before.rfind('\n').map_or(0, |end| end + 1);
        let column = before[line..].chars().count() + 1;
        let is_one_line = !within.trim().is_empty() && !within.contains('\n');
        is_one_line.then(|| Span { begin, end: begin + within.chars().count(), column })
    }

    /// The setting that put the value at `path` there, if any: its path and value.
    pub(crate) fn setting(&self, path: &str) -> Option<&(String, String)> {
        let at = comparable(path);
        let reaches = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        // A setting below a place that the file lacks has created that place.
        let made = |place: &str| reaches(place, &at) && !self.places.contains_key(path);
        let to_blame = |(place, _): &&(String, (String, String))| reaches(&at, place) || made(place);
        self.settings.iter().rev().find(to_blame).map(|(_, setting)| setting)
    }

    /// Applies `--set path=value`.
    pub(crate) fn set(&mut self, path: &str, text: &str) -> Result<(), Diagnostic> {
        for place in setting::apply(&mut self.root, path, text)? {
            self.settings.push((comparable(&place), (path.into(), text.into())));
        }
        Ok(())
    }
}

/// The line of a byte, from 1.
fn line_of(text: &str, byte: usize) -> usize {
    text.as_bytes()[..byte.min(text.len())].iter().filter(|b| **b == b'\n').count() + 1
}

/// The mistake of a line whose value is a word without quotes, such as `standard = 802.11n`, with its key.
fn unquoted(line: &str) -> Option<(String, Fault)> {
    let (key, value) = line.split_once('=')?;
    let (key, value) = (key.trim(), value.split('#').next().unwrap_or_default().trim());
    let bare_key = |key: &str| !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    let bare_word = |value: &str| {
        value.starts_with(|c: char| c.is_alphanumeric() || "-+.".contains(c))
            && !value.contains(['"', '\'', '[', '{', '='])
    };
    let wrong = DeTable::parse(&format!("value = {value}")).is_err();
    (bare_key(key) && bare_word(value) && wrong).then(|| {
        let needs_quotes = Fault::new(Kind::Syntax(format!("{value} needs quotes")));
        (key.to_string(), needs_quotes.with_remedy(format!("write {key} = \"{value}\"")))
    })
}

/// The values of the file `file_name` with this `text`, as JSON. Only the syntax is checked.
///
/// # Errors
/// The place where it is not TOML.
pub fn parse_json(text: &str, file_name: &str) -> Result<String, Diagnostic> {
    Document::parse(text, file_name).map(|document| json_of(&document.root).to_string())
}

/// An error of somebody else about a file with this `text`, at its place there.
pub fn located(text: &str, file_name: &str, error: ParamError) -> Diagnostic {
    match Document::parse(text, file_name) {
        Ok(document) => document.locate(error),
        Err(broken) => broken,
    }
}

/// The value of a setting: TOML, or else a string.
pub(crate) fn parse_value(text: &str) -> Result<Value, Fault> {
    let document = format!("value = {text}");
    match DeTable::parse(&document) {
        Ok(table) if table.get_ref().len() == 1 => {
            let mut reader = Reader { places: BTreeMap::new() };
            match reader.table(table.get_ref(), "").map_err(|error| *error.fault)? {
                Value::Table(mut entries) => Ok(entries.remove(0).1),
                _ => unreachable!("a document is a table"),
            }
        }
        _ => Ok(Value::text(text.trim())),
    }
}

/// Turns parsed TOML into values and notes the bytes of each.
struct Reader {
    places: BTreeMap<String, Bytes>,
}

impl Reader {
    fn table(&mut self, table: &DeTable<'_>, path: &str) -> Result<Value, ParamError> {
        let mut entries = Vec::with_capacity(table.len());
        for (key, value) in table {
            let name = key.get_ref().to_string();
            let place = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            self.places.insert(place.clone(), Bytes { key: Some(key.span()), value: value.span() });
            entries.push((name, self.value(value, &place)?));
        }
        Ok(Value::Table(entries))
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, path: &str) -> Result<Value, ParamError> {
        self.places.entry(path.to_string()).or_insert(Bytes { key: None, value: value.span() });
        let wrong = |what: String| ParamError::new(path, what);
        Ok(match value.get_ref() {
            DeValue::String(text) => Value::text(text),
            DeValue::Boolean(b) => Value::Bool(*b),
            DeValue::Integer(i) => Value::Integer(
                i64::from_str_radix(i.as_str(), i.radix()).map_err(|_| wrong(format!("{i} is too large a number")))?,
            ),
            DeValue::Float(x) => Value::Float(x.as_str().parse().map_err(|_| wrong(format!("{x} is not a number")))?),
            DeValue::Array(items) => Value::List(
                items
                    .iter()
                    .enumerate()
                    .map(|(i, item)| self.value(item, &format!("{path}[{i}]")))
                    .collect::<Result<_, _>>()?,
            ),
            DeValue::Table(table) => self.table(table, path)?,
            DeValue::Datetime(date) => {
                return Err(ParamError::new(path, (format!("{date} is a date"), "no key takes one")));
            }
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
    fn a_key_of_another_section_is_named_with_that_section() {
        let document = Document::parse(TEXT, "x.toml").unwrap();
        let said = |path: &str, known: &[&str]| {
            let key = path.rsplit('.').next().unwrap_or(path).to_string();
            let known = known.iter().map(|known| known.to_string()).collect();
            document.locate(ParamError::new(path, Kind::UnknownKey { key, known })).to_string()
        };
        let queue = said("bss.queue", &["name", "ap"]);
        assert!(queue.ends_with("unknown key \"queue\"; did you mean \"bss.ap.queue\"? one of: name, ap"), "{queue}");
        assert!(said("ap", &["bss", "flow"]).contains("did you mean \"bss.ap\"?"));
        assert!(said("flow[0].distance", &["size"]).contains(" or \"station.distance\"?"));
        assert!(!said("flow[0].colour", &["size"]).contains("did you mean"));
        // A likeness within the section comes first, and a table of an algorithm is no section.
        assert!(said("bss.queue", &["queues"]).contains("did you mean \"queues\"?"));
        assert!(!said("bss.rate_control.distance", &["window"]).contains("did you mean"));
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

    /// A document with names, after a setting; or the error.
    fn named(path: &str, value: &str) -> Result<String, Diagnostic> {
        let text = "[bss]\nname = \"home\"\n[[station]]\nname = \"sta\"\n[[station]]\nname = \"7\"\n[[flow]]\nname = \"web1\"\nstation = \"sta\"\n\
                    [[flow]]\nname = \"web2\"\n[[flow]]\nstation = [\"7\", \"s*\"]\n";
        let mut document = Document::parse(text, "x.toml").unwrap();
        document.set(path, value)?;
        Ok(document.root.to_string())
    }

    #[test]
    fn a_step_may_be_a_name_or_a_pattern_of_names() {
        assert!(named("flow.web2.size", "1 MB").unwrap().contains("{ name = \"web2\", size = \"1 MB\" }"));
        assert_eq!(named("flow.web*.size", "1 MB").unwrap().matches("size").count(), 2);
        assert_eq!(named("flow.*.size", "1 MB").unwrap().matches("size").count(), 3);
        assert!(named("flow.s*.size", "1 MB").unwrap().contains("station = [\"7\", \"s*\"], size"));
        assert!(named("station.sta.count", "3").unwrap().contains("{ name = \"sta\", count = 3 }"));
        let home = named("bss.home.ap.queue", "fifo").unwrap();
        assert!(home.contains("{ name = \"home\", ap = { queue = \"fifo\" } }"), "{home}");
    }

    #[test]
    fn a_number_is_an_index_even_if_it_is_a_name() {
        assert!(named("station.1.count", "3").unwrap().contains("{ name = \"7\", count = 3 }"));
        let error = named("station.7.count", "3").unwrap_err().to_string();
        assert_eq!(error, "--set station.7.count=3: there is no entry 7; 2 are there");
    }

    #[test]
    fn a_name_of_no_entry_is_answered_with_the_names() {
        let error = named("flow.wbe1.size", "1 MB").unwrap_err();
        assert_eq!(
            error.to_string(),
            "--set flow.wbe1.size=1 MB: expected an index from 0 or a name, found \"wbe1\"; did you mean \"web1\"? \
             names: web1, web2, 7, s*; write flow.0.size, or flow.*.size for all; entries 0 to 2 are there"
        );
        let Kind::NoSuchPlace { known, .. } = error.fault.kind else { panic!("{error}") };
        assert_eq!(known, ["web1", "web2", "7", "s*"]);
    }

    #[test]
    fn settings_by_name_are_named_as_written_in_errors() {
        let mut document = Document::parse("[[flow]]\nname = \"web\"\n", "x.toml").unwrap();
        document.set("flow.w*.size", "1").unwrap();
        let error = document.locate(ParamError::new("flow[0].size", "no"));
        assert_eq!(error.to_string(), "--set flow.w*.size=1: flow[0].size: no");
    }

    /// The text that an error at `path` of this kind marks.
    fn marked<'t>(text: &'t str, path: &str, kind: Kind) -> &'t str {
        let error = Document::parse(text, "x.toml").unwrap().locate(ParamError::new(path, kind));
        let Origin::File { span: Some(span), .. } = error.origin else { panic!("{error}") };
        &text[span.begin..span.end]
    }

    #[test]
    fn an_error_has_the_span_of_the_key_or_of_the_value() {
        let unknown = || Kind::UnknownKey { key: String::new(), known: Vec::new() };
        let invalid = || Kind::Invalid(String::new());
        let text =
            "[bss]\nrate = { kind = \"x\", mcs = 3 }\n[[station]]\nposition = [\"1 m\", \"2 m\"]\n[wirred]\nx = 1\n";
        assert_eq!(marked(text, "bss.rate.mcs", unknown()), "mcs");
        assert_eq!(marked(text, "bss.rate.mcs", invalid()), "3");
        assert_eq!(marked(text, "bss.rate.kind", invalid()), "\"x\"");
        assert_eq!(marked(text, "station[0].position[1]", invalid()), "\"2 m\"");
        assert_eq!(marked(text, "bss.rate.absent", invalid()), "{ kind = \"x\", mcs = 3 }");
        assert_eq!(marked(text, "wirred", unknown()), "[wirred]");
    }

    #[test]
    fn a_span_counts_characters() {
        let error = Document::parse("# \u{1d11e}\na = 1 # x\nb = = 2\n", "x.toml").err().unwrap();
        let Origin::File { line: Some(3), span: Some(span), .. } = error.origin else { panic!("{error:?}") };
        assert_eq!((span.begin, span.column), (18, 5));
    }
}
