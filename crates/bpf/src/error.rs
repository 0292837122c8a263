//! What is wrong with an object, as one sentence that names it.

use core::fmt;

/// What is wrong, with the name of the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The object's name, as it was given.
    pub object: String,
    /// What is wrong and the remedy.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.object, self.message)
    }
}

impl std::error::Error for Error {}

/// What is wrong, while nobody has said yet what the object is called.
pub(crate) type Fallible<T> = Result<T, String>;
