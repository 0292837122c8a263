//! Errors that name the place and the remedy.

use core::fmt;

/// An error in a parameter, with its place: `station[3].rate_control: unknown "minstrl"; …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamError {
    /// The place, e.g. `station[0].queue.limit`.
    pub path: String,
    /// The error and the remedy.
    pub message: String,
}

impl ParamError {
    /// An error at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        ParamError { path: path.into(), message: message.into() }
    }

    /// The same error for a table at `path` without an algorithm's name, which was therefore
    /// applied over this one.
    #[must_use]
    pub fn laid_over(mut self, kind: &str, path: &str) -> Self {
        self.message.push_str(&format!("; without `kind = \"…\"`, {path} is \"{kind}\""));
        self
    }
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.path, self.message) }
    }
}
impl std::error::Error for ParamError {}

/// `did you mean "…"? ` if a name is close to one of `known`, else nothing.
pub fn suggestion<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let unknown = unknown.to_lowercase();
    let best = known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&unknown, &name.to_lowercase()), name))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match best {
        Some((likeness, name)) if likeness > 0.8 => format!("did you mean \"{name}\"? "),
        _ => String::new(),
    }
}
