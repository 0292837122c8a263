//! What a parameter may be, described for the schema, the manual and the help.

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
    /// a string with a unit: what it measures and an example
    Quantity {
        /// e.g. "a time"
        what: &'static str,
        /// e.g. "50 ms"
        example: &'static str,
        /// what may stand behind the number
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
    /// what it may be
    pub shape: Shape,
    /// the default as TOML would write it; `None` where there is none
    pub default: Option<String>,
}

/// One algorithm of a registry.
#[derive(Debug)]
pub struct Entry {
    /// its name in scenario files
    pub name: &'static str,
    /// the first sentence of its row
    pub summary: &'static str,
    /// where it comes from
    pub source: &'static str,
    /// what its behaviour has been held against
    pub status: &'static str,
    /// its parameters
    pub fields: fn() -> Vec<Field>,
}

/// All algorithms of one kind.
#[derive(Debug)]
pub struct Registry {
    /// e.g. "queue_discipline"
    pub kind: &'static str,
    /// those that are there
    pub entries: &'static [Entry],
    /// other names for some of them: the alias, and what it stands for
    pub aliases: &'static [(&'static str, &'static str)],
    /// languages in which a scenario may bring its own
    pub code: &'static [Entry],
    /// those that the interface names and that are not there yet
    pub planned: &'static [&'static str],
}

impl Registry {
    /// What an alias stands for; any other name for itself.
    pub fn meant<'a>(&'a self, name: &'a str) -> &'a str {
        self.aliases.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, of)| of)
    }

    /// Those that are there, and then the languages of others.
    pub fn all_entries(&self) -> impl Iterator<Item = &'static Entry> {
        self.entries.iter().chain(self.code)
    }

    /// The entry called `name`, or why there is none.
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
