//! A mistake or a warning about a scenario as a value: its place, its kind with arguments, and the remedy. Its sentence
//! is made only here, by [`Diagnostic::sentence`].

use std::fmt;

use lasthop_registry::{Fault, Kind};

/// Whether a scenario can be run in spite of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// a mistake: the scenario cannot be run
    Error,
    /// a property that readers of the results must know
    Warning,
}

impl Severity {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// Characters of a file, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// the first character
    pub begin: usize,
    /// the character behind the last one
    pub end: usize,
    /// the column of the first character in its line, from 1
    pub column: usize,
}

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// no place
    Nowhere,
    /// a file
    File {
        /// its name
        name: String,
        /// the line, from 1
        line: Option<usize>,
        /// the key or value in that line
        span: Option<Span>,
    },
    /// a setting over the file
    Setting {
        /// its path as written
        path: String,
        /// its value as written; `None` if the path alone is wrong
        value: Option<String>,
    },
}

/// A mistake in a scenario, or a warning about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// whether it is a mistake
    pub severity: Severity,
    /// the file and line, or the setting
    pub origin: Origin,
    /// the path of the key, such as `station[0].count`, or empty
    pub key: String,
    /// what is wrong, and the remedy
    pub fault: Box<Fault>,
}

impl Diagnostic {
    /// A mistake.
    pub fn new(origin: Origin, key: impl Into<String>, fault: impl Into<Fault>) -> Diagnostic {
        Diagnostic { severity: Severity::Error, origin, key: key.into(), fault: Box::new(fault.into()) }
    }

    /// A mistake without a place.
    pub fn without_place(fault: impl Into<Fault>) -> Diagnostic {
        Diagnostic::new(Origin::Nowhere, "", fault)
    }

    /// A warning about the whole scenario, or about these stations, nodes or flows.
    pub fn warning(what: impl Into<String>, names: &[&str]) -> Diagnostic {
        let names = names.iter().map(|name| name.to_string()).collect();
        Diagnostic::without_place(Kind::Caution { what: what.into(), names }).as_warning()
    }

    /// The same as a warning.
    #[must_use]
    pub fn as_warning(self) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..self }
    }

    /// The sentence: place, mistake and remedy. `option` names the option that has the setting of a path.
    pub fn sentence(&self, option: impl Fn(&str) -> String) -> String {
        let place = match &self.origin {
            Origin::Nowhere => String::new(),
            Origin::File { name, line: Some(line), .. } => format!("{name}:{line}"),
            Origin::File { name, line: None, .. } => name.clone(),
            Origin::Setting { path, value: Some(value) } => format!("{} {path}={value}", option(path)),
            Origin::Setting { path, value: None } => format!("{} {path}", option(path)),
        };
        sentence(&place, &self.key, &self.fault.what(), &self.fault.remedy())
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence(|_| "--set".into()))
    }
}
impl std::error::Error for Diagnostic {}

/// The sentence for a place, a key, a mistake and its remedy, each of which may be empty: one line, whatever the quoted
/// text.
pub fn sentence(place: &str, key: &str, what: &str, remedy: &str) -> String {
    let before = [place, key].into_iter().filter(|part| !part.is_empty()).map(|part| format!("{part}: "));
    let rest = [what, remedy].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    (before.collect::<String>() + &rest).chars().map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_of_a_setting_is_the_reader_s() {
        let origin = Origin::Setting { path: "wired.delay".into(), value: Some("10".into()) };
        let error = Diagnostic::new(origin, "wired.delay", ("no unit", "write \"10 ms\""));
        assert_eq!(error.to_string(), "--set wired.delay=10: wired.delay: no unit; write \"10 ms\"");
        let swept = error.sentence(|_| "--over".into());
        assert_eq!(swept, "--over wired.delay=10: wired.delay: no unit; write \"10 ms\"");
    }

    #[test]
    fn a_sentence_has_one_line() {
        let error = Diagnostic::without_place("a\nb\u{1b}");
        assert_eq!(error.to_string(), "a\\nb\\u{1b}");
    }
}
