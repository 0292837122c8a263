//! A mistake in a value, as a value: its kind with arguments, and the remedy. [`Fault::what`] and
//! [`Fault::remedy`] are the only places that make words of it.

use crate::{Value, suggestion};

/// The kind of a mistake, with its arguments. Kinds that hold a text have it from the place of the rule.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A key that its table does not have.
    UnknownKey {
        /// the key as written
        key: String,
        /// the keys of the table
        known: Vec<String>,
    },
    /// A name that its registry does not have.
    UnknownName {
        /// the kind of thing, e.g. `queue discipline`; empty for plain words
        of: String,
        /// the name as written
        name: String,
        /// the names that the registry has
        known: Vec<String>,
    },
    /// A name or pattern without a match in the scenario.
    NoMatch {
        /// the kind of thing, e.g. `station`
        of: String,
        /// the name as written
        name: String,
        /// the names that the scenario has
        known: Vec<String>,
    },
    /// A name that is reserved.
    Planned {
        /// the kind of thing
        of: String,
        /// the name as written
        name: String,
        /// the names that the registry has
        known: Vec<String>,
    },
    /// A feature that is not modelled.
    NotModelled {
        /// `OFDMA is not modelled`
        sentence: String,
        /// the names that the registry has
        known: Vec<String>,
    },
    /// A value of another type.
    WrongType {
        /// the type that is needed, with its article
        expected: String,
        /// the value as written
        found: String,
    },
    /// A value of another type in place of one of some words.
    NoWord {
        /// the words
        known: Vec<String>,
        /// the value as written
        found: String,
    },
    /// A number outside of its range.
    OutOfRange {
        /// the value as written
        found: String,
        /// the range
        allowed: String,
    },
    /// A text that is not a quantity with its unit.
    Quantity(String),
    /// A key without effect here.
    NoEffect(String),
    /// A key that is needed.
    Missing(String),
    /// Keys that exclude one another.
    Conflict(String),
    /// Text that is not TOML.
    Syntax(String),
    /// A path that leads to no place in the file.
    NoSuchPlace {
        /// the explanation
        what: String,
        /// the names of the entries that the file has
        known: Vec<String>,
    },
    /// A file that cannot be read.
    File(String),
    /// Code that cannot be loaded.
    Code(String),
    /// A request that is not allowed here.
    NotAllowed(String),
    /// A property of the scenario that a reader of its results must know.
    Caution {
        /// the explanation
        what: String,
        /// the stations, nodes or flows with this property
        names: Vec<String>,
    },
    /// Any other value that breaks a rule.
    Invalid(String),
}

impl Kind {
    /// The word for the kind, by which programs distinguish mistakes.
    pub const fn word(&self) -> &'static str {
        match self {
            Kind::UnknownKey { .. } => "unknown_key",
            Kind::UnknownName { .. } => "unknown_name",
            Kind::NoMatch { .. } => "no_match",
            Kind::Planned { .. } => "planned",
            Kind::NotModelled { .. } => "not_modelled",
            Kind::WrongType { .. } | Kind::NoWord { .. } => "wrong_type",
            Kind::OutOfRange { .. } => "out_of_range",
            Kind::Quantity(_) => "quantity",
            Kind::NoEffect(_) => "no_effect",
            Kind::Missing(_) => "missing",
            Kind::Conflict(_) => "conflict",
            Kind::Syntax(_) => "syntax",
            Kind::NoSuchPlace { .. } => "no_such_place",
            Kind::File(_) => "file",
            Kind::Code(_) => "code",
            Kind::NotAllowed(_) => "not_allowed",
            Kind::Caution { .. } => "caution",
            Kind::Invalid(_) => "invalid",
        }
    }

    /// Whether the key is wrong, rather than its value.
    pub const fn is_about_key(&self) -> bool {
        matches!(self, Kind::UnknownKey { .. } | Kind::NoEffect(_))
    }

    /// The arguments by name.
    pub fn arguments(&self) -> Vec<(&'static str, Value)> {
        let text = |text: &String| Value::text(text);
        match self {
            Kind::UnknownKey { key, known } => vec![("key", text(key)), ("known", list(known))],
            Kind::UnknownName { of, name, known }
            | Kind::NoMatch { of, name, known }
            | Kind::Planned { of, name, known } => {
                vec![("of", text(of)), ("name", text(name)), ("known", list(known))]
            }
            Kind::NotModelled { sentence, known } => vec![("feature", text(sentence)), ("known", list(known))],
            Kind::WrongType { expected, found } => vec![("expected", text(expected)), ("found", text(found))],
            Kind::NoWord { known, found } => vec![("known", list(known)), ("found", text(found))],
            Kind::OutOfRange { found, allowed } => vec![("found", text(found)), ("allowed", text(allowed))],
            Kind::NoSuchPlace { known, .. } => vec![("known", list(known))],
            Kind::Caution { names, .. } => vec![("names", list(names))],
            _ => Vec::new(),
        }
    }

    /// The names that would be right, and the one that was written.
    fn names(&self) -> Option<(&str, &[String])> {
        match self {
            Kind::UnknownKey { key: name, known }
            | Kind::UnknownName { name, known, .. }
            | Kind::NoMatch { name, known, .. } => Some((name, known)),
            _ => None,
        }
    }

    /// The mistake in words, without the remedy.
    fn what(&self) -> String {
        match self {
            Kind::UnknownKey { key, .. } => format!("unknown key \"{key}\""),
            Kind::UnknownName { of, name, .. } if of.is_empty() => format!("unknown \"{name}\""),
            Kind::UnknownName { of, name, .. } => format!("unknown {of} \"{name}\""),
            Kind::NoMatch { of, name, .. } => format!("there is no {of} \"{name}\""),
            Kind::Planned { of, name, .. } => format!("the {of} \"{name}\" is not there yet"),
            Kind::NotModelled { sentence, .. } => sentence.clone(),
            Kind::WrongType { expected, found } => format!("expected {expected}, found {found}"),
            Kind::NoWord { known, found } => format!("expected one of: {}; found {found}", known.join(", ")),
            Kind::OutOfRange { found, .. } => format!("{found} is out of range"),
            Kind::NoSuchPlace { what, .. }
            | Kind::Caution { what, .. }
            | Kind::Quantity(what)
            | Kind::NoEffect(what)
            | Kind::Missing(what)
            | Kind::Conflict(what)
            | Kind::Syntax(what)
            | Kind::File(what)
            | Kind::Code(what)
            | Kind::NotAllowed(what)
            | Kind::Invalid(what) => what.clone(),
        }
    }

    /// The remedy that follows from the arguments.
    fn remedy(&self) -> String {
        match self {
            Kind::UnknownKey { known, .. } if known.is_empty() => "there are none here".into(),
            Kind::UnknownKey { known, .. }
            | Kind::UnknownName { known, .. }
            | Kind::NoMatch { known, .. }
            | Kind::Planned { known, .. }
            | Kind::NotModelled { known, .. } => format!("one of: {}", known.join(", ")),
            Kind::OutOfRange { allowed, .. } => allowed.clone(),
            _ => String::new(),
        }
    }
}

fn list(names: &[String]) -> Value {
    Value::List(names.iter().map(Value::text).collect())
}

/// A mistake: its kind, and the remedy if it does not follow from the kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// the kind with its arguments
    pub kind: Kind,
    /// the remedy from the place of the rule
    own_remedy: Option<String>,
    /// further values that would be right
    or: String,
    /// the reason why a table was read as this algorithm
    note: Option<String>,
}

impl Fault {
    /// A mistake whose kind gives the remedy, if there is any.
    pub fn new(kind: Kind) -> Fault {
        Fault { kind, own_remedy: None, or: String::new(), note: None }
    }

    /// The same with this remedy.
    #[must_use]
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Fault {
        self.own_remedy = Some(remedy.into());
        self
    }

    /// The same with `alternative` as a further value that would be right, e.g. `, or "off"`.
    #[must_use]
    pub fn or(mut self, alternative: &str) -> Fault {
        self.or.push_str(alternative);
        self
    }

    /// The same for a table at `path` without an algorithm's name, which was therefore applied over this one.
    #[must_use]
    pub fn laid_over(mut self, kind: &str, path: &str) -> Fault {
        self.note = Some(format!("without `kind = \"…\"`, {path} is \"{kind}\""));
        self
    }

    /// The mistake in words.
    pub fn what(&self) -> String {
        let mut what = self.kind.what();
        if self.action().is_empty() {
            what.push_str(&self.or);
        }
        what
    }

    /// The remedy in words; empty if there is none.
    pub fn remedy(&self) -> String {
        let mut remedy = self.action();
        if !remedy.is_empty() {
            remedy.push_str(&self.or);
        }
        if let Some(note) = &self.note {
            remedy = if remedy.is_empty() { note.clone() } else { format!("{remedy}; {note}") };
        }
        remedy
    }

    /// The name that was probably meant, and the action.
    fn action(&self) -> String {
        let hint = self.kind.names().map(|(name, known)| suggestion(name, known.iter().map(String::as_str)));
        let own = self.own_remedy.clone().unwrap_or_else(|| self.kind.remedy());
        hint.unwrap_or_default() + &own
    }

    /// The sentence: the mistake and its remedy.
    pub fn sentence(&self) -> String {
        let remedy = self.remedy();
        if remedy.is_empty() { self.what() } else { format!("{}; {remedy}", self.what()) }
    }
}

impl From<Kind> for Fault {
    fn from(kind: Kind) -> Fault {
        Fault::new(kind)
    }
}

impl From<&str> for Fault {
    /// A broken rule in words, without a remedy.
    fn from(what: &str) -> Fault {
        Fault::new(Kind::Invalid(what.into()))
    }
}

impl From<String> for Fault {
    /// A broken rule in words, without a remedy.
    fn from(what: String) -> Fault {
        Fault::new(Kind::Invalid(what))
    }
}

impl<W: Into<Fault>, R: Into<String>> From<(W, R)> for Fault {
    /// A mistake and its remedy.
    fn from((what, remedy): (W, R)) -> Fault {
        what.into().with_remedy(remedy)
    }
}

impl From<lasthop_units::UnitError> for Fault {
    fn from(error: lasthop_units::UnitError) -> Fault {
        let fault = Fault::new(Kind::Quantity(error.what));
        match error.remedy {
            Some(remedy) => fault.with_remedy(remedy),
            None => fault,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_alone_make_the_sentence() {
        let known = vec!["count".to_string(), "name".to_string()];
        let fault = Fault::new(Kind::UnknownKey { key: "cuont".into(), known: known.clone() });
        assert_eq!(fault.what(), "unknown key \"cuont\"");
        assert_eq!(fault.remedy(), "did you mean \"count\"? one of: count, name");
        assert_eq!(fault.kind.arguments()[1], ("known", list(&known)));
        assert!(fault.kind.is_about_key());
    }

    #[test]
    fn alternatives_follow_the_remedy_or_the_mistake_if_there_is_none() {
        let range = Kind::OutOfRange { found: "-1".into(), allowed: "from 0 to 9".into() };
        assert_eq!(Fault::new(range).or(", or \"off\"").sentence(), "-1 is out of range; from 0 to 9, or \"off\"");
        let kind = Kind::WrongType { expected: "a string".into(), found: "3".into() };
        let fault = Fault::new(kind).or(", or \"off\"").laid_over("fifo", "bss.queue");
        assert_eq!(fault.what(), "expected a string, found 3, or \"off\"");
        assert_eq!(fault.remedy(), "without `kind = \"…\"`, bss.queue is \"fifo\"");
    }
}
