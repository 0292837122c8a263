//! The form of a parameter, described for the schema, the manual and the help.

use lasthop_units::Unit;

use crate::{Fault, Kind};

/// The meaning of a text in a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// a file, which is read, loaded or started
    File,
    /// a command of a shell
    Command,
    /// a name or a title, which nothing opens or runs
    Word,
}

impl Names {
    /// The word by which Python knows it.
    pub const fn word(self) -> &'static str {
        match self {
            Names::File => "file",
            Names::Command => "command",
            Names::Word => "word",
        }
    }
}

/// The form of a parameter's value.
#[derive(Clone, Debug)]
pub enum Shape {
    /// true or false
    Boolean,
    /// a whole number within bounds
    Integer {
        /// smallest allowed
        min: i64,
        /// largest allowed
        max: i64,
    },
    /// a number within bounds
    Number {
        /// smallest allowed
        min: f64,
        /// largest allowed
        max: f64,
    },
    /// any string, with its meaning
    Text(Names),
    /// a string with a unit: its dimension and an example
    Quantity {
        /// e.g. "a time"
        what: &'static str,
        /// e.g. "50 ms"
        example: &'static str,
        /// units allowed after the number
        units: &'static [Unit],
    },
    /// one of these words
    Words(Vec<String>),
    /// an algorithm, by name or as a table with `kind`
    Algorithm(&'static Registry),
    /// a table with these entries
    Table(Vec<Field>),
    /// a list of values of one shape
    List(Box<Shape>),
    /// any of these
    AnyOf(Vec<Shape>),
}

/// One entry of a table of parameters.
#[derive(Clone, Debug)]
pub struct Field {
    /// its key
    pub name: &'static str,
    /// its doc comment
    pub help: String,
    /// form of its values
    pub shape: Shape,
    /// the default in TOML; `None` if there is none
    pub default: Option<String>,
}

/// One algorithm of a registry.
#[derive(Debug)]
pub struct Entry {
    /// its name in scenario files
    pub name: &'static str,
    /// the first sentence of its row
    pub summary: &'static str,
    /// its origin
    pub source: &'static str,
    /// the evidence for its behaviour
    pub status: &'static str,
    /// its parameters
    pub fields: fn() -> Vec<Field>,
}

/// All algorithms of one kind.
#[derive(Debug)]
pub struct Registry {
    /// e.g. "queue_discipline"
    pub kind: &'static str,
    /// the available ones
    pub entries: &'static [Entry],
    /// other names for some of them: the alias, and the name
    pub aliases: &'static [(&'static str, &'static str)],
    /// languages in which a scenario may bring its own
    pub code: &'static [Entry],
    /// names that are reserved and not available yet
    pub planned: &'static [&'static str],
}

impl Registry {
    /// The name of an alias; any other name itself.
    pub fn meant<'a>(&'a self, name: &'a str) -> &'a str {
        self.aliases.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, of)| of)
    }

    /// The available ones, followed by the languages for others.
    pub fn all_entries(&self) -> impl Iterator<Item = &'static Entry> {
        self.entries.iter().chain(self.code)
    }

    /// The entry called `name`, or the mistake that there is none.
    pub fn find(&self, name: &str) -> Result<usize, Fault> {
        if let Some(index) = self.entries.iter().position(|e| e.name == self.meant(name)) {
            return Ok(index);
        }
        let known: Vec<String> = self.all_entries().map(|e| e.name.to_string()).collect();
        let (of, name) = (self.kind.replace('_', " "), name.to_string());
        Err(if let Some(sentence) = crate::not_modelled(&name) {
            Kind::NotModelled { sentence, known }.into()
        } else if self.planned.contains(&name.as_str()) {
            Kind::Planned { of, name, known }.into()
        } else if self.code.iter().any(|e| e.name == name) {
            Kind::NotAllowed(format!("the {of} \"{name}\" is code of a scenario's own, which is not read here")).into()
        } else {
            Kind::UnknownName { of, name, known }.into()
        })
    }
}
