//! Errors of an object, as one sentence that names it.

use core::fmt;

/// An error, with the name of the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The object's name, as given by the caller.
    pub object: String,
    /// The problem and the remedy.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.object, self.message)
    }
}

impl std::error::Error for Error {}

/// A result whose error does not name the object yet.
pub(crate) type Fallible<T> = Result<T, String>;
