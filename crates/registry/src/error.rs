//! Errors that name the place and the remedy.

use core::fmt;

use crate::Fault;
use crate::parameter::join;

/// An error in a parameter, with its place: `station[3].rate_control: unknown "minstrl"; …`.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamError {
    /// The place, e.g. `station[0].queue.limit`.
    pub path: String,
    /// The mistake and the remedy.
    pub fault: Box<Fault>,
}

impl ParamError {
    /// An error at `path`: a [`Kind`](crate::Kind), words for the mistake, or a pair of such and a remedy.
    pub fn new(path: impl Into<String>, fault: impl Into<Fault>) -> Self {
        ParamError { path: path.into(), fault: Box::new(fault.into()) }
    }

    /// The same error with a further value that would be right.
    #[must_use]
    pub fn or(mut self, alternative: &str) -> Self {
        self.fault = Box::new(self.fault.or(alternative));
        self
    }

    /// The same error for a table at `path` without an algorithm's name, which was therefore
    /// applied over this one.
    #[must_use]
    pub fn laid_over(mut self, kind: &str, path: &str) -> Self {
        self.fault = Box::new(self.fault.laid_over(kind, path));
        self
    }
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.fault.sentence())
    }
}
impl std::error::Error for ParamError {}

/// Refuses the entry `key` of the table at `path`.
///
/// # Errors
/// Always.
pub fn refuse<T>(path: &str, key: &str, fault: impl Into<Fault>) -> Result<T, ParamError> {
    Err(ParamError::new(join(path, key), fault))
}

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
