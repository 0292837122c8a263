//! Reasons why a library or a controller cannot be used.

use core::fmt;

/// One sentence with the place and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl Error {
    pub(crate) fn new(place: &str, what: impl fmt::Display) -> Error {
        Error(format!("{place}: {what}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
