//! The form of a parameter, described for the schema, the manual and the help.

use lasthop_units::Unit;

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
    /// any string
    Text,
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

    /// The entry called `name`, or a message that there is none.
    pub fn find(&self, name: &str) -> Result<usize, String> {
        if let Some(index) = self.entries.iter().position(|e| e.name == self.meant(name)) {
            return Ok(index);
        }
        let names: Vec<&str> = self.all_entries().map(|e| e.name).collect();
        let kind = self.kind.replace('_', " ");
        if let Some(sentence) = crate::not_modelled(name) {
            return Err(format!("{sentence}; one of: {}", names.join(", ")));
        }
        if self.planned.contains(&name) {
            return Err(format!("the {kind} \"{name}\" is not there yet; one of: {}", names.join(", ")));
        }
        if self.code.iter().any(|e| e.name == name) {
            return Err(format!("the {kind} \"{name}\" is code of a scenario's own, which is not read here"));
        }
        let hint = crate::suggestion(name, names.iter().copied());
        Err(format!("unknown {kind} \"{name}\"; {hint}one of: {}", names.join(", ")))
    }
}
