//! Errors: a sentence each, with the place and the reason.

use std::fmt;
use std::io;

/// A sentence that says what could not be done and where, with what the kernel answered.
#[derive(Debug)]
pub struct Error {
    what: String,
    cause: Option<io::Error>,
}

/// A value, or the sentence why there is none.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error without an answer of the kernel.
    pub fn new(what: impl Into<String>) -> Error {
        Error { what: what.into(), cause: None }
    }

    /// The kernel's answer, if it was asked.
    pub fn cause(&self) -> Option<&io::Error> {
        self.cause.as_ref()
    }

    /// The same error with words of what to do about it.
    #[must_use]
    pub fn with_remedy(mut self, remedy: &str) -> Error {
        if let Some(cause) = self.cause.take() {
            self.what = format!("{}: {cause}", self.what);
        }
        self.what = format!("{}; {remedy}", self.what);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Some(cause) => write!(to, "{}: {cause}", self.what),
            None => to.write_str(&self.what),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().map(|cause| cause as _)
    }
}

/// Gives an answer of the kernel its place.
pub(crate) trait Place<T> {
    /// The value, or an error that opens with `what`, such as "wlan0: cannot be brought up".
    fn place(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<io::Error>> Place<T> for std::result::Result<T, E> {
    fn place(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|cause| Error { what: what(), cause: Some(cause.into()) })
    }
}
